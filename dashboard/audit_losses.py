"""Source compared with sink per pipeline: how many ids were lost, late or wait, and what the figure cannot see."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard import audit_words, wording
from dashboard.amounts import added
from dashboard.concerns import Concern
from dashboard.names import cut
from dashboard.record_reading import HowRead, worst
from dashboard.view import View
from guarantees.findings import Bounds, Grade, Kind, Unit
from guarantees.promises import Pipeline, Verdict
from guarantees.rules.losses import ONE_SINK_RECORD
from settings import PipelineSettings

Row = Mapping[str, Any]
SINK_PARTITIONS = 12


@dataclass(frozen=True, slots=True)
class PipelineAudit:
    """One pipeline's comparison as it stands. `unseen` is why there is no figure, None where there is one; `hindered`
    why source or sink is not read any more.

    `compared` adds up its partitions since the comparison began; `day` is what the findings of losses of the last day
    sum up to, as the overview's tile counts them, and `aborted` those of aborted records that the sink holds.
    """

    pipeline: Pipeline
    declared: PipelineSettings | None
    compared: Row | None
    unseen: str | None
    day: Bounds | None
    aborted: Bounds | None
    verdict: Verdict | None
    hindered: str | None

    @property
    def grade(self) -> Grade:
        """A missing id is proven lost only where every record must have one sink record."""
        if self.unseen or self.declared is None:
            return Grade.NOT_OBSERVABLE
        return Grade.PROVEN if self.declared.one_to_one else Grade.PROBABLE


def pipeline_audits(
    pipelines: Iterable[Pipeline],
    declared: Iterable[PipelineSettings],
    comparisons: Iterable[Row],
    recent: Sequence[Concern],
    how_read: Callable[[str], HowRead],
) -> list[PipelineAudit]:
    """Each pipeline once, worst first.

    `recent` are findings of losses and aborted reads of the last day, with what they break.
    """
    settings = {one.name: one for one in declared}
    rows = {row["pipeline"]: row for row in comparisons}
    audits = (
        _audit(one, settings.get(one.name), rows.get(one.name), recent, worst(map(how_read, one.topics)))
        for one in pipelines
    )
    return sorted(audits, key=_worst_first)


def pipeline_row(audit: PipelineAudit, view: View) -> dict[str, object]:
    row, sink = audit.compared, audit.pipeline.sink
    return {
        "Verdict": wording.LOOKS[audit.verdict].text if audit.verdict else wording.INFORMATION,
        "Pipeline": cut(audit.pipeline.name),
        "Source → sink": f"{cut(audit.pipeline.source, 40)} → {cut(sink, 40) if sink else 'no sink'}",
        "Lost": lost(row) if row and not audit.unseen else audit_words.NOT_OBSERVED,
        "Findings, 24 h": _findings(audit.day),
        "Aborted, 24 h": _findings(audit.aborted),
        "Grade": str(audit.grade),
        "Late": row["late"] if row else None,
        "Waiting": row["unseen"] if row else None,
        "Judged": row["judged"] if row else None,
        "Ids compared": audit_words.rate(row["rate"]) if row else None,
        "Settle delay": f"{row['settle_s']:g} s" if row else None,
        "Compared": wording.age(row["observed_at_ms"], view.to_ms) if row else None,
    }


def lost(row: Row) -> str:
    """How many ids were lost; none is never said without how many were judged, and nothing where none was."""
    if not row["judged"]:
        return audit_words.NOT_OBSERVED
    if row["lower"] == 0 and row["upper"] == 0:
        return f"none of {wording.plural(row['judged'], 'id')}"
    return wording.amount(row["lower"], row["estimate"], row["upper"])


def partition_row(row: Row) -> dict[str, object]:
    """How far one source partition was compared; offsets as text, in full."""
    return {
        "Partition": cut(f"{row['topic']}-{row['partition']}"),
        "Judged from": str(row["judged_from"]),
        "Judged to": str(row["judged_to"]),
        "Judged": row["ids_judged"],
        "Waiting": row["ids_unseen"],
        "Lost": lost({"judged": row["ids_judged"], **row}),
        "Late": row["ids_late"],
        "Ids compared": audit_words.rate(row["rate"]),
    }


def blind_spots(audit: PipelineAudit, read: Mapping[str, Row], view: View) -> list[str]:
    """What the comparison of one pipeline cannot see, in sentences. `read`: what was read of each topic."""
    row, known = audit.compared, audit.declared
    if audit.unseen or row is None or known is None:
        return [audit.unseen or audit_words.NOT_COMPARED]
    what = "Source or sink is not read to its end"
    sentences = [
        *([audit_words.hindered(what, audit.hindered)] if audit.hindered else []),
        "Ids below the first offset judged are not compared: group and topics were not all watched yet.",
        "Aborted ids are sought at the sink once all that was written to the source before is decided and read: while "
        "a transaction stays open, no finding of them says nothing of what came after it began.",
    ]
    if not known.one_to_one:
        sentences.append(
            f"PROBABLE at most: it rests on the assumption that {ONE_SINK_RECORD}. A pipeline that filters or joins "
            "drops ids on purpose. Where each record must have one, declare one_to_one = true."
        )
    if row["unseen"]:
        sentences.append(
            f"{wording.plural(row['unseen'], 'id')} wait: the settle delay of {row['settle_s']:g} s has not passed, or "
            "the sink has not been read far enough. They are neither lost nor kept yet."
        )
    if row["rate"] < 1:
        sentences.append(f"Ids compared: {audit_words.rate(row['rate'])}; the interval covers the others.")
    if row["observed_at_ms"] > view.to_ms:
        sentences.append(f"This is the comparison as of {wording.utc(row['observed_at_ms'])}, after the window.")
    return [*sentences, *_unread(audit.pipeline, read)]


def sink_read_to(rows: Sequence[Row]) -> str:
    """Up to which stable offset each partition of the sink was read, by the newest comparison."""
    newest = max(rows, key=lambda row: int(row["observed_at_ms"]))
    pairs = json.loads(newest["sink_read_to"] or "[]")
    shown = ", ".join(f"{partition} → {offset}" for partition, offset in pairs[:SINK_PARTITIONS])
    more = f", and {wording.count(len(pairs) - SINK_PARTITIONS)} more" if len(pairs) > SINK_PARTITIONS else ""
    return f"Sink read to (partition → offset): {shown}{more}" if pairs else "How far the sink was read is not known."


def _audit(
    pipeline: Pipeline, declared: PipelineSettings | None, row: Row | None, recent: Sequence[Concern], how: HowRead
) -> PipelineAudit:
    own = [one for one in recent if one.finding.pipeline == pipeline.name]
    unseen = _unseen(pipeline, declared, row, how.why)
    lost, aborted = (_sum(own, kind, unseen) for kind in (Kind.LOST_WRITE, Kind.ABORTED_AT_SINK))
    return PipelineAudit(
        pipeline=pipeline,
        declared=declared,
        compared=row,
        unseen=unseen,
        day=lost,
        aborted=aborted,
        verdict=_verdict(own, unseen, how.verdict),
        hindered=how.why,
    )


def _sum(own: Sequence[Concern], kind: Kind, unseen: str | None) -> Bounds | None:
    found = [one.finding.bounds for one in own if one.finding.kind is kind and one.finding.bounds]
    return None if unseen and not found else added(found, Unit.MESSAGE_IDS)


def _unseen(pipeline: Pipeline, declared: PipelineSettings | None, row: Row | None, why: str | None) -> str | None:
    if declared is None:
        return audit_words.NOT_DECLARED
    if pipeline.sink is None:
        return audit_words.NO_SINK
    if row is None and why:
        return audit_words.hindered(f"{audit_words.NOT_OBSERVED}: nothing was compared", why)
    if row is None:
        return audit_words.NOT_COMPARED
    return None if row["judged"] else audit_words.NOT_JUDGED


def _verdict(own: Sequence[Concern], unseen: str | None, fresh: Verdict) -> Verdict | None:
    """The worst that the pipeline's findings break, None where they break nothing."""
    broken = [one.verdict for one in own if one.verdict]
    if broken:
        return min(broken, key=wording.WORST_FIRST.index)
    if unseen:
        return Verdict.UNKNOWN
    return None if own else fresh


