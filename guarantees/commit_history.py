"""Commits in the order of their log, thinned: which of them are kept, and which one each follows.

A busy group commits more often than anybody will ask. Kept are, of each group and partition, the last commit of a
second, every commit that fell or was deleted with the one before it, and of repetitions of the same offset one a
minute. What is left out lies between two kept ones and only moved forward.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from guarantees.internal_records import Committed, Logged, OffsetCommit
from guarantees.places import GroupPartition
from guarantees.unknown import Unknown

NOT_READ = Unknown("the commit before it was not read")
SECOND_MS, MINUTE_MS = 1_000, 60_000


@dataclass(frozen=True, slots=True)
class CommitEvent:
    """A commit, and the kept one before it: None where there was none, Unknown where it was not read.

    `committed` None: the commit was deleted. `commits`: how many the event stands for, itself included.
    """

    place: GroupPartition
    record: Logged
    committed: Committed | None
    before: Committed | Unknown | None
    commits: int

    @property
    def is_backward(self) -> bool:
        """The group would read again what it had committed."""
        return _is_backward(self.before, self.committed)


def commit_events(
    known: Mapping[GroupPartition, Committed | None], records: Iterable[Logged]
) -> tuple[Mapping[GroupPartition, Committed | None], list[CommitEvent]]:
    """What is known of each partition afterwards, and the commits to keep, in the order of the log."""
    found = [(record, record.content) for record in records if isinstance(record.content, OffsetCommit)]
    if not found:
        return known, []
    newest, kept = dict(known), _Kept()
    for record, commit in found:
        before, now = newest.get(commit.place, NOT_READ), commit.committed
        if _is_repetition(before, now):
            continue
        kept.add(CommitEvent(commit.place, record, now, before, 1))
        newest[commit.place] = now
    return newest, kept.in_order()


class _Kept:
    """The events of one reading; the newest of each place may still be overtaken within its second."""

    def __init__(self) -> None:
        self._settled: list[CommitEvent] = []
        self._newest: dict[GroupPartition, CommitEvent] = {}

    def add(self, event: CommitEvent) -> None:
        last = self._newest.get(event.place)
        if last is not None and _is_overtaken(last, event):
            event = replace(event, before=last.before, commits=last.commits + 1)
        elif last is not None:
            self._settled.append(last)
        self._newest[event.place] = event

    def in_order(self) -> list[CommitEvent]:
        found = [*self._settled, *self._newest.values()]
        return sorted(found, key=lambda event: (event.record.partition, event.record.offset))


def _is_overtaken(last: CommitEvent, event: CommitEvent) -> bool:
    """Both moved forward within one second: the later one says all."""
    if last.committed is None or event.committed is None or last.is_backward or event.is_backward:
        return False
    return last.committed.committed_at_ms // SECOND_MS == event.committed.committed_at_ms // SECOND_MS


def _is_repetition(before: Committed | Unknown | None, now: Committed | None) -> bool:
    if before is None or now is None or isinstance(before, Unknown):
        return before is None and now is None
    is_same = (before.offset, before.leader_epoch, before.metadata) == (now.offset, now.leader_epoch, now.metadata)
    return is_same and before.committed_at_ms // MINUTE_MS == now.committed_at_ms // MINUTE_MS


def _is_backward(before: Committed | Unknown | None, now: Committed | None) -> bool:
    return isinstance(before, Committed) and now is not None and now.offset < before.offset
