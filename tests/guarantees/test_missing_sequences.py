import pytest

from guarantees.findings import Bounds, Grade, Unit
from guarantees.rules import missing_sequences
from guarantees.unknown import Unknown
from tests.guarantees.logs import COMMIT, batch, found_by, marker, scan

OLD = batch(100, pid=1, seq=500, leader=3)
NEW = batch(101, 17, pid=2, seq=4, leader=4)
NOBODY = Unknown("not asked")


def missing(*batches, **read):
    return found_by(missing_sequences, [scan(*batches, **({"known": {1}} | read))])


def test_a_new_producer_that_begins_above_0_under_a_new_leader_has_lost_records():
    (finding,) = missing(OLD, NEW)

    assert finding.anchor == "producer 2, epoch 0, offset 101"
    assert (finding.severity, finding.bounds) == (4, Bounds(4, 4, 4, Unit.RECORDS))
    assert [one.grade for one in finding.statements] == [Grade.PROVEN, Grade.PROBABLE, Grade.NOT_OBSERVABLE]
    assert finding.statements[0].text.startswith("The log lacks 4 records (sequences 0-3) of producer 2")
    assert finding.statements[1].assumption == missing_sequences.OLD_LEADER_HELD_THEM
    assert finding.evidence["previous_leader_epoch"] == 3


@pytest.mark.parametrize("batches", [(OLD, batch(101, 17, pid=2, seq=4, leader=3)), (NEW,)])
def test_without_a_change_of_leader_the_loss_is_only_possible(batches):
    (finding,) = missing(*batches)

    assert (finding.severity, finding.grade, finding.statements[1].grade) == (3, Grade.PROVEN, Grade.POSSIBLE)


@pytest.mark.parametrize(
    ("batches", "read"),
    [
        pytest.param((OLD, batch(101, 17, pid=2, seq=0, leader=4)), {}, id="it begins at 0"),
        pytest.param((OLD, NEW), {"known": {1, 2}}, id="the leader knew it before"),
        pytest.param((OLD, NEW), {"start": 101}, id="the log start has passed the range"),
        pytest.param((OLD, NEW), {"policy": "compact"}, id="compaction removes batches"),
        pytest.param((OLD, NEW), {"policy": "compact,delete"}, id="compaction and deletion"),
        pytest.param((batch(100, pid=2, seq=0), NEW), {}, id="seen before"),
        pytest.param((batch(100, pid=2, epoch=5, seq=0), NEW), {}, id="seen before under another epoch"),
        pytest.param((marker(100, COMMIT, pid=2), NEW), {}, id="seen before by a marker"),
        pytest.param((OLD, batch(101, 17, pid=2, seq=4, leader=4, records=0)), {}, id="emptied by compaction"),
        pytest.param((OLD, marker(101, COMMIT, pid=2, leader=4)), {}, id="a marker has no sequence"),
        pytest.param((OLD, batch(101, 17, leader=4)), {}, id="a plain batch has no sequence"),
    ],
)
def test_one_condition_that_does_not_hold_is_silence(batches, read):
    assert missing(*batches, **read) == []


@pytest.mark.parametrize(
    ("read", "name"),
    [
        ({"known": NOBODY}, "whether the producer had written before"),
        ({"start": NOBODY}, "where the log begins"),
        ({"policy": NOBODY}, "whether compaction removes records"),
    ],
)
def test_one_condition_unknown_leaves_a_possible_loss_that_alarms_nobody(read, name):
    (finding,) = missing(OLD, NEW, **read)

    assert (finding.severity, finding.grade, finding.bounds) == (1, Grade.POSSIBLE, Bounds(0, None, 4, Unit.RECORDS))
    assert f"Not known: {name} (not asked)." in finding.statements[0].text
    assert finding.evidence["unknown_condition"] == f"{name} (not asked)"


def test_where_nobody_said_who_is_new_only_a_change_of_leader_counts():
    assert missing(OLD, batch(101, 17, pid=2, seq=4, leader=3), known=NOBODY) == []


def test_two_conditions_unknown_are_silence():
    assert missing(OLD, NEW, known=NOBODY, policy=NOBODY) == []


def test_a_log_read_from_its_first_offset_needs_nobody_to_say_who_is_new():
    (finding,) = missing(batch(0, pid=2, seq=3), known=NOBODY)

    assert finding.grade is Grade.PROVEN


def test_seen_again_it_says_nothing_new():
    (finding,) = missing(OLD, NEW)

    assert missing_sequences.joined(finding, finding) == finding
