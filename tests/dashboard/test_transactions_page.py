"""The page of transactions in every state: with data, chosen, empty, stale, refused, broken, huge, hostile."""

import json
import re
from pathlib import Path

import pytest

from dashboard.view import format_time
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store, story_transactions
from tests.dashboard.conftest import now_ms
from tests.dashboard.story_transactions import HANGING, HOSTILE, HOSTILE_ID, LATE, NORMAL, TOPIC
from tests.dashboard.test_pages import UNESCAPED, break_table, cells, visit, words

__all__ = ["visit"]

PAGE = "transactions"


def table(app, alt):
    """The data frame of that description."""
    return next(one.value for one in app.dataframe if one.proto.alt == alt)


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Path:
    """A cluster whose rounds answer, without a transaction, a marker or a finding."""
    return _bare(tmp_path_factory.mktemp("bare"))


def test_the_worst_transaction_comes_first_with_what_it_holds_back_and_who_waits(visit, believable):
    app = visit(believable, PAGE)

    found = table(app, "Open transactions, worst first").set_index("Producer")
    assert list(found.index)[0] == "9001 · 7"
    hanging, late, normal = found.loc["9001 · 7"], found.loc["9003 · 11"], found.loc["9002 · 3"]
    assert (hanging["State"], hanging["Transactional id"], hanging["Held back"]) == ("✕ Hanging", "–", 410)
    assert hanging["Coordinator"] == "none lists it"
    assert hanging["Would wait"] == f"{story_transactions.GROUP}; others: unknown", "one group's commits are refused"
    assert re.match(r"at least (19|2\d) min", hanging["For"])  # the collector began 20 minutes before the story ended
    assert (late["State"], late["Held back"]) == ("△ Late", 1_900)
    assert late["Would wait"] == "unknown: not all commits were answered"
    assert (normal["State"], normal["Coordinator"]) == ("○ Open", "Ongoing, broker 3")
    nameless = found.loc["9004 · 0"]
    assert nameless["Unknown because"] == "no answer names who holds the stable offset"
    assert nameless.isna()["Held back"]


def test_the_overview_counts_the_same_transactions(visit, believable):
    shown = table(visit(believable, PAGE), "Open transactions, worst first")
    overview = visit(believable, "overview")

    tiles = {metric.label: metric.value for metric in overview.metric}
    assert tiles["Open transactions"] == str(len(shown))
    assert "2 past 80% of the timeout, 1 hanging" in words(overview).replace("\\", "")
    hanging, past, *rest = [word.split()[1] for word in shown["State"]]
    assert (hanging, rest) == ("Hanging", ["Late", "Open", "Open"])
    assert past in ("Expiring", "Overdue"), "its timeout passed before the story's end"


def test_of_a_transaction_nobody_waits_for_only_where_all_commits_were_answered(visit, tmp_path):
    folders, now = (tmp_path / "told", tmp_path / "refused"), now_ms()
    for folder in folders:
        folder.mkdir()
    told, refused = (_bare(folder, refused=number) for number, folder in enumerate(folders))
    for settings in (told, refused):
        fixture_store.append(settings.parent / "data", "open_transactions", [
            {"cluster_id": fixture_store.CLUSTER_ID, "transactional_id": "tx", "producer_id": 9001,
             "producer_epoch": 7, "state": "Ongoing", "timeout_ms": 60_000, "transaction_started_at": now - 31_000,
             "partitions": "[]", "coordinator": 1, "started_at": now - 30_000, "last_seen_at": now + 120_000}
        ])  # fmt: skip

    assert "No group with a commit on its partitions was seen." in words(visit(told, PAGE, transaction=HANGING))
    said = words(visit(refused, PAGE, transaction=HANGING))
    assert "Who has a commit on its partitions is unknown: not all commits were answered." in said
    assert "No group with a commit" not in said


