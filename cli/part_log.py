"""Each part's own log in the data directory: levels, rotation, no payloads."""

import logging
import logging.handlers
from pathlib import Path

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
MAX_BYTES, BACKUPS = 5_000_000, 3


def log_to_file(data_dir: Path, part: str) -> Path:
    """Send this process's log to data/logs/<part>.log; returns its path."""
    folder = data_dir / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{part}.log"
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=BACKUPS)
    logging.basicConfig(level=logging.INFO, format=FORMAT, handlers=[handler])
    # The client library logs each connection attempt; its failures reach the store as errors of the round.
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    return path
