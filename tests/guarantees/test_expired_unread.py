from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from tests.guarantees.builders import NOBODY, PARTITION, at, finding, findings, seen

EXPIRED = Kind.EXPIRED_UNREAD
BEFORE = seen(0, high=900, start=0, committed=300)


def test_a_log_start_beyond_the_commit_is_a_hole():
    found = finding(BEFORE, seen(5, high=900, start=400, committed=300), kind=EXPIRED)

    assert (found.severity, found.grade, found.anchor) == (4, Grade.PROVEN, "commit 300")
    assert (found.bounds.lower, found.bounds.upper) == (0, 100)
    assert found.statements[1].grade is Grade.POSSIBLE


def test_an_empty_group_loses_less():
    rounds = (seen(0, high=900, committed=300, members=()), seen(5, high=900, start=400, committed=300, members=()))

    assert finding(*rounds, kind=EXPIRED).severity == 2


@pytest.mark.parametrize(
    "rounds",
    [
        (BEFORE, seen(5, high=900, start=300, committed=300)),
        (seen(0, high=900, start=400, committed=300), seen(5, high=900, start=500, committed=300)),
        (seen(0, high=301, committed=300), seen(5, high=301, start=301, committed=300)),
        (seen(0, high=300, committed=300), seen(5, high=300, start=300, committed=300)),
        (BEFORE, seen(5, high=900, start=NOBODY, committed=300)),
        (BEFORE, seen(5, high=900, start=400, committed=300, topic_id="topic-id-2")),
        (seen(0, high=302, committed=300), seen(5, high=302, start=302, committed=300)),
        (seen(0, high=900, start=NOBODY, committed=300), seen(5, high=900, start=400, committed=300)),
    ],
    ids=[
        "up to the commit",
        "abandoned before",
        "marker only",
        "idle topic",
        "start unknown",
        "another topic",
        "two markers",
        "start before unknown",
    ],
)
def test_what_is_not_a_hole(rounds):
    assert not findings(*rounds, kind=EXPIRED)


def test_a_log_start_read_after_the_commit_proves_nothing():
    after = seen(5, high=900, start=400, committed=300)
    late = replace(after.partitions[PARTITION], log_start_observed_at_ms=at(6), observed_at_ms=at(6))

    assert not findings(BEFORE, replace(after, partitions={PARTITION: late}), kind=EXPIRED)


def test_the_hole_grows_with_the_log_start_and_shrinks_with_a_late_commit():
    hole = (BEFORE, seen(5, high=900, start=400, committed=300))

    assert finding(*hole, seen(10, high=900, start=450, committed=300), kind=EXPIRED).bounds.upper == 150
    assert finding(*hole, seen(10, high=900, start=400, committed=350), kind=EXPIRED).bounds.upper == 50


def test_the_figure_is_frozen_when_the_group_moves_on():
    rounds = (BEFORE, seen(5, high=900, start=400, committed=300), seen(10, high=900, start=500, committed=500))
    found = finding(*rounds, kind=EXPIRED)

    assert found.bounds.upper == 100
    assert found.closed_reason


def test_a_small_hole_of_a_group_that_was_far_behind_is_reported():
    assert finding(BEFORE, seen(5, high=900, start=301, committed=300), kind=EXPIRED).bounds.upper == 1


def test_it_closes_at_the_log_start_and_not_before():
    hole = (BEFORE, seen(5, high=900, start=400, committed=300))

    assert finding(*hole, seen(10, high=900, start=400, committed=399), kind=EXPIRED).closed_reason is None
    assert finding(*hole, seen(10, high=900, start=400, committed=400), kind=EXPIRED).closed_reason


KEEPS_ALL = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}


@pytest.mark.parametrize(
    ("settings", "grade", "said"),
    [
        (KEEPS_ALL, Grade.PROBABLE, "A delete request moved"),
        ({"cleanup.policy": "compact", "retention.ms": "1000", "retention.bytes": "-1"}, Grade.PROBABLE, "A delete"),
        ({**KEEPS_ALL, "retention.ms": "1000"}, Grade.NOT_OBSERVABLE, "keeps retention.ms=1000"),
        ({**KEEPS_ALL, "cleanup.policy": "compact,delete", "retention.bytes": "9"}, Grade.NOT_OBSERVABLE, "Whether"),
        ({}, Grade.NOT_OBSERVABLE, "how long the topic keeps records is not known"),
    ],
    ids=["keeps all", "compacts only", "by age", "by size", "not known"],
)
def test_only_settings_that_keep_every_record_tell_who_moved_the_log_start(settings, grade, said):
    rounds = [
        seen(0, high=900, committed=300, settings=settings),
        seen(5, high=900, start=400, committed=300, settings=settings),
    ]
    statement = finding(*rounds, kind=EXPIRED).statements[2]

    assert statement.grade is grade
    assert said in statement.text


def test_its_words_grow_with_the_hole():
    found = finding(BEFORE, *(seen(s, high=900, start=400 + 10 * s, committed=300) for s in (5, 10)), kind=EXPIRED)

    assert found.title == "200 offsets of orders-0 were deleted before payments had committed them"
    assert "200 offsets from 300 to 499 can be read no more" in found.statements[0].text
    assert found.statements[1].text.startswith("Up to 200 records may never")
    assert len(found.statements) == 3


@pytest.mark.parametrize(("high", "start"), [(303, 302), (302, 303)], ids=["left unread before", "written since"])
def test_more_than_markers_use_is_a_hole(high, start):
    rounds = (seen(0, high=high, committed=300), seen(5, high=303, start=start, committed=300))

    assert finding(*rounds, kind=EXPIRED).bounds.upper == start - 300


@pytest.mark.parametrize("unknown", [{"high": NOBODY}, {"start": NOBODY}], ids=["no offsets", "no log start"])
def test_its_words_stay_where_the_log_start_is_not_known(unknown):
    hole = (BEFORE, seen(5, high=900, start=400, committed=300))
    opened, later = finding(*hole, kind=EXPIRED), seen(10, **{"high": 900, "committed": 300, **unknown})

    assert finding(*hole, later, kind=EXPIRED) == replace(opened, last_seen_at_ms=at(10.01))


def test_where_the_settings_were_not_read_it_says_only_that_the_mover_is_not_known():
    unread = [replace(one, topic_settings={}) for one in (BEFORE, seen(5, high=900, start=400, committed=300))]

    assert finding(*unread, kind=EXPIRED).statements[2].text == (
        "Whether retention or a delete request moved the log start."
    )
