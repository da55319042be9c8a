"""S4, an acknowledgement lost on the wire with idempotence on: the broker knows the sequence and stores it once."""

from lab.controls.stated import control
from lab.errors import LabError
from lab.faults.answer_lost import send_once_and_lose_the_answer
from lab.ground import Ground
from lab.injected import Injected
from lab.truth import now_ms

CODE = "S4"
TITLE = "acknowledgement lost, idempotence on"
BREAKS = "nothing: the protocol at work"
SILENT = "everything"
ALONE = False


def inject(ground: Ground) -> Injected:
    """Returns when the producer has its acknowledgement."""
    topic, injected_at_ms = ground.create_topic("payments"), now_ms()
    stored_twice = send_once_and_lose_the_answer(ground, topic, ground.some(20, 90), enable_idempotence="true")
    if stored_twice:
        raise LabError(f"{topic} should hold no record twice, and it holds {stored_twice}")
    return control(CODE, injected_at_ms)
