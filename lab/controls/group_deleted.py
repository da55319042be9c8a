"""C4, a group that is not needed any more is deleted with its commits."""

import time

from guarantees.findings import Kind
from lab.controls.stated import control, may_be_said
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Injected
from lab.truth import now_ms

CODE = "C4"
TITLE = "group deleted"
BREAKS = "nothing"
SILENT = "everything but that its commit is gone"
ALONE = False


def inject(ground: Ground) -> Injected:
    """Returns when the group is gone."""
    topic, group_id = ground.create_topic("exports"), ground.name("nightly")
    ground.produce(topic, 200)
    ground.read_as_members(topic, {group_id: 200})
    time.sleep(SEEN_AFTER_S)
    injected_at_ms = now_ms()
    ground.admin.delete_consumer_groups([group_id])[group_id].result(timeout=30)
    time.sleep(SEEN_AFTER_S)
    return control(CODE, injected_at_ms, may_be_said(Kind.COMMIT_EXPIRED, topic, partition=0, group_id=group_id))