def test_a_hanging_transaction_shows_its_abort_and_what_must_be_checked_first(visit, believable):
    app = visit(believable, PAGE, transaction=HANGING)

    parts = table(app, "Partitions of the transaction")
    assert list(parts["Partition"]) == [f"{TOPIC}-0"]
    assert list(parts["Start"]) == [str(story_transactions.stable_offset(0))]
    assert list(parts["Listed"]) == ["no"]
    readers = table(app, "Groups with a commit on the transaction's partitions")
    assert list(readers["Stands"]) == ["at it: waits, if read_committed"]
    said = words(app)
    assert "A missing right looks the same" in said
    assert "⚠ Changes the log" in said
    start = story_transactions.stable_offset(0)
    assert f"abort --topic {TOPIC} --partition 0 --start-offset {start}" in app.code[-1].value


def test_of_ten_partitions_that_hang_each_has_its_abort_and_one_without_a_start_offset_is_said_to_have_none(
    visit, tmp_path
):
    settings, now = _bare(tmp_path), now_ms()
    fixture_store.append(tmp_path / "data", "open_producers", [
        {"cluster_id": fixture_store.CLUSTER_ID, "topic": TOPIC, "topic_id": story_transactions.TOPIC_ID,
         "partition": partition, "producer_id": 9001, "producer_epoch": 7, "last_sequence": 1,
         "current_transaction_start_offset": 1_000 + partition if partition < 10 else None,
         "last_timestamp": now - 3_600_000, "coordinator_epoch": 5, "started_at": now - 1_200_000,
         "last_seen_at": now + 240_000}
        for partition in range(11)
    ])  # fmt: skip

    app = visit(settings, PAGE, transaction=HANGING)

    lines = [line for code in app.code for line in code.value.splitlines() if " abort " in line]
    assert [line.split(TOPIC)[1] for line in lines] == [
        f" --partition {partition} --start-offset {1_000 + partition}" for partition in range(10)
    ]
    assert words(app).count("⚠ Changes the log") == 4
    assert "7 partitions more it hangs on, each with a command of its own" in words(app)
    assert "Of 1 partition the start offset is not known" in words(app)


@pytest.mark.parametrize("chosen", [NORMAL, LATE, HOSTILE])
def test_what_a_coordinator_lists_shows_no_abort(visit, believable, chosen):
    app = visit(believable, PAGE, transaction=chosen)

    assert "Do not abort it by start offset" in words(app)
    lines = [code.value for code in app.code]
    assert any("describe --transactional-id" in line for line in lines)
    assert not [line for line in lines if " abort " in line]
    assert "⚠" not in words(app)


def test_the_chosen_transaction_leads_to_its_findings(visit, believable):
    said = [link.proto.label for link in visit(believable, PAGE, transaction=LATE).get("page_link")]

    assert any("Producer fenced (open): transfers\\: producer 9003 was fenced" in label for label in said)
    assert "No finding names it" in words(visit(believable, PAGE, transaction=NORMAL))


def test_without_a_choice_and_with_an_ended_one_the_page_says_so(visit, believable):
    assert "Select a transaction in the table" in words(visit(believable, PAGE))
    assert "This transaction was not open in the newest round." in words(visit(believable, PAGE, transaction="1-1"))


def test_outcomes_are_drawn_with_what_was_not_read_and_how_they_are_counted(visit, believable):
    app = visit(believable, PAGE)

    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert [trace["name"] for trace in figure["data"]][:2] == ["✓ Committed", "✕ Aborted"]
    said = words(app)
    assert "Headers of 1 partition of transfers" in said
    assert "TOPIC\\_AUTHORIZATION\\_FAILED" in said
    assert "at least so many" in said


def test_the_twin_of_the_chart_holds_every_bucket_and_lane(visit, believable):
    app = visit(believable, PAGE, range="1h")
    app.session_state["outcomes-as-tables"] = True
    app.run()

    counts = table(app, "Outcomes by time")
    assert counts["Committed"].sum() == story_transactions.MINUTES * story_transactions.COMMITS
    assert counts["Aborted"].sum() == story_transactions.MINUTES * story_transactions.ABORTS
    lanes = table(app, "Lanes of transactions")
    assert {"✕ Hanging", "△ Late", "◔ Slow, ended", "✕ Aborted", "⊘ Fenced", "▼ Timed out"} <= set(lanes["State"])


