from dataclasses import replace

import pytest

from guarantees.audits import DuplicateCause, DuplicateExample, DuplicateGroup, StoredCopy
from guarantees.findings import Bounds, FindingState, Grade, Unit
from guarantees.promises import Guarantee, Pipeline
from guarantees.rules.duplicates import duplicate_findings, in_words
from tests.guarantees.builders import at

FIRST, LAST = StoredCopy(0, 10, 7, 0, 3, at(0.5)), StoredCopy(0, 20, 8, 0, 0, at(0.6))
GROUP = DuplicateGroup(
    cluster_id="c",
    topic="invoices",
    topic_id="t",
    partition=0,
    cause=DuplicateCause.OTHER_PRODUCER_ID,
    producer_id=8,
    producer_epoch=0,
    first_producer_ids=(7,),
    extra_copies=Bounds(42, 42, 42, Unit.MESSAGE_IDS),
    sampling_rate=1.0,
    horizon_s=60.0,
    first_offset=20,
    last_offset=90,
    first_observed_at_ms=at(1),
    last_observed_at_ms=at(5),
    examples=(DuplicateExample("id-1", FIRST, LAST),),
)
WRITER = Pipeline("billing", "orders", "payments", "invoices", Guarantee.EXACTLY_ONCE)
READER = Pipeline("archive", "invoices", "archiver", None, Guarantee.AT_LEAST_ONCE)


def found(group=GROUP, pipelines=(), now_ms=GROUP.last_observed_at_ms):
    (finding,) = duplicate_findings([group], pipelines, now_ms)
    return finding


@pytest.mark.parametrize("cause", list(DuplicateCause))
def test_only_a_repeated_sequence_is_proven(cause):
    finding = found(replace(GROUP, cause=cause))
    is_proven = cause is DuplicateCause.SAME_SEQUENCE

    assert finding.grade is (Grade.PROVEN if is_proven else Grade.PROBABLE)
    assert finding.severity == (4 if is_proven else 3)
    assert (finding.statements[0].assumption is None) is is_proven


def test_both_copies_are_in_the_evidence():
    (example,) = found().evidence["examples"]

    assert (example["message_id"], example["first"]["offset"], example["last"]["producer_id"]) == ("id-1", 10, 8)


def test_more_copies_are_the_same_finding_and_another_producer_is_another():
    more = replace(GROUP, extra_copies=Bounds(50, 50, 50, Unit.MESSAGE_IDS), last_offset=99, first_offset=5)

    assert found(more).finding_id == found().finding_id
    assert found(replace(GROUP, producer_id=9)).finding_id != found().finding_id
    assert found(replace(GROUP, producer_epoch=1)).finding_id != found().finding_id
    assert found(replace(GROUP, cause=DuplicateCause.SENT_TWICE)).finding_id != found().finding_id


def test_copies_without_a_producer_id_are_told_apart_by_their_first_offset():
    group = replace(GROUP, producer_id=None, producer_epoch=None, cause=DuplicateCause.NOT_IDEMPOTENT)

    assert found(replace(group, first_offset=5)).finding_id != found(group).finding_id


@pytest.mark.parametrize(("now_ms", "state"), [(at(65), FindingState.OPEN), (at(65.001), FindingState.CLOSED)])
def test_it_settles_when_no_copy_was_added_for_the_horizon(now_ms, state):
    assert found(now_ms=now_ms).state is state


@pytest.mark.parametrize(("pipelines", "name"), [((READER, WRITER), "billing"), ((READER,), "archive"), ((), None)])
def test_the_pipeline_that_writes_the_topic_comes_before_one_that_reads_it(pipelines, name):
    assert found(pipelines=pipelines).pipeline == name


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((42, 42, 42), "42"),
        ((1200, 1280, 1360), "about 1,280 (1,200 to 1,360)"),
        ((1, None, 3), "1 to 3"),
        ((1, 2, None), "about 2 (1 to more)"),
    ],
)
def test_a_count_is_said_as_it_is_known(bounds, words):
    assert in_words(Bounds(*bounds, Unit.MESSAGE_IDS)) == words
