"""Where a message is: every copy that was read, and for each topic what the reading proves about the rest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard import audit_examples, wording
from dashboard.message_questions import COPIES, DECIDED, STORED
from dashboard.queries import SAMPLED, Question, Rows
from guarantees.findings import Grade
from settings import PipelineSettings
from store.message_ids import id_hash, is_kept

Row = Mapping[str, Any]
SAME_HASH = "no other id has the same 64-bit hash"


@dataclass(frozen=True, slots=True)
class OnTopic:
    """What is known of the message on one topic; `copies` as COPIES answers them."""

    topic: str
    grade: Grade
    text: str
    assumption: str | None = None
    copies: tuple[Row, ...] = ()


def about(cluster_id: str, message_id: str) -> dict[str, object]:
    """The parameters of the questions."""
    return {"cluster_id": cluster_id, "message_id": message_id, "id_hash": id_hash(message_id)}


def hashed_topics(pipelines: Iterable[PipelineSettings], cluster: str) -> frozenset[str]:
    """Topics whose message ids are hashes of the whole record: nobody can look for one by a text."""
    of_cluster = [one for one in pipelines if one.cluster == cluster and one.id.hash]
    return frozenset(topic for one in of_cluster for topic in (one.source, one.sink) if topic)


def on_topics(message_id: str, answers: Mapping[Question, Rows], hashed: frozenset[str]) -> list[OnTopic]:
    """For each topic that was read in the window, those with copies first."""
    stored = {row["topic"]: row["stored"] for row in answers.get(STORED, ())}
    read = {row["topic"]: {**row, "stored": stored.get(row["topic"], 0)} for row in answers.get(SAMPLED, ())}
    copies: dict[str, list[Row]] = {topic: [] for topic in read}
    for row in answers.get(COPIES, ()):
        copies.setdefault(row["topic"], []).append(row)
    known = [
        _with_copies(topic, found) if found else OnTopic(topic, *_without(message_id, read[topic], topic in hashed))
        for topic, found in copies.items()
    ]
    return sorted(known, key=lambda one: (not one.copies, one.topic))


def decided(answers: Mapping[Question, Rows]) -> list[str]:
    """What each pipeline's comparison decided, as sentences."""
    return [_decision(row) for row in answers.get(DECIDED, ())]


def copy_row(row: Row) -> dict[str, object]:
    """A copy, in full: where it is stored, who wrote it, in which transaction, and when."""
    return {
        "Stored at": audit_examples.place(row["topic"], row),
        "Producer": audit_examples.producer(row),
        "Transaction": "committed" if row["is_transactional"] else "none",
        "Written (UTC)": wording.utc(row["timestamp_ms"]).removesuffix(" UTC"),
        "Read (UTC)": wording.utc(row["observed_at_ms"]).removesuffix(" UTC"),
        "Message id": audit_examples.message_id(row["message_id"]),
    }


def _with_copies(topic: str, copies: Sequence[Row]) -> OnTopic:
    by_hash = all(row["message_id"] is None for row in copies)
    grade, assumption = (Grade.PROBABLE, SAME_HASH) if by_hash else (Grade.PROVEN, None)
    number = copies[0]["found"]
    cut = f" The first {len(copies)} of them are listed." if number > len(copies) else ""
    text = f"Stored {wording.plural(number, 'time')} in what was read.{cut}"
    return OnTopic(topic, grade, text, assumption, tuple(copies))


def _without(message_id: str, read: Row, is_hashed: bool) -> tuple[Grade, str]:
    """What the reading proves of a topic on which no copy is stored."""
    expired = read["sampled"] - read["stored"]
    if is_hashed:
        return Grade.NOT_OBSERVABLE, "Not known: its ids are hashes of key and value, which no text names."
    if not is_kept(id_hash(message_id), read["rate"]):
        text = f"Not known: a share of {read['rate']:.3g} of its ids is kept, and this id is not in it."
        return Grade.NOT_OBSERVABLE, text
    if expired > 0:
        text = f"Not known: {wording.count(expired)} of the {wording.count(read['sampled'])} ids sampled have expired."
        return Grade.NOT_OBSERVABLE, text
    number = wording.plural(read["records"], "record")
    return Grade.PROVEN, f"In none of the {number} read in this window.{_unread(read)}"


def _unread(read: Row) -> str:
    """What that leaves out: there it may be."""
    parts = (
        (read["records_without_id"], "records have no id"),
        (read["purged_offsets"], "offsets were purged unread"),
        (read["gap_offsets"], "offsets lie in no range"),
        (read["left_unread"], "offsets are not read yet"),
    )
    said = [f"{wording.count(number)} {words}" for number, words in parts if number]
    return f" It may be in what was not: {', '.join(said)}." if said else ""


def _decision(row: Row) -> str:
    place = audit_examples.place(row["topic"], row)
    passed = f"the commit had passed {place} by {wording.utc(row['passed_at_ms'])}"
    if row["state"] == "late":
        return f"{row['pipeline']}: late. {passed}; it was found in the sink at {row['found_at']} after all."
    return f"{row['pipeline']}: lost. {passed}, and the sink had not shown it by {wording.utc(row['decided_at_ms'])}."
