"""Where a message is: copies, their producers, and what is proven, assumed or not observable of the topics without."""

import json
from dataclasses import replace

import numpy as np
import pytest

from cli.main import main
from dashboard import message_questions, messages, queries
from dashboard.view import format_time
from guarantees.findings import Grade
from kafka_reader.hashes import xxhash64
from settings import MessageId, PipelineSettings
from spark_jobs import sampling
from store.log import SegmentLog
from store.message_ids import id_hash, is_kept
from store.metrics import MetricsWriter
from tests.dashboard.test_pages import visit as visit
from tests.dashboard.test_pages import words

AT_MS = 1_764_000_000_000
WINDOW = {"from": format_time(AT_MS - 60_000), "to": format_time(AT_MS + 60_000)}
KEPT = next(name for name in map(str, range(1000)) if is_kept(id_hash(name), 1 / 8))
LEFT = next(name for name in map(str, range(1000)) if not is_kept(id_hash(name), 1 / 8))
TOPICS = {"orders": "id-1", "payments": "id-2"}


def copy(topic, offset, message_id=KEPT, **columns):
    row = {"message_id": message_id, "id_hash": id_hash(message_id), "producer_id": 7, "producer_epoch": 0,
           "sequence": offset, "is_transactional": False, "timestamp": AT_MS - 5_000 + offset}  # fmt: skip
    where = {"cluster_id": "c", "topic": topic, "topic_id": TOPICS[topic], "partition": 0, "offset": offset}
    return row | where | {"observed_at": AT_MS} | columns


def covered(topic, sampled, **columns):
    where = {"cluster_id": "c", "topic": topic, "topic_id": TOPICS[topic], "partition": 0, "first_offset": 0}
    return where | {
        "next_offset": 80, "records": 80, "sampled": sampled, "sampling_rate": 1 / 8, "state": "complete",
        "last_stable_offset": 80, "records_without_id": 0, "aborted_records": 0, "observed_at": AT_MS,
    } | columns  # fmt: skip


@pytest.fixture
def write(tmp_path):
    """Sampled ids and ledger of a store with one cluster."""

    def commit(copies, ledger, lost=()):
        log = SegmentLog(tmp_path / "data", "host_collect")
        log.append("rounds", [{"cluster_id": "c", "cluster": "production", "tick": 1, "signal": "end_offsets",
                               "asked": 1, "answered": 1, "interval_ms": 5_000, "observed_at": AT_MS}])  # fmt: skip
        for number, row in enumerate(copies):
            log.append_range("id_samples", [row], topic_id_hex=f"{number:032x}", partition=0, first=row["offset"],
                             last=row["offset"], observed_at_ms=AT_MS)  # fmt: skip
        log.close()
        with MetricsWriter(tmp_path / "data" / "metrics.duckdb") as metrics, metrics.transaction() as transaction:
            transaction.replace("ledger", ledger)
            transaction.replace("lost_ids", lost)
        settings = tmp_path / "tidemark.toml"
        settings.write_text('[[clusters]]\nname = "production"\nbootstrap_servers = "b:9092"\n')
        return settings

    return commit


@pytest.fixture
def told(tmp_path):
    def look(message_id=KEPT, hashed=frozenset()):
        about = messages.about("c", message_id)
        ends = (AT_MS - 60_000, AT_MS + 60_000)
        answers = queries.ask_together(tmp_path / "data", *ends, message_questions.ALL, about)
        return {one.topic: one for one in messages.on_topics(message_id, answers, hashed)}, messages.decided(answers)

    return look


def test_every_copy_is_listed_with_its_place_producer_and_transaction(write, told):
    payment = copy("payments", 9, is_transactional=True)
    write([copy("orders", 5), copy("orders", 6, producer_id=None), payment], [covered("orders", 2)])

    found, _ = told()

    assert list(found) == ["orders", "payments"]
    assert (found["orders"].grade, found["orders"].text) == (Grade.PROVEN, "Stored 2 times in what was read.")
    rows = [messages.copy_row(row) for one in found.values() for row in one.copies]
    assert [row["Stored at"] for row in rows] == ["orders-0:5", "orders-0:6", "payments-0:9"]
    assert [row["Producer"].split(" ·")[0] for row in rows] == ["id 7", "none: not idempotent", "id 7"]
    assert [row["Transaction"] for row in rows] == ["none", "none", "committed"]


