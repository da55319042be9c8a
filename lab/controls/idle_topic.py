"""C6, a topic nobody writes to any more, with a group that has read it and lives on."""

import time

from lab.controls.stated import control
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Injected
from lab.truth import now_ms

CODE = "C6"
TITLE = "idle topic"
BREAKS = "nothing"
SILENT = "everything"
ALONE = False


def inject(ground: Ground) -> Injected:
    """Returns after a while in which nothing happened."""
    topic, injected_at_ms = ground.create_topic("archive"), now_ms()
    ground.produce(topic, 300)
    ground.read_as_members(topic, {ground.name("indexing"): 300})
    time.sleep(2 * SEEN_AFTER_S)
    return control(CODE, injected_at_ms)