def _findings(bounds: Bounds | None) -> str:
    if bounds is None:
        return audit_words.NOT_OBSERVED
    is_none = bounds.lower == 0 and bounds.upper == 0
    return "no finding" if is_none else wording.amount(bounds.lower, bounds.estimate, bounds.upper)


def _unread(pipeline: Pipeline, read: Mapping[str, Row]) -> list[str]:
    """Records on either side that could not take part."""
    source, sink = read.get(pipeline.source), read.get(pipeline.sink or "")
    counts = (
        (source, "records_without_id", "record", "of the source without an id: not compared."),
        (source, "purged_offsets", "offset", "of the source purged before they were read: not compared."),
        (source, "gap_offsets", "offset", "of the source in no range read: not compared."),
        (sink, "records_without_id", "record", "of the sink without an id: what they answer counts as lost."),
        (sink, "purged_offsets", "offset", "of the sink purged before they were read: ids in them count as lost."),
        (sink, "gap_offsets", "offset", "of the sink in no range read: ids in them count as lost."),
    )
    return [f"{wording.plural(row[name], noun)} {what}" for row, name, noun, what in counts if row and row[name]]


def _worst_first(audit: PipelineAudit) -> tuple[int, int, str]:
    rank = wording.WORST_FIRST.index(audit.verdict or Verdict.UNKNOWN)
    return rank, -(audit.compared["lost"] if audit.compared else 0), audit.pipeline.name
