"""The second judge is asked: every topic of a fault is read to its end, and what its clients met is checked."""

from collections.abc import Sequence

from lab.checker.history import Operation, Outcome, Poll, Record
from lab.client_history import ClientHistory
from lab.errors import LabError
from lab.faults.catalogue import GroundFault, Piped
from lab.ground import Ground
from lab.injected import Injected
from lab.second_judge import (
    FINAL_READER,
    LogKey,
    aborted_on_the_way,
    disagreements,
    in_words,
    lost_on_the_way,
    met,
    true,
)
from lab.self_check import read_topic, stable_offsets


def asked_clients(ground: Ground, fault: GroundFault, injected: Sequence[Injected]) -> tuple[str, ...]:
    """What the clients of a fault that is over have met, in words. Raises LabError where the ground truth disagrees."""
    for topic in dict.fromkeys(ground.topics):
        ground.history.note(final_read(ground.bootstrap, topic, ground.history))
    history = ground.history.operations()
    found = met(history, ground.expiring)
    if isinstance(fault, Piped):
        flow = ground.flow(fault.FLOW)
        found += lost_on_the_way(history, flow.source, flow.sink)
        found += aborted_on_the_way(history, flow.source, flow.sink)
    if wrong := disagreements(found, true(injected)):
        raise LabError(f"the lab is wrong about itself: {'; '.join(wrong)}")
    return in_words(found)


def final_read(bootstrap: str, topic: str, history: ClientHistory) -> Operation:
    """The committed records of a topic, each partition in its order; empty partitions too."""
    ends = stable_offsets(bootstrap, topic)
    records: dict[LogKey, list[Record]] = {history.place(topic, partition): [] for partition in ends}
    for spot in read_topic(bootstrap, topic, ends):
        records[history.place(topic, spot.partition)].append(Record(spot.offset, spot.message_id))
    return Operation(FINAL_READER, Outcome.OK, (Poll(records),))
