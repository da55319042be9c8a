"""What a process that does nothing but rounds does without: it runs beside the cluster's own work, for years.

For the whole process, so by who starts it alone, and before anything else is done.
"""

import ctypes
import gc
import sys
from importlib.machinery import ModuleSpec

import pyarrow as pa

# Of glibc's malloc.h: blocks from this size on are mapped each by itself; above this much the free rest is given back.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
_KEPT_BYTES = 32 * 1024 * 1024


class _NoPandas:
    """A finder that finds no pandas: pyarrow loads it to ask of every list whether it is one of its series."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError("rounds do without pandas", name=name)
        return None


def be_frugal() -> None:
    """Of memory and of searches for garbage."""
    collect_cycles_rarely()
    # 45 MB of libraries that nobody here makes use of.
    sys.meta_path.insert(0, _NoPandas())
    # Arrow's own allocator keeps 20 MB more for the next time.
    pa.set_memory_pool(pa.system_memory_pool())


def collect_cycles_rarely() -> None:
    """With Python's defaults the search takes as long as all else together.

    A round of a large cluster makes a quarter of a million values that live until the next one and form no cycles.
    """
    gc.set_threshold(50_000, 10, 10)


def keep_large_blocks() -> None:
    """Where record batches are read: 32 MB for answers of megabytes stay with the process, if its C library can do so.

    Asked of the system anew for each answer, their pages cost more than all else of a scan of batch headers.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _KEPT_BYTES)
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)


def give_back_memory() -> None:
    """To the system, with what Python has freed: the allocators would keep it for the rows of the next round."""
    pa.default_memory_pool().release_unused()
