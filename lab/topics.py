"""The topics and groups of the workload."""

from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import NewTopic

from lab.clients import admin_client
from lab.errors import LabError

ORDERS = "orders"
PAYMENTS = "payments"
SHIPMENTS = "shipments"
LEDGER = "ledger"
AUDIT_NOTES = "audit-notes"

PAYMENTS_SERVICE = "payments-service"
SHIPPING_LEDGER = "shipping-ledger"
AUDIT_READER = "audit-reader"

PARTITIONS = {ORDERS: 6, PAYMENTS: 6, SHIPMENTS: 3, LEDGER: 3, AUDIT_NOTES: 1}


@dataclass(frozen=True, slots=True)
class Flow:
    """A pipeline of the workload, as a user would declare it."""

    source: str
    group_id: str
    sink: str


ORDERS_FLOW = Flow(ORDERS, PAYMENTS_SERVICE, PAYMENTS)
SHIPMENTS_FLOW = Flow(SHIPMENTS, SHIPPING_LEDGER, LEDGER)


def create_topics(bootstrap: str) -> None:
    """Create the workload's topics on a cluster that has none of them."""
    admin = admin_client(bootstrap)
    wanted = [NewTopic(topic, num_partitions=count, replication_factor=3) for topic, count in PARTITIONS.items()]
    for topic, created in admin.create_topics(wanted, operation_timeout=30).items():
        try:
            created.result(timeout=60)
        except KafkaException as exc:
            if exc.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                raise LabError(f"The cluster already has a topic {topic}: the lab needs a cluster of its own.") from exc
            raise LabError(f"Topic {topic} could not be created: {exc.args[0].str()}") from exc


def name_of(code: str, what: str, seed: int) -> str:
    """Of a topic, a group or a transactional id of a fault."""
    return f"{code.lower()}-{what}-{seed}"


def flow_of(code: str, flow: Flow, seed: int) -> Flow:
    """The pipeline under the names that the fault gives it."""
    return Flow(*(name_of(code, what, seed) for what in (flow.source, flow.group_id, flow.sink)))
