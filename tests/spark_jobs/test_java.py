import subprocess

from spark_jobs.java import has_java, wrapped_java


def test_java_home_without_a_java_is_none(tmp_path):
    assert not has_java({"JAVA_HOME": str(tmp_path), "PATH": "/usr/bin"})


def test_java_is_found_on_the_path(tmp_path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)

    assert has_java({"PATH": str(tmp_path)})
    assert not has_java({"PATH": str(tmp_path / "elsewhere")})


def test_wrapper_drops_only_the_option_a_reduced_java_lacks(tmp_path):
    echo = tmp_path / "echo-java"
    echo.write_text('#!/bin/sh\nfor a; do echo "$a"; done\n')
    echo.chmod(0o755)
    home = wrapped_java(echo, tmp_path / "home")

    said = subprocess.run(
        [home / "bin" / "java", "-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert said.splitlines() == ["-Xmx1g", "-cp", "a b"]
