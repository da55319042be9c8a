import pytest

from guarantees.findings import Grade
from guarantees.rules import missing_sequences, sequence_gap
from guarantees.unknown import Unknown
from tests.guarantees.logs import COMMIT, batch, found_by, marker, scan

WRAP = 2**31
FIRST = batch(0, 5, pid=9, seq=0)


def gaps(*batches, **read):
    return found_by(sequence_gap, [scan(*batches, **read)])


def test_a_gap_that_nothing_explains_is_information_and_no_loss():
    (finding,) = gaps(FIRST, batch(5, pid=9, seq=8))

    assert finding.anchor == "producer 9, epoch 0, offset 5"
    assert (finding.severity, finding.bounds, finding.evidence["gap"]) == (1, None, 3)
    assert [one.grade for one in finding.statements] == [Grade.PROVEN, Grade.NOT_OBSERVABLE]
    assert "unexplained sequence gap" in finding.statements[0].text
    assert found_by(missing_sequences, [scan(FIRST, batch(5, pid=9, seq=8))]) == []


@pytest.mark.parametrize(
    ("second", "read"),
    [
        pytest.param(batch(5, pid=9, seq=5), {}, id="the next sequence"),
        pytest.param(batch(6, pid=9, seq=8), {}, id="offsets are missing too"),
        pytest.param(batch(5, pid=9, seq=8), {"policy": "compact"}, id="a compacted topic"),
        pytest.param(batch(5, pid=9, seq=8), {"policy": Unknown("not asked")}, id="an unknown policy may compact"),
        pytest.param(batch(5, pid=9, epoch=1, seq=8), {}, id="another epoch"),
        pytest.param(batch(5, pid=8, seq=8), {}, id="another producer"),
        pytest.param(batch(5, pid=9, seq=3), {}, id="a repeat"),
        pytest.param(marker(5, COMMIT, pid=9), {}, id="a marker"),
    ],
)
def test_what_is_explained_is_silent(second, read):
    assert gaps(FIRST, second, **read) == []


def test_a_hole_before_the_producers_last_batch_explains_nothing_after_it():
    assert len(gaps(FIRST, batch(6, pid=9, seq=5), batch(7, pid=9, seq=8))) == 1


def test_the_wrap_to_0_is_no_gap():
    assert gaps(batch(0, 5, pid=9, seq=WRAP - 5), batch(5, pid=9, seq=0)) == []
    assert len(gaps(batch(0, 5, pid=9, seq=WRAP - 5), batch(5, pid=9, seq=1))) == 1


def test_a_repeat_does_not_move_what_comes_next():
    assert gaps(FIRST, batch(5, 2, pid=9, seq=0), batch(7, pid=9, seq=5)) == []


def test_after_a_marker_alone_no_sequence_is_expected():
    assert gaps(marker(0, COMMIT, pid=9), batch(1, pid=9, seq=8)) == []
