"""How far back the raw samples and the history go."""

from pathlib import Path

from store.contracts import TABLES
from store.folders import hour_folders
from store.segments import hour_start_ms


def oldest_hour_ms(data_dir: Path) -> int | None:
    """The start of the oldest hour of which raw samples are kept (ms since 1970, UTC); None where none are."""
    return _start_ms(hour_folders(data_dir, TABLES["partition_offsets"])[:1])


def newest_hour_ms(data_dir: Path) -> int | None:
    """The start of the newest one."""
    return _start_ms(hour_folders(data_dir, TABLES["partition_offsets"])[-1:])


def oldest_history_ms(data_dir: Path) -> int | None:
    """The start of the oldest hour of rounds, which are kept as long as rebalances are."""
    return _start_ms(hour_folders(data_dir, TABLES["rounds"])[:1])


def _start_ms(hours: list[Path]) -> int | None:
    return hour_start_ms(hours[0].parent.name, hours[0].name) if hours else None