def test_fencings_show_both_epochs_and_the_chosen_one_leads_to_its_evidence(visit, believable):
    app = visit(believable, PAGE, range="1h")

    shown = table(app, "Fenced producers, time-outs, restarts without fencing and torn transactions, the newest first")
    assert list(zip(shown["What"], shown["Old epoch"], shown["New epoch"], strict=True)) == [
        ("Transaction timed out", "5", "6"), ("Producer fenced", "10", "11"), ("Producer fenced", "8", "9"),
    ]  # fmt: skip
    finding_id = story_transactions.timed_out(fixture_store.CLUSTER_ID, 10**12).finding_id
    chosen = visit(believable, PAGE, fencing=f"{finding_id}-0", range="1h")
    labels = [link.proto.label for link in chosen.get("page_link")]
    assert any("Evidence: transfers\\-2" in label for label in labels)


def test_the_search_narrows_transactions_lanes_and_fencings(visit, believable):
    app = visit(believable, PAGE, search="tx-1")

    assert set(table(app, "Open transactions, worst first")["Transactional id"]) == {"transfer-tx-1", "invoice-tx-1"}
    assert "No producer that the search finds was seen to be fenced" in words(app)
    nothing = visit(believable, PAGE, search="no such thing")
    assert "No open transaction matches the search" in words(nothing)


def test_a_waiting_group_finds_the_transaction_it_waits_for(visit, believable):
    app = visit(believable, PAGE, search=story_transactions.GROUP)

    assert list(table(app, "Open transactions, worst first")["Producer"]) == ["9001 · 7"]


def test_that_there_is_none_is_only_said_where_every_coordinator_answered(visit, bare, tmp_path):
    app, silent = visit(bare, PAGE), _bare(tmp_path, refused=2)
    refused = visit(silent, PAGE)

    assert "No coordinator lists an open transaction" in words(app)
    assert "Whether a transaction is open is not known: the coordinators" in words(refused)
    chosen = words(visit(silent, PAGE, transaction=NORMAL))
    assert "Whether this transaction is open is not known: the coordinators" in chosen
    assert "was not open" not in chosen
    assert "Not permitted: 2 of" in words(refused)


def test_steps_of_a_window_longer_than_a_day_are_said_to_be_those_of_its_last_day(visit, believable, bare):
    note = "Only the last 24 h of the window are shown"
    assert note in words(visit(believable, PAGE, range="7d"))
    assert note not in words(visit(believable, PAGE, range="24h"))

    nothing = "No step of a transactional id was seen in"
    assert f"{nothing} the last 24 h of this window, as far as" in words(visit(bare, PAGE, range="7d"))
    assert f"{nothing} this window, as far as" in words(visit(bare, PAGE, range="24h"))


def test_outcomes_that_nobody_reads_say_how_to_switch_them_on(visit, bare):
    app = visit(bare, PAGE)

    assert "Outcomes are not observed" in words(app)
    assert "Set `header_topics` of the cluster" in words(app)
    assert not app.get("plotly_chart")


def test_outcomes_of_a_time_whose_samples_have_expired_are_not_known_and_not_zero(visit, tmp_path):
    settings, then = _bare(tmp_path), now_ms() - 2 * 86_400_000
    known = {"cluster_id": fixture_store.CLUSTER_ID}
    fixture_store.append(tmp_path / "data", "header_ranges", [
        known | {"topic": "t", "topic_id": "id", "partition": 0, "first_offset": 0, "next_offset": 9,
                 "observed_at": then - 30_000}
    ])  # fmt: skip
    fixture_store.append(tmp_path / "data", "rounds", [
        known | {"cluster": "production", "tick": second, "signal": "end_offsets", "asked": 1, "answered": 1,
                 "refused": 0, "failed": 0, "observed_at": then - 1_000 * second, "interval_ms": 5_000}
        for second in range(0, 900, 5)
    ])  # fmt: skip
    fixture_store.append(tmp_path / "data", "partition_offsets", [
        known | {"topic": "t", "topic_id": "id", "partition": 0, "tick": 1, "broker": 1, "observed_at": now_ms()}
    ])  # fmt: skip
    app = visit(settings, PAGE, **{"from": format_time(then - 900_000), "to": format_time(then)})

    assert "Outcomes of this time are not known any more: batch headers are raw samples" in words(app)
    assert not app.get("plotly_chart")


