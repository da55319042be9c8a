"""Requests for exact audits: seen, run slice by slice, killed, resumed, cancelled, replaced. Nothing starts Spark."""

import random
import shutil
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from guarantees.audits import Job
from guarantees.findings import Kind
from settings import ClusterSettings, MessageId, PipelineSettings, Settings, StoreSettings
from spark_jobs.audits import blocks, desk, exact, folders
from spark_jobs.audits.blocks import Account
from spark_jobs.audits.desk import AuditDesk
from spark_jobs.audits.exact import AuditFailedError
from spark_jobs.audits.tasks import Outcome, ReadTask, SearchTask
from spark_jobs.audits.working import work
from spark_jobs.findings import RecordFindings
from spark_jobs.live import audit_between_rounds
from spark_jobs.sources.open_clusters import OpenClusters
from store.audit_requests import AuditRequest, Cancellation, cancel_row, request_row
from store.findings import load_findings
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter, snapshot
from store.rows import python_rows
from tests.spark_jobs.histories import Copy, as_copies, history, oracle, plan

RESULTS = ("audit_ranges", "audit_duplicates", "audit_ids")
AT_ONCE = 20  # offsets a task reads in its time
SLICES = 6


class Killed(BaseException):
    """The process ends here."""


class Office:
    """A data directory with its log and metrics, and workers that read a history instead of a cluster."""

    def __init__(self, folder, monkeypatch, rows):
        self.folder = folder
        self.rows = rows
        self.slices = 0
        self.kill_at = None
        self.plans = []
        self.plan = plan(sink={"search_next": 60})
        pipeline = PipelineSettings(
            name="p", cluster="c", source="orders", group="g", sink="bills", id=MessageId(key=True), store_ids=False
        )
        self.settings = Settings(
            clusters=(ClusterSettings(name="c", bootstrap_servers="nobody:1"),),
            pipelines=(pipeline,),
            store=StoreSettings(data_dir=str(folder)),
        )
        self.log = SegmentLog(folder, "people")
        monkeypatch.setattr(exact, "run_lanes", self.run_lanes)

    @contextmanager
    def open(self, **changed):
        """A process: the holder of the metrics with its desk."""
        with MetricsWriter(self.folder / METRICS_FILE) as metrics:
            log = SegmentLog(self.folder, "h_jobs")
            findings = RecordFindings(self.folder, log, self.settings.pipelines)
            try:
                yield AuditDesk(
                    None, self.settings, metrics, lanes=2, findings=findings, make_plan=self.make_plan, **changed
                )
            finally:
                log.close()

    def make_plan(self, *_):
        self.plans.append(self.plan)
        return self.plan

    def ask(self, run_id="r1", pipeline="p", at_ms=None, window=(1_000, 2_000), job=Job.AUDIT):
        asked = AuditRequest(run_id, at_ms or now_ms(), "Ada", job, pipeline, *window)
        self.log.append("operator_actions", [request_row(asked)])

    def cancel(self, run_id="r1"):
        self.log.append("operator_actions", [cancel_row(Cancellation(f"no-{run_id}", now_ms(), "Bea", run_id))])

    def run_lanes(self, _spark, lanes):
        """There is time for one task of each lane."""
        self.slices += 1
        done = [self.do(lane.tasks[0]) for lane in lanes[:1]]
        if self.slices == self.kill_at:
            raise Killed
        done += [self.do(lane.tasks[0]) for lane in lanes[1:]]
        return [replace(each, done=int(each.error is None)) for each in done]

    def do(self, task):
        if not isinstance(task, ReadTask | SearchTask):
            return work(task, OpenClusters())
        wanted = task.request.range
        reached = min(wanted.first_offset + AT_ONCE, wanted.next_offset)
        side, partition = task.name.split("-")
        kept = [r for r in self.rows if (r.side, r.partition) == (side, int(partition))
                and wanted.first_offset <= r.offset < reached]  # fmt: skip
        account = Account(visible=sum(row.in_window for row in kept), compared=len(kept))
        kind = folders.READ if isinstance(task, ReadTask) else folders.FOUND
        blocks.write_block(
            task.folder / kind, task.name, wanted.first_offset, reached, as_copies(kept), account, task.buckets
        )
        return Outcome(offsets=reached - wanted.first_offset, compared=len(kept))

    def table(self, name, *left_out):
        rows = python_rows(name, snapshot(self.folder / METRICS_FILE, [name])[name])
        return sorted((({k: v for k, v in row.items() if k not in left_out}) for row in rows), key=str)

    def results(self):
        return {name: self.table(name, "observed_at", "run_id") for name in RESULTS}

    def run_of(self, run_id="r1"):
        return next(row for row in self.table("audit_runs") if row["run_id"] == run_id)

    def is_over(self, run_id="r1"):
        return self.run_of(run_id)["ended_at"] is not None

    def finish(self):
        with self.open() as opened:
            opened.look()
            while opened.step():
                pass


