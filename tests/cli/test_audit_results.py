"""What `tidemark jobs audit` prints and how it ends, for people and schedulers."""

import argparse
import json

import pytest

from cli import audits
from cli.audit_results import as_json, exit_code, progress
from cli.chosen import CommandError
from cli.main import main, parser
from settings import ClusterSettings, PipelineSettings, Settings


def run(**changed):
    known = {
        "run_id": "r", "job": "audit", "pipeline": "p", "window_from": 0, "window_to": 60_000, "state": "done",
        "reason": None, "is_whole": True, "step": None, "slices_done": 4, "slices_planned": 9, "offsets_read": 1200,
        "offsets_planned": 3000, "records": 1100, "busy_s": 1.23456, "cpu_s": 2.0, "blind_spots": '["said"]',
    }  # fmt: skip
    return {**known, **changed}


ORDER = ("without_key", "without_place", "ordered", "keys", "keys_elsewhere", "out_of_order", "repeated",
         "numbers_missing", "batches", "batches_compared", "batches_differing", "copies_silent")  # fmt: skip


def side(name, **counted):
    known = {
        "side": name, "topic": name, "first_offset": 10, "next_offset": 30, "visible": 17, "without_id": 1,
        "not_json": 0, "aborted": 2, "markers": 1, "compacted": 0, "unexplained": 0, "below_log_start": 0,
        "undecided": 0, "ids": 16, "extra_copies": 0, "lost": None, "late": None, "waiting": None, "surplus": None,
    }  # fmt: skip
    return {**known, **dict.fromkeys(ORDER), **counted}


def batches(number, compared, differing, **known):
    return side("source", partition=0, batches=number, batches_compared=compared, batches_differing=differing, **known)


CLEAN = [side("source", lost=0, late=0, waiting=0), side("sink", surplus=0)]
ENDS = {
    "nothing found": (run(), CLEAN, 0, "clean"),
    "late is no loss": (run(), [side("source", lost=0, late=2, waiting=0)], 0, "clean"),
    "one waits and is not judged": (run(), [side("source", lost=0, late=2, waiting=1)], 3, "incomplete"),
    "the group was dead: all wait": (run(), [side("source", ids=16, lost=0, late=0, waiting=16)], 3, "incomplete"),
    "lost while others wait": (run(), [side("source", lost=1, waiting=3)], 1, "found"),
    "losses not observable": (run(), [side("source")], 0, "clean of duplicates"),
    "duplicates alone were asked for": (run(job="duplicates"), [side("source"), side("sink")], 0, "clean"),
    "no record has an id": (run(), [side("source", without_id=17, ids=0)], 3, "incomplete"),
    "nothing in the window": (run(), [side("source", visible=0, without_id=0, ids=0, lost=0)], 0, "clean"),
    "figures replaced": (run(), [], 3, "incomplete"),
    "duplicates": (run(), [side("source", extra_copies=1)], 1, "found"),
    "lost": (run(), [side("source", lost=1)], 1, "found"),
    "surplus": (run(), [side("sink", surplus=1)], 1, "found"),
    "out of order": (run(job="order"), [side("source", out_of_order=1)], 1, "found"),
    "repeated, in order": (run(job="order"), [side("source", ordered=9, out_of_order=0, repeated=2)], 0, "clean"),
    "no record has a place": (run(job="order"), [side("source", ordered=0, out_of_order=0)], 3, "incomplete"),
    "equal copies": (run(job="content"), [batches(5, 10, 0)], 0, "clean"),
    "compacted": (run(job="content"), [batches(5, None, None)], 3, "incomplete"),
    "no other copy": (run(job="content"), [batches(5, 0, 0)], 3, "incomplete"),
    "another content": (run(job="content"), [side("source", batches_differing=1)], 1, "found"),
    "found although not whole": (run(is_whole=False), [side("source", lost=1)], 1, "found"),
    "nothing found in a part": (run(is_whole=False), CLEAN, 3, "incomplete"),
    "failed": (run(state="failed", is_whole=None), [], 3, "incomplete"),
    "cancelled": (run(state="cancelled", is_whole=None), [], 3, "incomplete"),
}


