"""C7, Tidemark's collectors are killed and come back, while a producer and a group go on."""

import time

from lab.controls.stated import control
from lab.errors import LabError
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Injected
from lab.traffic import Traffic
from lab.truth import now_ms

CODE = "C7"
TITLE = "Tidemark itself is killed and restarted"
BREAKS = "nothing"
SILENT = "everything: a gap is no rewind, no reset and no lag"
ALONE = True
_AWAY_S = 20.0


def inject(ground: Ground) -> Injected:
    """Returns when the collectors have looked again for a while."""
    if ground.monitor is None:
        raise LabError("there is no Tidemark here that the lab may kill")
    topic, injected_at_ms = ground.create_topic("orders"), now_ms()
    with Traffic(ground, topic, 1, ground.name("readers")):
        time.sleep(SEEN_AFTER_S)
        ground.monitor.kill_collectors()
        time.sleep(_AWAY_S)
        ground.monitor.restart_collectors()
        time.sleep(2 * SEEN_AFTER_S)
    return control(CODE, injected_at_ms)
