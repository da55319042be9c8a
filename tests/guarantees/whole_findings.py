"""One finding of each kind, whole: what a reader of the evidence panel gets, kept as text files beside this module.

`python -m tests.guarantees.whole_findings` writes the files anew; the difference is for a person to read.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from guarantees.audits import DuplicateCause
from guarantees.findings import Bounds, Finding, Kind, Unit
from guarantees.rules import odd_timestamps
from guarantees.rules.aborted_reads import aborted_read_findings
from guarantees.rules.conflicting_offsets import conflict_findings
from guarantees.rules.duplicates import duplicate_findings
from guarantees.rules.losses import loss_episodes, loss_findings
from guarantees.rules.out_of_order import order_findings
from tests.guarantees import test_aborted_reads, test_conflicting_offsets, test_out_of_order
from tests.guarantees.builders import (
    PARTITION,
    T0,
    at,
    complete,
    finding,
    member,
    producer,
    replica,
    seen,
    state,
    steps,
    transaction,
)
from tests.guarantees.logs import batch, found_by, scan
from tests.guarantees.test_duplicates import GROUP, WRITER
from tests.guarantees.test_losses import AUDIT, exact, lost
from tests.guarantees.whole_batches import WHOLE_BATCHES
from tests.guarantees.whole_endings import WHOLE_ENDINGS
from tests.guarantees.whole_offsets import WHOLE_OFFSETS

DIRECTORY = Path(__file__).parent / "whole_findings"
TWO = (member("m1", PARTITION), member("m2"))


def rewind() -> Finding:
    before = seen(0, high=9000, committed=500, commit_epoch=3, members=TWO)
    return finding(before, seen(5, high=9000, start=20, committed=10, commit_epoch=3), kind=Kind.REWIND)


def rewind_by_an_operator() -> Finding:
    rounds = [seen(s, high=900, committed=c, members=()) for s, c in ((0, 500), (5, 300))]
    return finding(*rounds, kind=Kind.REWIND)


def group_stopped() -> Finding:
    return finding(
        *[seen(s, high=200 + int(s), committed=100, members=()) for s in steps(0, 65)], kind=Kind.GROUP_STOPPED
    )


def group_stalled() -> Finding:
    return finding(*[seen(s, high=200 + int(s), committed=100) for s in steps(0, 125)], kind=Kind.GROUP_STALLED)


def expired_unread() -> Finding:
    rounds = (seen(0, high=900, start=0, committed=100), seen(5, high=900, start=400, committed=100))
    return finding(*rounds, kind=Kind.EXPIRED_UNREAD)


def log_truncated() -> Finding:
    rounds = (
        seen(0, high=1500, committed=1400, isr=state([1]), replicas=(replica(1, 1520), replica(2, 1100))),
        seen(5, high=1100, epoch=1, committed=1400, isr=state([2], leader=2, epoch=1, second=5)),
    )
    return finding(*rounds, kind=Kind.LOG_TRUNCATED)


def committed_ahead() -> Finding:
    return finding(*[seen(s, high=100, committed=150, members=()) for s in (0, 5)], kind=Kind.COMMITTED_AHEAD)


def below_min_isr() -> Finding:
    rounds = [seen(0, isr=state()), *[seen(s, isr=state([1], second=s)) for s in steps(5, 30)]]
    return finding(*rounds, kind=Kind.BELOW_MIN_ISR)


def stable_offset_frozen() -> Finding:
    rounds = [
        seen(
            s,
            high=300 + int(s),
            stable=200,
            committed=200,
            producers=(producer(200),),
            transactions=(transaction(PARTITION, timeout_s=60),),
            coverage=(complete("transactions"),),
        )
        for s in steps(0, 55)
    ]
    return finding(*rounds, kind=Kind.STABLE_OFFSET_FROZEN)


def possible_redelivery() -> Finding:
    rounds = [seen(s, high=500 + int(s), committed=400, members=TWO) for s in steps(0, 20)]
    return finding(
        *rounds, seen(25, high=530, committed=400, members=[member("m2", PARTITION)]), kind=Kind.POSSIBLE_REDELIVERY
    )


def falling_behind() -> Finding:
    rounds = [seen(s, committed=1000 + int(s), high=1100 + 2 * int(s)) for s in steps(0, 130)]
    return finding(*rounds, kind=Kind.FALLING_BEHIND)


def odd_timestamps_of_the_future() -> Finding:
    (found,) = found_by(odd_timestamps, [scan(replace(batch(7, 3), max_timestamp_ms=at(7_200)))])
    return found


def odd_timestamps_near_1970() -> Finding:
    (found,) = found_by(odd_timestamps, [scan(replace(batch(7, 3), max_timestamp_ms=332_800_244))])
    return found


def duplicate_write() -> Finding:
    (found,) = duplicate_findings([GROUP], [WRITER], at(9))
    return found


def duplicate_write_of_the_same_sequence() -> Finding:
    (found,) = duplicate_findings([replace(GROUP, cause=DuplicateCause.SAME_SEQUENCE)], [WRITER], at(9))
    return found


def duplicate_write_that_is_estimated() -> Finding:
    group = replace(
        GROUP,
        cause=DuplicateCause.NOT_IDEMPOTENT,
        producer_id=None,
        producer_epoch=None,
        extra_copies=Bounds(1200, 1280, 1360, Unit.MESSAGE_IDS),
        sampling_rate=1 / 16,
    )
    (found,) = duplicate_findings([group], [], at(9))
    return found


def aborted_at_sink() -> Finding:
    ids = [replace(test_aborted_reads.aborted(5, 20), sampling_rate=0.25), test_aborted_reads.aborted(7, 21)]
    (found,) = aborted_read_findings(
        test_aborted_reads.AUDIT, ids, lambda _: Bounds(2, 8, 30, Unit.MESSAGE_IDS), at(100)
    )
    return found


def out_of_order() -> Finding:
    (found,) = order_findings([test_out_of_order.GROUP], at(9))
    return found


def conflicting_offset_on_a_replica() -> Finding:
    (found,) = conflict_findings([test_conflicting_offsets.COPY], [WRITER])
    return found


def conflicting_offset_since_it_was_read_earlier() -> Finding:
    (batch, *_) = test_conflicting_offsets.COPY.batches
    copy = replace(test_conflicting_offsets.COPY, replica=None, batches=(batch,), is_all=False)
    (found,) = conflict_findings([copy], [])
    return found


def lost_write() -> Finding:
    ids = [lost(5, 20, rate=0.25), lost(7, 21), lost(6, 22, late=True)]
    (found,) = loss_findings(loss_episodes(AUDIT, {3: ids}, lambda _: Bounds(2, 8, 30, Unit.MESSAGE_IDS)))
    return found


def lost_write_of_one_to_one() -> Finding:
    (found,) = loss_findings(loss_episodes(replace(AUDIT, is_one_to_one=True), {0: [lost(5, 20)]}, exact))
    return found


WHOLE: Mapping[str, Callable[[], Finding]] = (
    {
        each.__name__: each
        for each in (
            rewind,
            rewind_by_an_operator,
            group_stopped,
            group_stalled,
            expired_unread,
            log_truncated,
            committed_ahead,
            below_min_isr,
            stable_offset_frozen,
            possible_redelivery,
            falling_behind,
            odd_timestamps_of_the_future,
            odd_timestamps_near_1970,
            duplicate_write,
            duplicate_write_of_the_same_sequence,
            duplicate_write_that_is_estimated,
            aborted_at_sink,
            out_of_order,
            conflicting_offset_on_a_replica,
            conflicting_offset_since_it_was_read_earlier,
            lost_write,
            lost_write_of_one_to_one,
        )
    }
    | WHOLE_BATCHES
    | WHOLE_OFFSETS
    | WHOLE_ENDINGS
)


def written_out(found: Finding) -> str:
    """Every field, one a line; times in seconds of the history."""
    place, bounds = found.place, found.bounds
    lines = [
        f"{found.kind}, severity {found.severity}, {found.state}",
        found.title,
        f"place: {place.cluster_id} {place.topic} {place.topic_id} {place.partition} {place.group_id}",
        f"anchor: {found.anchor}",
        f"pipeline: {found.pipeline}",
        f"closed because: {found.closed_reason}",
        "bounds: none" if bounds is None else f"bounds: {bounds.lower} {bounds.estimate} {bounds.upper} {bounds.unit}",
        f"happened at {_seconds(found.happened_at_ms)}, last seen at {_seconds(found.last_seen_at_ms)}",
        *[f"{s.grade}: {s.text}" + (f" [if {s.assumption}]" if s.assumption else "") for s in found.statements],
        *[f"{name} = {_value(name, value)}" for name, value in found.evidence.items()],
    ]
    return "\n".join(lines) + "\n"


def _seconds(time_ms: int) -> str:
    return f"{(time_ms - T0) / 1000:g} s"


def _value(name: str, value: object) -> object:
    return _seconds(value) if name.endswith("at_ms") and isinstance(value, int) else value


if __name__ == "__main__":
    for name, make in WHOLE.items():
        (DIRECTORY / f"{name}.txt").write_text(written_out(make()))
