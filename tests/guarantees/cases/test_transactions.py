"""Cases of people who run Kafka: transactions and isolation. Sources are public issues, named at each."""

from dataclasses import replace

import pytest

from guarantees.audits import DuplicateCause, DuplicateExample, DuplicateGroup, LossAudit, LostId, StoredCopy
from guarantees.findings import Bounds, Grade, Kind, Unit
from guarantees.header_watch import HeaderMemory, HeaderRound, observe_headers
from guarantees.observations import OpenProducer, PartitionOffsets, Round, Signal, Transaction
from guarantees.places import TopicPartition
from guarantees.promises import Guarantee, Pipeline, Verdict, judge
from guarantees.rules.duplicates import duplicate_findings
from guarantees.rules.losses import loss_episodes, loss_findings
from kafka_reader.batches import AbortedTransaction, decode
from settings import MessageId
from tests.guarantees.builders import CLUSTER, PARTITION, TOPIC, at, complete, findings, seen, steps, transaction, watch
from tests.guarantees.logs import ABORT, COMMIT, PLACE, batch, marker, scan
from tests.kafka_reader.built_batches import ABORT_KEY, TRANSACTIONAL, Sent
from tests.kafka_reader.built_batches import batch as built_batch
from tests.kafka_reader.built_batches import marker as built_marker

DAY_S = 86_400


def shown(*batches, transactions=(), second=0.0, others=()):
    scans = (scan(*batches, second=second), *others)
    return observe_headers(HeaderMemory(), HeaderRound(scans, tuple(transactions), at(second)))[1]


def test_case_C01_a_group_before_the_marker_at_the_end_is_no_record_behind():
    """risingwavelabs/risingwave#24717"""
    log = (batch(0, pid=0, seq=0, tx=True), marker(1, COMMIT, pid=0))

    assert shown(*log) == []
    assert findings(*(seen(s, high=2, committed=1) for s in steps(0, 600))) == []


def held(partition, high, stable, producer, transactions, seconds, topic_id="t"):
    """Rounds in which a producer holds the stable offset of a partition, every coordinator having answered."""
    return [
        Round(
            cluster_id=CLUSTER,
            tick=round(s),
            started_at_ms=at(s),
            ended_at_ms=at(s + 0.05),
            partitions={partition: PartitionOffsets(topic_id, 0, stable, high + round(s), 0, 1, at(s), at(s + 0.02))},
            producers={partition: (producer,)},
            transactions=transactions,
            coverage=(complete(Signal.TRANSACTIONS),),
        )
        for s in seconds
    ]


def test_case_C04_the_open_transaction_is_on_the_groups_offsets_partition():
    """twmb/franz-go#581: the data partition has high watermark and stable offset equal"""
    offsets = TopicPartition("__consumer_offsets", 12)
    open_there = OpenProducer(31, 0, 0, at(-7200), 3, 410, at(0))
    _, found = watch(held(offsets, 900, 410, open_there, (), steps(0, 90)))
    (finding,) = found.values()

    assert (finding.kind, finding.severity) == (Kind.STABLE_OFFSET_FROZEN, 4)
    assert (finding.place.topic, finding.place.partition) == ("__consumer_offsets", 12)
    assert (finding.evidence["class"], finding.evidence["producer_id"]) == ("hanging", 31)
    assert finding.evidence["start_offset"] == 410
    assert findings(*(seen(s, high=500, stable=500) for s in steps(0, 90))) == []


def test_case_C24_committed_data_lies_above_the_open_transaction_of_a_dead_instance():
    """evolution-gaming/kafka-flow#850"""
    names = {1: "app-3-aaaa1111", 2: "app-3-bbbb2222"}
    open_ones = [replace(transaction(PARTITION, producer_id=pid), transactional_id=name) for pid, name in names.items()]
    (finding,) = shown(
        batch(50, pid=1, seq=0, tx=True),
        batch(51, pid=2, seq=0, tx=True, second=20),
        marker(52, COMMIT, pid=2, second=20),
        transactions=open_ones,
        second=20,
    )

    assert finding.kind is Kind.UNFENCED_RESTART
    assert "committed at offset 52 of orders-0, above the open transaction of producer 1 at offset 50" in (
        finding.statements[0].text
    )
    assert (finding.evidence["prefix"], finding.evidence["producer_ids"]) == ("app-3", [1, 2])
    assert finding.evidence["transactional_ids"] == list(names.values())