def now_ms():
    return time.time_ns() // 1_000_000


def told():
    """A random history, and behind its edge two records of the sink: one answers a missing id of the source late."""
    rows = history(random.Random(1))
    _, _, lost, _ = oracle(rows)
    partition, offset, _ = min(lost)
    answered = next(r for r in rows if (r.side, r.partition, r.offset) == ("source", partition, offset))
    return [*rows, replace(answered, side="sink", offset=45), Copy("sink", 1, 46, number=99)], answered


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A metrics file without a row: making one takes longer than copying it."""
    path = tmp_path_factory.mktemp("empty") / METRICS_FILE
    MetricsWriter(path).close()
    return path


@pytest.fixture
def office(tmp_path, monkeypatch, empty):
    shutil.copy(empty, tmp_path)
    made = Office(tmp_path, monkeypatch, told()[0])
    yield made
    made.log.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What the same history gives when nothing happens."""
    with pytest.MonkeyPatch.context() as patch:
        other = Office(tmp_path_factory.mktemp("undisturbed"), patch, told()[0])
        other.ask()
        other.finish()
        other.log.close()
    return other


def test_a_request_ends_as_rows_that_say_what_was_counted_who_asked_and_how(undisturbed):
    office = undisturbed
    run = office.run_of()
    extra, ids, lost, surplus = oracle([row for row in office.rows if row.offset < 40])
    ranges = office.table("audit_ranges")
    assert (run["state"], run["requested_by"], run["pipeline"], run["step"]) == ("done", "Ada", "p", None)
    assert run["slices_done"] == run["slices_planned"] == office.slices == SLICES
    assert run["offsets_read"] == run["offsets_planned"] == 160 + 40
    assert sum(row["extra_copies"] for row in office.table("audit_duplicates")) == sum(extra.values())
    assert sum(row["extra_copies"] for row in ranges) == sum(extra.values())
    assert sum(row["ids"] for row in ranges) == sum(ids.values())
    assert sum(row["lost"] or 0 for row in ranges) == len(lost) - 1
    assert sum(row["late"] or 0 for row in ranges) == 1
    assert sum(row["surplus"] or 0 for row in ranges) == len(surplus)
    assert {row["surplus"] for row in ranges if row["side"] == "source"} == {None}
    assert not list((office.folder / ".tmp" / "audits").iterdir())


def test_an_id_that_the_sink_shows_only_behind_the_edge_is_late_and_its_place_is_named(undisturbed):
    (late,) = [row for row in undisturbed.table("audit_ids") if row["state"] == "late"]
    answered = told()[1]

    assert (late["id_hash"], late["partition"], late["offset"]) == (
        answered.id_hash,
        answered.partition,
        answered.offset,
    )
    assert late["found_at"] == f"bills-{answered.partition}:45"


def test_offsets_without_a_record_are_unexplained_and_the_audit_is_not_whole(undisturbed):
    office = undisturbed
    for row in office.table("audit_ranges"):
        here = [r for r in office.rows if (r.side, r.partition) == (row["side"], row["partition"]) and r.in_window]
        assert (row["visible"], row["unexplained"], row["compacted"]) == (len(here), 20 - len(here), 0)
    assert office.run_of()["is_whole"] is False


