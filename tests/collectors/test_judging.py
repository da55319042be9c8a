from dataclasses import replace

from collectors.judging import judge_again, thresholds
from guarantees.findings import Finding, Grade, Kind, Place, Statement
from guarantees.lifecycle import FindingHistory
from guarantees.thresholds import Thresholds

REWIND = Finding(
    kind=Kind.REWIND,
    place=Place("here", "orders", "id", 0, "g"),
    anchor="90->20",
    severity=3,
    title="rewind",
    statements=(Statement(Grade.PROVEN, "it fell"),),
    bounds=None,
    evidence={},
    happened_at_ms=1,
    last_seen_at_ms=1,
)


def test_only_the_clusters_own_open_findings_go_on_after_a_restart():
    elsewhere = replace(REWIND, place=Place("elsewhere", "orders", "id", 0, "g"))
    closed = replace(REWIND, anchor="80->10", closed_reason="recovered")
    known = {each.finding_id: FindingHistory(each, 1, 1) for each in (REWIND, elsewhere, closed)}

    judged, events = judge_again([], known, "here", Thresholds(), now_ms=2)

    assert set(judged.memory.open) == {REWIND.finding_id}
    assert set(judged.known) == {REWIND.finding_id, closed.finding_id}
    assert events == []


def test_a_gap_is_never_shorter_than_a_few_rounds():
    assert thresholds(Thresholds(), gap_ms=180_000).gap_s == 180
    assert thresholds(Thresholds(), gap_ms=3_000).gap_s == Thresholds().gap_s
    assert thresholds(Thresholds(stopped_after_s=5), gap_ms=0).stopped_after_s == 5
