"""C8, a consumer that is slower than its producer for a while and catches up."""

import time

from guarantees.findings import Kind
from lab.controls.stated import control, may_be_said
from lab.ground import Ground
from lab.injected import Injected
from lab.records import read_until
from lab.truth import now_ms

CODE = "C8"
TITLE = "a slow consumer that catches up"
BREAKS = "nothing"
SILENT = "everything but that it falls behind"
ALONE = False
_BURSTS, _WRITTEN, _READ = 25, 200, 60


def inject(ground: Ground) -> Injected:
    """Returns when it has caught up."""
    topic, group_id, injected_at_ms = ground.create_topic("images"), ground.name("resizing"), now_ms()
    member = ground.consumer(group_id)
    member.subscribe([topic])
    for burst in range(1, _BURSTS + 1):
        ground.produce(topic, _WRITTEN)
        member.commit(message=read_until(member, burst * _READ - 1), asynchronous=False)
        time.sleep(1)
    member.commit(message=read_until(member, _BURSTS * _WRITTEN - 1), asynchronous=False)
    ground.leave(group_id, member)
    return control(CODE, injected_at_ms, may_be_said(Kind.FALLING_BEHIND, topic, partition=0, group_id=group_id))
