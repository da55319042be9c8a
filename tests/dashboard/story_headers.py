"""Histories of logs whose batch headers are read round by round, as the collector reads them, and what it missed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from store.log import SegmentLog
from store.log_end_minute import LOG_ENDS_BY_MINUTE
from store.minutes import roll_up

START_MS = 1_764_000_000_000 // 60_000 * 60_000
STEP_S = 5
SILENT_S = 60  # what was written since a last round that is younger will be read by the next
KNOWN = {"cluster_id": "c", "topic": "t"}


@dataclass
class Partition:
    """Times in seconds since the history began. `written`: when each offset was; `refused`: when it may not be read;
    `unreachable`: when its leader answers nothing; `at_most`: offsets that one reading brings; `purged`: below which
    offset retention removed all; `cut`: to which end.
    """

    written: Sequence[int]
    refused: Collection[int] = ()
    unreachable: Collection[int] = ()
    at_most: int = 1_000_000
    purged: Mapping[int, int] = field(default_factory=dict)
    cut: Mapping[int, int] = field(default_factory=dict)


@dataclass
class _Reading:
    """One partition's log and how far it is read; offsets are called by their number and the time they were written."""

    number: int
    partition: Partition
    log: list[tuple[int, int]] = field(default_factory=list)
    read: set[tuple[int, int]] = field(default_factory=set)
    log_start_offset: int = 0
    position: int = 0
    break_reason: str | None = None

    def pass_second(self, second: int) -> None:
        del self.log[self.partition.cut.get(second, len(self.log)) :]
        self.log += [(len(self.log), second)] * self.partition.written.count(second)
        self.log = [(offset, at) for offset, (_, at) in enumerate(self.log)]
        self.log_start_offset = self.partition.purged.get(second, self.log_start_offset)

    def look(self, second: int) -> dict[str, object] | None:
        """The range that a round stores; None where nothing is due."""
        is_at_end = self.position == len(self.log) and second not in self.partition.unreachable
        if is_at_end and self.break_reason is None:
            return None
        first, reason = self.position, self.break_reason
        problem = self._problem(second)
        if problem is None:
            end = min(len(self.log), first + self.partition.at_most)
            self.read |= set(self.log[first:end])
            self.position, self.break_reason = end, None
        return KNOWN | {
            "topic_id": f"id-{self.number}", "partition": self.number, "first_offset": first, "break_reason": reason,
            "next_offset": first if problem else self.position, "problem": problem, "observed_at": at(second) + 400,
        }  # fmt: skip

    def _problem(self, second: int) -> str | None:
        if second in self.partition.refused or second in self.partition.unreachable:
            return "TOPIC_AUTHORIZATION_FAILED" if second in self.partition.refused else "the leader did not answer"
        if self.log_start_offset <= self.position <= len(self.log):
            return None
        is_purged = self.position < self.log_start_offset
        self.break_reason = "retention removed the offsets" if is_purged else "the log was cut"
        self.position = self.log_start_offset if is_purged else len(self.log)
        return "the log does not hold this offset any more"

    def sample(self, second: int) -> dict[str, object]:
        end = None if second in self.partition.unreachable else len(self.log)
        return KNOWN | {
            "tick": second, "topic_id": f"id-{self.number}", "partition": self.number, "broker": 1,
            "high_watermark": end, "observed_at": at(second),
        }  # fmt: skip


def at(second: int) -> int:
    return START_MS + 1_000 * second


def tell(
    log: SegmentLog, data_dir: Path, minutes: int, partitions: Sequence[Partition], away: Collection[int]
) -> set[int]:
    """Store the history and return the minutes of which something that the logs held at last or purged was not read.

    `away`: the seconds in which nobody looked.
    """
    readings = [_Reading(number, partition) for number, partition in enumerate(partitions)]
    rounds: list[dict[str, object]] = []
    samples: list[dict[str, object]] = []
    ranges: list[dict[str, object]] = []
    for second in range(minutes * 60):
        for one in readings:
            one.pass_second(second)
        if second % STEP_S == 2 and second not in away:
            rounds.append({
                "cluster_id": "c", "cluster": "x", "tick": second, "signal": "end_offsets", "asked": 1, "answered": 1,
                "observed_at": at(second) + 100, "interval_ms": STEP_S * 1_000,
            })  # fmt: skip
            samples += [one.sample(second) for one in readings]
            ranges += filter(None, [one.look(second) for one in readings])
    for table, rows in (("rounds", rounds), ("partition_offsets", samples), ("header_ranges", ranges)):
        log.append(table, rows)
    roll_up(data_dir, LOG_ENDS_BY_MINUTE, at((minutes - 1) * 60))
    last = max((int(str(row["tick"])) for row in rounds), default=-1)
    grows_since = last if minutes * 60 - last <= SILENT_S else minutes * 60
    unread = {written for one in readings for _, written in set(one.log) - one.read}
    return {written // 60 for written in unread if written <= grows_since}
