"""lost_write: an id of the source that the group's commit has passed and the sink never showed (C4)."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from guarantees.audits import LossAudit, LossEpisode, LostId
from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Place, Statement
from guarantees.rules.duplicates import compared_exactly, in_words
from guarantees.sessions import sessions
from guarantees.times import utc

ONE_SINK_RECORD = "the pipeline writes one sink record with the same id for every source record"

# An episode may hold thousands of ids: so many are shown, all are counted.
SHOWN_IDS = 100


def loss_findings(episodes: Iterable[LossEpisode]) -> list[Finding]:
    """One finding per episode; it closes only when every id of it has arrived late. Late is not lost."""
    return [_finding(episode) for episode in episodes]


def loss_episodes(
    audit: LossAudit, ids: Mapping[int, Iterable[LostId]], estimated: Callable[[Sequence[LostId]], Bounds]
) -> list[LossEpisode]:
    """Lost and late ids (by source partition) as episodes: the commit passed neighbours within the settle delay.

    `estimated` scales sampled lost ids to all ids, with its interval.
    """
    return [
        _episode(audit, partition, session, estimated)
        for partition, found in sorted(ids.items())
        for session in sessions(found, lambda lost: (lost.known_since_ms, lost.offset), audit.settle_s * 1000)
    ]


def _episode(
    audit: LossAudit, partition: int, session: list[LostId], estimated: Callable[[Sequence[LostId]], Bounds]
) -> LossEpisode:
    lost = tuple(one for one in session if not one.is_late)
    return LossEpisode(
        pipeline=audit.pipeline,
        cluster_id=audit.cluster_id,
        topic=audit.topic,
        topic_id=audit.topic_id,
        partition=partition,
        group_id=audit.group_id,
        sink=audit.sink,
        lost=lost,
        late=tuple(one for one in session if one.is_late),
        total=estimated(lost),
        sampling_rate=min(one.sampling_rate for one in session),
        settle_s=audit.settle_s,
        is_one_to_one=audit.is_one_to_one,
        sink_read_to=audit.sink_read_to,
        decided_at_ms=max(one.decided_at_ms for one in lost or session),
        changed_at_ms=max(one.changed_at_ms for one in session),
    )


def _finding(episode: LossEpisode) -> Finding:
    ids = (*episode.lost, *episode.late)
    where = f"{episode.topic}-{episode.partition}"
    late = len(episode.late)
    reason = f"explained as late: {late:,} sampled ids arrived after all" if not episode.lost else None
    return Finding(
        kind=Kind.LOST_WRITE,
        place=Place(episode.cluster_id, episode.topic, episode.topic_id, episode.partition, episode.group_id),
        anchor=f"{episode.pipeline}, first offset {min(one.offset for one in ids)}",
        severity=4,
        title=f"{episode.pipeline} lost {in_words(episode.total)} message ids between {where} and {episode.sink}",
        statements=_statements(episode, where),
        bounds=episode.total,
        evidence=_evidence(episode),
        happened_at_ms=min(one.known_since_ms for one in ids),
        last_seen_at_ms=episode.changed_at_ms,
        pipeline=episode.pipeline,
        closed_reason=reason,
    )


def _statements(episode: LossEpisode, where: str) -> tuple[Statement, ...]:
    shown = episode.lost or episode.late
    first, last = _span(episode, [one.offset for one in shown])
    missing = (
        f"{in_words(episode.total)} message ids of {where}, between the offsets {first:,} and {last:,}, never reached "
        f"{episode.sink} although {episode.group_id} committed past them."
    )
    sought = (
        f"The sink was read to stable offsets sampled {episode.settle_s:.0f} s or more after the commit passed the "
        f"last of them; decided {utc(episode.decided_at_ms)}."
    )
    headline = (
        Statement(Grade.PROVEN, missing)
        if episode.is_one_to_one
        else Statement(Grade.PROBABLE, missing, ONE_SINK_RECORD)
    )
    found = [headline, Statement(Grade.PROVEN, sought)]
    if episode.late:
        found.append(Statement(Grade.PROVEN, f"{len(episode.late):,} sampled ids arrived late and are not counted."))
    return (*found, *compared_exactly(episode.audited))


def _span(episode: LossEpisode, offsets: list[int]) -> tuple[int, int]:
    """Of the ids; where an audit counted more than are known one by one, the others lie anywhere in its window."""
    if episode.audited and episode.total.lower > len(episode.lost):
        offsets = [*offsets, *(first for first, _ in episode.audited), *(end - 1 for _, end in episode.audited)]
    return min(offsets), max(offsets)


def _evidence(episode: LossEpisode) -> Evidence:
    return {
        "lost": [_shown(one) for one in episode.lost[:SHOWN_IDS]],
        "late": [_shown(one) for one in episode.late[:SHOWN_IDS]],
        "sampled_lost": len(episode.lost),
        "sampled_late": len(episode.late),
        "sampling_rate": episode.sampling_rate,
        "settle_s": episode.settle_s,
        "is_one_to_one": episode.is_one_to_one,
        "sink": episode.sink,
        "sink_read_to": [list(pair) for pair in episode.sink_read_to],
        "decided_at_ms": episode.decided_at_ms,
        **({"audited": [list(window) for window in episode.audited]} if episode.audited else {}),
    }


def _shown(one: LostId) -> Evidence:
    return {
        "message_id": one.message_id,
        "offset": one.offset,
        "observed_at_ms": one.observed_at_ms,
        "commit_passed_at_ms": one.passed_at_ms,
    }
