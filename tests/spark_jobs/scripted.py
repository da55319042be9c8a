"""A scripted pipeline on the real cluster: what is sent is known record by record."""

import time
import uuid
from dataclasses import dataclass, field

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from settings import ClusterSettings, MessageId, PipelineSettings, Settings, SparkSettings, StoreSettings

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@dataclass
class Script:
    """One source and one sink topic with names of their own, and a group that commits as it is told."""

    bootstrap: str
    partitions: int = 2
    replicas: int = 3
    source: str = field(default_factory=lambda: f"orders-{uuid.uuid4().hex[:8]}")
    sink: str = field(default_factory=lambda: f"bills-{uuid.uuid4().hex[:8]}")

    @property
    def group(self) -> str:
        return f"billing-{self.source}"

    def create(self):
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        topics = [NewTopic(name, self.partitions, self.replicas) for name in (self.source, self.sink)]
        for created in admin.create_topics(topics).values():
            created.result(30)
        return self

    def delete_and_create_again(self, topic):
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.delete_topics([topic])[topic].result(30)
        deadline = time.monotonic() + 30
        while True:
            time.sleep(0.3)
            try:
                return admin.create_topics([NewTopic(topic, self.partitions, self.replicas)])[topic].result(30)
            except Exception:
                if time.monotonic() > deadline:
                    raise

    def producer(self, **options):
        return Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "linger.ms": 5, **options})

    def send(self, topic, ids, *, producer=None, codec="none"):
        """Each id as header and key, always to the same partition; returns when acknowledged."""
        producer = producer or self.producer(**{"compression.type": codec})
        for message_id in ids:
            place = sum(message_id.encode()) % self.partitions
            producer.produce(topic, key=message_id, value=b"x" * 100, headers={"id": message_id}, partition=place)
        assert producer.flush(30) == 0

    def send_numbered(self, topic, numbered, *, producer=None):
        """Pairs of key and the text of the header `number`, None for none of it; a key has a partition of its own."""
        producer = producer or self.producer()
        for key, number in numbered:
            headers = {} if number is None else {"number": str(number)}
            place = sum((key or "").encode()) % self.partitions
            producer.produce(topic, key=key, value=b"x", headers=headers, partition=place)
        assert producer.flush(30) == 0

    def send_in_transaction(self, topic, ids, *, is_committed, transactional_id=None):
        """Transactional ids are made up unless given; returns once the marker is written."""
        producer = self.producer(**{"transactional.id": transactional_id or uuid.uuid4().hex})
        producer.init_transactions(30)
        producer.begin_transaction()
        self.send(topic, ids, producer=producer)
        if is_committed:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)

    def commit(self, offsets):
        """Commit for the group, by partition of the source."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": self.group})
        consumer.commit(
            offsets=[TopicPartition(self.source, partition, offset) for partition, offset in offsets.items()],
            asynchronous=False,
        )
        consumer.close()

    def end_offsets(self, topic):
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "nobody"})
        ends = {p: consumer.get_watermark_offsets(TopicPartition(topic, p), 10)[1] for p in range(self.partitions)}
        consumer.close()
        return ends

    def settings(self, data_dir, **changed):
        pipeline = {"rate": 1.0, "settle_s": 2.0, "horizon_s": 3600.0, "id": MessageId(header="id"), **changed}
        return Settings(
            clusters=(
                ClusterSettings(
                    name="test",
                    bootstrap_servers=self.bootstrap,
                    interval_s=1.0,
                    include_topics=(self.source, self.sink),
                    include_groups=(self.group,),
                ),
            ),
            pipelines=(
                PipelineSettings(
                    name="billing", cluster="test", source=self.source, group=self.group, sink=self.sink, **pipeline
                ),
            ),
            store=StoreSettings(data_dir=str(data_dir)),
            spark=SparkSettings(master="local[2]", round_s=0.5),
        )


def ids(name, first, following):
    return [f"{name}-{number}" for number in range(first, following)]
