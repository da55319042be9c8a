"""Extra copies per topic: the figure, what it rests on, and what it cannot see."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard import audit_words, extra_copies, wording
from dashboard.amounts import added, none_seen_upper
from dashboard.concerns import Concern
from dashboard.names import cut
from dashboard.record_reading import HowRead, is_silent, never_compared
from dashboard.view import View
from guarantees.audits import DuplicateCause
from guarantees.findings import Bounds, Grade, Unit
from guarantees.promises import Pipeline, Verdict
from settings import PipelineSettings

Row = Mapping[str, Any]
NOTHING_WRITTEN = Bounds(0, 0, 0, Unit.RECORDS)


@dataclass(frozen=True, slots=True)
class TopicAudit:
    """One topic in the window. `unseen` is why there is no figure, None where there is one; `hindered` why it is not
    read any more; `missed_in_day` what of the last day was never compared, where that is too much for a verdict.

    `read` is what was read in the window, `copies` what was found in it; `day` is what the findings of the last day sum
    up to, as the overview's tile counts them, among `day_ids` ids.
    """

    topic: str
    unseen: str | None
    read: Row | None
    groups: tuple[Row, ...]
    copies: Bounds | None
    day: Bounds | None
    day_ids: int
    verdict: Verdict | None
    declared: tuple[PipelineSettings, ...]
    hindered: str | None
    missed_in_day: str | None

    @property
    def ids(self) -> int:
        """Records read in the window that have an id."""
        return _ids(self.read)

    @property
    def missed(self) -> int:
        """Offsets between the first one read in the window and the stable offset that were not read."""
        read = self.read
        return read["purged_offsets"] + read["gap_offsets"] + read["left_unread"] if read else 0

    @property
    def grade(self) -> Grade:
        """That a broker wrote one sequence twice is proven; that other copies are one message rests on unique ids."""
        if self.unseen:
            return Grade.NOT_OBSERVABLE
        causes = {row["cause"] for row in self.groups}
        return Grade.PROVEN if causes == {DuplicateCause.SAME_SEQUENCE} else Grade.PROBABLE

    @property
    def horizon_s(self) -> float:
        """How far back a first copy was sought: as stored with the copies found, else as declared."""
        stored = [row["horizon_s"] for row in self.groups if row["horizon_s"] is not None]
        return max(stored or [pipeline.horizon_s for pipeline in self.declared], default=0.0)


def topic_audits(
    topics: Iterable[str],
    sampled: Iterable[Row],
    sampled_day: Iterable[Row],
    groups: Iterable[Row],
    recent: Sequence[Concern],
    pipelines: Sequence[PipelineSettings],
    how_read: Callable[[str], HowRead],
    told: Collection[str],
) -> list[TopicAudit]:
    """Each topic once, worst first. `recent` are findings of duplicates of the last day, with what they break; `told`
    are topics that tell of the day whether they hold copies, also by having been silent.
    """
    read, day = ({row["topic"]: row for row in rows} for rows in (sampled, sampled_day))
    found: dict[str, list[Row]] = {}
    for row in groups:
        found.setdefault(row["topic"], []).append(row)
    audits = (
        _audit(
            topic,
            read.get(topic),
            day.get(topic),
            found.get(topic, []),
            recent,
            _naming(topic, pipelines),
            how_read(topic),
            is_silent=topic in told and (topic not in read or is_silent(read[topic])),
        )
        for topic in {*topics, *read, *day, *found}
    )
    return sorted(audits, key=_worst_first)


def read_topics(pipelines: Iterable[Pipeline]) -> set[str]:
    """Topics of which a duplicate would concern a pipeline."""
    return {topic for pipeline in pipelines for topic in (pipeline.source, pipeline.sink) if topic}


def topic_row(audit: TopicAudit, view: View) -> dict[str, object]:
    read = audit.read
    return {
        "Verdict": wording.LOOKS[audit.verdict].text if audit.verdict else wording.INFORMATION,
        "Topic": cut(audit.topic),
        "Extra copies": _said(audit.copies, audit.ids),
        "Findings, 24 h": _said(audit.day, audit.day_ids),
        "Grade": str(audit.grade),
        "Ids compared": audit_words.rate(read["rate"]) if read and not audit.unseen else None,
        "Sought back": wording.duration(round(audit.horizon_s * 1000)) if audit.horizon_s else None,
        "Records read": read["records"] if read else None,
        "Without id": read["records_without_id"] if read else None,
        "Aborted": read["aborted_records"] if read else None,
        "Offsets covered": audit_words.covered(read["read_offsets"], audit.missed) if read else None,
        "Purged": read["purged_offsets"] if read else None,
        "Gaps": read["gap_offsets"] if read else None,
        "Left unread": read["left_unread"] if read else None,
        "Newest range": wording.age(read["observed_at_ms"], view.to_ms) if read else None,
    }


def blind_spots(audit: TopicAudit) -> list[str]:
    """What the figure of one topic cannot see, in sentences."""
    if audit.unseen:
        return [audit.unseen]
    hindered = [audit_words.hindered("It is not read to its end", audit.hindered)] if audit.hindered else []
    read = _missing(audit.read) if audit.read else []
    earlier = never_compared([audit.read] if audit.read else []).get(audit.topic) != audit.missed_in_day
    day = [f"In the last 24 h never compared: {audit.missed_in_day}."] if audit.missed_in_day and earlier else []
    far = wording.duration(round(audit.horizon_s * 1000))
    sought = [f"Copies more than {far} apart were not sought."] if audit.horizon_s else []
    return [*hindered, *day, *read, *sought, *(audit_words.id_caution(pipeline.id) for pipeline in audit.declared[:1])]


def no_copies(audit: TopicAudit) -> str:
    """Why there is no copy to show: none found, none observed, or none in this window."""
    if audit.unseen or audit.copies is None:
        return audit.unseen or audit_words.NOT_OBSERVED
    if audit.groups:
        return "No example that the search finds is stored in this window."
    said = f"No extra copy was found in this window: {audit_words.extra_copies(audit.copies, audit.ids)}."
    earlier = audit.day.lower if audit.day else 0
    return said + (f" Findings of the last 24 h count {_said(audit.day, 0)}: widen the window." if earlier else "")


def _missing(read: Row) -> list[str]:
    counts = (
        (read["records_without_id"], "record", "without an id: not compared with anything."),
        (read["records_not_json"], "record", "of them with a value that is not JSON, where the id is sought."),
        (read["purged_offsets"], "offset", "purged by retention before they were read."),
        (read["gap_offsets"], "offset", "in no range read: a gap."),
        (read["left_unread"], "offset", "left for the next round by the newest read."),
    )
    sampled = [f"Ids compared: {audit_words.rate(read['rate'])}; the interval covers the others."]
    return [
        *(f"{wording.plural(count, noun)} {what}" for count, noun, what in counts if count),
        *(sampled if read["rate"] < 1 else []),
    ]


def _audit(
    topic: str,
    read: Row | None,
    day_read: Row | None,
    groups: Sequence[Row],
    recent: Sequence[Concern],
    declared: tuple[PipelineSettings, ...],
    how: HowRead,
    *,
    is_silent: bool,
) -> TopicAudit:
    own = [one for one in recent if one.finding.place.topic == topic]
    unseen = None if groups or is_silent else _unseen(read, declared, how.why)
    return TopicAudit(
        topic=topic,
        unseen=unseen,
        read=read,
        groups=tuple(groups),
        copies=NOTHING_WRITTEN if is_silent and not groups else _copies(groups, read, unseen),
        day=_of_findings(own, day_read),
        day_ids=_ids(day_read),
        verdict=_verdict(own, Verdict.UNKNOWN if unseen or groups else how.verdict),
        declared=declared,
        hindered=how.why,
        missed_in_day=how.missed,
    )


def _unseen(read: Row | None, declared: Sequence[PipelineSettings], why: str | None) -> str | None:
    if read is None and declared and why:
        return audit_words.hindered(audit_words.NOT_READ, why)
    if read is None:
        return audit_words.NO_RANGE if declared else audit_words.NO_PIPELINE
    if read["records"] == 0:
        return audit_words.NO_RECORD
    return None if _ids(read) else audit_words.NO_ID


def _copies(groups: Sequence[Row], read: Row | None, unseen: str | None) -> Bounds | None:
    if groups:
        return extra_copies.total(groups)
    return None if unseen or read is None else _none_found(read)


def _none_found(read: Row) -> Bounds:
    """None was found; there are no more extra copies than records with an id."""
    upper = min(none_seen_upper(read["rate"]), _ids(read))
    return Bounds(0, 0, upper, Unit.RECORDS)


def _of_findings(own: Sequence[Concern], day_read: Row | None) -> Bounds | None:
    if own:
        return added((one.finding.bounds for one in own if one.finding.bounds), Unit.RECORDS)
    return _none_found(day_read) if day_read and _ids(day_read) else None


def _verdict(own: Sequence[Concern], without: Verdict) -> Verdict | None:
    """The worst that the findings break, None where they break nothing; `without`: where there is none.

    Copies are judged by their finding, which is written after them: until then they are unknown.
    """
    broken = [one.verdict for one in own if one.verdict]
    if broken:
        return min(broken, key=wording.WORST_FIRST.index)
    return None if own else without


def _said(bounds: Bounds | None, ids: int) -> str:
    return audit_words.NOT_OBSERVED if bounds is None else audit_words.extra_copies(bounds, ids)


def _ids(read: Row | None) -> int:
    return read["records"] - read["records_without_id"] if read else 0


def _naming(topic: str, pipelines: Iterable[PipelineSettings]) -> tuple[PipelineSettings, ...]:
    return tuple(pipeline for pipeline in pipelines if topic in (pipeline.source, pipeline.sink))


def _worst_first(audit: TopicAudit) -> tuple[int, int, str]:
    rank = wording.WORST_FIRST.index(audit.verdict) if audit.verdict else wording.WORST_FIRST.index(Verdict.UNKNOWN)
    return rank, -(audit.copies.upper or 0) if audit.copies else 0, audit.topic
