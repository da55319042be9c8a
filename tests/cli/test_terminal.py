"""Names and messages from outside cannot clear a terminal, set its title or re-order its lines."""

from cli import audits, check, collect, findings, main, report
from cli.chosen import CommandError
from dashboard.reports.document import Document
from guarantees.observations import Coverage, Round

HOSTILE = "g\x1b[2J\x1b]0;mine\x07\u202egnp"
SHOWN = "g\\u001b[2J\\u001b]0;mine\\u0007\\u202egnp"


def is_harmless(said):
    return SHOWN in said and not any(char in said for char in "\x1b\x07\u202e")


def test_findings_are_printed_with_hostile_names_written_out():
    lines = findings.table([("now", "open", "PROVEN", f"{HOSTILE} stopped", f"group {HOSTILE}", "1", HOSTILE, "id")])

    assert is_harmless("\n".join(lines))
    assert lines[0].index("id") == lines[1].index("id"), "columns are as wide as what is shown"


def test_the_state_of_an_audit_is_told_with_a_hostile_reason_written_out(capsys):
    audits.Teller().tell({"state": "failed", "reason": HOSTILE})

    assert is_harmless(capsys.readouterr().err)


def test_a_mistake_is_said_with_hostile_names_written_out_and_keeps_its_lines(capsys, monkeypatch):
    def refused(_):
        raise CommandError(f"no group {HOSTILE}\nsecond line")

    monkeypatch.setattr(check, "run", refused)

    assert main.main(["check", "--bootstrap", "b:1"]) == 2
    said = capsys.readouterr().err
    assert is_harmless(said)
    assert said.endswith("\nsecond line\n")


def test_a_check_is_printed_with_hostile_names_written_out(capsys, monkeypatch):
    monkeypatch.setattr(check, "check", lambda *_: [f"topic {HOSTILE}: not permitted"])

    assert main.main(["check", "--bootstrap", "b:1"]) == 0
    assert is_harmless(capsys.readouterr().out)


def test_a_round_is_printed_with_hostile_errors_written_out():
    partly = Coverage("groups", 2, 1, 0, 1, f"broker says {HOSTILE}", 0, 1)
    observed = Round(cluster_id="c", tick=7, started_at_ms=0, ended_at_ms=1, coverage=(partly,))

    assert is_harmless(collect.printed([observed], "table"))


def test_a_report_is_announced_with_a_hostile_title_written_out(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(report, "make", lambda *_: Document("durability", HOSTILE, (), (), 0))
    monkeypatch.setattr(report, "write", lambda *_: None)
    asked = ["report", "durability", "c", "--out", str(tmp_path / "f"), "--bootstrap", "b:1"]

    assert main.main(asked) == 0
    assert is_harmless(capsys.readouterr().out)
