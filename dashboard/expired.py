"""Whether samples of a time are kept any more. Rounds and intervals are kept for weeks: that a round was answered does
not say that its samples can still be read, and of those that cannot nobody can say that there was nothing.
"""

import time
from pathlib import Path

from dashboard import cached, kept, wording
from dashboard.view import View
from guarantees.unknown import Unknown

REMEDY = "Settings says how long samples are kept; a later window has them."


def not_kept(from_ms: int, to_ms: int, samples_ms: int, history_ms: int | None) -> Unknown | None:
    """Of a time: that its samples are not kept, or not all; None where they are as far as any were taken.

    `samples_ms`: since when samples are kept; `history_ms`: since when rounds are, None: there are none. Where they are
    not kept longer than the samples, nothing has expired.
    """
    if to_ms < samples_ms:
        return Unknown(f"no samples of this time are kept, only those since {wording.utc(samples_ms)}")
    if from_ms < samples_ms and history_ms is not None and history_ms < samples_ms:
        return Unknown(f"no samples before {wording.utc(samples_ms)} are kept")
    return None


def between(from_ms: int, to_ms: int) -> Unknown | None:
    """The same of a time, by what the store holds."""
    data_dir = Path(cached.data_dir())
    samples_ms = kept.oldest_hour_ms(data_dir)
    return not_kept(from_ms, to_ms, samples_ms or _oldest_ms(), kept.oldest_history_ms(data_dir))


def in_window(view: View) -> Unknown | None:
    return between(view.from_ms, view.to_ms)


def now(view: View) -> Unknown | None:
    """The same of the newest round, about which `cached.now` asks."""
    known = cached.heard(view)
    return None if known is None else between(known.observed_at_ms, known.observed_at_ms)


def _oldest_ms() -> int:
    """Since when samples would be kept, had any been taken (ms since 1970, UTC)."""
    return time.time_ns() // 1_000_000 - round(cached.settings().store.raw_retention_h * cached.HOUR_MS)


def sentence(why: Unknown) -> str:
    return f"{why.reason[0].upper()}{why.reason[1:]}."
