"""How large the data directory is."""

import os
from pathlib import Path


def size_of(data_dir: str) -> tuple[int, int]:
    """Files and bytes."""
    sizes = [_size(Path(folder, name)) for folder, _, names in os.walk(data_dir) for name in names]
    return len(sizes), sum(sizes)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # merged away or expired while the folder was walked
        return 0
