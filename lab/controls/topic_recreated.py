"""C3, a topic is deleted and created anew under its name; its group starts from the beginning of the new one."""

import time

from guarantees.findings import Kind
from lab.controls.stated import control, may_be_said
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Injected
from lab.truth import now_ms

CODE = "C3"
TITLE = "topic deleted and created anew"
BREAKS = "nothing"
SILENT = "no rewind and no truncation: the new topic's offsets are others"
ALONE = False


def inject(ground: Ground) -> Injected:
    """Returns when the group has read the new topic."""
    topic, group_id = ground.create_topic("staging"), ground.name("loading")
    ground.produce(topic, 500)
    ground.read_as_members(topic, {group_id: 500})
    injected_at_ms = now_ms()
    ground.admin.delete_topics([topic], operation_timeout=30)[topic].result(timeout=60)
    time.sleep(SEEN_AFTER_S)
    ground.create_topic("staging")
    ground.produce(topic, 120)
    ground.read_as_members(topic, {group_id: 120})
    return control(CODE, injected_at_ms, may_be_said(Kind.TOPIC_RECREATED, topic))