def test_case_C28_one_partition_is_held_by_a_transaction_its_coordinator_has_completed():
    """twmb/kcl#10, KAFKA-12671"""
    seventh = TopicPartition("foo", 7)
    open_there = OpenProducer(2000, 0, 0, at(-3 * DAY_S), 12, 144, at(0))
    ended = Transaction("x", 2000, 0, "CompleteAbort", 60_000, None, frozenset(), 1, at(0))
    _, found = watch(held(seventh, 400, 144, open_there, (ended,), steps(0, 90)))
    (finding,) = found.values()

    assert (finding.kind, finding.severity, finding.place.partition) == (Kind.STABLE_OFFSET_FROZEN, 4, 7)
    assert (finding.evidence["class"], finding.evidence["start_offset"]) == ("hanging", 144)
    assert (finding.evidence["producer_id"], finding.evidence["producer_epoch"]) == (2000, 0)
    assert finding.statements[0].text.startswith("The last stable offset of foo-7 stands at 144")
    assert "its coordinator describes the transaction without this partition" in finding.statements[2].text


def test_case_C29_what_lies_in_an_aborted_range_is_never_taken_for_visible():
    """streamnative/kop#1283: which records a correct reader is given, so that its output can be held against them"""
    blob = built_batch([Sent(key=b"0")], producer_id=5, attributes=TRANSACTIONAL) + built_marker(
        ABORT_KEY, base_offset=1, producer_id=5
    )
    records = decode(blob, [AbortedTransaction(5, 0)], MessageId(key=True))

    assert records.offset[records.is_aborted].tolist() == [0]
    assert not records.is_visible.any()
    assert findings(*(seen(s, high=2, stable=2, committed=2) for s in steps(0, 60))) == []


AUDIT = LossAudit("billing", CLUSTER, TOPIC, "t", "payments", "invoices", 10.0, False, ((0, 500),))


def lost(offsets, passed_s):
    ids = [LostId(str(offset), offset, at(0), at(passed_s), False, at(200), at(200)) for offset in offsets]
    return loss_findings(loss_episodes(AUDIT, {0: ids}, lambda n: Bounds(len(n), len(n), len(n), Unit.MESSAGE_IDS)))


def test_case_C37_fenced_on_the_first_record_the_listener_goes_on_with_the_second():
    """spring-projects/spring-kafka#1424"""
    (fenced,) = shown(
        batch(0, pid=7, epoch=0, seq=0, tx=True),
        marker(1, ABORT, pid=7, epoch=1),
        batch(2, pid=7, epoch=2, seq=0, tx=True),
        marker(3, COMMIT, pid=7, epoch=2),
    )
    (loss,) = lost([0], 5)

    assert (fenced.kind, fenced.anchor) == (Kind.PRODUCER_FENCED, "producer 7")
    assert (fenced.evidence["fencings"][0]["data_epoch"], fenced.evidence["fencings"][0]["marker_epoch"]) == (0, 1)
    assert [one["message_id"] for one in loss.evidence["lost"]] == ["0"]
    assert loss.bounds.estimate == 1


def test_case_C39_an_abort_at_the_timeout_is_followed_by_a_commit_past_the_aborted_input():
    """spring-projects/spring-kafka#1612, KAFKA-9803"""
    (timed_out,) = shown(
        batch(0, 20, pid=7, seq=0, tx=True),
        marker(20, ABORT, pid=7, epoch=1, second=61),
        transactions=[transaction(PARTITION)],
        second=70,
    )
    (loss,) = lost(range(100, 120), 70)

    assert (timed_out.kind, timed_out.bounds.estimate) == (Kind.TRANSACTION_TIMED_OUT, 20)
    assert "aborted after 61 s, at its timeout of 60 s" in timed_out.statements[0].text
    assert (loss.kind, loss.bounds.estimate, loss.happened_at_ms) == (Kind.LOST_WRITE, 20, at(70))
    assert timed_out.happened_at_ms < loss.happened_at_ms


