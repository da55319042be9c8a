"""The rules about the log over a restart at any round: what is written is the same as without one."""

import pytest

from guarantees.findings import Kind
from tests.guarantees import test_commit_epochs as commit_epochs
from tests.guarantees import test_tail as tail
from tests.guarantees import test_topic_changes as topic_changes
from tests.guarantees import test_unclean_election as unclean
from tests.guarantees.builders import seen, state, steps
from tests.guarantees.test_watch import as_written, written

SINGLE_COPY = [seen(s, isr=state([1, 2] if s in (0, 20) else [1], second=s), min_isr=1) for s in steps(0, 20)]
HISTORIES = {
    Kind.UNCLEAN_ELECTION: [
        unclean.BEFORE,
        unclean.checked(5, 4, 1400),
        unclean.checked(10, 4, 1400),
        unclean.led(15, [1, 2, 3], 5, 3),
    ],
    Kind.TAIL_TRUNCATED: [
        tail.old(),
        tail.new(5, high=1195, end=1195, ends=tail.told(3, 1180, 5)),
        tail.new(10, high=1195, end=1195, ends=tail.told(3, 1180, 10)),
        tail.new(15, high=1195, end=1195),
    ],
    Kind.COMMIT_IN_TRUNCATED_LOG: [
        *(commit_epochs.at_second(s, 219, end=163) for s in (0, 5)),
        commit_epochs.at_second(10, 850, epoch=2),
    ],
    Kind.WRONG_COMMIT_EPOCH: [
        commit_epochs.at_second(0, 160, end=163),
        commit_epochs.at_second(5, 600, end=163),
        commit_epochs.at_second(10, 700),
        commit_epochs.at_second(15, 800),
    ],
    Kind.COMMIT_OF_OLD_TOPIC: [
        topic_changes.OLD,
        *(topic_changes.topic(s, topic_changes.NEW_ID, 10, 5) for s in (5, 10)),
        topic_changes.topic(15, topic_changes.NEW_ID, 10, 8),
    ],
    Kind.PARTITIONS_ADDED: [
        topic_changes.partitioned(0, 3, committed=50),
        topic_changes.partitioned(5, 6, committed=50),
        topic_changes.partitioned(10, 6, committed=100),
    ],
    Kind.AT_MIN_ISR: SINGLE_COPY,
}


@pytest.mark.parametrize(("kind", "rounds"), HISTORIES.items(), ids=[str(kind) for kind in HISTORIES])
def test_a_restart_at_any_round_changes_nothing_that_is_written(kind, rounds):
    whole = written(rounds)

    assert kind in {history.finding.kind for history in whole.values()}
    for restart in range(1, len(rounds)):
        assert as_written(written(rounds, {restart})) == as_written(whole)
    assert as_written(written(rounds, set(range(1, len(rounds))))) == as_written(whole)
