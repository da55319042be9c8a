"""Where the lab keeps what it fetched once."""

import os
from collections.abc import Mapping
from pathlib import Path


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Folder for Kafka's jars: `TIDEMARK_CACHE`, or the user's cache folder."""
    given = environ.get("TIDEMARK_CACHE")
    return Path(given).expanduser() if given else Path.home() / ".cache" / "tidemark" / "kafka-4.2.0"
