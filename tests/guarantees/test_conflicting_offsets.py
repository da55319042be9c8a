from dataclasses import replace

import pytest

from guarantees.audited_content import DifferingBatch, DifferingCopy
from guarantees.findings import FindingState, Grade, Kind
from guarantees.promises import Guarantee, Verdict, judge
from guarantees.rules.conflicting_offsets import SHOWN_BATCHES, conflict_findings
from tests.guarantees.builders import at
from tests.guarantees.test_duplicates import READER, WRITER

COPY = DifferingCopy(
    cluster_id="c",
    topic="invoices",
    topic_id="t",
    partition=0,
    replica=3,
    batches=(DifferingBatch(40, 3, 11, 3, 12), DifferingBatch(90, 4, 21, 2, 22)),
    is_all=True,
    written_from_ms=at(1),
    decided_at_ms=at(6),
    audited=((0, 100),),
)


def found(copy=COPY, pipelines=()):
    (finding,) = conflict_findings([copy], pipelines)
    return finding


def test_two_contents_of_an_offset_are_proven_and_who_read_which_is_not_observable():
    finding = found()

    assert (finding.grade, finding.severity, finding.state) == (Grade.PROVEN, 4, FindingState.OPEN)
    said = "invoices-0 has 2 batches, at the offsets 40 to 90, with one CRC on the leader and another on replica 3."
    assert finding.statements[0].text.startswith(said)
    assert "1 batch, at the offset 40, with" in found(replace(COPY, batches=COPY.batches[:1])).statements[0].text
    assert finding.statements[-1].grade is Grade.NOT_OBSERVABLE


def test_more_batches_are_the_same_finding_and_another_copy_is_another():
    more = replace(COPY, batches=(DifferingBatch(5, 3, 1, 3, 2), *COPY.batches), decided_at_ms=at(9))

    assert found(more).finding_id == found().finding_id
    for changed in ({"replica": 2}, {"replica": None}, {"partition": 1}, {"topic_id": "anew"}):
        assert found(replace(COPY, **changed)).finding_id != found().finding_id


@pytest.mark.parametrize(
    ("batches", "said"),
    [
        (COPY.batches[:1], ["Leader epochs are equal on 1 batch"]),
        (COPY.batches[1:], ["Leader epochs differ on 1 batch"]),
        (COPY.batches, ["Leader epochs differ on 1 batch", "Leader epochs are equal on 1 batch"]),
    ],
)
def test_what_was_written_under_two_leaders_is_told_from_what_was_changed(batches, said):
    _, *middle, _ = found(replace(COPY, batches=batches)).statements

    assert [statement.text[: len(text)] for statement, text in zip(middle, said, strict=True)] == said
    assert {statement.grade for statement in middle} == {Grade.PROVEN}


def test_where_not_all_are_listed_there_are_at_least_so_many():
    assert found(replace(COPY, is_all=False)).title.startswith("At least 2 batches")
    assert found().title.startswith("2 batches of invoices-0 with another content on replica 3")


def test_what_was_read_earlier_is_named_as_that():
    assert found(replace(COPY, replica=None)).title.endswith("with another content than when they were read earlier")


def test_both_crcs_and_epochs_are_in_the_evidence_of_the_first_batches():
    many = tuple(DifferingBatch(offset, 3, 1, 3, 2) for offset in range(SHOWN_BATCHES + 1))
    evidence = found(replace(COPY, batches=many)).evidence

    assert len(evidence["batches"]) == SHOWN_BATCHES
    assert (evidence["differing_batches"], evidence["first_offset"], evidence["last_offset"]) == (101, 0, 100)
    assert found().evidence["batches"][1] == {
        "base_offset": 90, "leader_epoch": 4, "crc": 21, "copy_leader_epoch": 2, "copy_crc": 22,
    }  # fmt: skip


@pytest.mark.parametrize(("pipelines", "named"), [([READER, WRITER], "billing"), ([READER], "archive"), ([], None)])
def test_it_is_of_the_pipeline_that_writes_the_topic_else_of_the_one_that_reads_it(pipelines, named):
    assert found(pipelines=pipelines).pipeline == named


@pytest.mark.parametrize(
    ("promise", "verdict"),
    [
        (Guarantee.AT_MOST_ONCE, Verdict.OK),
        (Guarantee.AT_LEAST_ONCE, Verdict.DEGRADED),
        (Guarantee.EXACTLY_ONCE, Verdict.DEGRADED),
    ],
)
def test_two_contents_endanger_what_was_promised_to_arrive(promise, verdict):
    assert judge(Kind.CONFLICTING_OFFSET, 4, promise) is verdict
