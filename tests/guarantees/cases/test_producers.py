"""Cases of people who run Kafka: what batch headers prove of producers. Sources are public issues, named at each."""

from guarantees.audits import DuplicateCause, DuplicateExample, DuplicateGroup, StoredCopy
from guarantees.findings import Bounds, Grade, Kind, Unit
from guarantees.header_watch import HeaderMemory, HeaderRound, observe_headers
from guarantees.rules.duplicates import duplicate_findings
from tests.guarantees.builders import at
from tests.guarantees.logs import batch, scan


def shown(*scans):
    memory, found = HeaderMemory(), {}
    for one in scans:
        memory, changed = observe_headers(memory, HeaderRound((one,), (), one.observed_at_ms))
        found |= {finding.finding_id: finding for finding in changed}
    return list(found.values())


def test_case_C12_records_stored_again_after_an_epoch_bump_are_one_duplicate():
    """confluentinc/librdkafka#4953"""
    (finding,) = shown(
        scan(
            batch(100, pid=9, epoch=0, seq=41, leader=17, value=77),
            batch(101, pid=9, epoch=1, seq=0, leader=18, value=77),
            batch(102, pid=9, epoch=1, seq=1, leader=18, value=78),
            known={9},
        )
    )

    assert finding.kind is Kind.RESENT_BATCH
    assert (finding.bounds, finding.grade) == (Bounds(1, 1, 1, Unit.RECORDS), Grade.PROBABLE)
    assert finding.evidence["cause"] == DuplicateCause.OTHER_EPOCH
    assert (finding.evidence["first_copy_epoch"], finding.evidence["producer_epoch"]) == (0, 1)
    assert (finding.evidence["first_copy_offset"], finding.evidence["offset"]) == (100, 101)


def test_case_C12_a_producer_that_raises_its_epoch_at_every_transaction_duplicates_nothing():
    """confluentinc/librdkafka#4953, the control: transaction.version 2, the same epochs, different values"""
    found = shown(
        scan(
            batch(100, pid=9, epoch=0, seq=0, leader=17, tx=True, value=77),
            batch(101, pid=9, epoch=1, seq=0, leader=18, tx=True, value=78),
        )
    )

    assert found == []


def test_case_C13_the_first_batch_of_a_new_producer_shows_what_the_former_leader_alone_had():
    """confluentinc/confluent-kafka-go#921, the first incident"""
    (finding,) = shown(
        scan(
            batch(147085692, pid=143340, seq=14592, leader=413),
            batch(147085693, 17, pid=141439, seq=4, leader=414),
            start=1_000,
            policy="delete",
            known={143340},
        )
    )

    assert (finding.kind, finding.severity) == (Kind.MISSING_SEQUENCES, 4)
    assert finding.bounds == Bounds(4, 4, 4, Unit.RECORDS)
    absence, loss, acknowledged = finding.statements
    assert absence.grade is Grade.PROVEN
    assert absence.text.startswith(
        "The log lacks 4 records (sequences 0-3) of producer 141439 that existed in the client: "
        "none lies before offset 147085693"
    )
    assert loss.grade is Grade.PROBABLE
    assert "leader epoch 413 to 414" in loss.text
    assert acknowledged.grade is Grade.NOT_OBSERVABLE


OLD_INTERVAL = batch(0, 7, pid=104, seq=0)


def test_case_C58_sequences_repeated_after_the_producers_state_expired_are_duplicates():
    """redpanda-data/redpanda#22670, on a broker that accepts any sequence once it has forgotten the producer"""
    (finding,) = shown(scan(OLD_INTERVAL), scan(batch(7, 8, pid=104, seq=0), second=700))

    assert (finding.kind, finding.severity, finding.grade) == (Kind.RESENT_BATCH, 4, Grade.PROVEN)
    assert finding.evidence["cause"] == DuplicateCause.SAME_SEQUENCE
    assert finding.bounds.estimate == 7
    assert "the leader had lost the producer's state" in finding.statements[0].text


def test_case_C58_a_producer_that_goes_on_after_its_state_expired_is_silent():
    """redpanda-data/redpanda#22670"""
    assert shown(scan(OLD_INTERVAL), scan(batch(7, 8, pid=104, seq=7), second=700)) == []


def test_case_C58_a_later_gap_alone_is_information_and_no_loss():
    """redpanda-data/redpanda#22670"""
    (finding,) = shown(scan(OLD_INTERVAL), scan(batch(7, 8, pid=104, seq=9), second=700))

    assert (finding.kind, finding.severity, finding.bounds) == (Kind.SEQUENCE_GAP, 1, None)


def test_case_C71_the_application_sends_twice_and_the_headers_show_no_violation():
    """confluentinc/confluent-kafka-python#1376"""
    assert shown(scan(batch(0, pid=1, seq=0, value="a"), batch(1, pid=1, seq=1, value="a"))) == []


def test_case_C71_the_message_id_is_stored_twice_by_the_application_itself():
    """confluentinc/confluent-kafka-python#1376"""
    copies = StoredCopy(0, 0, 1, 0, 0, at(0)), StoredCopy(0, 1, 1, 0, 1, at(0))
    group = DuplicateGroup(
        cluster_id="c",
        topic="orders",
        topic_id="t",
        partition=0,
        cause=DuplicateCause.SENT_TWICE,
        producer_id=1,
        producer_epoch=0,
        first_producer_ids=(1,),
        extra_copies=Bounds(1, 1, 1, Unit.MESSAGE_IDS),
        sampling_rate=1.0,
        horizon_s=60.0,
        first_offset=1,
        last_offset=1,
        first_observed_at_ms=at(0),
        last_observed_at_ms=at(0),
        examples=(DuplicateExample("a", *copies),),
    )
    (finding,) = duplicate_findings([group], [], at(1))

    assert finding.bounds.estimate == 1
    assert (finding.grade, finding.severity) == (Grade.PROBABLE, 3)
    assert "the application sent it twice" in finding.statements[0].text
    example = finding.evidence["examples"][0]
    assert (example["first"]["sequence"], example["last"]["sequence"]) == (0, 1)
