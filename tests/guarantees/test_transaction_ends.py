"""What markers tell: fencing, timeouts, torn transactions and restarts that fence nobody."""

from dataclasses import replace

import pytest

from guarantees.findings import Bounds, Grade, Kind, Unit
from guarantees.header_watch import HeaderMemory, HeaderRound, observe_headers
from guarantees.observations import Transaction
from guarantees.places import TopicPartition
from guarantees.rules import producer_fenced, torn_transaction, unfenced_restart
from tests.guarantees.builders import TOPIC, at
from tests.guarantees.logs import ABORT, COMMIT, PLACE, batch, marker, scan

PARTITION, OTHER = TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)
OTHER_PLACE = replace(PLACE, partition=1)


def described(pid=7, *, epoch=0, started=0, timeout_s=60, partitions=(PARTITION,), name="tx", seen=1):
    return Transaction(name, pid, epoch, "Ongoing", timeout_s * 1000, at(started), frozenset(partitions), 1, at(seen))


def data(offset, *, pid=7, epoch=0, seq=0, second=0.0, count=1):
    return batch(offset, count, pid=pid, epoch=epoch, seq=seq, tx=True, second=second)


def shown(*batches, others=(), transactions=(), second=0, memory=None):
    scans = [scan(*batches, second=second)]
    if others:
        scans.append(scan(*others, place=OTHER_PLACE, second=second))
    return observe_headers(memory or HeaderMemory(), HeaderRound(tuple(scans), tuple(transactions), at(second)))[1]


def kinds(findings):
    return [finding.kind for finding in findings]


FENCED = (
    data(0),
    marker(1, COMMIT, pid=7),
    data(2, seq=1),
    marker(3, ABORT, pid=7, epoch=1, second=9),
)


def test_an_abort_under_a_raised_epoch_of_a_producer_that_does_not_raise_it_is_a_fencing():
    (finding,) = shown(*FENCED)

    assert (finding.kind, finding.severity, finding.grade) == (Kind.PRODUCER_FENCED, 1, Grade.PROVEN)
    assert (finding.anchor, finding.place.topic, finding.place.partition) == ("producer 7", TOPIC, None)
    assert finding.evidence["fencings"] == [
        {"data_epoch": 0, "marker_epoch": 1, "topic": TOPIC, "partition": 0, "marker_offset": 3, "ended_at_ms": at(9)}
    ]


def test_without_a_commit_marker_the_next_epoch_tells_a_fencing():
    (finding,) = shown(data(0), marker(1, ABORT, pid=7, epoch=1), data(2, epoch=2))

    assert finding.kind is Kind.PRODUCER_FENCED


@pytest.mark.parametrize(
    "batches",
    [
        pytest.param((data(0), marker(1, ABORT, pid=7, epoch=1)), id="nothing tells yet"),
        pytest.param((data(0), marker(1, ABORT, pid=7, epoch=1), data(2, epoch=1)), id="it goes on under that epoch"),
        pytest.param(
            (
                data(0),
                marker(1, ABORT, pid=7, epoch=1),
                data(2, epoch=1),
                marker(3, ABORT, pid=7, epoch=2),
                data(4, epoch=2),
            ),
            id="it aborts every time and goes on under that epoch",
        ),
        pytest.param(
            (data(0), marker(1, COMMIT, pid=7, epoch=1), data(2, epoch=1), marker(3, ABORT, pid=7, epoch=2)),
            id="it raises its epoch at every end",
        ),
        pytest.param(
            (data(0), marker(1, COMMIT, pid=7), data(2, seq=1), marker(3, ABORT, pid=7)), id="it aborted by itself"
        ),
        pytest.param((data(0), marker(1, COMMIT, pid=7), marker(2, ABORT, pid=7, epoch=1)), id="a marker without data"),
        pytest.param((data(0), marker(1, COMMIT, pid=7), data(2, epoch=2)), id="a restart in order"),
        pytest.param(
            (data(0), marker(1, ABORT, pid=7, epoch=1), marker(3, COMMIT, pid=7, epoch=2), data(4, epoch=2)),
            id="the data of an end in between was compacted away",
        ),
        pytest.param(
            (data(0), marker(1, ABORT, pid=7, epoch=1), marker(3, ABORT, pid=7, epoch=2), data(4, epoch=2)),
            id="that of an abort too",
        ),
    ],
)
def test_what_only_looks_like_a_fencing_is_silent(batches):
    assert shown(*batches) == []


