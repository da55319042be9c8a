from spark_jobs.ranges import Part
from spark_jobs.retries import FIRST_PAUSE_MS, LONGEST_PAUSE_MS, Retries

PART, OTHER = Part("c", "orders", "t", 0), Part("c", "orders", "t", 1)


def test_failed_partition_rests_and_is_tried_again():
    retries = Retries()
    retries.note(PART, "no answer", 1_000)

    assert retries.resting([PART, OTHER], 1_000 + FIRST_PAUSE_MS - 1) == {PART: "no answer"}
    assert retries.resting([PART], 1_000 + FIRST_PAUSE_MS) == {}


def test_pause_doubles_up_to_a_minute():
    retries = Retries()
    pauses = []
    for _ in range(10):
        retries.note(PART, "no answer", 0)
        pauses.append(next(ms for ms in range(0, 10**6, 500) if not retries.resting([PART], ms)))

    assert pauses[:3] == [1_000, 2_000, 4_000]
    assert pauses[-1] == LONGEST_PAUSE_MS


def test_success_ends_the_rest():
    retries = Retries()
    retries.note(PART, "no answer", 0)
    retries.note(PART, None, 0)
    retries.note(PART, "again", 0)

    assert retries.resting([PART], FIRST_PAUSE_MS) == {}
