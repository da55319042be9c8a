"""C9, a compacted topic: old values of keys vanish from the log, and a group reads it meanwhile."""

import time

from lab.controls.stated import control
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Injected
from lab.records import fresh_record
from lab.truth import now_ms

CODE = "C9"
TITLE = "compaction"
BREAKS = "nothing"
SILENT = "everything: offsets vanish, the newest value of each key stays"
ALONE = False
_KEYS, _ROUNDS = 100, 10
_SETTINGS = {
    "cleanup_policy": "compact",
    "segment_ms": "1000",
    "min_cleanable_dirty_ratio": "0.01",
    "max_compaction_lag_ms": "2000",
}


def inject(ground: Ground) -> Injected:
    """Returns when the cleaner has had time for what was written."""
    topic, injected_at_ms = ground.create_topic("profiles", **_SETTINGS), now_ms()
    producer = ground.producer(acks="all")
    for number in range(1, _ROUNDS + 1):
        for key in range(_KEYS):
            producer.produce(topic, key=f"key {key}", partition=0, **fresh_record())
        producer.flush(30)
        ground.read_to(ground.name("caching"), topic, number * _KEYS)
        time.sleep(1.5)
    time.sleep(2 * SEEN_AFTER_S)
    return control(CODE, injected_at_ms)