EXACTLY_ONCE = Pipeline("billing", "orders", "payments", "invoices", Guarantee.EXACTLY_ONCE)


def stored_twice(message_id, first, last, cause):
    group = DuplicateGroup(
        cluster_id=CLUSTER,
        topic="invoices",
        topic_id="t",
        partition=0,
        cause=cause,
        producer_id=last.producer_id,
        producer_epoch=0,
        first_producer_ids=(first.producer_id,),
        extra_copies=Bounds(1, 1, 1, Unit.MESSAGE_IDS),
        sampling_rate=1.0,
        horizon_s=60.0,
        first_offset=last.offset,
        last_offset=last.offset,
        first_observed_at_ms=at(2),
        last_observed_at_ms=at(2),
        examples=(DuplicateExample(message_id, first, last),),
    )
    (finding,) = duplicate_findings([group], [EXACTLY_ONCE], at(3))
    return finding


def test_case_C40_one_input_processed_by_two_owners_is_committed_twice():
    """aio-libs/aiokafka#844"""
    finding = stored_twice(
        "0:7", StoredCopy(0, 10, 1, 0, 0, at(1)), StoredCopy(0, 11, 2, 0, 0, at(2)), DuplicateCause.OTHER_PRODUCER_ID
    )
    (example,) = finding.evidence["examples"]

    assert (example["first"]["producer_id"], example["last"]["producer_id"]) == (1, 2)
    assert (finding.pipeline, finding.bounds.estimate) == ("billing", 1)
    assert judge(finding.kind, finding.severity, EXACTLY_ONCE.promise) is Verdict.VIOLATED


def test_case_C56_one_source_offset_has_two_committed_outputs():
    """redpanda-data/redpanda#9571"""
    finding = stored_twice(
        "1:5083",
        StoredCopy(0, 19461, 1, 0, 0, at(1)),
        StoredCopy(0, 19467, 2, 0, 0, at(2)),
        DuplicateCause.OTHER_PRODUCER_ID,
    )
    (example,) = finding.evidence["examples"]

    assert example["message_id"] == "1:5083"
    assert (example["first"]["offset"], example["last"]["offset"]) == (19461, 19467)
    assert judge(finding.kind, finding.severity, EXACTLY_ONCE.promise) is Verdict.VIOLATED


def test_case_C65_null_an_empty_text_and_the_word_null_are_three_things():
    """akhq#1210: a tombstone is no loss and no failure"""
    pairs = [(b"a", None), (None, b"x"), (b"", b""), (b"a", b"null")]
    sent = [Sent(key=key, value=value) for key, value in pairs]
    by_key = decode(built_batch(sent), [], MessageId(key=True))
    by_hash = decode(built_batch(sent), [], MessageId(hash=True))

    assert by_key.has_id.tolist() == [True, False, False, True]
    assert len(set(by_hash.id_hash.tolist())) == 4
    assert by_key.is_visible.all()


def test_case_C66_below_transaction_version_2_a_torn_transaction_says_that_kafka_allows_it():
    """jepsen.io, Redpanda 21.10.1 and Bufstream 0.1.0: what an outsider sees of the stored anomalies"""
    other = TopicPartition(TOPIC, 1)
    (torn,) = shown(
        batch(0, pid=7, seq=0, tx=True),
        marker(1, ABORT, pid=7, second=9),
        others=(
            scan(
                batch(0, pid=7, seq=0, tx=True),
                marker(1, COMMIT, pid=7, second=9),
                place=replace(PLACE, partition=1),
            ),
        ),
        transactions=[replace(transaction(PARTITION, other), observed_at_ms=at(5))],
    )

    assert (torn.kind, torn.grade) == (Kind.TORN_TRANSACTION, Grade.PROBABLE)
    assert "Kafka itself allows this below transaction.version 2" in torn.statements[1].text


@pytest.mark.parametrize(("sequence", "count"), [(0, 1), (1, 0)])
def test_case_C66_a_duplicate_write_is_proven_by_its_sequence(sequence, count):
    """jepsen.io, Redpanda 21.10.1, redpanda-data/redpanda#3039"""
    found = shown(batch(0, pid=1, seq=0), batch(1, pid=1, seq=sequence))

    assert [finding.kind for finding in found] == [Kind.RESENT_BATCH] * count
