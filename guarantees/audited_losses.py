"""Losses that an exact audit counted, joined with the episodes that live rounds saw of the same ids."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from guarantees.audits import LossAudit, LossEpisode, LostId
from guarantees.findings import Bounds, Unit


@dataclass(frozen=True, slots=True)
class AuditedLosses:
    """What an audit of the offsets [first_offset, next_offset) of one source partition found.

    `ids_lost` were counted; `ids` are those of them, and of the late ones, that are known one by one.
    """

    partition: int
    first_offset: int
    next_offset: int
    ids_lost: int
    ids: tuple[LostId, ...]
    sink_read_to: tuple[tuple[int, int], ...]
    decided_at_ms: int

    def holds(self, one: LostId) -> bool:
        return self.first_offset <= one.offset < self.next_offset


@dataclass(frozen=True, slots=True)
class Share:
    """What an audit knows of one episode: all that it found where that is the only one in its window."""

    audit: AuditedLosses
    ids: tuple[LostId, ...]
    is_all: bool


def with_audits(
    episodes: Iterable[LossEpisode],
    audits: Iterable[AuditedLosses],
    shared: LossAudit,
    estimated: Callable[[Sequence[LostId]], Bounds],
) -> list[LossEpisode]:
    """Every episode, narrowed by the audits of its ids, and those of which no live round knows.

    Of audits whose windows overlap the one that found most counts. Where several episodes lie in one window, each of
    its ids belongs to the nearest. `estimated` scales sampled ids, as for the episodes.
    """
    found = list(episodes)
    shares: list[list[Share]] = [[] for _ in found]
    for audit in apart(audits):
        near = [number for number, episode in enumerate(found) if _meet(episode, audit)]
        if not near and audit.ids:
            found.append(_nothing_seen(audit, shared))
            shares.append([Share(audit, audit.ids, is_all=True)])
        elif near:
            for number, ids in zip(near, _shared_out(audit, [found[number] for number in near]), strict=True):
                shares[number].append(Share(audit, ids, is_all=len(near) == 1))
    return [_joined(one, own, estimated) if own else one for one, own in zip(found, shares, strict=True)]


def apart(audits: Iterable[AuditedLosses]) -> list[AuditedLosses]:
    """Those that share no offset, the ones that found most first."""
    chosen: list[AuditedLosses] = []
    for audit in sorted(audits, key=lambda audit: (-audit.ids_lost, audit.partition, audit.first_offset)):
        if not any(audit.partition == other.partition and _overlap(audit, other) for other in chosen):
            chosen.append(audit)
    return chosen


def _overlap(one: AuditedLosses, other: AuditedLosses) -> bool:
    return one.first_offset < other.next_offset and other.first_offset < one.next_offset


def _meet(episode: LossEpisode, audit: AuditedLosses) -> bool:
    return episode.partition == audit.partition and any(map(audit.holds, (*episode.lost, *episode.late)))


def _shared_out(audit: AuditedLosses, episodes: Sequence[LossEpisode]) -> list[tuple[LostId, ...]]:
    shares: list[list[LostId]] = [[] for _ in episodes]
    for one in audit.ids:
        distances = [min(abs(one.offset - other.offset) for other in (*e.lost, *e.late)) for e in episodes]
        shares[distances.index(min(distances))].append(one)
    return [tuple(share) for share in shares]


def _joined(
    episode: LossEpisode, shares: Sequence[Share], estimated: Callable[[Sequence[LostId]], Bounds]
) -> LossEpisode:
    """What came late, by whoever saw it, is not lost."""
    told = [one for share in shares for one in share.ids] + [*episode.late, *episode.lost]
    late = {one.offset: one for one in told if one.is_late}
    lost = {one.offset: one for one in told if one.offset not in late}
    outside = [one for one in episode.lost if not any(share.audit.holds(one) for share in shares)]
    counts = [_counted(share, lost.keys(), late.keys()) for share in shares]
    beside = estimated(outside) if outside else Bounds(0, 0, 0, Unit.MESSAGE_IDS)
    newest = max(shares, key=lambda share: share.audit.decided_at_ms).audit
    return replace(
        episode,
        lost=tuple(lost[offset] for offset in sorted(lost)),
        late=tuple(late[offset] for offset in sorted(late)),
        total=_sum([*counts, beside]),
        sampling_rate=min((one.sampling_rate for one in outside), default=1.0),
        decided_at_ms=_decided_at_ms(lost.values(), late.values(), shares),
        changed_at_ms=max(episode.changed_at_ms, newest.decided_at_ms),
        sink_read_to=newest.sink_read_to if newest.decided_at_ms > episode.decided_at_ms else episode.sink_read_to,
        audited=tuple(sorted((share.audit.first_offset, share.audit.next_offset) for share in shares)),
    )


def _decided_at_ms(lost: Collection[LostId], late: Collection[LostId], shares: Iterable[Share]) -> int:
    """What an audit counted beyond the ids that are known one by one was called lost when it was done."""
    beyond = [share.audit.decided_at_ms for share in shares if _unlisted(share.audit)]
    return max([*(one.decided_at_ms for one in lost or late), *beyond])


def _unlisted(audit: AuditedLosses) -> int:
    return audit.ids_lost - sum(not one.is_late for one in audit.ids)


def _counted(share: Share, lost: Collection[int], late: Collection[int]) -> Bounds:
    """Of the ids in the audit's window those of this episode; of ids not known one by one all may be, or none."""
    audit = share.audit
    inside = sum(audit.first_offset <= offset < audit.next_offset for offset in lost)
    came = sum(1 for one in share.ids if not one.is_late and one.offset in late)
    if share.is_all:
        exact = max(inside, audit.ids_lost - came)
        return Bounds(exact, exact, exact, Unit.MESSAGE_IDS)
    return Bounds(inside, inside, inside + _unlisted(audit), Unit.MESSAGE_IDS)


def _sum(parts: Iterable[Bounds]) -> Bounds:
    known = list(parts)
    upper = [part.upper for part in known if part.upper is not None]
    return Bounds(
        sum(part.lower for part in known),
        sum(part.lower if part.estimate is None else part.estimate for part in known),
        sum(upper) if len(upper) == len(known) else None,
        Unit.MESSAGE_IDS,
    )


def _nothing_seen(audit: AuditedLosses, shared: LossAudit) -> LossEpisode:
    own = {name: getattr(shared, name) for name in LossAudit.__dataclass_fields__}
    own |= {"sink_read_to": audit.sink_read_to, "partition": audit.partition, "lost": (), "late": ()}
    own |= {"decided_at_ms": audit.decided_at_ms, "changed_at_ms": audit.decided_at_ms}
    return LossEpisode(**own, total=Bounds(0, 0, 0, Unit.MESSAGE_IDS), sampling_rate=1.0)
