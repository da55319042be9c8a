"""Exact audits read a real topic no faster than max_bytes_per_s, and all of it."""

import time
import uuid

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from kafka_reader.connection import Connections
from kafka_reader.metadata import fetch_topology
from lab.clients import admin_client
from settings import MessageId, Security
from spark_jobs.audits.reading import of_ids
from spark_jobs.ranges import OffsetRange, Part
from spark_jobs.sources.kafka_ranges import RangeRequest
from spark_jobs.sources.open_clusters import OpenClusters

pytestmark = pytest.mark.integration

RECORD, RECORDS = 1_000, 1_500


def test_a_reading_takes_as_long_as_its_bytes_are_allowed_to(secure):
    topic = f"paced-{uuid.uuid4().hex[:8]}"
    admin = admin_client(secure.bootstrap)
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    producer = Producer({"bootstrap.servers": secure.bootstrap, "compression.type": "none"})
    for number in range(RECORDS):
        producer.produce(topic, key=str(number), value=b"x" * RECORD)
    assert producer.flush(30) == 0
    with Connections(secure.bootstrap, Security()) as connections:
        topology = fetch_topology(connections)
    part = Part(topology.cluster_id, topic, topology.topic_ids[topic], 0)

    def seconds(bytes_per_s):
        request = RangeRequest(
            range=OffsetRange(part, 1, 0, RECORDS),
            bootstrap_servers=secure.bootstrap,
            security=Security(),
            message_id=MessageId(key=True),
            rate=1.0,
            horizon_s=60.0,
            store_ids=True,
            bytes_per_s=bytes_per_s,
        )
        started_s = time.monotonic()
        with OpenClusters() as clusters:
            read = sum(int(in_range.sum()) for _, in_range in of_ids(request, clusters))
        assert read == RECORDS
        return time.monotonic() - started_s

    assert seconds(500_000) >= RECORD * RECORDS / 500_000
    assert seconds(None) < RECORD * RECORDS / 500_000
