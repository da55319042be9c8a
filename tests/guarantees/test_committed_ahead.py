import pytest

from guarantees.findings import Grade, Kind
from tests.guarantees.builders import NOBODY, at, finding, findings, seen, state

AHEAD = Kind.COMMITTED_AHEAD


def test_a_commit_beyond_the_end_in_two_rounds_is_reported_without_a_lag():
    found = finding(seen(0, high=100, committed=150), seen(5, high=110, committed=150), kind=AHEAD)

    assert (found.grade, found.anchor) == (Grade.PROVEN, "commit 150")
    assert (found.bounds.lower, found.bounds.upper) == (40, 40)


@pytest.mark.parametrize(
    "rounds",
    [
        (seen(0, high=100, committed=150),),
        (seen(0, high=100, committed=150), seen(5, high=150, committed=150)),
        (seen(0, high=100, committed=150), seen(5, high=150, committed=150), seen(10, high=160, committed=161)),
        (seen(0, high=100, committed=100), seen(5, high=100, committed=100)),
        (seen(0, high=NOBODY, committed=150), seen(5, high=NOBODY, committed=150)),
        (seen(0, high=100, committed=150), seen(5, high=100, committed=150, topic_id="topic-id-2")),
    ],
    ids=["once", "grew", "twice, not in a row", "at the end", "end unknown", "another topic"],
)
def test_what_is_not_ahead(rounds):
    assert not findings(*rounds, kind=AHEAD)


def test_of_a_topic_that_was_made_anew_a_commit_must_be_ahead_twice_again():
    old, *anew = (seen(s, high=100, committed=150, topic_id=topic) for s, topic in ((0, "a"), (5, "b"), (10, "b")))
    found = finding(old, *anew, kind=AHEAD)

    assert (found.place.topic_id, found.happened_at_ms) == ("b", at(5.01))


def test_a_group_whose_commits_move_while_ahead_has_one_finding():
    rounds = [seen(s, high=100, committed=150 + s) for s in (0, 5, 10, 15)]

    assert finding(*rounds, kind=AHEAD).bounds.upper == 65


def test_it_closes_when_the_log_reaches_the_commit():
    rounds = (seen(0, high=100, committed=150), seen(5, high=110, committed=150), seen(10, high=150, committed=150))

    assert finding(*rounds, kind=AHEAD).closed_reason


def test_the_likeliest_cause_comes_first():
    cut = (seen(0, high=200, committed=150), seen(5, high=100, epoch=1, committed=150))
    causes = finding(*cut, seen(10, high=100, epoch=1, committed=150), kind=AHEAD).evidence["possible_causes"]
    empty = [seen(s, high=100, committed=150, members=()) for s in (0, 5)]

    assert causes[0].startswith("a cut of the log (")
    assert "MirrorMaker" in finding(*empty, kind=AHEAD).evidence["possible_causes"][0]


@pytest.mark.parametrize(("metadata_epoch", "found"), [(0, 1), (1, 0)])
def test_an_answer_older_than_the_metadata_of_its_own_round_is_no_sample(metadata_epoch, found):
    first = seen(0, high=100, committed=150, epoch=0)
    second = seen(5, high=100, committed=150, isr=state(epoch=metadata_epoch, second=5), epoch=0)

    assert len(findings(first, second, kind=Kind.COMMITTED_AHEAD)) == found


def test_it_says_what_is_true_now_and_not_what_opened_it():
    found = finding(*[seen(s, high=100 + s, committed=150 + 3 * s) for s in (0, 5, 10)], kind=AHEAD)

    assert found.title == "payments has committed 70 offsets beyond the end of orders-0"
    assert found.statements[0].text.startswith("Commit 180 ")
    assert found.statements[1].text.startswith("Up to 70 records still to be written below 180 ")
    assert (found.evidence["committed_offset"], found.evidence["high_watermark"]) == (180, 110)
    assert found.evidence["first_seen_ahead_at_ms"] == found.happened_at_ms


def test_its_likeliest_cause_follows_the_members():
    rounds = [seen(s, high=100, committed=150) for s in (0, 5)]
    left = finding(*rounds, seen(10, high=100, committed=150, members=()), kind=AHEAD)

    assert (left.evidence["members"], "MirrorMaker" in left.evidence["possible_causes"][0]) == (0, True)
    assert "such a commit: offsets copied" in left.statements[2].text


def test_it_waits_where_the_end_or_the_commit_is_not_known():
    rounds = [seen(s, high=100, committed=150) for s in (0, 5)]

    for unknown in (seen(10, high=NOBODY, committed=150), seen(10, high=100, committed=NOBODY)):
        assert finding(*rounds, unknown, kind=AHEAD) == finding(*rounds, kind=AHEAD)
