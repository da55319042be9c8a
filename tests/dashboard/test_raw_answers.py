"""The stored answers behind a finding: which, around which moment, and with every digit."""

from dataclasses import replace

import pytest

from dashboard import queries, raw_answers
from dashboard.raw_questions import RAW, SHOWN
from guarantees.findings import Kind, Place
from guarantees.verdicts import OF_GROUP
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store, story_handling
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import visit as visit
from tests.dashboard.test_pages import words

AT_MS = 1_764_000_000_000
BIG = fixture_store.BASE_OFFSET


@pytest.fixture
def log(tmp_path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    yield log
    log.close()


def ask(data_dir, table, place):
    start, end = AT_MS - 15_000, AT_MS + 15_000
    about = {"cluster_id": "c", **raw_answers.about(place, AT_MS)}
    return queries.ask(data_dir, start, end, RAW[table], about)


def commit(tick, **columns):
    return {"cluster_id": "c", "tick": tick, "group_id": "g", "topic": "t", "topic_id": "id", "partition": 0,
            "committed_offset": BIG + tick, "is_pending": False, "broker": 2, "requested_at": AT_MS - 9 + tick * 5_000,
            "observed_at": AT_MS + tick * 5_000} | columns  # fmt: skip


def finding(**changes):
    return replace(fixture_store.rewind(AT_MS), happened_at_ms=AT_MS, place=Place("c", "t", "id", 0, "g"), **changes)


def test_every_kind_has_tables_that_can_be_asked():
    """A fact about a group may rest on the default, its commits; every other kind names its own."""
    assert set(raw_answers._BY_KIND) | OF_GROUP == set(Kind)
    assert {table for kind in Kind for table in raw_answers.tables(kind)} == set(RAW)


@pytest.mark.parametrize("table", RAW)
@pytest.mark.parametrize(
    "place", [Place("c"), Place("c", "t"), Place("c", "t", "id", 0, "g"), Place("c", group_id="g")]
)
def test_a_table_without_rows_is_an_empty_answer_for_every_place(tmp_path, table, place):
    assert ask(tmp_path, table, place) == []


def test_rows_of_the_place_and_the_rounds_around_it_are_found_and_no_others(log, tmp_path):
    log.append("committed_offsets", [commit(tick) for tick in range(-5, 5)])
    log.append("committed_offsets", [commit(0, partition=1), commit(0, topic="u"), commit(0, group_id="h")])

    found = ask(tmp_path, "committed_offsets", Place("c", "t", "id", 0, "g"))

    shown = raw_answers.rows("committed_offsets", found, finding())
    assert [(row[""], row["Tick"]) for row in shown] == [
        ("before", "-3"), ("before", "-2"), ("before", "-1"), ("at or after", "0"), ("at or after", "1"),
        ("at or after", "2"),
    ]  # fmt: skip
    assert len(ask(tmp_path, "committed_offsets", Place("c", group_id="g"))) == 8


def test_a_row_says_who_answered_when_and_every_digit(log, tmp_path):
    log.append("committed_offsets", [commit(0, committed_offset=BIG)])

    (row,) = raw_answers.rows("committed_offsets", ask(tmp_path, "committed_offsets", finding().place), finding())

    assert list(row)[:4] == ["", "Requested at", "Observed at", "Broker"]
    assert (row["Requested at"], row["Observed at"]) == ("2025-11-24 15:59:59.991", "2025-11-24 16:00:00.000")
    assert (row["Committed offset"], row["Broker"], row["Is pending"]) == ("9007199254740993", "2", "no")
    assert "Group id" not in row  # it is in the finding's place
    assert row["Topic id"] == "id"  # it may be another than the finding's


def test_a_value_that_nobody_knows_is_its_reason(log, tmp_path):
    log.append(
        "committed_offsets", [commit(0, committed_offset=None, committed_offset_unknown="not permitted", broker=None)]
    )

    (row,) = raw_answers.rows("committed_offsets", ask(tmp_path, "committed_offsets", finding().place), finding())

    assert row["Committed offset"] == "unknown: not permitted"
    assert row["Broker"] == "–"
    assert not [name for name in row if "unknown" in name]


def test_members_and_transactions_are_those_that_hold_the_partition(log, tmp_path):
    lasting = {"started_at": AT_MS - 60_000, "last_seen_at": AT_MS, "cluster_id": "c"}
    log.append("group_members", [
        lasting | {"group_id": "g", "member_id": "owner", "assignment": '[["t", 0], ["t", 1]]'},
        lasting | {"group_id": "g", "member_id": "other", "assignment": '[["t", 10], ["t", 1]]'},
        lasting | {"group_id": "h", "member_id": "foreign", "assignment": '[["t", 0]]'},
    ])  # fmt: skip
    log.append("open_transactions", [
        lasting | {"transactional_id": "mine", "producer_id": 1, "producer_epoch": 0, "partitions": '[["t", 0]]'},
        lasting | {"transactional_id": "theirs", "producer_id": 2, "producer_epoch": 0, "partitions": '[["u", 0]]'},
    ])  # fmt: skip

    assert [row["member_id"] for row in ask(tmp_path, "group_members", finding().place)] == ["owner"]
    assert [row["transactional_id"] for row in ask(tmp_path, "open_transactions", finding().place)] == ["mine"]
    everybody = ask(tmp_path, "group_members", Place("c", group_id="g"))
    assert sorted(row["member_id"] for row in everybody) == ["other", "owner"]


def test_of_many_rows_the_nearest_to_the_moment_are_kept(log, tmp_path):
    log.append("committed_offsets", [
        commit(number, observed_at=AT_MS + (number - 100) * 100, partition=0) for number in range(200)
    ])  # fmt: skip

    found = ask(tmp_path, "committed_offsets", finding().place)

    assert len(found) == SHOWN + 1
    assert {row["tick"] for row in found} == set(range(70, 131))


def opened(app, finding_id):
    app.session_state[f"answers-{finding_id}"] = True
    return app.run()


def test_the_answers_behind_a_finding_are_on_the_page_when_opened(visit, believable):
    finding_id = fixture_store.rewind(10**12).finding_id
    app = visit(believable, "violations", finding=finding_id)
    assert "Stored between" not in words(app)

    app = opened(app, finding_id)

    assert "**Committed offsets** :gray[What each group has committed, read before the end offsets.]" in words(app)
    raw = next(table.value for table in app.dataframe if "Committed offset" in table.value)
    assert list(raw[""]) == ["before"] * 3 + ["at or after"] * 3
    assert raw["Committed offset"].str.fullmatch(r"90071992547\d{5}").all()
    owners = next(table.value for table in app.dataframe if "Member id" in table.value)
    assert list(owners["Member id"]) == ["order-service-0-11aa"]


def test_answers_that_have_expired_are_said_to_have(visit, tmp_path):
    settings = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", now_ms(), quiet_minutes=5)
    old = replace(fixture_store.rewind(now_ms()), anchor="old", happened_at_ms=now_ms() - 3 * 86_400_000)
    story_handling.store(tmp_path / "data", [old])

    app = opened(visit(settings, "violations", finding=old.finding_id), old.finding_id)

    assert "Raw samples of that time have expired" in words(app)
    assert "order\\-service went back 40 offsets" in words(app)


def test_a_moment_at_which_nobody_was_asked_is_not_called_expired(visit, tmp_path):
    settings = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", now_ms(), quiet_minutes=5)
    elsewhere = replace(
        fixture_store.rewind(now_ms()),
        place=Place(fixture_store.CLUSTER_ID, "elsewhere", "id", 0, "nobody"),
        happened_at_ms=now_ms() - 60_000,
    )
    story_handling.store(tmp_path / "data", [elsewhere])

    app = opened(visit(settings, "violations", finding=elsewhere.finding_id), elsewhere.finding_id)

    assert "No answer about this place is stored" in words(app)
    assert "expired" not in words(app)
