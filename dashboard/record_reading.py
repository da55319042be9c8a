"""How far the record jobs have read a topic, by their looks: each names what it did not read to its end. Pure."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.freshness import Freshness
from guarantees.promises import Verdict

Row = Mapping[str, Any]
NOT_PERMITTED = "not permitted"
WORST_FIRST = (Verdict.UNKNOWN, Verdict.STALE, Verdict.OK)


@dataclass(frozen=True, slots=True)
class Reading:
    """Of one topic. All that was decided in it by `until_ms` (ms since 1970) was read; None: no such time is known.

    `why` is what hinders the reading as of the newest look; None: nothing does.
    """

    until_ms: int | None
    why: str | None

    @property
    def is_refused(self) -> bool:
        """A right is missing."""
        return self.why is not None and NOT_PERMITTED in self.why


@dataclass(frozen=True, slots=True)
class HowRead:
    """What reading allows to be said of a topic at best: OK, STALE, or UNKNOWN; and what hinders it."""

    verdict: Verdict
    why: str | None = None


def reading(looks: Iterable[Row], cluster: str, topic: str) -> Reading:
    """Of the looks (queries.LOOKS) those that read the topic to its end tell until when; the newest, what hinders."""
    newest_first = sorted(looks, key=lambda look: -look["looked_at_ms"])
    left = [_left(look, cluster, topic) for look in newest_first]
    whole = (look["looked_at_ms"] for look, (is_left, _) in zip(newest_first, left, strict=True) if not is_left)
    return Reading(next(whole, None), left[0][1] if left else None)


def how_read(known: Reading, at_ms: int, pace_ms: int) -> HowRead:
    """`pace_ms`: how often a look is expected."""
    return HowRead(Freshness(known.until_ms, pace_ms).verdict(at_ms), known.why)


def tell_of_copies(sampled: Iterable[Row], how: Callable[[str], HowRead]) -> list[Row]:
    """Topics (queries.SAMPLED) that are read to their end now, with an id in at least one record."""
    with_ids = (row for row in sampled if row["records"] > row["records_without_id"])
    return [row for row in with_ids if how(row["topic"]).verdict is Verdict.OK]


def worst(of: Iterable[HowRead]) -> HowRead:
    """Of several topics that are needed together."""
    known = list(of)
    verdict = min((one.verdict for one in known), key=WORST_FIRST.index, default=Verdict.UNKNOWN)
    return HowRead(verdict, next((one.why for one in known if one.why), None))


def age(known: Sequence[Reading], pace_ms: int) -> Freshness:
    """The newest time by which some of the topics were read to their end, and how many of them cannot be read."""
    refused = sum(one.is_refused for one in known)
    return Freshness(
        observed_at_ms=max((one.until_ms for one in known if one.until_ms is not None), default=None),
        step_ms=pace_ms,
        refused=refused,
        failed=sum(one.why is not None for one in known) - refused,
        asked=len(known),
        reasons=tuple(dict.fromkeys(one.why for one in sorted(known, key=_permitted_last) if one.why)),
        asked_for="topics to read",
    )


def _permitted_last(one: Reading) -> bool:
    return not one.is_refused


def _left(look: Row, cluster: str, topic: str) -> tuple[bool, str | None]:
    """Whether it left something of the topic unread, and why. An older run says it of everything it reads at once."""
    if look["unread"] is None:
        return look["message"] is not None or look["has_left"], look["message"]
    own = [why for of, named, why in json.loads(look["unread"]) if of == cluster and named in (None, topic)]
    return bool(own), next((why for why in own if why), None)