@pytest.mark.parametrize(("apart_s", "severity"), [(19, 3), (20, 1)])
def test_more_than_three_fencings_within_a_minute_are_two_instances_that_take_turns(apart_s, severity):
    batches = [
        one
        for turn in range(4)
        for one in (
            data(2 * turn, epoch=2 * turn, second=apart_s * turn),
            marker(2 * turn + 1, ABORT, pid=7, epoch=2 * turn + 1, second=apart_s * turn),
        )
    ]
    (finding,) = shown(*batches)

    assert (finding.severity, len(finding.evidence["fencings"])) == (severity, 4)


def turns(first, last, second=0):
    """Fencings of instances that take turns, each with its marker epoch 2n + 1."""
    return shown(
        *(
            one
            for n in range(first, last + 1)
            for one in (
                data(2 * n, epoch=2 * n, second=second),
                marker(2 * n + 1, ABORT, pid=7, epoch=2 * n + 1, second=second),
            )
        ),
        second=second,
    )


def marker_epochs(finding):
    return [fencing["marker_epoch"] for fencing in finding.evidence["fencings"]]


def test_later_fencings_join_the_earlier_ones_and_take_nothing_from_their_severity():
    (storm,), (later,) = turns(0, 3), turns(5, 6, second=300)
    both = producer_fenced.joined(replace(storm, closed_reason="settled"), later)

    assert (both.finding_id, both.severity, both.title) == (storm.finding_id, 3, storm.title)
    assert (both.happened_at_ms, both.last_seen_at_ms, both.closed_reason) == (at(0), at(300), None)
    assert marker_epochs(both) == [1, 3, 5, 7, 11, 13]


def test_fencings_that_become_frequent_are_as_severe_as_the_newest():
    (few,), (storm,), (after,) = turns(0, 1), turns(5, 8, second=300), turns(10, 11, second=600)

    both = producer_fenced.joined(few, storm)
    assert (both.severity, both.happened_at_ms) == (3, at(0))
    assert producer_fenced.joined(few, after).statements == after.statements


def test_fencings_seen_again_say_nothing_new():
    (storm,), (again,) = turns(0, 3), turns(2, 3)

    assert producer_fenced.joined(storm, again) is storm


def test_the_newest_twenty_fencings_are_shown():
    (first,), (later,) = turns(0, 14), turns(15, 39)

    assert marker_epochs(later) == [2 * n + 1 for n in range(20, 40)]
    assert marker_epochs(producer_fenced.joined(later, first)) == marker_epochs(later)


def test_one_fencing_seen_on_two_partitions_counts_once():
    found = shown(*FENCED, others=FENCED)

    assert len(found[0].evidence["fencings"]) == 1


@pytest.mark.parametrize(("ended_s", "kind"), [(60, Kind.TRANSACTION_TIMED_OUT), (59.999, Kind.PRODUCER_FENCED)])
def test_aborted_from_outside_at_its_timeout_is_timed_out_and_sooner_is_fenced(ended_s, kind):
    batches = (data(0, count=5), marker(5, ABORT, pid=7, epoch=1, second=ended_s), data(6, epoch=2, second=70))
    found = shown(*batches, transactions=[described()])

    assert kinds(found) == [kind]


def test_a_coordinator_that_prepares_the_end_under_a_raised_epoch_is_not_asked_when_it_began():
    ending = replace(described(epoch=1, partitions=()), state="PrepareAbort")
    batches = (data(0), marker(1, ABORT, pid=7, epoch=1, second=61))

    assert kinds(shown(*batches, transactions=[described(), ending])) == [Kind.TRANSACTION_TIMED_OUT]


def test_a_timeout_says_what_is_withheld_and_for_how_long_it_was_open():
    (finding,) = shown(
        data(0, count=5), marker(5, ABORT, pid=7, epoch=1, second=61), transactions=[described()], second=65
    )

    assert (finding.anchor, finding.severity) == ("producer 7, epoch 0, offset 0", 3)
    assert finding.bounds == Bounds(5, 5, 5, Unit.RECORDS)
    assert [one.grade for one in finding.statements] == [Grade.PROBABLE, Grade.NOT_OBSERVABLE]
    assert "aborted after 61 s, at its timeout of 60 s" in finding.statements[0].text
    assert finding.happened_at_ms == at(61)


