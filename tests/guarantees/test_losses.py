from dataclasses import replace

import pytest

from guarantees.audits import LossAudit, LostId
from guarantees.findings import Bounds, FindingState, Grade, Unit
from guarantees.rules.losses import loss_episodes, loss_findings
from guarantees.times import utc
from tests.guarantees.builders import at

AUDIT = LossAudit(
    pipeline="billing",
    cluster_id="c",
    topic="orders",
    topic_id="t",
    group_id="payments",
    sink="invoices",
    settle_s=10.0,
    is_one_to_one=False,
    sink_read_to=((0, 500),),
)


def lost(offset, passed_s, *, late=False, rate=1.0, decided_s=90, changed_s=None):
    changed_ms = at(decided_s if changed_s is None else changed_s)
    return LostId(f"id-{offset}", offset, at(passed_s - 0.5), at(passed_s), late, at(decided_s), changed_ms, rate)


def exact(ids):
    return Bounds(len(ids), len(ids), len(ids), Unit.MESSAGE_IDS)


def episodes(*ids, audit=AUDIT, partition=0):
    return loss_episodes(audit, {partition: ids}, exact)


def found(*ids, audit=AUDIT):
    (finding,) = loss_findings(episodes(*ids, audit=audit))
    return finding


@pytest.mark.parametrize(("second", "count"), [(30, 1), (30.001, 2)])
def test_ids_belong_together_when_the_commit_passed_them_within_the_settle_delay(second, count):
    assert len(episodes(lost(5, 20), lost(9, second))) == count


def test_a_chain_of_neighbours_is_one_episode_in_any_order():
    (episode,) = episodes(lost(9, 40), lost(5, 20), lost(7, 30))

    assert [one.offset for one in episode.lost] == [5, 7, 9]


def test_partitions_are_apart():
    assert len(loss_episodes(AUDIT, {0: [lost(5, 20)], 1: [lost(5, 20)]}, exact)) == 2


@pytest.mark.parametrize(("one_to_one", "grade"), [(False, Grade.PROBABLE), (True, Grade.PROVEN)])
def test_a_loss_is_probable_unless_the_pipeline_is_declared_one_to_one(one_to_one, grade):
    finding = found(lost(5, 20), audit=replace(AUDIT, is_one_to_one=one_to_one))

    assert (finding.grade, finding.severity, finding.pipeline) == (grade, 4, "billing")


def test_the_evidence_says_what_was_missed_when_and_how_far_the_sink_was_read():
    finding = found(lost(5, 20), lost(7, 21))

    assert [one["offset"] for one in finding.evidence["lost"]] == [5, 7]
    assert finding.evidence["lost"][0]["commit_passed_at_ms"] == at(20)
    assert finding.evidence["sink_read_to"] == [[0, 500]]
    assert (finding.happened_at_ms, finding.last_seen_at_ms) == (at(20), at(90))


def test_late_arrivals_reduce_the_loss_and_keep_its_identity():
    whole, reduced = found(lost(5, 20), lost(7, 21)), found(lost(5, 20, late=True), lost(7, 21))

    assert (whole.bounds.lower, reduced.bounds.lower) == (2, 1)
    assert reduced.state is FindingState.OPEN
    assert whole.finding_id == reduced.finding_id


def test_a_loss_whose_ids_all_arrived_closes_as_late():
    finding = found(lost(5, 20, late=True), lost(7, 21, late=True))

    assert finding.closed_reason.startswith("explained as late")
    assert finding.finding_id == found(lost(5, 20)).finding_id


def test_each_episode_was_last_seen_when_its_own_ids_were_whatever_is_lost_later():
    old, new = loss_findings(episodes(lost(5, 20), lost(7, 21), lost(9, 900, decided_s=960)))

    assert (old.last_seen_at_ms, old.evidence["decided_at_ms"]) == (at(90), at(90))
    assert (new.happened_at_ms, new.last_seen_at_ms) == (at(900), at(960))


def test_an_id_that_comes_late_is_news_and_makes_the_others_no_newer_loss():
    finding = found(lost(5, 20), lost(7, 21, late=True, changed_s=800))

    assert (finding.last_seen_at_ms, finding.evidence["decided_at_ms"]) == (at(800), at(90))
    assert finding.statements[1].text.endswith(f"decided {utc(at(90))}.")