@pytest.mark.parametrize("case", ENDS)
def test_the_exit_code_says_clean_only_of_a_whole_window_in_which_nothing_was_found(case):
    row, ranges, code, verdict = ENDS[case]

    assert exit_code(row, ranges) == code
    assert as_json(row, ranges)["verdict"] == verdict


def test_what_was_counted_and_what_was_not_judged_is_said_beside_the_verdict():
    found = as_json(run(is_whole=False), [side("source", lost=0, late=0, waiting=3), side("sink", surplus=0)])

    assert found["covers"] == ["duplicates", "losses"]
    assert found["not_judged"] == [
        "the window is not whole",
        "ids the group had not passed for long enough: 3",
    ]
    assert as_json(run(), [side("source")])["covers"] == ["duplicates"]
    compacted = as_json(run(job="content"), [batches(5, None, None)])
    assert compacted["not_judged"] == ["batches of source-0 not compared: 5"]


def test_the_reason_of_a_run_cannot_move_the_terminals_cursor():
    said = progress(run(state="failed", reason="topic \x1b[2J\u202e is gone"))

    assert said == "failed: topic \\u001b[2J\\u202e is gone"


def test_partitions_add_up_and_what_was_not_counted_is_null():
    found = as_json(run(), [side("source", extra_copies=2), side("source", extra_copies=3), side("sink", surplus=None)])

    assert (found["source"]["offsets"], found["source"]["visible"], found["source"]["extra_copies"]) == (40, 34, 5)
    assert found["source"]["lost"] is None
    assert found["sink"]["surplus"] is None
    assert found["from"] == "1970-01-01T00:00:00.000Z"
    assert json.loads(json.dumps(found)) == found


def test_without_a_sink_there_is_no_side_of_zeros():
    assert as_json(run(), [side("source")])["sink"] is None


def test_progress_is_one_line():
    assert progress(run(state="running", step="reading")) == (
        "reading: slice 4 of about 9, 1,200 of 3,000 offsets"
    )  # fmt: skip
    assert progress(run(state="waiting", reason="another audit runs first")) == "waiting: another audit runs first"


@pytest.mark.parametrize(("text", "at_ms"), [
    ("1970-01-01T00:01:00Z", 60_000), ("1970-01-01T00:01", 60_000), ("1970-01-01T01:01:00+01:00", 60_000),
    ("1970-01-02", 86_400_000),
])  # fmt: skip
def test_a_time_without_a_zone_is_utc(text, at_ms):
    assert audits.moment(text) == at_ms


def test_what_is_no_time_is_said():
    with pytest.raises(argparse.ArgumentTypeError, match="is no time such as"):
        audits.moment("yesterday")


def test_a_pipeline_that_is_not_declared_is_named_with_the_nearest_one():
    pipeline = PipelineSettings(name="billing", cluster="c", source="a", group="g")
    settings = Settings(clusters=(ClusterSettings(name="c", bootstrap_servers="b:1"),), pipelines=(pipeline,))

    assert audits.declared(settings, "billing") is pipeline
    with pytest.raises(CommandError, match="did you mean 'billing'"):
        audits.declared(settings, "biling")


def test_a_window_that_ends_before_it_begins_is_a_mistake_of_the_caller(tmp_path, capsys):
    path = tmp_path / "tidemark.toml"
    path.write_text("""
[[clusters]]
name = "c"
bootstrap_servers = "nobody:1"
[[pipelines]]
name = "p"
cluster = "c"
source = "orders"
group = "g"
""")

    arguments = ["--settings", str(path), "--pipeline", "p", "--from", "2026-01-02", "--to", "2026-01-01"]

    assert main(["jobs", "audit", *arguments]) == 2
    assert "--from must be before --to" in capsys.readouterr().err
    assert not (tmp_path / "data" / "log").exists()


def test_one_job_alone_can_be_run():
    given = parser().parse_args(
        ["jobs", "run", "losses", "--pipeline", "p", "--from", "2026-01-01", "--to", "2026-01-02"]
    )

    assert given.job == "losses"
