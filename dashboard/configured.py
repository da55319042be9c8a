"""The settings the page was started with: a file, or nothing but a bootstrap address."""

from collections.abc import Mapping
from pathlib import Path

from settings import SETTINGS_VARIABLE as SETTINGS_VARIABLE
from settings import Settings, SettingsError, bootstrap_settings, load_settings

BOOTSTRAP_VARIABLE = "TIDEMARK_BOOTSTRAP"
DATA_DIR_VARIABLE = "TIDEMARK_DATA_DIR"


def page_settings(environ: Mapping[str, str]) -> Settings:
    """The settings of this process; raises SettingsError with the remedy where there are none."""
    if path := environ.get(SETTINGS_VARIABLE):
        return load_settings(Path(path))
    if bootstrap := environ.get(BOOTSTRAP_VARIABLE):
        return bootstrap_settings(bootstrap, environ.get(DATA_DIR_VARIABLE, "data"))
    raise SettingsError(
        f"set {SETTINGS_VARIABLE} to the path of a tidemark.toml, or {BOOTSTRAP_VARIABLE} to host:port of a broker"
    )
