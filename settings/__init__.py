"""tidemark.toml: which clusters, topics and pipelines, with which promise, rights and thresholds.

Small frozen classes, one per concern, checked once; unknown keys are refused with the nearest known one. Secrets stand
in the file only as `{ env = "NAME" }` or `{ file = "path" }` and are resolved when a connection is made, never stored.
"""

from settings.cluster import ClusterSettings
from settings.errors import SettingsError
from settings.file import bootstrap_settings, load_settings, parse_settings
from settings.pipeline import MessageId, PipelineSettings, RecordOrder
from settings.security import BY_PASSWORD, GSSAPI, OAUTHBEARER, Secret, Security
from settings.tidemark import PageSettings, ReportSettings, Settings, SparkSettings, SqlSettings, StoreSettings

__all__ = [
    "BY_PASSWORD",
    "GSSAPI",
    "OAUTHBEARER",
    "SETTINGS_VARIABLE",
    "ClusterSettings",
    "MessageId",
    "PageSettings",
    "PipelineSettings",
    "RecordOrder",
    "ReportSettings",
    "Secret",
    "Security",
    "Settings",
    "SettingsError",
    "SparkSettings",
    "SqlSettings",
    "StoreSettings",
    "bootstrap_settings",
    "load_settings",
    "parse_settings",
]

SETTINGS_VARIABLE = "TIDEMARK_SETTINGS"
