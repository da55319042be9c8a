"""What changed between two moments: the SQL over small stores, its words, and the page."""

import json
from dataclasses import replace

import pytest

from cli.main import main
from dashboard import change_questions as asked
from dashboard import changes, queries, wording
from dashboard.changes import Change, Sort
from dashboard.components import change_panel
from guarantees.audits import Job
from guarantees.findings import Kind
from store.audit_requests import AuditRequest, Cancellation, cancel_row, request_row
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import cells, words
from tests.dashboard.test_pages import visit as visit
from tests.dashboard.test_replication_questions import AT_MS, FROM_MS, TO_MS, p

OLD = -600  # seconds: long before the window


@pytest.fixture
def log(tmp_path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    yield log
    log.close()


@pytest.fixture
def told(tmp_path):
    """Where and what, by kind, of everything that changed."""

    def tell(search=""):
        about = {"cluster_id": "c", "search": search}
        answers = queries.ask_together(tmp_path, FROM_MS, TO_MS, asked.OF_THE_WINDOW, about)
        assert answers.keys() == set(asked.OF_THE_WINDOW)
        return [(one.sort, one.where, one.what) for one in changes.newest_first(answers)]

    return tell


def rounds(*seconds):
    return [
        {"cluster_id": "c", "tick": tick, "signal": "partition_states", "answered": 3, "observed_at": AT_MS + 1000 * at}
        for tick, at in enumerate(seconds)
    ]


def configured(started_s, ended_s=None, **configuration):
    state = p(0, started_s, ended_s)
    times = {name: state[name] for name in state if name.endswith(("_at", "_after", "_before", "_reason"))}
    return {"cluster_id": "c", "topic": "t", "topic_id": "t-id", "configuration": json.dumps(configuration)} | times


def test_what_many_partitions_did_at_one_moment_is_one_change(log, told):
    log.append("partition_state", [
        state for number in range(3)
        for state in (p(number, OLD, 0), p(number, 0, leader=2, leader_epoch=4, topic=f"t{number // 2}"))
    ])  # fmt: skip

    assert told() == [(Sort.LEADER, "t0-0 and 2 partitions more", "leader broker 1 → broker 2")]


def test_an_election_without_another_leader_is_one_and_a_lost_leader_too(log, told):
    log.append("partition_state", [
        p(0, OLD, -30), p(0, -30, leader_epoch=4),
        p(1, OLD, 0), p(1, 0, leader=None),
    ])  # fmt: skip

    assert told() == [
        (Sort.LEADER, "t-1", "leader broker 1 → nobody"),
        (Sort.LEADER, "t-0", "elected again: broker 1"),
    ]


def test_an_election_that_left_nobody_elected_nobody(log, told):
    log.append("partition_state", [p(0, OLD, 0, leader=None), p(0, 0, leader=None, leader_epoch=4)])

    assert told() == [(Sort.LEADER, "t-0", "elected again, and still nobody leads")]


def found(change, observed_at, happened_at, **more):
    known = {"finding_id": "f", "cluster_id": "c", "kind": "duplicate_write", "topic": "t", "title": "3 copies"}
    times = {"observed_at": observed_at, "happened_at": happened_at}
    return known | times | {"change": change, "severity": 5} | more


def test_a_finding_happened_when_it_did_and_not_after_a_look_before(log, told, tmp_path):
    hours_ms = 6 * 3_600_000
    log.append("finding_events", [found("opened", AT_MS, AT_MS - hours_ms)])

    answers = queries.ask_together(tmp_path, FROM_MS, TO_MS, asked.OF_THE_WINDOW, {"cluster_id": "c", "search": ""})
    (one,) = changes.newest_first(answers)
    assert one.after_ms is None
    words = wording.KINDS[Kind.DUPLICATE_WRITE]
    assert one.what == f"opened: {words}, happened {wording.since(AT_MS - hours_ms, AT_MS)}. 3 copies"


def test_of_several_findings_the_first_moment_and_the_gravest_are_told(log, told):
    log.append("finding_events", [
        found("opened", AT_MS, AT_MS - 60_000, title="small", severity=1),
        found("opened", AT_MS, AT_MS - 1, finding_id="g"),
    ])  # fmt: skip

    ((_, _, what),) = told()
    assert what.endswith(f", happened from {wording.clock(AT_MS - 60_000)}. 2, the gravest: 3 copies")


def test_audits_lead_to_their_page_and_their_run(log, tmp_path):
    request = AuditRequest("a1", AT_MS - 9_000_000, "Ada", Job.AUDIT, "orders-to-payments", 1, 2)
    again = replace(request, run_id="b2", at_ms=AT_MS)
    log.append("operator_actions", [
        request_row(request), request_row(again), cancel_row(Cancellation("c3", AT_MS + 1, "Bob", "a1")),
        {"action_id": "d4", "action": "audit", "who": "Eve", "request": "no json", "observed_at": AT_MS - 1},
    ])  # fmt: skip

    rows = queries.ask(tmp_path, FROM_MS, TO_MS, asked.ACTIONS, {"cluster_id": "c", "search": ""})
    told = [(one.where, one.what, one.page, one.selected) for one in changes.newest_first({asked.ACTIONS: rows})]
    assert told == [
        ("Bob", "cancelled the exact audit of orders-to-payments", "audit",
         {"pipeline": "orders-to-payments", "audit": "a1"}),
        ("Ada", "asked for an exact audit of orders-to-payments", "audit",
         {"pipeline": "orders-to-payments", "audit": "b2"}),
        ("Eve", "asked for an exact audit", "audit", {"audit": "d4"}),
    ]  # fmt: skip
    assert all(page in change_panel.PAGES for _, _, page, _ in told)


def test_who_fell_out_of_sync_and_who_came_back_is_said(log, told):
    log.append("partition_state", [
        p(0, OLD, 0), p(0, 0, 20, in_sync_replicas=[1]), p(0, 20, in_sync_replicas=[2, 1]),
    ])  # fmt: skip

    assert told() == [
        (Sort.IN_SYNC, "t-0", "broker 2 in sync again"),
        (Sort.IN_SYNC, "t-0", "brokers 2, 3 fell out of sync"),
    ]


def test_an_order_of_replicas_is_no_change_and_another_set_is(log, told):
    log.append("partition_state", [
        p(0, OLD, 0), p(0, 0, in_sync_replicas=[3, 1, 2], replicas=[3, 2, 1]),
        p(1, OLD, 0), p(1, 0, replicas=[1, 2, 4]),
    ])  # fmt: skip

    assert told() == [(Sort.REPLICAS, "t-1", "assigned to brokers 1, 2, 4 instead of brokers 1, 2, 3")]


def test_a_state_that_ran_through_the_whole_window_or_began_before_it_is_no_change(log, told):
    log.append("partition_state", [p(0, OLD, -61), p(0, -61, leader=2, leader_epoch=4)])

    assert told() == []


def test_what_the_first_round_of_all_saw_is_not_new(log, told):
    log.append("rounds", rounds(0, 5))
    log.append("partition_state", [p(0, 0, started_after=None)])

    assert told() == []


def test_a_topic_partitions_added_and_a_topic_made_anew_are_told_apart(log, told):
    log.append("rounds", rounds(-50, 0, 5))
    log.append("partition_state", [
        p(0, OLD), p(1, 0, started_after=None), p(2, 0, started_after=None),
        p(0, OLD, 0, topic="u", topic_id="u-1", ended_reason="the topic was made anew"),
        p(0, 0, topic="u", topic_id="u-2", started_after=None),
        p(0, 0, topic="v", topic_id="v-1", started_after=None),
    ])  # fmt: skip

    assert told() == [
        (Sort.TOPIC, "t", "2 partitions added, from 1 on"),
        (Sort.TOPIC, "u", "made anew, with 1 partition and another topic id"),
        (Sort.TOPIC, "v", "appeared, with 1 partition: made, or visible, since"),
    ]
    assert told("V") == [told()[-1]]


def test_a_topic_that_is_gone_is_said_and_a_gap_of_observation_is_none(log, told):
    gone = "the topic is no longer listed"
    log.append("partition_state", [
        p(0, OLD, 0, ended_reason=gone), p(1, OLD, 0, ended_reason=gone),
        p(0, OLD, 0, topic_id="u-id", ended_reason="not observed between"), p(0, 30, topic_id="u-id"),
    ])  # fmt: skip

    assert told() == [(Sort.TOPIC, "t", "the topic is no longer listed: 2 partitions")]


def test_of_a_setting_old_and_new_value_are_said(log, told):
    before = {"retention.ms": "1", "min.insync.replicas": "2", "a": "1"}
    log.append("topic_configuration", [
        configured(OLD, 0, **before),
        configured(0, **{"retention.ms": "2", "min.insync.replicas": "2", "b": "1"}),
    ])  # fmt: skip

    assert told() == [(Sort.SETTING, "t", "a 1 → unset; b unset → 1; retention.ms 1 → 2")]


def test_rebalances_parts_and_people_are_told_with_the_rest(log, told):
    at = {"observed_at": AT_MS}
    moved = '[["t", 0, "a", "b"]]'
    log.append("rebalances", [
        {"cluster_id": "c", "group_id": "g", "joined": "[]", "left": '["a"]', "moved": moved, "cause": "x", **at}
    ])  # fmt: skip
    log.append("part_events", [{"part": "collect", "event": "died", "message": "exit code 1", **at}])
    log.append("operator_actions", [
        {"action_id": "1", "action": "note", "finding_id": "f", "who": "Ada", "note": "deployed", **at},
        {"action_id": "2", "action": "note", "finding_id": "f", "who": "Bob", "note": "later", "observed_at": TO_MS},
    ])  # fmt: skip

    assert told() == [
        (Sort.ACTION, "Ada", "note: deployed"),
        (Sort.REBALANCE, "g", "x; 1 member left; 1 partition moved"),
        (Sort.TIDEMARK, "collect", "died: exit code 1"),
    ]


SAME_MEMBERS = "partitions moved among the same members (subscription, partition count or assignment changed)"


@pytest.mark.parametrize(
    ("left", "joined", "moved", "cause", "said"),
    [
        (0, 1, 1, "1 member joined", "1 member joined; 1 partition moved"),
        (1, 2, 0, "1 member left, 2 members joined", "1 member left, 2 members joined; 0 partitions moved"),
        (2, 0, 3, "all members left", "2 members left, and none stayed; 3 partitions moved"),
        (0, 0, 3, SAME_MEMBERS, f"3 {SAME_MEMBERS}"),
        (1, 0, 2, None, "1 member left; 2 partitions moved"),
    ],
)
def test_a_rebalance_says_each_number_once(log, told, left, joined, moved, cause, said):
    numbers = {"left": left, "joined": joined, "moved": moved}
    lists = {name: json.dumps([str(one) for one in range(number)]) for name, number in numbers.items()}
    log.append("rebalances", [{"cluster_id": "c", "group_id": "g", "cause": cause, "observed_at": AT_MS, **lists}])

    assert told() == [(Sort.REBALANCE, "g", said)]


def test_of_too_many_changes_the_newest_are_told_and_the_others_counted(log, tmp_path):
    at = [{"part": "collect", "event": "died", "observed_at": AT_MS + number} for number in range(asked.MOST_ROWS + 7)]
    log.append("part_events", at)

    rows = queries.ask(tmp_path, FROM_MS, TO_MS, asked.PARTS, {"cluster_id": "c", "search": ""})

    assert (len(rows), rows[0]["at_ms"]) == (asked.MOST_ROWS, AT_MS + asked.MOST_ROWS + 6)
    assert changes.left_out({asked.PARTS: rows}) == 7


def test_two_changes_that_look_the_same_are_selected_apart():
    one = Change(AT_MS, None, Sort.LEADER, "t-0", "x", "replication")

    assert len(set(changes.selections([one, one]))) == 2


def test_every_finding_has_its_kind_in_words():
    row = {"findings": 1, "closed_reason": None, "change": "opened", "title": "x", "topic": "t", "group_id": None,
           "happened_at_ms": 1, "at_ms": 2, "finding_id": "f"}  # fmt: skip
    assert all(changes.MADE[asked.FINDINGS](row | {"kind": kind.value}).what.endswith(". x") for kind in Kind)


def test_the_page_lists_everything_and_leads_to_what_shows_it(visit, believable):
    app = visit(believable, "changes")

    shown = app.dataframe[0].value
    assert set(shown["Change"]) >= {Sort.LEADER, Sort.IN_SYNC, Sort.REBALANCE, Sort.FINDING, Sort.ACTION}
    assert "expected rounds" in words(app)
    assert "\u202e" not in cells(app)


def test_a_linked_change_is_shown_in_full_with_its_page(visit, believable):
    about = {"cluster_id": fixture_store.CLUSTER_ID, "search": ""}
    rows = queries.ask(believable.parent / "data", now_ms() - 900_000, now_ms(), asked.REBALANCES, about)
    name = next(changes.selections(changes.newest_first({asked.REBALANCES: rows})))

    app = visit(believable, "changes", sort="rebalance", change=name)

    assert set(app.dataframe[0].value["Change"]) == {"Rebalance"}
    assert "**Rebalance** · order\\-service" in words(app)
    assert "the last look before" in words(app)
    assert app.get("page_link")


def test_the_command_tells_the_same(capsys, believable):
    assert main(["changes", "--settings", str(believable), "--format", "json", "--search", "order-service"]) == 0

    told = json.loads(capsys.readouterr().out)
    production = told["clusters"]["production"]
    assert {"Rebalance", "Finding"} <= {one["sort"] for one in production["changes"]}
    assert all("order-service" in one["where"] for one in production["changes"])
    assert production["rounds"]["present"] > 0
    assert {one["sort"] for one in told["tidemark"]["changes"]} == {"Person"}
