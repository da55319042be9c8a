"""The topics of the audit's benchmark: a source, a sink partitioned alike, and one that is not."""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

PARTITIONS = 4
TWICE, LOST = 1_000, 50  # ids sent twice to the source, and ids missing in both sinks
_AT_ONCE = 5_000
_PAYLOADS = 997


@dataclass(frozen=True, slots=True)
class Case:
    """So many ids in the source, as records whose values have so many bytes, with a codec."""

    ids: int
    record_bytes: int
    codec: str

    @property
    def name(self) -> str:
        return f"{self.record_bytes} B, {self.codec}"


@dataclass(frozen=True, slots=True)
class Topics:
    """`records` are those of the source and of one sink together, what every contender reads."""

    source: str
    alike: str
    otherwise: str
    records: int
    begun_ms: int
    ended_ms: int


def written(bootstrap: str, case: Case) -> Topics:
    """Write the case into topics of its own."""
    prefix = f"audit-{case.record_bytes}-{case.codec}"
    source, alike, otherwise = (f"{prefix}-{what}" for what in ("source", "alike", "otherwise"))
    _create(bootstrap, (source, alike, otherwise))
    begun_ms = _now_ms()
    sent = sorted([*range(case.ids), *_spread(case.ids, TWICE)])  # copies everywhere, so that a part has its share
    _send(bootstrap, source, case, sent, lambda number: number % PARTITIONS)
    lost = set(_spread(case.ids, LOST, shift=1))
    kept = [number for number in range(case.ids) if number not in lost]
    _send(bootstrap, alike, case, kept, lambda number: number % PARTITIONS)
    _send(bootstrap, otherwise, case, kept, lambda number: number // 7 % PARTITIONS)
    time.sleep(0.1)
    return Topics(source, alike, otherwise, case.ids + TWICE + len(kept), begun_ms - 1_000, _now_ms())


def removed(bootstrap: str, topics: Topics) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for deleted in admin.delete_topics([topics.source, topics.alike, topics.otherwise]).values():
        deleted.result(60)


def _create(bootstrap: str, names: tuple[str, ...]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    one_replica = {"min.insync.replicas": "1"}  # what is measured is reading
    topics = [NewTopic(name, PARTITIONS, 1, config=one_replica) for name in names]
    for created in admin.create_topics(topics).values():
        created.result(60)


def _spread(ids: int, count: int, shift: int = 0) -> range:
    """So many numbers, evenly over all; those of another shift are others."""
    return range(shift, ids, ids // count)[:count]


def _send(bootstrap: str, topic: str, case: Case, numbers: Iterable[int], partition_of: Callable[[int], int]) -> None:
    producer = Producer({
        "bootstrap.servers": bootstrap, "enable.idempotence": True, "compression.type": case.codec, "linger.ms": 50,
        "queue.buffering.max.messages": 200_000, "queue.buffering.max.kbytes": 262_144,
    })  # fmt: skip
    payloads = list(_payloads(case.record_bytes))
    batch: list[dict[str, object]] = []
    for number in numbers:
        key, value = f"order-{number:010d}", payloads[number % _PAYLOADS]
        batch.append({"key": key, "value": value, "partition": partition_of(number)})
        if len(batch) == _AT_ONCE:
            _send_batch(producer, topic, batch)
            batch = []
    _send_batch(producer, topic, batch)
    if left := producer.flush(120):
        raise RuntimeError(f"{left} records of {topic} were not acknowledged")


def _send_batch(producer: Producer, topic: str, batch: list[dict[str, object]]) -> None:
    while len(producer) > 100_000:
        producer.poll(0.05)
    if producer.produce_batch(topic, batch) != len(batch):
        raise RuntimeError(f"the queue of the producer for {topic} is full")
    producer.poll(0)


def _payloads(record_bytes: int) -> Iterator[bytes]:
    """JSON, of which a codec saves about half."""
    draw = random.Random(record_bytes)
    for number in range(_PAYLOADS):
        text = f'{{"customer": {number}, "note": "'
        filler = "".join(draw.choice("abcdefghijklmnopqrstuvwxyz ") for _ in range(record_bytes))
        yield (text + filler)[: record_bytes - 2].encode() + b'"}'


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
