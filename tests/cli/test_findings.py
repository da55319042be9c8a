"""`tidemark findings` over a store with known contents."""

import json
import time

import pytest

from cli.main import main
from tests.dashboard import fixture_store


@pytest.fixture
def findings(capsys, tmp_path):
    settings = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", time.time_ns() // 1_000_000)

    def printed(*options):
        assert main(["findings", "--settings", str(settings), *options]) == 0
        return capsys.readouterr().out

    return printed


def test_each_finding_names_the_surest_cause_or_says_that_none_was_observed(findings):
    lines = findings().splitlines()

    assert lines[0].split()[-2:] == ["cause", "id"]
    causes = {
        name: [line for line in lines if name in line] for name in ("41 message ids", "128 records", "40 offsets")
    }
    assert "owner left after committing" in causes["41 message ids"][0]
    assert "sent again" in causes["128 records"][0]
    assert "not observed" in causes["40 offsets"][0]


def test_a_script_gets_every_cause_with_its_grade_and_assumption(findings):
    (lost,) = [one for one in json.loads(findings("--format", "json")) if one["kind"] == "lost_write"]

    (cause,) = lost["causes"]
    assert (cause["link"], cause["grade"], cause["finding_id"]) == ("owner left after committing", "PROBABLE", None)
    assert cause["assumption"] == "it had committed before it processed them"


def test_only_those_that_last_are_shown_when_asked(findings):
    states = {one["state"] for one in json.loads(findings("--open", "--format", "json"))}

    assert states == {"open"}
