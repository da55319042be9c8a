"""How the page's process searches for garbage: answers are kept by the thousand, and none of them is garbage."""

import gc
from functools import cache

SEARCHES_BEFORE_ALL = 100  # of what is younger; Python's own is 10


@cache
def settle() -> None:
    """Once per process: what the imports left behind is never searched for garbage, and what is kept only rarely.

    Searching all answers that are kept takes longer than making the verdicts of a moment.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], SEARCHES_BEFORE_ALL)
