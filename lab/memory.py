"""Is there room for the cluster?"""

import re
from pathlib import Path

from lab.errors import LabError

NEEDED_MEMORY_BYTES = 1_700_000_000  # four processes, about 0.35 GB each, and room for the workload


def check_memory(available_bytes: int | None) -> None:
    """Refuse to start what would be killed for lack of memory; None where the system does not tell."""
    if available_bytes is not None and available_bytes < NEEDED_MEMORY_BYTES:
        raise LabError(
            f"The lab's Kafka needs {NEEDED_MEMORY_BYTES / 1e9:.1f} GB of free memory and there are "
            f"{available_bytes / 1e9:.1f} GB: close something, or use a larger machine."
        )


def available_memory_bytes() -> int | None:
    """What the system can give without swapping; None where it does not say (only Linux does)."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None
