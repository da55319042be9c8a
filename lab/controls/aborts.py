"""C5, a transactional producer that aborts every other transaction, and a group that reads only what is committed."""

import time

from lab.controls.stated import control
from lab.ground import Ground
from lab.injected import Injected
from lab.records import send
from lab.truth import now_ms

CODE = "C5"
TITLE = "transactional topic with aborts"
BREAKS = "nothing"
SILENT = "everything: aborted records and markers are neither lag nor loss"
ALONE = False
_TRANSACTIONS = 20


def inject(ground: Ground) -> Injected:
    """Returns when the group has read the last committed record."""
    topic, injected_at_ms = ground.create_topic("refunds"), now_ms()
    producer = ground.producer(transactional_id=ground.name("refunds"))
    producer.init_transactions(30)
    for number in range(_TRANSACTIONS):
        producer.begin_transaction()
        stored, _ = send(producer, topic, 0, ground.some(5, 30))
        if number % 2:
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
            ground.read_to(ground.name("booking"), topic, stored[-1] + 1)
        time.sleep(1)
    return control(CODE, injected_at_ms)
