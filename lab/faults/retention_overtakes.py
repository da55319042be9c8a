"""S18, retention overtakes a group: what it had not read is deleted, and can be read no more.

An operator shortens retention.ms of a topic of which one group has read a part and another everything.
"""

import time
from dataclasses import replace

from guarantees.findings import Grade, Kind
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Expected, Injected
from lab.truth import now_ms

CODE = "S18"
TITLE = "retention overtakes a group"
BREAKS = "at least once: records are deleted before the group has read them"
SILENT = "the group that had read everything"
ALONE = False


def inject(ground: Ground) -> Injected:
    """Returns when the log start lies beyond the group's commit."""
    written, read = ground.some(400, 900), ground.some(50, 300)
    topic = ground.create_topic("events")
    late, prompt = ground.name("reporting"), ground.name("alerting")
    ground.produce(topic, written)
    ground.read_to(late, topic, read)
    ground.read_to(prompt, topic, written)
    time.sleep(SEEN_AFTER_S)
    injected_at_ms = now_ms()
    ground.configure_topic(topic, {"retention.ms": "1000"})
    overtaken_at_ms = ground.await_that(lambda: ground.start_of(topic) == written, f"{topic} was not emptied")
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=overtaken_at_ms,
        expected=(
            Expected(
                kind=Kind.EXPIRED_UNREAD,
                topic=topic,
                partition=0,
                group_id=late,
                count=written - read,
                first_offset=read,
                last_offset=written - 1,
                evidence_at_ms=overtaken_at_ms,
                grade=Grade.PROVEN,
                facts={"committed_offset": read, "log_start_offset_at_overtaking": written},
            ),
        ),
        details={"topic": topic, "late": late, "log_start_offset": written},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """Keep records again, and let the group go on: the count must stay what it was."""
    topic, late = str(injected.details["topic"]), str(injected.details["late"])
    ground.configure_topic(topic, {"retention.ms": "-1"})
    more = 100
    ground.produce(topic, more)
    ground.read_to(late, topic, int(str(injected.details["log_start_offset"])) + more)
    return replace(injected, recovered_at_ms=now_ms())