def test_a_long_timeout_is_told_to_the_second():
    (finding,) = shown(
        data(0), marker(1, ABORT, pid=7, epoch=1, second=1800), transactions=[described(timeout_s=900)], second=1800
    )

    assert "aborted after 1800 s, at its timeout of 900 s" in finding.statements[0].text


@pytest.mark.parametrize(
    ("batches", "transaction"),
    [
        pytest.param((data(0), marker(1, ABORT, pid=7, epoch=1, second=61)), described(pid=8), id="another producer"),
        pytest.param((data(0), marker(1, ABORT, pid=7, epoch=1, second=61)), described(epoch=1), id="another epoch"),
        pytest.param(
            (data(0), marker(1, ABORT, pid=7, epoch=1, second=61)), described(partitions=[OTHER]), id="not listed"
        ),
        pytest.param((data(0), marker(1, ABORT, pid=7, second=61)), described(), id="aborted by the client"),
        pytest.param((data(0), marker(1, COMMIT, pid=7, epoch=1, second=61)), described(), id="committed late"),
        pytest.param(
            (data(0), marker(1, COMMIT, pid=7, second=5), data(2, seq=1), marker(3, ABORT, pid=7, epoch=1, second=61)),
            described(),
            id="the one that was described had ended",
        ),
    ],
)
def test_what_is_not_certain_to_be_the_transaction_that_was_described_has_not_timed_out(batches, transaction):
    assert Kind.TRANSACTION_TIMED_OUT not in kinds(shown(*batches, transactions=[transaction]))


def test_committed_here_and_aborted_there_under_one_raised_epoch_is_a_torn_transaction():
    (finding,) = shown(
        data(0, count=3),
        marker(3, ABORT, pid=7, epoch=1),
        others=(data(10), marker(11, COMMIT, pid=7, epoch=1)),
    )

    assert (finding.kind, finding.severity, finding.grade) == (Kind.TORN_TRANSACTION, 4, Grade.PROVEN)
    assert finding.place == PLACE
    assert finding.evidence["aborted"] == [TOPIC, 0, 3]
    assert finding.evidence["committed"] == [TOPIC, 1, 11]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        pytest.param(marker(3, COMMIT, pid=7, epoch=1), marker(11, COMMIT, pid=7, epoch=1), id="both committed"),
        pytest.param(marker(3, ABORT, pid=7, epoch=2), marker(11, COMMIT, pid=7, epoch=1), id="two transactions"),
        pytest.param(marker(3, ABORT, pid=7), marker(11, COMMIT, pid=7), id="epochs say nothing, nobody described it"),
        pytest.param(marker(3, ABORT, pid=8, epoch=1), marker(11, COMMIT, pid=7, epoch=1), id="two producers"),
    ],
)
def test_markers_of_two_transactions_may_differ(here, there):
    found = shown(data(0, count=3), here, others=(data(10), there))

    assert Kind.TORN_TRANSACTION not in kinds(found)


def test_under_raised_epochs_another_epoch_is_another_transaction():
    found = shown(
        data(0, epoch=1), marker(1, ABORT, pid=7, epoch=2), others=(data(10), marker(11, COMMIT, pid=7, epoch=1))
    )

    assert Kind.TORN_TRANSACTION not in kinds(found)


def test_a_marker_without_data_tears_nothing():
    assert shown(marker(3, ABORT, pid=7, epoch=1), others=(data(10), marker(11, COMMIT, pid=7, epoch=1))) == []


@pytest.mark.parametrize(
    ("seen_s", "ended_s", "is_torn"), [(1, 2, True), (0.999, 2, False), (1, 1.999, False), (1, 61, True)]
)
def test_below_version_2_only_what_was_described_while_open_on_both_is_torn(seen_s, ended_s, is_torn):
    found = shown(
        data(0),
        marker(1, ABORT, pid=7, second=ended_s),
        others=(data(10), marker(11, COMMIT, pid=7, second=ended_s)),
        transactions=[described(partitions=[PARTITION, OTHER], seen=seen_s)],
    )

    assert kinds(found) == ([Kind.TORN_TRANSACTION] if is_torn else [])
    if is_torn:
        assert (found[0].grade, found[0].statements[0].assumption) == (Grade.PROBABLE, torn_transaction.CLOCKS_AGREE)
        assert found[0].statements[1].text == torn_transaction.KAFKA_ALLOWS_IT


