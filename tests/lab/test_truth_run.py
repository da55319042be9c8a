from dataclasses import replace

import pytest

from guarantees.findings import Kind
from lab.errors import LabError
from lab.faults.catalogue import ON_GROUND, STORY_CODES
from lab.injected import Demand
from lab.judge import judge
from lab.results import Result, append_results, load_results, result_of
from lab.trial import owner_of
from lab.truth_page import About, page, score
from lab.truth_run import CODES, Wanted, run_truth, story_results
from tests.lab.builders import expected, found, injected

ABOUT = [
    About("S7", "unclean leader election", "records are lost", "", is_control=False),
    About("S17", "below the minimum", "writes are refused", "", is_control=False),
    About("C1", "rolling restart", "nothing", "everything", is_control=True),
]


def result(code="S7", *, seed=1, expectations=(), findings=(), false=(), error=None):
    if error is not None:
        return Result(code, seed, 0, 1.0, error=error)
    verdict = judge([injected(*expectations, fault=code)], findings)
    return result_of(code, seed, 0, 1.0, verdict, false)


def cut(count=500, **more):
    return expected(Kind.LOG_TRUNCATED, topic="s7-orders-1", count=count, offsets=(1000, 999 + count), **more)


def said(count=500, **more):
    return found(Kind.LOG_TRUNCATED, topic="s7-orders-1", count=count, offsets=(1000, 999 + count), **more)


def shown(*results):
    return page(results, ABOUT, {"lost_write": 20.0}, {"S3": "needs a proxy"})


def test_what_clients_met_is_shown_once_where_all_runs_agree_and_run_by_run_where_not():
    def run(seed, *met):
        return replace(result(seed=seed, expectations=[cut()], findings=[said()]), second_judge=met)

    def column(*results):
        (line,) = [each for each in shown(*results).splitlines() if "unclean leader election" in each]
        return line.rpartition("| ")[2].removesuffix(" |")

    assert column(run(1), run(2)) == "nothing"
    assert column(run(1, "lost-write 500"), run(2, "lost-write 20", "duplicate 1")) == (
        "lost-write 500 · lost-write 20, duplicate 1"
    )


def test_results_are_read_back_and_the_newest_of_a_fault_and_seed_counts(tmp_path):
    path = tmp_path / "build" / "truth.jsonl"
    first, again = result(expectations=[cut()]), result(expectations=[cut()], findings=[said()])
    other = result(seed=2, error="no broker came back")
    append_results(path, [first, other])
    append_results(path, [again])

    assert load_results(path) == [again, other]


def test_what_a_run_met_beside_its_faults_counts_as_long_as_one_of_them_does(tmp_path):
    def at(code, at_ms, seed=1):
        return replace(result(code, seed=seed), at_ms=at_ms)

    def kept(*results):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
        append_results(path, results)
        return [(each.code, each.at_ms) for each in load_results(path) if each.code == "beside"]

    whole = (at("S6", 110), at("S7", 150), at("beside", 100))

    assert kept(*whole, *whole) == [("beside", 100)]
    assert kept(*whole, at("S7", 210), at("beside", 200)) == [("beside", 100), ("beside", 200)]
    assert kept(*whole, at("S7", 210), at("S6", 250), at("beside", 200)) == [("beside", 200)]
    assert kept(*whole, at("beside", 200)) == [("beside", 100)]
    assert kept(*whole, at("S7", 210, seed=2), at("beside", 200, seed=2)) == [("beside", 100), ("beside", 200)]


def test_what_has_a_result_does_not_run_again_and_what_failed_does(tmp_path):
    path = tmp_path / "truth.jsonl"
    append_results(path, [result("S7"), result("S6", error="no broker came back"), result("S17", seed=2)])

    def left(only=(), again=False):
        return Wanted((1,), only, again=again).left(path, 1)

    assert left() == set(CODES) - {"S7"}
    assert left(["S6", "S7"]) == {"S6"}
    assert left(["S7"], again=True) == {"S7"}


def test_a_fault_nobody_knows_is_refused_before_anything_starts(tmp_path):
    with pytest.raises(LabError, match="No fault is called S99"):
        run_truth(tmp_path / "truth.jsonl", Wanted((1,), ("S99",), again=False), progress=print)


def test_the_score_counts_what_had_to_be_said_and_what_was():
    found_late = result(expectations=[cut(), cut(demand=Demand.NONE)], findings=[said()])
    missed = result("S17", expectations=[cut()], false=["lag on s17-a: nonsense"])
    broken = result("S6", error="no broker came back")

    total = score([found_late, missed, broken])

    assert (total.demanded, total.met, total.findings, total.right) == (2, 1, 2, 1)
    assert (total.recall, total.precision) == (0.5, 0.5)


