"""The words of the page of duplicates and losses: causes, what a figure rests on, and what it cannot see."""

from collections.abc import Mapping
from math import isclose

from dashboard import wording
from dashboard.names import cut
from dashboard.record_reading import NOT_PERMITTED
from guarantees.audits import DuplicateCause
from guarantees.findings import Bounds
from guarantees.rules.duplicates import CAUSES as MEANINGS
from settings import MessageId

CAUSES: Mapping[DuplicateCause, str] = {
    DuplicateCause.OTHER_PRODUCER_ID: "Another producer id",
    DuplicateCause.OTHER_EPOCH: "Same producer, higher epoch",
    DuplicateCause.OTHER_TRANSACTION: "Same producer, another transaction",
    DuplicateCause.SENT_TWICE: "Same producer, sent twice",
    DuplicateCause.SAME_SEQUENCE: "Same sequence number again",
    DuplicateCause.NOT_IDEMPOTENT: "Producer not idempotent",
}

NOT_OBSERVED = "not observed"
NO_PIPELINE = (
    f"{NOT_OBSERVED}: no declared pipeline names the topic. To compare its ids, declare one with the place of the id "
    "in tidemark.toml ([[pipelines]] … id)."
)
NO_RANGE = (
    f"{NOT_OBSERVED}: no range of it was read in this window. Widen the window, or see the record jobs on Health."
)
NOT_READ = f"{NOT_OBSERVED}: the record jobs cannot read it"
NO_RECORD = f"{NOT_OBSERVED}: the ranges read hold no visible record."
NO_ID = (
    f"{NOT_OBSERVED}: none of its records has an id. Correct the place of the id in tidemark.toml ([[pipelines]] … id)."
)
NO_SINK = (
    f"{NOT_OBSERVED}: no sink is declared. What the group did with a record cannot be seen from outside; to see it, "
    "name the topic it writes to (sink) in tidemark.toml."
)
NOT_DECLARED = (
    f"{NOT_OBSERVED}: the pipeline is not declared. Declare it with its sink and the place of the id in tidemark.toml."
)
NOT_COMPARED = f"{NOT_OBSERVED}: nothing was compared yet. See the record jobs on Health for what they wait for."
NOT_JUDGED = f"{NOT_OBSERVED}: no id was judged yet."
HASH_ONLY = "only a hash is stored"

TIMES_OF: Mapping[str | None, str] = {
    "CreateTime": "Times of the copies are the producers' word (message.timestamp.type=CreateTime).",
    "LogAppendTime": "Times of the copies are the brokers' word (message.timestamp.type=LogAppendTime).",
    None: "Times of the copies are the producers' word, unless message.timestamp.type=LogAppendTime: not known here.",
}


def hindered(what: str, why: str) -> str:
    """What the record jobs lack, as they stored it, and what to do where it is a right."""
    remedy = " Grant READ on the topic to Tidemark's principal." if NOT_PERMITTED in why else ""
    return f"{what}: {cut(why, 200)}.{remedy}"


def meaning(cause: DuplicateCause) -> str:
    """What a cause means, as the findings say it."""
    return f"Stored again {MEANINGS[cause]}."


def extra_copies(bounds: Bounds, ids: int) -> str:
    """How many extra copies; none is never said without what it rests on."""
    if bounds.lower == 0 and bounds.upper == 0:
        return f"none among {wording.plural(ids, 'id')}"
    return wording.amount(bounds.lower, bounds.estimate, bounds.upper)


def rate(share: float) -> str:
    """The share of ids compared: `every id`, `1 in 64`."""
    if share >= 1:
        return "every id"
    inverse = round(1 / share)
    return f"1 in {inverse:,}" if isclose(share * inverse, 1) else f"{share:.3g}"


def covered(read: int, missed: int) -> str:
    """The share of offsets that were read; the whole is said only of the whole."""
    if read + missed == 0:
        return "no offset"
    return "100 %" if missed == 0 else f"{1000 * read // (read + missed) / 10:g} %"


def id_caution(place: MessageId) -> str:
    """What an id is taken from, and what follows for the copies."""
    if place.header is not None:
        return f"Ids are the header {cut(place.header)}: taken to be unique by the producer's design."
    if place.decoder is not None:
        return f"Ids are what decoder {cut(place.decoder)} finds: taken to be unique by the producer's design."
    if place.json is not None:
        return f"Ids are what stands at {cut(place.json)} in the values: taken to be unique by the producer's design."
    what = "keys" if place.key else "hashes of key and value"
    return f"Ids are the records' {what}: records that share one count as copies."