@pytest.mark.parametrize("slices", range(1, SLICES + 1))
def test_killed_inside_a_slice_and_restarted_it_ends_with_the_same_rows(office, undisturbed, slices):
    office.ask()
    office.kill_at = slices
    with pytest.raises(Killed):
        office.finish()
    # The cluster goes on: another plan would read something else.
    office.plan = replace(office.plan, ranges=office.plan.ranges[:1])

    office.finish()

    assert office.results() == undisturbed.results()
    assert office.run_of()["state"] == "done"
    assert len(office.plans) == 1
    assert not list((office.folder / ".tmp" / "audits").iterdir())


def test_killed_after_the_commit_it_is_not_run_again(office, monkeypatch):
    office.ask()
    monkeypatch.setattr(AuditDesk, "_forget", lambda *_: (_ for _ in ()).throw(Killed))
    with pytest.raises(Killed):
        office.finish()
    monkeypatch.undo()
    before, slices = office.table("audit_runs"), office.slices

    office.finish()

    assert (office.table("audit_runs"), office.slices) == (before, slices)
    assert not list((office.folder / ".tmp" / "audits").iterdir())


def test_cancelled_between_two_slices_it_ends_without_a_result(office):
    office.ask()
    with office.open() as opened:
        opened.look()
        opened.step()
        office.cancel()
        opened.look()
        opened.step()
        assert not opened.step()

    run = office.run_of()
    assert (run["state"], run["reason"], run["slices_done"]) == ("cancelled", "cancelled by Bea", 1)
    assert office.results() == dict.fromkeys(RESULTS, [])
    assert not list((office.folder / ".tmp" / "audits").iterdir())


def test_cancelled_while_it_waits_it_never_begins(office):
    office.ask(at_ms=now_ms() - 5)
    office.ask("r2")
    office.cancel("r2")
    office.finish()

    assert office.run_of("r2")["state"] == "cancelled"
    assert len(office.plans) == 1


def test_the_second_request_waits_for_the_first_and_says_why(office):
    office.ask(at_ms=now_ms() - 5)
    office.ask("r2")
    with office.open() as opened:
        opened.look()
        opened.step()

    assert [row["state"] for row in (office.run_of(), office.run_of("r2"))] == ["running", "waiting"]
    assert office.run_of("r2")["reason"] == "another audit runs first"


def test_the_same_window_again_replaces_its_rows_and_no_others(office):
    office.ask(at_ms=1, window=(1_000, 3_000))
    office.ask(at_ms=2, run_id="r2")
    office.finish()
    others = [row for row in office.table("audit_ids") if row["run_id"] == "r1"]
    office.rows = [row for row in office.rows if row.side == "source"]
    office.ask("r3")
    office.finish()

    rows = office.table("audit_ids")
    assert {row["run_id"] for row in rows} == {"r1", "r3"}
    assert [row for row in rows if row["run_id"] == "r1"] == others
    assert sum(row["lost"] or 0 for row in office.table("audit_ranges") if row["run_id"] == "r3") == sum(
        row["ids"] for row in office.table("audit_ranges") if row["run_id"] == "r3" and row["side"] == "source"
    )


def test_what_an_audit_counted_is_told_as_findings(office):
    office.plan = plan(source={"committed_to": 40})
    office.ask()
    office.finish()

    told = [history.finding for history in load_findings(office.folder).values()]
    ranges = office.table("audit_ranges")
    counted = {Kind.DUPLICATE_WRITE: "extra_copies", Kind.LOST_WRITE: "lost"}
    for kind, name in counted.items():
        bounds = [finding.bounds for finding in told if finding.kind is kind]
        assert sum(each.lower for each in bounds) == sum(each.upper for each in bounds)
        assert sum(each.lower for each in bounds) == sum(row[name] or 0 for row in ranges) > 0


