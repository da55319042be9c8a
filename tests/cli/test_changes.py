"""`tidemark changes`: what it leaves out, where nobody looked, and what belongs to no cluster."""

import json

import pytest

from cli.main import main
from dashboard import change_questions
from store.log import SegmentLog
from store.segments import producer_name

AT_MS = 1_764_000_000_000  # 2025-11-24 16:00 UTC
MINUTE_MS = 60_000
WINDOW = ("--from", "2025-11-24T16:00:00Z", "--to", "2025-11-25T16:00:00Z")


@pytest.fixture
def log(tmp_path):
    log = SegmentLog(tmp_path / "data", producer_name("host", "collect"))
    yield log
    log.close()


@pytest.fixture
def told(capsys, tmp_path):
    """What the command prints of a day, with two clusters in the settings."""
    clusters = "".join(f'[[clusters]]\nname = "{name}"\nbootstrap_servers = "b:1"\n' for name in ("east", "west"))
    settings = tmp_path / "tidemark.toml"
    settings.write_text(clusters + '[store]\ndata_dir = "data"\n')

    def tell(*options):
        assert main(["changes", "--settings", str(settings), *WINDOW, *options]) == 0
        return capsys.readouterr().out

    return tell


def rounds(cluster, minutes):
    return [
        {"cluster": cluster, "cluster_id": f"{cluster}-id", "tick": tick, "signal": "end_offsets", "answered": 3,
         "asked": 3, "interval_ms": 5000, "observed_at": AT_MS + 1000 + 5000 * tick}
        for tick in range(minutes * 12)
    ]  # fmt: skip


def rebalance(cluster, group, at_ms):
    return {"cluster_id": f"{cluster}-id", "group_id": group, "joined": "[]", "left": '["a"]', "moved": "[]",
            "observed_at": at_ms}  # fmt: skip


def action(who, at_ms=AT_MS + MINUTE_MS, **more):
    return {"action_id": who, "action": "note", "who": who, "note": "deployed", "observed_at": at_ms, **more}


def test_a_day_of_which_five_minutes_were_observed_tells_of_no_more(log, told):
    log.append("rounds", rounds("east", 5))

    east, west = (line for line in told().splitlines()[1:] if line)

    assert east.startswith("east: Nothing that Tidemark sees changed in this window, as far as 60 of ")
    assert "none after 16:04:56" in east
    assert "Nothing that Tidemark sees, and the search finds, changed" in told("--search", "x")
    assert west == "west: Unknown: no round was stored in this window."
    seen = json.loads(told("--format", "json"))["clusters"]
    assert (seen["east"]["rounds"]["present"], seen["west"]["rounds"]["present"]) == (60, 0)
    assert seen["east"]["rounds"]["expected"] > 17_000


def test_how_many_older_changes_are_left_out_is_said(log, told):
    log.append("rounds", rounds("east", 5))
    times = [AT_MS + MINUTE_MS + number for number in range(change_questions.MOST_ROWS + 7)]
    log.append("rebalances", [rebalance("east", "g", at_ms) for at_ms in times])

    lines = told().splitlines()
    assert lines[1].startswith("east: 60 of ")
    assert "7 older changes left out. Narrow the window or the search to see them." in lines
    found = json.loads(told("--format", "json"))["clusters"]["east"]
    assert (len(found["changes"]), found["left_out"]) == (change_questions.MOST_ROWS, 7)


def test_what_people_did_and_how_parts_went_is_told_once_and_searched_too(log, told):
    for cluster in ("east", "west"):
        log.append("rounds", rounds(cluster, 5))
        log.append("rebalances", [rebalance(cluster, "payers", AT_MS + MINUTE_MS)])
    log.append("operator_actions", [action("Ada"), action("Bob", note="restarted"), action("Cy", finding_id="f")])
    log.append("part_events", [{"part": "jobs", "event": "died", "message": "x", "observed_at": AT_MS + MINUTE_MS}])
    log.append("finding_events", [{"finding_id": "f", "change": "opened", "cluster_id": "east-id", "topic": "t",
                                   "group_id": "payers", "observed_at": AT_MS - 9 * MINUTE_MS}])  # fmt: skip

    said = told()
    assert (said.count("Ada"), said.count("died: x"), said.count("payers")) == (1, 1, 2)
    own = {search: json.loads(told("--format", "json", "--search", search))["tidemark"]["changes"]
           for search in ("RESTART", "payers", "jobs", "nowhere")}  # fmt: skip
    assert {search: [one["where"] for one in found] for search, found in own.items()} == {
        "RESTART": ["Bob"], "payers": ["Cy"], "jobs": ["jobs"], "nowhere": [],
    }  # fmt: skip
    assert "Of people, and of Tidemark itself" not in told("--search", "nowhere")
