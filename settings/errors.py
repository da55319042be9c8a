"""The one error of the settings."""


class SettingsError(Exception):
    """The settings cannot be used as written; the message names the key and the remedy."""