def test_data_under_an_epoch_that_a_marker_had_ended_is_a_late_write():
    (finding,) = shown(data(0), marker(1, COMMIT, pid=7, epoch=1), data(2, seq=1))

    assert finding.anchor == "producer 7, epoch 0, late at offset 2"
    assert (finding.severity, finding.grade) == (4, Grade.PROVEN)


def test_data_under_the_marker_s_own_epoch_is_the_next_transaction():
    assert shown(data(0), marker(1, COMMIT, pid=7, epoch=1), data(2, epoch=1)) == []
    assert shown(data(0), marker(1, COMMIT, pid=7), data(2, seq=1)) == []
    assert shown(data(0), marker(1, COMMIT, pid=7, epoch=1), batch(2, pid=7, seq=1)) == []


OLD, NEW = "app-3-0123abcd", "app-3-89abcdef"


def restarted(*, old=OLD, new=NEW, first=20, ended=20):
    transactions = [described(1, name=old), described(2, name=new)]
    return shown(
        data(50, pid=1),
        data(51, pid=2, second=first),
        marker(52, COMMIT, pid=2, second=ended),
        transactions=transactions,
    )


def test_a_commit_above_the_open_transaction_of_an_id_it_replaced_shows_that_nobody_was_fenced():
    (finding,) = restarted()

    assert (finding.kind, finding.severity) == (Kind.UNFENCED_RESTART, 2)
    assert finding.anchor == "producer 1, epoch 0, offset 50"
    assert [one.grade for one in finding.statements] == [Grade.PROVEN, Grade.PROBABLE]
    assert finding.statements[1].assumption == unfenced_restart.ONE_APPLICATION
    assert finding.evidence["prefix"] == "app-3"
    assert finding.evidence["transactional_ids"] == [OLD, NEW]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"old": "app-3", "new": "app-4"}, id="ids that stay over restarts"),
        pytest.param({"new": "other-3-89abcdef"}, id="another application"),
        pytest.param({"new": OLD}, id="one id"),
        pytest.param({"ended": 9.999}, id="the other wrote a moment ago"),
    ],
)
def test_what_is_no_restart_is_silent(change):
    assert restarted(**change) == []


@pytest.mark.parametrize("named", [described(1, name=OLD), described(2, name=NEW)])
def test_where_one_of_the_two_has_no_known_id_nothing_is_said_of_a_restart(named):
    batches = (data(50, pid=1), data(51, pid=2, second=20), marker(52, COMMIT, pid=2, second=20))

    assert shown(*batches, transactions=[named]) == []


NAMED = (described(1, name=OLD), described(2, name=NEW))


@pytest.mark.parametrize(
    "batches",
    [
        pytest.param((data(51, pid=2, second=20), marker(52, ABORT, pid=2, second=20)), id="the new one aborted"),
        pytest.param(
            (marker(51, ABORT, pid=1), data(52, pid=2, second=20), marker(53, COMMIT, pid=2, second=20)),
            id="the old one's transaction had ended",
        ),
    ],
)
def test_without_a_commit_above_an_open_transaction_nobody_was_left_unfenced(batches):
    assert Kind.UNFENCED_RESTART not in kinds(shown(data(50, pid=1), *batches, transactions=NAMED))


def test_the_open_transaction_is_found_among_others_and_after_ten_silent_seconds():
    ended = (data(48, pid=3), marker(49, COMMIT, pid=3))
    after = (data(51, pid=2, second=10), marker(52, COMMIT, pid=2, second=10))

    assert kinds(shown(*ended, data(50, pid=1), *after, transactions=NAMED)) == [Kind.UNFENCED_RESTART]


def test_an_instance_that_wrote_before_the_other_fell_silent_replaces_nobody():
    transactions = [described(1, name=OLD), described(2, name=NEW)]
    found = shown(data(49, pid=2), data(50, pid=1), marker(51, COMMIT, pid=2, second=20), transactions=transactions)

    assert found == []


@pytest.mark.parametrize(
    ("transactional_id", "prefix"),
    [
        ("app-3-aaaa1111", "app-3"),
        ("app-0f8fad5b-d9cb-469f-a165-70867728950e", "app"),
        ("app_1700000000000", "app"),
        ("app-3", None),
        ("payments-deadbeef", None),
        ("aaaa1111", None),
    ],
)
def test_an_ending_is_made_up_when_it_is_a_uuid_or_long_hexadecimal(transactional_id, prefix):
    assert unfenced_restart.prefix(transactional_id) == prefix
