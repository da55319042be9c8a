"""Which settings a command was given: a file, or nothing but a bootstrap address."""

import argparse
import os
from pathlib import Path

from dashboard.names import cut
from dashboard.view import format_time, parse_time
from settings import SETTINGS_VARIABLE, Settings, SettingsError, bootstrap_settings, load_settings
from store.reading import Window

BOOTSTRAP_VARIABLE = "TIDEMARK_BOOTSTRAP"
DATA_DIR_VARIABLE = "TIDEMARK_DATA_DIR"

HOUR_MS = 3_600_000


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


def add_window_arguments(parser: argparse.ArgumentParser) -> None:
    """Of which window something is asked."""
    parser.add_argument("--hours", type=float, default=1.0, help="how far back the window reaches (default: 1)")
    parser.add_argument("--from", dest="from_time", metavar="TIME", help="ISO 8601, UTC unless it says otherwise")
    parser.add_argument("--to", dest="to_time", metavar="TIME", help="the end of the window (default: now)")


def chosen_window(arguments: argparse.Namespace, now_ms: int) -> Window:
    """From and to as given; else the last hours. Raises CommandError where that is no window."""
    to_ms = _moment(arguments.to_time, "--to") if arguments.to_time else now_ms
    given = arguments.from_time
    from_ms = _moment(given, "--from") if given else max(0, to_ms - round(arguments.hours * HOUR_MS))
    if not 0 <= from_ms < to_ms:
        raise CommandError(f"the window ends before it begins: {format_time(from_ms)} to {format_time(to_ms)}")
    return Window(from_ms, to_ms)


def _moment(text: str, flag: str) -> int:
    moment = parse_time(text)
    if moment is None:
        raise CommandError(f"{flag} {cut(text)!r} is no time; write it as 2026-01-31T03:12:00Z")
    return moment
