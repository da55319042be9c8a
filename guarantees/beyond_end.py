"""Who committed beyond the new end of a log that was cut, and of how many groups that is not known."""

from collections.abc import Sequence
from dataclasses import dataclass

from guarantees.amounts import counted
from guarantees.findings import Evidence, Grade, Statement
from guarantees.triage import Reading

NAMED = 5


@dataclass(frozen=True, slots=True)
class Readers:
    """Known commits on a partition, and the groups whose commit there was not known in the round, both by group."""

    known: Sequence[Reading]
    unknown: Sequence[str]


@dataclass(frozen=True, slots=True)
class BeyondEnd:
    """Commits above `first_lost`, the first offset that is gone, and the groups whose commits were not known."""

    first_lost: int
    commits: Sequence[Reading]
    unknown: Sequence[str]

    @property
    def evidence(self) -> Evidence:
        groups = [{"group_id": r.key.group_id, "committed_offset": r.committed_offset} for r in self.commits]
        return {"groups_beyond_end": groups, "groups_unknown": len(self.unknown)}

    @property
    def named(self) -> str:
        """The groups with their commits."""
        return ", ".join(f"{r.key.group_id} ({r.committed_offset:,})" for r in self.commits)

    @property
    def not_observed(self) -> tuple[Statement, ...]:
        """That more groups may be beyond the end, where there are any of which it is not known."""
        if not self.unknown:
            return ()
        more = f" and {len(self.unknown) - NAMED:,} more" if len(self.unknown) > NAMED else ""
        text = (
            f"Whether {counted(len(self.unknown), 'group')} committed beyond {self.first_lost:,}, whose commits were "
            f"not known in this round: {', '.join(self.unknown[:NAMED])}{more}."
        )
        return (Statement(Grade.NOT_OBSERVABLE, text),)


def beyond_end(readers: Readers, first_lost: int) -> BeyondEnd:
    """A commit is the next offset to read: at the first lost one, nothing of what is gone was read."""
    return BeyondEnd(first_lost, [r for r in readers.known if r.committed_offset > first_lost], readers.unknown)
