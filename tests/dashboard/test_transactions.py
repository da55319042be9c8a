"""Transactions: what is asked and judged, what is said of one, and the commands that are shown."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest

from dashboard import (
    fencing,
    outcome_questions,
    outcomes,
    queries,
    tiles,
    transaction_commands,
    transaction_facts,
    transaction_questions,
    transaction_words,
    transactions,
)
from dashboard.charts.outcomes import outcomes_over_lanes
from dashboard.transaction_commands import Part
from dashboard.transactions import Waiting
from dashboard.view import View
from guarantees.findings import Kind
from guarantees.promises import Verdict
from guarantees.rules.transactions import TransactionClass
from guarantees.unknown import Unknown
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import story_transactions
from tests.dashboard.story_transactions import HOSTILE_ID, marker, write_markers

AT_MS = 1_764_000_000_000
VIEW = View("production", AT_MS - 900_000, AT_MS, False, 10, "")
REACH = transaction_commands.connection("broker-1:9092", "PLAINTEXT")


@pytest.fixture
def log(tmp_path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    yield log
    log.close()


def ask(data_dir, question, from_ms=AT_MS - 60_000, to_ms=AT_MS + 1, **about):
    return queries.ask(data_dir, from_ms, to_ms, question, {"cluster_id": "c"} | about)


def described(producer, partitions="[]", **columns):
    return {"cluster_id": "c", "transactional_id": f"tx-{producer}", "producer_id": producer, "producer_epoch": 0,
            "state": "Ongoing", "timeout_ms": 60_000, "transaction_started_at": AT_MS - 30_000, "coordinator": 2,
            "partitions": partitions, "started_at": AT_MS - 29_000, "last_seen_at": AT_MS} | columns  # fmt: skip


def opened(producer, partition, start, **columns):
    return {"cluster_id": "c", "topic": "t", "topic_id": "id", "partition": partition, "producer_id": producer,
            "producer_epoch": 0, "current_transaction_start_offset": start, "last_sequence": 4,
            "last_timestamp": AT_MS - 25_000, "coordinator_epoch": 1, "started_at": AT_MS - 20_000,
            "last_seen_at": AT_MS} | columns  # fmt: skip


def offsets(partition, stable, high, **columns):
    return {"cluster_id": "c", "tick": 7, "topic": "t", "topic_id": "id", "partition": partition, "broker": 3,
            "last_stable_offset": stable, "high_watermark": high, "observed_at": AT_MS} | columns  # fmt: skip


def commit(group, partition, committed, **columns):
    return {"cluster_id": "c", "tick": 7, "group_id": group, "topic": "t", "topic_id": "id", "partition": partition,
            "committed_offset": committed, "is_pending": False, "observed_at": AT_MS} | columns  # fmt: skip


def row(**columns):
    """A transaction a coordinator describes, begun 30 s ago with a timeout of a minute."""
    return {
        "producer_id": 8, "producer_epoch": 1, "transactional_id": "tx", "state": "Ongoing", "timeout_ms": 60_000,
        "transaction_started_at_ms": AT_MS - 30_000, "seen_from_ms": AT_MS - 29_000, "last_seen_at_ms": AT_MS,
        "coordinator": 2, "partitions": 1, "unlisted": 0, "topics": ["t"], "topic_count": 1, "held_back": 5,
        "held_back_unknown": 0, "offsets_unknown": None, "unlisted_from_ms": None, "unlisted_last_seen_at_ms": None,
        "last_timestamp_ms": None, "is_producer_described": True,
    } | columns  # fmt: skip


def unlisted(seen_ms, silent_ms, **columns):
    """A producer whose open transaction no coordinator lists, seen for so long and silent for so long."""
    nothing = dict.fromkeys(
        ("transactional_id", "state", "timeout_ms", "transaction_started_at_ms", "seen_from_ms", "last_seen_at_ms")
    )
    return row(
        **nothing | {"coordinator": None, "unlisted": 1, "unlisted_from_ms": AT_MS - seen_ms,
                     "unlisted_last_seen_at_ms": AT_MS, "last_timestamp_ms": AT_MS - silent_ms,
                     "is_producer_described": False} | columns
    )  # fmt: skip


def judged(*rows, all_asked=True):
    return transactions.judged(rows, all_asked=all_asked, overdue_share=0.8)


def one(**columns):
    return judged(row(**columns))[0]


# What is open.


def test_a_transaction_is_one_row_with_its_partitions_and_what_it_holds_back(log, tmp_path):
    log.append("open_transactions", [described(1, '[["t", 0], ["t", 1], ["t", 2]]')])
    log.append("open_producers", [opened(1, 0, 10), opened(1, 1, 30)])
    log.append("partition_offsets", [offsets(0, 10, 17), offsets(1, 20, 60), offsets(2, 5, 5)])

    (found,) = ask(tmp_path, transaction_questions.OPEN)

    assert (found["producer_id"], found["partitions"], found["unlisted"]) == (1, 3, 0)
    # It holds partition 0; the one that holds partition 1 began below it; nothing is held on partition 2.
    assert (found["held_back"], found["held_back_unknown"]) == (7, 0)


def test_what_is_held_back_is_unknown_where_no_leader_names_the_holder_or_the_offsets_are_unknown(log, tmp_path):
    log.append("open_transactions", [described(1, '[["t", 0]]'), described(2, '[["t", 1]]')])
    log.append("partition_offsets", [
        offsets(0, 10, 17), offsets(1, None, None, last_stable_offset_unknown="broker 3 did not answer"),
    ])  # fmt: skip

    found = transactions.judged(ask(tmp_path, transaction_questions.OPEN), all_asked=True, overdue_share=0.8)

    assert [one.held_back for one in found] == [transactions.NOT_NAMED, Unknown("broker 3 did not answer")]


def test_only_the_newest_round_and_transactions_that_have_not_ended_are_open(log, tmp_path):
    log.append("open_transactions", [
        described(1, '[["t", 0]]'),
        described(2, ended_before=AT_MS - 1_000, last_seen_at=AT_MS - 5_000),
    ])  # fmt: skip
    log.append("open_producers", [
        opened(1, 0, 10), opened(3, 0, 9, ended_before=AT_MS - 1_000, last_seen_at=AT_MS - 5_000),
    ])  # fmt: skip
    log.append("partition_offsets", [offsets(0, 10, 13, tick=6), offsets(0, 10, 17)])

    found = ask(tmp_path, transaction_questions.OPEN)

    assert [(one["producer_id"], one["held_back"]) for one in found] == [(1, 7)]


def test_a_producer_that_no_coordinator_lists_is_one_of_them_after_ten_seconds(log, tmp_path):
    log.append("open_producers", [
        opened(1, 0, 1), opened(2, 0, 2), opened(2, 1, 2), opened(3, 0, 3, started_at=AT_MS - 9_999),
    ])  # fmt: skip
    log.append("open_transactions", [described(1, '[["t", 0]]')])

    found = ask(tmp_path, transaction_questions.OPEN)

    assert [(one["producer_id"], one["transactional_id"], one["unlisted"]) for one in found] == [
        (1, "tx-1", 0), (2, None, 2),
    ]  # fmt: skip


def test_a_partition_that_a_transaction_does_not_list_is_told_apart_from_those_it_lists(log, tmp_path):
    """KIP-664: find-hanging calls it hanging although its producer is known."""
    log.append("open_transactions", [described(1, '[["t", 0]]')])
    log.append("open_producers", [opened(1, 0, 1), opened(1, 5, 2)])

    (found,) = ask(tmp_path, transaction_questions.OPEN)
    parts = ask(tmp_path, transaction_questions.PARTS, producer_id=1, producer_epoch=0)

    assert (found["partitions"], found["unlisted"], found["is_producer_described"]) == (2, 1, True)
    assert [(part["partition"], part["is_listed"]) for part in parts] == [(5, False), (0, True)]


def test_a_transaction_is_judged_as_of_the_moment_asked_for(log, tmp_path):
    """Its interval has been stated again since."""
    log.append("open_transactions", [described(1, last_seen_at=AT_MS + 600_000)])
    log.append("open_producers", [opened(2, 0, 1, last_seen_at=AT_MS + 600_000)])

    listed, unlisted_one = ask(tmp_path, transaction_questions.OPEN)

    assert listed["last_seen_at_ms"] == AT_MS + 1
    assert unlisted_one["unlisted_last_seen_at_ms"] == AT_MS + 1


def test_groups_wait_where_their_commit_stands_at_the_stable_offset_that_it_holds(log, tmp_path):
    log.append("open_transactions", [described(1, '[["t", 0], ["t", 1]]')])
    log.append("open_producers", [opened(1, 0, 10), opened(1, 1, 30)])
    log.append("partition_offsets", [offsets(0, 10, 17), offsets(1, 20, 60)])
    log.append("committed_offsets", [
        commit("at", 0, 10), commit("marker", 0, 8), commit("behind", 0, 7), commit("past", 0, 11),
        commit("none", 0, None, committed_offset_unknown="no commit"),
        commit("other", 1, 20), commit("pending", 0, None, is_pending=True),
        commit("refused", 0, None, committed_offset_unknown="not permitted"),
        commit("elsewhere", 1, None, committed_offset_unknown="not permitted"),
    ])  # fmt: skip

    waiting = transactions.waiting(ask(tmp_path, transaction_questions.WAITING, slack=2))
    readers = ask(tmp_path, transaction_questions.READERS, producer_id=1, producer_epoch=0)

    assert waiting == {"1-0": Waiting(2, ("at", "marker"), 2)}
    assert {reader["group_id"]: transaction_facts.stands(reader) for reader in readers} == {
        "at": "at it: waits, if read_committed",
        "marker": "at it: waits, if read_committed",
        "behind": "3 offsets before it: still has something to read",
        "past": "past it: does not read read_committed",
        "other": "at it: waits, if read_committed",
        "pending": "? its commit awaits the marker of a transaction",
        "refused": "? not permitted",
        "elsewhere": "? not permitted",
    }


def test_a_group_whose_commit_is_unknown_is_told_where_nobody_is_seen_to_wait(log, tmp_path):
    log.append("open_transactions", [described(1, '[["t", 0]]')])
    log.append("open_producers", [opened(1, 0, 10)])
    log.append("partition_offsets", [offsets(0, 10, 17)])
    log.append("committed_offsets", [
        commit("refused", 0, None, committed_offset_unknown="not permitted"), commit("behind", 0, 7),
    ])  # fmt: skip

    assert transactions.waiting(ask(tmp_path, transaction_questions.WAITING, slack=2)) == {"1-0": Waiting(0, (), 1)}


UNKNOWN_HOLDER = {"held_back_unknown": 1, "held_back": None}


@pytest.mark.parametrize(
    ("columns", "groups", "has_commits", "said"),
    [
        ({}, transactions.NOBODY, True, "none"),
        ({}, transactions.NOBODY, False, "unknown: not all commits were answered"),
        ({}, Waiting(0, (), 2), True, "unknown: commits of 2 groups are not known"),
        ({"held_back": 0}, transactions.NOBODY, False, "none"),
        (UNKNOWN_HOLDER, transactions.NOBODY, True, "unknown: no answer names who holds the stable offset"),
        ({}, Waiting(4, ("a", "b", "c", "d")), True, "a, b, c and 1 more"),
        ({}, Waiting(1, ("a",)), False, "a; others: unknown"),
        ({}, Waiting(1, ("a",), 1), True, "a; others: unknown"),
        (UNKNOWN_HOLDER, Waiting(1, ("a",)), True, "a; others: unknown"),
    ],
)
def test_nobody_waits_only_where_the_holder_and_all_commits_are_known(columns, groups, has_commits, said):
    assert transactions.would_wait(one(**columns), groups, has_commits=has_commits) == said


def test_a_commit_that_is_pending_or_unknown_says_so_and_not_that_it_waits():
    stable = {"last_stable_offset": 10, "last_stable_offset_unknown": None}
    pending = stable | {"is_pending": True, "committed_offset": None, "committed_offset_unknown": None}
    unknown = stable | {"is_pending": False, "committed_offset": None, "committed_offset_unknown": "not permitted"}

    assert transaction_facts.stands(pending) == "? its commit awaits the marker of a transaction"
    assert transaction_facts.stands(unknown) == "? not permitted"


def test_the_stable_offset_stands_since_the_first_sample_that_had_it(log, tmp_path):
    log.append("partition_offsets", [
        offsets(partition, stable, 90, tick=tick, observed_at=AT_MS - 30_000 + 5_000 * tick)
        for tick in range(6)
        for partition, stable in ((0, 10 if tick < 3 else 12), (1, 44))
    ])  # fmt: skip

    rows = ask(tmp_path, transaction_questions.STANDING, topics=["t"])
    since = {one["partition"]: (one["since_ms"], one["first_ms"]) for one in rows}

    assert since == {0: (AT_MS - 15_000, AT_MS - 30_000), 1: (AT_MS - 30_000, AT_MS - 30_000)}


# What it is.


@pytest.mark.parametrize(
    ("age_ms", "state"),
    [
        (47_999, TransactionClass.OPEN),
        (48_000, TransactionClass.LATE),
        (60_001, TransactionClass.EXPIRING),
        (360_001, TransactionClass.OVERDUE),
    ],
)
def test_a_described_transaction_is_judged_by_its_coordinators_clock(age_ms, state):
    found = one(transaction_started_at_ms=AT_MS - age_ms)

    assert found.state is state
    assert found.is_late is (state is not TransactionClass.OPEN)
    assert found.began == (AT_MS - age_ms, True)


def test_without_a_start_its_age_is_at_least_what_was_seen():
    found = one(transaction_started_at_ms=None)
    shown = transactions.table_row(found, "none", VIEW)

    assert found.began == (AT_MS - 29_000, False)
    assert shown["For"] == "at least 29 s"
    assert str(shown["Since"]).endswith("or before")


@pytest.mark.parametrize(
    ("seen_ms", "silent_ms", "state"),
    [
        (59_999, 3_600_000, TransactionClass.OPEN),
        (60_000, 900_000, TransactionClass.UNLISTED),
        (60_000, 900_001, TransactionClass.HANGING),
        (900_001, 1_000, TransactionClass.HANGING),
    ],
)
def test_what_no_coordinator_lists_hangs_only_once_it_is_silent_for_longer_than_any_timeout(seen_ms, silent_ms, state):
    (found,) = judged(unlisted(seen_ms, silent_ms))

    assert found.state is state
    assert transactions.coordinator(found) == "none lists it"
    assert not found.is_late


def test_nothing_hangs_while_a_coordinator_may_not_have_been_asked():
    (found,) = judged(unlisted(3_600_000, 3_600_000), all_asked=False)

    assert found.state is TransactionClass.OVERDUE
    assert found.is_denied is None
    assert transactions.coordinator(found) == transactions.INCOMPLETE
    assert "Nothing to abort yet" in transaction_facts.advice(found)[0]


def test_a_description_that_leaves_a_partition_out_denies_it_whoever_else_was_asked():
    (found,) = judged(
        row(unlisted=1, partitions=2, unlisted_from_ms=AT_MS - 1_000_000, unlisted_last_seen_at_ms=AT_MS,
            last_timestamp_ms=AT_MS - 1_000_000),
        all_asked=False,
    )  # fmt: skip

    assert found.state is TransactionClass.HANGING
    assert transactions.coordinator(found) == "Ongoing, broker 2; 1 partition not listed"
    assert len(transaction_facts.advice(found)) == 2


def test_the_worst_and_then_the_longest_come_first():
    late, later = row(producer_id=1, transaction_started_at_ms=AT_MS - 50_000), row(producer_id=2, timeout_ms=29_000)
    found = judged(row(producer_id=3), late, unlisted(1_000_000, 1_000_000, producer_id=4), later)

    assert [one.row["producer_id"] for one in found] == [4, 2, 1, 3]


ALL_TOLD = transactions.Asked(coordinators=True, leaders=True)
TOLD = {"asked": 3, "answered": 3, "refused": 0, "failed": 0, "error": None, "observed_at_ms": AT_MS}


@pytest.mark.parametrize("signal", ["transactions", "producers", "end_offsets"])
@pytest.mark.parametrize("less", [{"answered": 2}, {"refused": 1}, {"error": "broker 2 did not answer"}, None])
def test_all_have_told_of_transactions_where_nothing_failed_or_was_refused(signal, less):
    rounds = {name: TOLD | {"signal": name} for name in ("transactions", "producers", "end_offsets")}
    assert transactions.asked(rounds.values()) == ALL_TOLD

    whole = rounds.pop(signal)
    changed = {} if less is None else {signal: whole | less}
    of_coordinators = signal == "transactions"
    expected = transactions.Asked(coordinators=not of_coordinators, leaders=of_coordinators)
    assert transactions.asked((rounds | changed).values()) == expected


@pytest.mark.parametrize("signal", ["groups", "committed_offsets"])
@pytest.mark.parametrize("less", [{"answered": 2}, {"refused": 1}, {"error": "broker 2 did not answer"}, None])
def test_all_commits_are_known_where_no_group_and_no_commit_failed_or_was_refused(signal, less):
    rounds = {name: TOLD | {"signal": name} for name in ("groups", "committed_offsets")}
    assert transactions.has_commits(rounds.values())

    whole = rounds.pop(signal)
    changed = {} if less is None else {signal: whole | less}
    assert not transactions.has_commits((rounds | changed).values())


def test_every_state_and_outcome_has_its_own_word_and_icon():
    assert set(transaction_words.STATES) == set(transaction_words.MEANINGS) == set(TransactionClass)
    looks = [*transaction_words.STATES.values(), *transaction_words.OUTCOMES.values()]
    assert len({look.word for look in looks}) == len(looks)
    assert len({look.icon for look in transaction_words.STATES.values()}) == len(TransactionClass)


def test_the_tile_counts_what_the_table_shows():
    found = judged(row(), row(producer_id=2, timeout_ms=30_000), unlisted(1_000_000, 1_000_000, producer_id=3))

    tile = tiles.transactions(found, 0.8, ALL_TOLD)

    assert (tile.value, tile.note) == ("3", "1 past 80% of the timeout, 1 hanging")
    assert tile.verdict is Verdict.DEGRADED
    shown = tiles.transactions(judged(unlisted(60_000, 60_000)), 0.8, ALL_TOLD)
    assert shown.note == "0 past 80% of the timeout, 0 hanging, 1 unlisted"
    assert shown.verdict is Verdict.DEGRADED


def test_the_tile_is_unknown_and_not_zero_where_coordinators_did_not_answer():
    assert tiles.transactions([], 0.8, replace(ALL_TOLD, coordinators=False)).value == "Unknown"
    assert tiles.transactions([], 0.8, ALL_TOLD).verdict is Verdict.OK


def test_what_was_found_where_not_all_told_is_at_least_so_much_and_no_green_light():
    tile = tiles.transactions(judged(row()), 0.8, replace(ALL_TOLD, coordinators=False))
    assert (tile.value, tile.verdict) == ("≥ 1", Verdict.UNKNOWN)

    of_leaders = tiles.transactions([], 0.8, replace(ALL_TOLD, leaders=False))
    assert (of_leaders.value, of_leaders.verdict) == ("0", Verdict.UNKNOWN)
    assert of_leaders.note.endswith("0 hanging · more is not known: the partitions' leaders did not all tell")


# What is said of one.


def test_that_the_chosen_transaction_is_not_open_is_only_said_where_everybody_told():
    def said(**silent):
        return transaction_facts.none_chosen("1-1", replace(ALL_TOLD, **silent))[0]

    assert said() == "This transaction was not open in the newest round."
    unknown = "Whether this transaction is open is not known: the coordinators"
    assert said(coordinators=False) == f"{unknown} did not all tell."
    assert said(coordinators=False, leaders=False) == f"{unknown} and the partitions' leaders did not all tell."
    assert said(leaders=False).startswith("No coordinator lists this transaction; the partitions' leaders did not all")


def test_an_ongoing_transaction_ends_by_itself_at_its_timeout_and_is_not_to_be_aborted():
    (said,) = transaction_facts.advice(one())

    assert "by itself at 2025-11-24 16:00:30.000 UTC" in said
    assert "Do not abort it by start offset" in said


def test_a_transaction_past_its_timeout_a_decided_one_and_one_without_a_start_say_so():
    (late,) = transaction_facts.advice(one(transaction_started_at_ms=AT_MS - 70_000))
    (decided,) = transaction_facts.advice(one(state="PrepareCommit"))
    (unknown,) = transaction_facts.advice(one(transaction_started_at_ms=None))

    assert "was due to abort it at 2025-11-24 15:59:50.000 UTC" in late
    assert "decided (PrepareCommit)" in decided
    assert "1 min after its begin, which it does not tell" in unknown


def test_a_hanging_one_is_said_to_look_like_a_missing_right():
    (hangs,) = transaction_facts.advice(judged(unlisted(1_000_000, 1_000_000))[0])
    (waits,) = transaction_facts.advice(judged(unlisted(60_000, 60_000))[0])

    assert "nobody will end it. A missing right looks the same" in hangs
    assert "too short to be sure that it hangs" in waits


def part(**columns):
    return {"topic": "t", "partition": 0, "is_listed": True, "current_transaction_start_offset": 10,
            "last_sequence": 3, "last_timestamp_ms": AT_MS, "coordinator_epoch": 1, "seen_from_ms": AT_MS,
            "last_stable_offset": 10, "last_stable_offset_unknown": None, "high_watermark": 17,
            "high_watermark_unknown": None, "broker": 3, "observed_at_ms": AT_MS, "held_back": 7,
            "since_ms": AT_MS - 20_000, "first_ms": AT_MS - 900_000} | columns  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({}, ""),
        ({"current_transaction_start_offset": None}, "its leader named no such producer"),
        (
            {"current_transaction_start_offset": None, "high_watermark": 10},
            "nothing of it is written there",
        ),
        ({"last_stable_offset": None, "last_stable_offset_unknown": "no answer"}, "no answer"),
        ({"observed_at_ms": None}, "its offsets were not sampled in the newest round"),
    ],
)
def test_a_partition_says_why_a_number_is_missing(columns, reason):
    assert transaction_facts.gap(part(**columns)) == reason


def test_a_partition_is_shown_in_full_digits_and_a_stand_older_than_the_samples_says_so():
    big = 2**53 + 1
    shown = transaction_facts.part_row(part(last_stable_offset=big, current_transaction_start_offset=big), one(), VIEW)
    older = transaction_facts.part_row(part(first_ms=AT_MS - 20_000), one(), VIEW)
    free = transaction_facts.part_row(part(held_back=0), one(), VIEW)

    assert (shown["Start"], shown["Last stable"], shown["Stands since"]) == (str(big), str(big), "15:59:40")
    assert older["Stands since"] == "15:59:40 or before"
    assert free["Stands since"] == "–"


def test_findings_about_a_transaction_name_its_producer_or_its_transactional_id():
    fenced, timed_out = story_transactions.findings("c", AT_MS)
    restart = replace(timed_out, kind=Kind.UNFENCED_RESTART, evidence={"producer_ids": [1, 8], "transactional_ids": []})
    named = replace(timed_out, evidence={"transactional_id": "tx"}, last_seen_at_ms=AT_MS, anchor="x")

    assert transaction_facts.about([fenced, timed_out, restart, named], one()) == [named, restart]
    nameless = judged(unlisted(60_000, 60_000, producer_id=5))[0]
    assert transaction_facts.about([replace(timed_out, evidence={"transactional_id": None})], nameless) == []


# What an operator would run.


def test_commands_are_those_of_kafkas_tool():
    parts = [Part("t", 0, 10, 3), Part("t", 1, 20, 1)]

    lines = [command.line for command in transaction_commands.reading(REACH, "tx", parts)]
    (abort, _) = transaction_commands.aborting(REACH, parts)

    tool = "kafka-transactions.sh --bootstrap-server broker-1:9092"
    assert lines == [
        f"{tool} describe --transactional-id tx",
        f"{tool} describe-producers --topic t --partition 0",
        f"{tool} describe-producers --topic t --partition 1",
        f"{tool} find-hanging --broker-id 3",
    ]
    assert abort.line == f"{tool} abort --topic t --partition 0 --start-offset 10"
    assert abort.changes
    assert "WRITES an ABORT marker" in abort.does
    assert "cannot be undone" in abort.does


def test_only_an_abort_changes_anything_and_none_is_shown_without_its_start_offset():
    assert not any(one.changes for one in transaction_commands.reading(REACH, "tx", [Part("t", 0, 10, 3)]))
    assert transaction_commands.aborting(REACH, [Part("t", 0, None, 3)]) == []


def test_a_secured_cluster_needs_the_operators_own_client_configuration():
    reach = transaction_commands.connection("broker-1:9093", "SASL_SSL")

    (described,) = transaction_commands.reading(reach, "tx", [])

    assert "--bootstrap-server broker-1:9093 --command-config client.properties describe" in described.line


HOSTILE_WORDS = [
    HOSTILE_ID,
    "--evil",
    "-x",
    "",
    "a b",
    "$(touch x)",
    "`id`",
    "it's",
    "tab\tnew\nline\r\x1b[31m",
    "\\back\u202e\u2028\U0001f600",
    "é\u0085\U000e0041!",
]


@pytest.mark.parametrize("name", HOSTILE_WORDS)
def test_a_name_reaches_the_tool_as_it_is_and_nothing_else_happens(name, tmp_path):
    """Run in bash with a tool of the same name that prints its arguments."""
    tool = tmp_path / transaction_commands.TOOL
    tool.write_text("#!/bin/bash\nprintf '%s\\0' \"$@\"\n")
    tool.chmod(0o755)
    line = transaction_commands.reading(REACH, name, [])[0].line

    ran = subprocess.run(
        ["bash", "-c", line], capture_output=True, check=True, cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip

    arguments = ran.stdout.decode().split("\0")[:-1]
    assert arguments[:3] == [*REACH, "describe"]
    assert arguments[3:] in (["--transactional-id", name], [f"--transactional-id={name}"])
    assert (len(arguments) == 4) is name.startswith("-")
    assert ran.stderr == b""
    assert [path.name for path in tmp_path.iterdir()] == [tool.name]


@pytest.mark.parametrize("name", HOSTILE_WORDS)
def test_a_command_line_shows_every_character_it_holds(name):
    (command,) = transaction_commands.reading(REACH, name, [])

    assert not [char for char in command.line if not char.isprintable()]


def test_a_name_that_no_command_line_can_carry_has_no_command():
    assert transaction_commands.reading(REACH, "a\0b", []) == []


# How transactions ended.


def test_a_transaction_on_two_partitions_is_counted_once_and_each_of_its_markers(log, tmp_path):
    minute = AT_MS - AT_MS % 60_000 - 60_000
    for partition in (0, 1):
        commits = [marker("c", 5, 0, partition, "commit", minute + 1_000 * n, n) for n in range(3)]
        write_markers(log, [*commits, marker("c", 6 + partition, 9, partition, "abort", minute + 59_999, 10)])
    write_markers(log, [marker("c", 5, 0, 2, "commit", minute + 60_000, 0)])
    write_markers(log, [marker("other", 5, 0, 2, "commit", minute + 1, 5)])

    rows = ask(tmp_path, outcome_questions.OUTCOMES, from_ms=minute, to_ms=AT_MS + 90_000, step_ms=60_000)

    found = {(one["at_ms"] - minute, one["marker"]): (one["transactions"], one["markers"]) for one in rows}
    assert found == {(0, "abort"): (2, 2), (0, "commit"): (3, 6), (60_000, "commit"): (1, 1)}


def counted(at_ms, marker, number, markers):
    return {"at_ms": at_ms, "marker": marker, "transactions": number, "markers": markers}


def test_a_bucket_is_zero_only_where_a_round_looked_after_headers_began_to_be_read():
    rows = [counted(120_000, "commit", 3, 6), counted(300_000, "abort", 1, 1)]
    seen = [{"at_ms": at} for at in (0, 60_000, 120_000, 180_000)]

    shown = outcomes.outcomes(rows, seen, 70_000, (0, 360_000), 60_000)

    np.testing.assert_array_equal(shown.committed, [np.nan, 0, 3, 0, np.nan, 0])
    np.testing.assert_array_equal(shown.aborted, [np.nan, 0, 0, 0, np.nan, 1])
    np.testing.assert_array_equal(shown.markers, [np.nan, 0, 6, 0, np.nan, 1])
    shaded = outcomes_over_lanes(shown, NO_LANES, replace(VIEW, from_ms=0, to_ms=360_000)).layout.shapes
    assert [(one.x0[14:16], one.x1[14:16]) for one in shaded] == [("00", "01"), ("04", "05")]


def test_the_table_of_outcomes_keeps_gaps_and_has_the_newest_first():
    shown = outcomes.outcomes([counted(60_000, "commit", 3, 6)], [], 0, (0, 120_000), 60_000)

    assert outcomes.bucket_rows(shown) == [
        {"Minute from (UTC)": "1970-01-01 00:01", "Committed": 3, "Aborted": 0, "Markers": 6},
        {"Minute from (UTC)": "1970-01-01 00:00", "Committed": None, "Aborted": None, "Markers": None},
    ]


NO_LANES = outcomes.lanes([], [], [], [])


def test_lanes_are_those_that_did_not_end_well_or_not_yet_the_worst_first():
    found = judged(
        row(producer_id=1), row(producer_id=2, timeout_ms=29_000), unlisted(10**6, 10**6, producer_id=3),
    )  # fmt: skip
    slow = {"transactional_id": "slow", "producer_id": 4, "from_ms": AT_MS - 90_000, "to_ms": AT_MS - 40_000,
            "is_open": False, "is_aborted": False}  # fmt: skip
    aborts = [{"producer_id": 5, "producer_epoch": 3, "markers": 2, "topic": "t", "topics": 1, "at_ms": AT_MS - 9_000}]

    lanes = outcomes.lanes(found, [slow, slow | {"producer_id": 1, "is_open": True}], aborts, [])

    assert lanes.names == ("producer 3", "tx ·2", "producer 5", "slow ·4")
    assert lanes.found == 4
    assert [one["State"] for one in outcomes.lane_rows(lanes)] == [
        "✕ Hanging",
        "▲ Expiring",
        "✕ Aborted",
        "◔ Slow, ended",
    ]


def test_more_transactions_than_lanes_are_counted():
    aborts = [{"producer_id": n, "producer_epoch": 0, "markers": 1, "topic": "t", "topics": 1, "at_ms": AT_MS - n}
              for n in range(50)]  # fmt: skip

    lanes = outcomes.lanes([], [], aborts, [])

    assert (len(lanes.names), lanes.found) == (outcomes.LANES, 50)
    assert {one.mark.lane for one in lanes.moments} == set(lanes.names)
    assert lanes.names[0] == "producer 0"


def test_names_on_the_figure_are_text_and_no_trace_is_too_long():
    hostile = row(transactional_id="<b>x</b>\u202e" + "y" * 90, timeout_ms=1_000)
    shown = outcomes.outcomes([counted(VIEW.from_ms - VIEW.from_ms % 60_000, "commit", 1, 1)], [], 0, (0, 0), 60_000)

    figure = outcomes_over_lanes(shown, outcomes.lanes(judged(hostile), [], [], []), VIEW)

    assert figure.layout.yaxis2.categoryarray[0].startswith("&lt;b&gt;x&lt;/b&gt;\\u202e")
    assert "transactions per minute" in figure.layout.yaxis.title.text
    assert {trace.name for trace in figure.data} == {"✓ Committed", "✕ Aborted", "▲ Expiring"}
    patterns = [trace.marker.pattern.shape for trace in figure.data]
    assert patterns[0] != patterns[1], "committed and aborted differ by more than colour"


def test_what_lasted_past_its_share_of_the_timeout_or_was_aborted_has_a_lane_and_short_commits_have_none(log, tmp_path):
    def lasted(producer, seconds, **columns):
        begin = AT_MS - 60_000
        return described(
            producer, transaction_started_at=begin, started_at=begin + 500, last_seen_at=begin + 1_000 * seconds,
            ended_before=begin + 1_000 * seconds + 5_000, **columns,
        )  # fmt: skip

    log.append("open_transactions", [
        lasted(1, 47), lasted(2, 48), lasted(3, 2), lasted(3, 4, state="PrepareAbort", producer_epoch=1),
        described(4, transaction_started_at=AT_MS - 50_000, last_seen_at=AT_MS + 90_000),
    ])  # fmt: skip

    rows = ask(tmp_path, transaction_questions.LASTING, share=0.8)

    found = {one["producer_id"]: (one["to_ms"] - one["from_ms"], one["is_open"], one["is_aborted"]) for one in rows}
    assert found == {2: (48_000, False, False), 3: (4_000, False, True), 4: (50_001, True, False)}


def test_aborts_of_a_producer_are_one_row_an_epoch_and_those_outside_the_window_none(log, tmp_path):
    write_markers(log, [
        marker("c", 5, 1, 0, "abort", AT_MS - 60_001, 1), marker("c", 5, 1, 0, "abort", AT_MS - 40_000, 2),
        marker("c", 5, 1, 0, "abort", AT_MS - 30_000, 3), marker("c", 5, 2, 0, "abort", AT_MS - 20_000, 4),
        marker("c", 5, 3, 0, "commit", AT_MS - 10_000, 5),
    ])  # fmt: skip

    rows = ask(tmp_path, transaction_questions.ABORTS)

    assert [(one["producer_epoch"], one["markers"], one["at_ms"] - AT_MS) for one in rows] == [
        (2, 1, -20_000), (1, 2, -30_000),
    ]  # fmt: skip


def test_what_of_headers_was_not_read_is_told_by_reason(log, tmp_path):
    known = {"cluster_id": "c", "topic": "t", "topic_id": "id", "first_offset": 0, "next_offset": 0}
    log.append("header_ranges", [
        known | {"partition": 0, "observed_at": AT_MS - 3_000, "next_offset": 9},
        *(known | {"partition": partition, "observed_at": AT_MS - 2_000 + partition, "problem": "no right"}
          for partition in (1, 2, 2)),
    ])  # fmt: skip

    rows = ask(tmp_path, transaction_questions.HEADERS_READ)

    assert [(one["problem"], one["ranges"], one["partitions"], one["last_ms"] - AT_MS) for one in rows] == [
        ("no right", 3, 2, -1_998), (None, 1, 1, -3_000),
    ]  # fmt: skip


# Fencing.


def test_a_finding_of_two_fencings_is_two_events_with_their_epochs_the_newest_first():
    events = fencing.events(story_transactions.findings("c", AT_MS), VIEW.from_ms, VIEW.to_ms)

    assert [(one.finding.kind, one.old_epoch, one.new_epoch) for one in events] == [
        (Kind.TRANSACTION_TIMED_OUT, 5, 6), (Kind.PRODUCER_FENCED, 10, 11), (Kind.PRODUCER_FENCED, 8, 9),
    ]  # fmt: skip
    assert len({one.id for one in events}) == 3
    assert fencing.table_row(events[0], VIEW)["Transactional id"] == "transfer-tx-9"


def test_only_events_of_the_window_and_of_the_four_kinds_are_shown():
    fenced, timed_out = story_transactions.findings("c", AT_MS)
    other = replace(timed_out, kind=Kind.SEQUENCE_GAP)

    assert fencing.events([other], VIEW.from_ms, VIEW.to_ms) == []
    inside = fencing.events([fenced], AT_MS - 6 * 60_000 + 1, AT_MS)
    assert [one.old_epoch for one in inside] == [10], "one of its two fencings is before the window"


def test_a_restart_that_fenced_nobody_names_both_producers_and_a_late_write_its_own_epoch():
    timed_out = story_transactions.timed_out("c", AT_MS)
    restart = replace(
        timed_out, kind=Kind.UNFENCED_RESTART, evidence={"producer_ids": [1, 2], "transactional_ids": ["a-1", "a-2"]}
    )
    torn = replace(
        timed_out, kind=Kind.TORN_TRANSACTION, evidence={"producer_id": 7, "producer_epoch": 2, "marker_epoch": 4}
    )

    shown = [fencing.table_row(one, VIEW) for one in fencing.events([restart, torn], VIEW.from_ms, VIEW.to_ms)]

    assert {(one["Producer id"], one["Transactional id"], one["Old epoch"], one["New epoch"]) for one in shown} == {
        ("1 → 2", "a-1 → a-2", "–", "–"), ("7", "–", "2", "4"),
    }  # fmt: skip


def test_an_empty_store_answers_nothing(tmp_path):
    about = {"producer_id": 1, "producer_epoch": 0, "slack": 2, "topics": ["t"], "step_ms": 60_000, "share": 0.8,
             "since_ms": AT_MS}  # fmt: skip
    asked = {name: one for name, one in vars(transaction_questions).items() if isinstance(one, queries.Question)}
    for name, question in asked.items():
        assert ask(tmp_path, question, **about) == [], name
    assert len(asked) == 8
