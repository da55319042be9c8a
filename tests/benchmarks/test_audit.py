"""The audit's benchmark says what was measured, and refuses an audit that counted wrongly."""

import subprocess
import sys

import pytest

from benchmarks.audit import cases, problem_of
from benchmarks.audit_table import Measured, line
from benchmarks.audit_topics import LOST, TWICE
from benchmarks.process_tree import COMMAND, JVM, OWN, WORKER, Process, descendants, measured


def reader(name="headers", cpu_s=1.0, jvm_s=0.0, workers_s=0.0, **most_mib):
    cpu = {OWN: cpu_s, COMMAND: 0.0, JVM: jvm_s, WORKER: workers_s}
    return Measured(name, 1_000_000, 2.0, cpu, {OWN: 50.0, **most_mib})


@pytest.mark.parametrize(("cpu_s", "said"), [(1.2, "0.6 | ≤ 0.6, met"), (1.3, "0.7 | ≤ 0.6, missed")])
def test_a_goal_is_met_or_missed_against_kcat_in_the_same_run(cpu_s, said):
    assert said in line(reader(cpu_s=cpu_s), reader("kcat", 2.0))


def test_without_kcat_there_is_no_ratio_and_no_verdict():
    assert "| – | ≤ 0.6 |" in line(reader(), None)


def test_cpu_of_the_jvm_and_of_the_workers_is_counted_and_shown_apart():
    text = line(reader("sample 1/64", 0.5, jvm_s=1.5, workers_s=2.0, jvm=500.0, worker=300.0), None)

    assert "| 4.0 (1.5, 2.0) | 250 |" in text
    assert "JVM 500 MiB, worker 300 MiB" in text


def test_what_a_round_costs_before_its_first_record_is_told_from_what_each_record_costs():
    """A quarter of a million records took 1.5 s and a million 3 s: 1 s and 2 µs a record, twice kcat's."""
    twice = Measured("sample 1/64", 1_000_000, 2.0, {OWN: 3.0, WORKER: 0.0}, {OWN: 50.0}, part=(1.5, 250_000))

    assert "| 3.0 | ≤ 1.2, missed | 1.0 | 2.0 |" in line(twice, reader("kcat", 1.0))
    assert "| 1.0 | – |" in line(twice, None)
    assert "| – | – |" in line(reader(), reader("kcat", 2.0))


def test_an_audit_that_counts_wrongly_is_an_error_and_not_a_figure():
    right = {"records": 10, "extra_copies": TWICE, "lost": LOST}

    assert problem_of(right, 10, is_exact=True) is None
    assert problem_of({**right, "lost": 0}, 10, is_exact=True) == f"lost 0, not {LOST}"
    assert problem_of({**right, "lost": 0}, 10, is_exact=False) is None
    assert problem_of({**right, "records": 9}, 10, is_exact=False) == "records 9, not 10"
    assert problem_of({"records": None}, 10, is_exact=False) is None


def test_every_size_is_measured_with_and_without_a_codec():
    assert {(case.ids, case.record_bytes, case.codec) for case in cases(400)} == {
        (400, 100, "lz4"), (400, 100, "none"), (100, 1024, "lz4"), (100, 1024, "none"),
    }  # fmt: skip


def test_only_what_a_process_started_counts_as_its_own():
    parents = {1: 0, 2: 1, 3: 2, 4: 1, 5: 3, 6: 5, 7: 2}
    names = {3: "java", 5: "python3", 6: ""}  # an ended process that nobody has waited for has no command any more
    processes = {pid: Process(pid, parent, names.get(pid, "sh"), 0.0, 0.0, 0.0) for pid, parent in parents.items()}

    found = {each.pid: kind for kind, each in descendants(processes, 2)}

    assert found == {2: OWN, 3: JVM, 5: WORKER, 6: WORKER, 7: COMMAND}


def test_what_a_command_used_is_counted_after_it_has_ended():
    with measured() as used:
        subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.4: pass"], check=True)

    assert used.cpu_s[COMMAND] >= 0.35
    assert used.seconds >= 0.4
    assert used.most_mib[COMMAND] > 1