def test_nothing_judged_has_no_score():
    assert (score([]).recall, score([]).precision) == (None, None)


def test_the_page_shows_each_runs_count_claim_and_seconds_in_one_line():
    text = shown(
        result(expectations=[cut(500)], findings=[said(500, seen_after_ms=4_200)]),
        result(seed=2, expectations=[cut(300)], findings=[said(300, bounds=(300, 320), seen_after_ms=6_000)]),
    )

    (line,) = [each for each in text.splitlines() if "`log_truncated`" in each]
    assert "| 500 · 300 | 500 [500, 500] · 300 [300, 320] | 2 of 2 | 4.2 · 6.0 | 0 |" in line
    assert "**Recall 1.000**: 2 of 2" in text
    assert "the slowest finding took 6.0 s" in text


def test_a_miss_a_wrong_count_and_a_false_finding_stay_on_the_page():
    text = shown(
        result(expectations=[cut()], false=["rewind on s7-orders-1-0: a rewind"]),
        result(seed=2, expectations=[cut(500)], findings=[said(400)]),
        result("S17", error="no broker came back"),
    )

    assert "| missed · 400 [400, 400] | 0 of 2 |" in text
    assert "- S7, run 1: `log_truncated`: missed on s7-orders-1-0" in text
    assert "- S7, run 2: `log_truncated`: s7-orders-1-0: 500 injected, claimed 400 [400, 400]" in text
    assert "- S7, run 1: false: rewind on s7-orders-1-0: a rewind" in text
    assert "could not be injected: no broker came back" in text


def test_a_control_shows_what_was_stated_and_what_was_claimed_wrongly():
    stated = expected(Kind.PARTITIONS_ADDED, topic="c1-orders-1", count=None, offsets=None, demand=Demand.NONE)
    said_so = found(Kind.PARTITIONS_ADDED, topic="c1-orders-1", count=None, bounds=(0, None), offsets=None)

    text = shown(result("C1", expectations=[stated], findings=[said_so], false=["a", "b"]))

    assert "| **C1** rolling restart | 1 | `partitions_added` | 2 |" in text


def test_a_fault_of_which_nothing_may_be_said_is_on_the_page_too():
    (line,) = [each for each in shown(result(false=["a"])).splitlines() if "unclean leader election" in each]
    assert line.endswith("| none may be made |  |  | 1 run |  | 1 |  |")


def test_what_was_not_run_is_named():
    text = shown(result(expectations=[cut()], findings=[said()]))

    assert "| S17 below the minimum | no run so far |" in text
    assert "| C1 rolling restart | no run so far |" in text
    assert "| S7 unclean leader election | no run so far |" not in text


def test_what_was_true_beside_the_faults_is_summed_up():
    low = expected(Kind.AT_MIN_ISR, topic="other", count=20, offsets=None, demand=Demand.NONE)
    claims = [
        found(Kind.AT_MIN_ISR, topic="other", count=None, bounds=bounds, offsets=None)
        for bounds in ((15, 25), (30, 40))
    ]
    results = [result("beside", seed=n, expectations=[low], findings=[claim]) for n, claim in enumerate(claims, 1)]

    assert "`at_min_isr` 1 of 2 right." in shown(*results)
    assert "nothing was found." in shown(result(expectations=[cut()], findings=[said()]))


def test_a_false_finding_belongs_to_the_fault_whose_topic_or_group_it_names():
    codes = ["S1", "S15", "S15h"]

    assert owner_of(found(topic="s15-parcels-1"), codes) == "S15"
    assert owner_of(found(topic="s15h-meters-1"), codes) == "S15h"
    assert owner_of(found(topic="orders", group="s1-billing-1"), codes) == "S1"
    assert owner_of(found(topic="__consumer_offsets"), codes) == "beside"


def test_the_story_is_told_under_the_numbers_of_its_faults():
    verdict = judge([injected(expected(), fault="consumer_dies")], [found(), found(partition=5)])

    results = {each.code: each for each in story_results(verdict, 1, 0, 1.0)}

    assert results.keys() == {*STORY_CODES.values(), "workload"}
    assert [row.met for row in results["S8"].rows] == [1]
    assert len(results["workload"].false_findings) == 1
    assert score(results.values()).findings == 2


def test_every_fault_and_control_says_what_it_breaks_and_what_must_stay_silent():
    for code, fault in ON_GROUND.items():
        assert all((fault.TITLE, fault.BREAKS, fault.SILENT)), code
        assert (fault.BREAKS == "nothing") == code.startswith("C"), code
    assert len(CODES) == len(set(CODES)) == len(ON_GROUND) + len(STORY_CODES)