def test_many_copies_on_one_topic_hide_none_on_another(write, told, monkeypatch):
    few = replace(message_questions.COPIES, sql=message_questions.COPIES.sql.replace("<= 50", "<= 1"))
    write([copy("orders", 5), copy("orders", 6), copy("payments", 9)], [covered("orders", 2), covered("payments", 1)])
    for module in (message_questions, messages):
        monkeypatch.setattr(module, "COPIES", few)
    monkeypatch.setattr(message_questions, "ALL", (few, *message_questions.ALL[1:]))

    found, _ = told()

    assert found["orders"].text == "Stored 2 times in what was read. The first 1 of them are listed."
    assert found["payments"].text == "Stored 1 time in what was read."


def test_a_copy_known_by_its_hash_alone_is_probable_and_says_why(write, told):
    write([copy("orders", 5, message_id=KEPT) | {"message_id": None}], [covered("orders", 1)])

    found, _ = told()

    assert (found["orders"].grade, found["orders"].assumption) == (Grade.PROBABLE, messages.SAME_HASH)


def test_that_a_kept_id_is_in_no_record_read_is_proven_for_what_was_read(write, told):
    write([copy("orders", 5, LEFT)], [covered("orders", 1, last_stable_offset=90, records_without_id=3)])

    (found,), _ = (list(part) if isinstance(part, list) else list(part.values()) for part in told())

    assert found.grade is Grade.PROVEN
    assert found.text == (
        "In none of the 80 records read in this window. "
        "It may be in what was not: 3 records have no id, 10 offsets are not read yet."
    )


@pytest.mark.parametrize(
    ("message_id", "stored", "hashed", "why"),
    [
        (LEFT, 1, (), "a share of 0.125 of its ids is kept, and this id is not in it"),
        (KEPT, 0, (), "1 of the 1 ids sampled have expired"),
        (KEPT, 1, ("orders",), "its ids are hashes of key and value"),
    ],
)
def test_what_cannot_be_known_of_an_id_is_said_and_not_proven(write, told, message_id, stored, hashed, why):
    write([copy("orders", 5, "another")] * stored, [covered("orders", 1)])

    found, _ = told(message_id, frozenset(hashed))

    assert found["orders"].grade is Grade.NOT_OBSERVABLE
    assert why in found["orders"].text


def test_what_the_comparison_decided_is_told(write, told):
    lost = {"pipeline": "p", "cluster_id": "c", "topic": "orders", "topic_id": "id-1", "partition": 0,
            "message_id": KEPT, "id_hash": id_hash(KEPT), "passed_at": AT_MS, "decided_at": AT_MS,
            "observed_at": AT_MS}  # fmt: skip
    late = {"offset": 2, "state": "late", "found_at": "payments-0:3"}
    write([], [], [lost | {"offset": 1, "state": "lost"}, lost | late])

    _, decided = told()

    assert decided[0].startswith("p: lost. the commit had passed orders-0:1 by")
    assert decided[1].endswith("it was found in the sink at payments-0:3 after all.")


def test_only_pipelines_of_the_cluster_whose_id_is_a_hash_hide_their_topics():
    one = {"name": "p", "cluster": "c", "source": "s", "group": "g", "sink": "t"}
    hashed = PipelineSettings(**one, id=MessageId(hash=True))

    assert messages.hashed_topics([hashed, PipelineSettings(**one | {"source": "k"})], "c") == {"s", "t"}
    assert messages.hashed_topics([hashed], "other") == frozenset()


def test_one_id_is_hashed_and_kept_as_the_jobs_hash_and_keep_many():
    ids = [f"id-{number}-ü" for number in range(300)] + [""]

    assert [id_hash(one) for one in ids] == [xxhash64(one.encode()) for one in ids]
    for rate in (1 / 64, 0.5, 1.0):
        many = sampling.is_kept(np.array([id_hash(one) for one in ids]), rate)
        assert [is_kept(id_hash(one), rate) for one in ids] == many.tolist()


def test_the_command_and_the_page_tell_the_same(write, visit, capsys):
    settings = write([copy("orders", 5), copy("orders", 7)], [covered("orders", 2)])
    command = ["find", KEPT, "--settings", str(settings), "--from", WINDOW["from"], "--to", WINDOW["to"]]

    assert main([*command, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["production"]
    assert [(one["topic"], len(one["copies"])) for one in found["topics"]] == [("orders", 2)]
    assert main(command) == 0
    assert "orders: PROVEN. Stored 2 times in what was read." in capsys.readouterr().out

    app = visit(settings, "audit", message=KEPT, **WINDOW)
    assert "Stored 2 times in what was read" in words(app)
    assert list(app.dataframe[-1].value["Stored at"]) == ["orders-0:5", "orders-0:7"]