def test_a_missing_id_the_group_has_not_passed_for_long_enough_waits_and_is_not_lost(office):
    office.plan = plan(source={"committed_to": 20})
    office.ask()
    office.finish()

    _, _, lacking, _ = oracle([row for row in office.rows if row.offset < 40])
    passed = [place for place in lacking if place[1] < 20]
    ranges = [row for row in office.table("audit_ranges") if row["side"] == "source"]
    assert 0 < len(passed) < len(lacking)
    assert sum(row["lost"] for row in ranges) == len(passed)
    assert sum(row["waiting"] for row in ranges) == len(lacking) - len(passed)


def test_an_audit_of_duplicates_alone_says_nothing_of_losses(office):
    office.ask(job=Job.DUPLICATES)
    office.plan = plan(job=Job.DUPLICATES)
    office.finish()

    assert {row["lost"] for row in office.table("audit_ranges")} == {None}
    assert office.table("audit_duplicates")
    assert office.table("audit_ids") == []


def test_a_request_that_cannot_run_fails_with_its_reason_and_the_next_one_runs(office):
    office.ask(pipeline="gone", at_ms=1)
    office.ask("r2")
    office.finish()

    assert (office.run_of()["state"], office.run_of()["reason"]) == (
        "failed", "no pipeline of that name is declared in the settings",
    )  # fmt: skip
    assert office.run_of("r2")["state"] == "done"


def test_a_plan_that_cannot_be_made_is_a_failure(office, monkeypatch):
    office.ask()
    monkeypatch.setattr(office, "make_plan", lambda *_: (_ for _ in ()).throw(AuditFailedError("topic orders is gone")))
    office.finish()

    assert office.run_of()["reason"] == "topic orders is gone"


def test_reading_that_comes_no_further_fails_after_some_tries(office, monkeypatch):
    monkeypatch.setattr(exact, "PAUSE_S", 0.0)
    monkeypatch.setattr(office, "do", lambda task: Outcome(error="nobody answered"))
    office.ask()
    office.finish()

    assert (office.run_of()["state"], office.run_of()["reason"]) == ("failed", "nobody answered")
    assert office.slices == exact.FRUITLESS


def test_what_breaks_an_audit_does_not_end_the_session(office, monkeypatch):
    monkeypatch.setattr(office, "do", lambda task: (_ for _ in ()).throw(OSError("no space left on device")))
    office.ask()
    office.finish()

    assert office.run_of()["reason"] == "OSError: no space left on device"


def test_a_request_that_makes_no_sense_is_left_alone(office):
    office.log.append("operator_actions", [
        {"action_id": "x", "observed_at": 1, "action": "audit", "who": "Eve", "request": text}
        for text in ('{"job": "audit", "pipeline": "p", "from_ms": 5, "to_ms": 1}', "not JSON", '{"job": "drop"}', None)
    ])  # fmt: skip
    office.ask("../elsewhere")
    office.finish()

    assert office.table("audit_runs") == []


def test_a_request_is_seen_within_a_second_also_while_a_live_round_goes_on(office):
    with office.open() as opened, opened:
        time.sleep(2 * desk.LOOK_EVERY_S)
        office.ask()
        time.sleep(1.0)  # the main thread is busy with a round
        assert office.run_of()["state"] == "waiting"
        assert office.slices == 0


def test_live_rounds_go_on_between_the_slices_of_an_audit(office):
    office.ask()
    stop, rounds = threading.Event(), []
    with office.open() as opened:
        opened.look()
        while not rounds or not office.is_over():
            rounds.append(office.slices)
            audit_between_rounds(opened, stop, round_s=0.0)

    assert rounds == sorted(rounds)
    assert max(after - before for before, after in zip(rounds, rounds[1:], strict=False)) == 1


def test_told_to_stop_the_session_does_not_wait_for_the_next_round(office):
    stop = threading.Event()
    stop.set()
    began = time.monotonic()
    with office.open() as opened:
        audit_between_rounds(opened, stop, round_s=30.0)

    assert time.monotonic() - began < 5
