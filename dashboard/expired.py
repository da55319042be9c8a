"""Whether samples of a time are kept any more. Rounds and intervals are kept for weeks: that a round was answered does
not say that its samples can still be read, and of those that cannot nobody can say that there was nothing.
"""

import time
from dataclasses import replace
from pathlib import Path

from dashboard import cached, kept, wording
from dashboard.view import View
from guarantees.unknown import Unknown

REMEDY = "Settings says how long samples are kept."


def not_kept(
    from_ms: int, to_ms: int, samples_ms: int | None, retained_ms: int, looked_ms: int | None
) -> Unknown | None:
    """Of a time: that its samples are not kept, or not all; None where they are as far as any were taken.

    `samples_ms`: since when samples are kept, None: none is, though one of after `retained_ms` would be; `looked_ms`:
    when somebody last looked before the oldest of them, None: nobody did.
    """
    if to_ms < (retained_ms if samples_ms is None else samples_ms):
        since = "" if samples_ms is None else f", only those since {wording.utc(samples_ms)}"
        return Unknown(f"no samples of this time are kept{since}")
    if samples_ms is not None and looked_ms is not None and from_ms <= looked_ms < samples_ms:
        return Unknown(f"no samples before {wording.utc(samples_ms)} are kept")
    return None


def samples_since_ms() -> int | None:
    """The start of the oldest hour of which samples have not expired (ms since 1970, UTC); None: all have."""
    return kept.oldest_hour_ms(Path(cached.data_dir()))


def between(view: View, from_ms: int, to_ms: int) -> Unknown | None:
    """The same of a time, by what the store holds of the cluster."""
    samples_ms = samples_since_ms()
    is_cut = samples_ms is not None and from_ms < samples_ms <= to_ms
    before = cached.heard(replace(view, to_ms=samples_ms - 1)) if is_cut and samples_ms else None
    return not_kept(from_ms, to_ms, samples_ms, _retained_ms(), None if before is None else before.observed_at_ms)


def in_window(view: View) -> Unknown | None:
    return between(view, view.from_ms, view.to_ms)


def now(view: View) -> Unknown | None:
    """The same of the newest round, about which `cached.now` asks."""
    known = cached.heard(view)
    return None if known is None else between(view, known.observed_at_ms, known.observed_at_ms)


def _retained_ms() -> int:
    """Since when samples would be kept, had any been taken (ms since 1970, UTC)."""
    return time.time_ns() // 1_000_000 - round(cached.settings().store.raw_retention_h * cached.HOUR_MS)


def sentence(why: Unknown) -> str:
    return f"{why.reason[0].upper()}{why.reason[1:]}."