def test_header_topics_that_match_nothing_are_named(visit, tmp_path):
    settings = _bare(tmp_path)
    settings.write_text(settings.read_text().replace("[store]", 'header_topics = ["nope-*"]\n\n[store]'))

    assert "`header_topics` is nope\\-\\*: no watched topic matches it" in words(visit(settings, PAGE))


@pytest.mark.parametrize("chosen", [HOSTILE, HANGING])
def test_hostile_names_are_text_everywhere(visit, believable, chosen):
    app = visit(believable, PAGE, transaction=chosen, search="")

    shown = [m.value for m in (*app.markdown, *app.caption) if UNESCAPED.search(m.value) or "\u202e" in m.value]
    assert not shown
    assert "\u202e" not in cells(app)
    assert "\u202e" not in "".join(chart.proto.spec for chart in app.get("plotly_chart"))
    if chosen == HOSTILE:
        described = next(code.value for code in app.code if "describe --transactional-id" in code.value)
        assert "\\x0a" in described
        assert "\\u202e" in described
        assert any(code.value == HOSTILE_ID for code in app.code) is False, "the raw id would hide and re-order"


@pytest.mark.parametrize(
    ("broken", "alive"),
    [
        ("open_transactions", "Transaction timed out"),
        ("header_ranges", "✕ Hanging"),
        ("finding_events", "✕ Hanging"),
    ],
)
def test_a_broken_table_costs_its_panels_and_the_others_stay(visit, tmp_path, broken, alive):
    settings = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", now_ms(), quiet_minutes=2)
    break_table(tmp_path / "data", broken)

    app = visit(settings, PAGE)

    assert "could not be drawn; those that rest on other answers are not affected" in words(app)
    assert alive in cells(app)


def test_a_cluster_of_thousands_shows_the_worst_and_says_how_many_are_left_out(visit, tmp_path):
    settings = _bare(tmp_path)
    log = SegmentLog(tmp_path / "data", producer_name("host-2", "collect"))
    now = now_ms()
    log.append("open_transactions", [
        {"cluster_id": fixture_store.CLUSTER_ID, "transactional_id": f"tx-{number}", "producer_id": number,
         "producer_epoch": 0, "state": "Ongoing", "timeout_ms": 60_000, "transaction_started_at": now - 31_000,
         "partitions": "[]", "coordinator": 1, "started_at": now - 30_000, "last_seen_at": now + 120_000}
        for number in range(3_000)
    ])  # fmt: skip
    log.close()

    app = visit(settings, PAGE)

    assert len(table(app, "Open transactions, worst first")) == 200
    assert "The worst 200 of 3,000 are shown" in words(app)
    found = visit(settings, PAGE, search="tx-2999", transaction="2999-0")
    assert len(table(found, "Open transactions, worst first")) == 1
    assert "Its coordinator lists no partition yet" in words(found)


def _bare(folder: Path, *, refused: int = 0) -> Path:
    settings = fixture_store.write_settings(folder)
    log = SegmentLog(folder / "data", producer_name("host-1", "collect"))
    start = now_ms() - 60_000
    log.append("rounds", [
        {"cluster_id": fixture_store.CLUSTER_ID, "cluster": "production", "tick": tick, "signal": signal, "asked": 3,
         "answered": 3 - refused, "refused": refused, "failed": 0, "observed_at": start + 5_000 * tick,
         "started_at": start + 5_000 * tick, "error": fixture_store.REFUSED if refused else None,
         "interval_ms": 5_000}
        for tick in range(60)
        for signal in ("transactions", "producers", "end_offsets", "log_start", "committed_offsets", "groups")
    ])  # fmt: skip
    log.close()
    return settings
