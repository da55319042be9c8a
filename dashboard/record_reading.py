"""How far the record jobs have read a topic, by their looks: each names what it did not read to its end. Pure."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard import wording
from dashboard.freshness import Freshness
from dashboard.names import cut
from guarantees.promises import Verdict

Row = Mapping[str, Any]
NOT_PERMITTED = "not permitted"
WORST_FIRST = (Verdict.UNKNOWN, Verdict.STALE, Verdict.OK)


@dataclass(frozen=True, slots=True)
class Look:
    """One of the record jobs at one cluster. `left`: topics not read to their end, and why; None: all."""

    started_at_ms: int
    ended_at_ms: int
    left: Mapping[str | None, str | None]

    def leaves(self, topic: str) -> bool:
        return topic in self.left or None in self.left

    def why(self, topic: str) -> str | None:
        return self.left.get(topic) or self.left.get(None)


@dataclass(frozen=True, slots=True)
class Reading:
    """Of one topic. All that was decided in it by `until_ms` (ms since 1970) was read, by a look that ended at
    `ended_at_ms`; None: no such time is known. `why` is what hinders the reading as of the newest look; None: nothing.
    """

    until_ms: int | None
    ended_at_ms: int | None
    why: str | None

    @property
    def is_refused(self) -> bool:
        """A right is missing."""
        return self.why is not None and NOT_PERMITTED in self.why


@dataclass(frozen=True, slots=True)
class HowRead:
    """What reading allows to be said of a topic at best: OK, STALE, or UNKNOWN; what hinders it, and what of the last
    day was never compared (`missed`).
    """

    verdict: Verdict
    why: str | None = None
    missed: str | None = None


def looks(rows: Iterable[Row], cluster: str) -> list[Look]:
    """Looks at a cluster (queries.LOOKS), the newest first."""
    newest_first = sorted(rows, key=lambda row: -row["looked_at_ms"])
    return [Look(row["looked_at_ms"], row["ended_at_ms"], _left(row, cluster)) for row in newest_first]


def reading(looks: Sequence[Look], topic: str) -> Reading:
    """Of the looks those that read the topic to its end tell until when; the newest, what hinders."""
    whole = next((look for look in looks if not look.leaves(topic)), None)
    why = looks[0].why(topic) if looks else None
    return Reading(None, None, why) if whole is None else Reading(whole.started_at_ms, whole.ended_at_ms, why)


def how_read(known: Reading, at_ms: int, pace_ms: int, missed: str | None = None) -> HowRead:
    """`pace_ms`: how often a look is expected. What hinders counts once the last whole look is too old; `missed` is
    what `never_compared` tells of its last day.
    """
    verdict = Freshness(known.ended_at_ms, pace_ms).verdict(at_ms)
    why = None if verdict is Verdict.OK else known.why
    return HowRead(Verdict.UNKNOWN if missed else verdict, why, missed)


def never_compared(read: Iterable[Row]) -> dict[str, str]:
    """Of topics of which too much of what was covered (queries.SAMPLED) was never compared: what, in words."""
    told = ((row["topic"], _missed(row)) for row in read)
    return {topic: missed for topic, missed in told if missed}


def _missed(read: Row) -> str | None:
    """Offsets that nobody read, each of them; records without an id once they are most: single ones are a note."""
    of = f"of {cut(read['topic'])}"
    if read["purged_offsets"]:
        return f"{wording.plural(read['purged_offsets'], 'offset')} {of} purged before they were read"
    if read["gap_offsets"]:
        return f"{wording.plural(read['gap_offsets'], 'offset')} {of} in no range read"
    if is_mostly_without_id(read):
        without = wording.count(read["records_without_id"])
        return f"{without} of {wording.plural(read['records'], 'record')} {of} without an id"
    return None


def is_mostly_without_id(read: Row) -> bool:
    """Of the records read of a topic."""
    return bool(2 * read["records_without_id"] > read["records"])


def tell_of_copies(
    sampled: Iterable[Row],
    declared: Iterable[str],
    covered_before: Callable[[list[str]], Iterable[str]],
    how: Callable[[str], HowRead],
) -> list[Row]:
    """Topics that tell of a day whether they hold copies: by `how`, and with an id in some record, or silent.

    A declared one without a row of the day (queries.SAMPLED) was silent if a range of it was covered before the day:
    what was written to it would have been read. `covered_before` says of which of some topics one was.
    """
    read = {row["topic"]: row for row in sampled}
    told = [row for row in read.values() if row["records"] > row["records_without_id"]]
    without_row = sorted(set(declared) - read.keys())
    silent = [topic for topic, row in read.items() if is_silent(row)]
    silent += covered_before(without_row) if without_row else ()
    quiet = [{"topic": topic, "rate": 1.0} for topic in sorted(silent)]
    return [row for row in (*told, *quiet) if how(row["topic"]).verdict is Verdict.OK]


def is_silent(read: Row) -> bool:
    """All offsets were read, and no visible record was among them."""
    return not (read["records"] or read["purged_offsets"] or read["gap_offsets"])


def worst(of: Iterable[HowRead]) -> HowRead:
    """Of several topics that are needed together."""
    known = list(of)
    verdict = min((one.verdict for one in known), key=WORST_FIRST.index, default=Verdict.UNKNOWN)
    why, missed = (next(filter(None, each), None) for each in ((k.why for k in known), (k.missed for k in known)))
    return HowRead(verdict, why, missed)


def age(known: Sequence[Reading], at_ms: int, pace_ms: int) -> Freshness:
    """When the newest look that read one of the topics to its end was over, and how many of them cannot be read."""
    hindered = [one for one in known if how_read(one, at_ms, pace_ms).why]
    refused = sum(one.is_refused for one in hindered)
    return Freshness(
        observed_at_ms=max((one.ended_at_ms for one in known if one.ended_at_ms is not None), default=None),
        step_ms=pace_ms,
        refused=refused,
        failed=len(hindered) - refused,
        asked=len(known),
        reasons=tuple(dict.fromkeys(str(one.why) for one in sorted(hindered, key=_permitted_last))),
        asked_for="topics to read",
    )


def _permitted_last(one: Reading) -> bool:
    return not one.is_refused


def _left(row: Row, cluster: str) -> dict[str | None, str | None]:
    """What a look left unread of a cluster. An older run says it of everything it reads at once."""
    if row["unread"] is None:
        return {None: row["message"]} if row["message"] is not None or row["has_left"] else {}
    return {topic: why for of, topic, why in json.loads(row["unread"]) if of == cluster}
