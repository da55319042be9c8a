"""Which settings a command was given: a file, or nothing but a bootstrap address."""

import argparse
import os
from pathlib import Path

from settings import SETTINGS_VARIABLE, Settings, SettingsError, bootstrap_settings, load_settings

BOOTSTRAP_VARIABLE = "TIDEMARK_BOOTSTRAP"
DATA_DIR_VARIABLE = "TIDEMARK_DATA_DIR"


class CommandError(Exception):
    """The command cannot do what was asked; the message says why and what would help."""


def add_settings_arguments(parser: argparse.ArgumentParser) -> None:
    """Every command takes the same three."""
    parser.add_argument("--settings", metavar="FILE", help=f"tidemark.toml (default: ${SETTINGS_VARIABLE})")
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="watch this cluster without a settings file")
    parser.add_argument(
        "--data-dir", metavar="DIR", help="where to keep what is seen, with --bootstrap (default: data)"
    )


def chosen_settings(arguments: argparse.Namespace) -> Settings:
    """The settings the arguments or the environment name; raises SettingsError when neither does."""
    return environment_settings(chosen_environment(arguments))


def chosen_environment(arguments: argparse.Namespace) -> dict[str, str]:
    """The variables that hand the same choice to a part in a process of its own."""
    if arguments.bootstrap and arguments.settings:
        raise SettingsError("give --settings or --bootstrap, not both")
    if arguments.bootstrap:
        data_dir = str(Path(arguments.data_dir or "data").resolve())
        return {BOOTSTRAP_VARIABLE: arguments.bootstrap, DATA_DIR_VARIABLE: data_dir}
    if path := arguments.settings or os.environ.get(SETTINGS_VARIABLE):
        return {SETTINGS_VARIABLE: str(Path(path).resolve())}
    inherited = {name: os.environ[name] for name in (BOOTSTRAP_VARIABLE, DATA_DIR_VARIABLE) if name in os.environ}
    if BOOTSTRAP_VARIABLE not in inherited:
        raise SettingsError(f"which cluster? give --bootstrap HOST:PORT, --settings FILE or set {SETTINGS_VARIABLE}")
    return inherited


def environment_settings(environment: dict[str, str]) -> Settings:
    """The settings that `chosen_environment` described."""
    if path := environment.get(SETTINGS_VARIABLE):
        return load_settings(Path(path))
    return bootstrap_settings(environment[BOOTSTRAP_VARIABLE], environment.get(DATA_DIR_VARIABLE, "data"))
