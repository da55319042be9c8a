"""What the processes of the workload met while the story was told: their truth lines as one history."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from lab.checker.history import Operation, Outcome, Poll, Record
from lab.deeds import Spot
from lab.injected import Injected
from lab.paths import LabPaths
from lab.second_judge import FINAL_READER, LogKey, Met, disagreements, lost_on_the_way, met, true, within
from lab.self_check import Stored
from lab.topics import ORDERS, ORDERS_FLOW, SHIPMENTS, SHIPMENTS_FLOW
from lab.truth import TruthLine, read_truth
from lab.workload_history import member_operations, producer_operations, transaction_operations


def story_disagreements(
    paths: LabPaths, stored: Stored, injected: Sequence[Injected]
) -> tuple[Counter[Met], list[str]]:
    """What the clients met, and where the ground truth says otherwise."""
    truths = {path.stem: read_truth(path) for path in processes(paths)}
    found = story_met(truths, stored)
    return found, disagreements(found, true(injected))


def processes(paths: LabPaths) -> list[Path]:
    """The truth file of every process there was."""
    return sorted(path for path in paths.injected.parent.glob("*.jsonl") if path != paths.injected)


def story_met(truths: Mapping[str, Sequence[TruthLine]], stored: Stored) -> Counter[Met]:
    """Every anomaly, as far as the groups had committed when the topics were read."""
    ends = {LogKey(topic, partition): end for topic, those in stored.ends.items() for partition, end in those.items()}
    timed = [
        (line.at_ms, operation)
        for name, lines in truths.items()
        for line in lines
        for operation in _operations(name, line)
    ]
    history = within([operation for _, operation in sorted(timed, key=lambda each: each[0])], ends)
    history += [_final_read(topic, spots) for topic, spots in stored.records.items()]
    found = met(history)
    for flow in (ORDERS_FLOW, SHIPMENTS_FLOW):
        found += lost_on_the_way(history, flow.source, flow.sink)
    return found


def _operations(process: str, line: TruthLine) -> Iterator[Operation]:
    match process.rpartition("-")[0]:
        case "orders-producer":
            yield from producer_operations([line], process, ORDERS, LogKey)
        case "shipments-producer":
            yield from producer_operations([line], process, SHIPMENTS, LogKey)
        case "payments-service":
            yield from member_operations([line], ORDERS_FLOW, LogKey)
        case "shipping-ledger":
            yield from transaction_operations([line], process, SHIPMENTS, LogKey)


def _final_read(topic: str, spots: Iterable[Spot]) -> Operation:
    records: dict[LogKey, list[Record]] = {}
    for spot in spots:
        records.setdefault(LogKey(topic, spot.partition), []).append(Record(spot.offset, spot.message_id))
    return Operation(FINAL_READER, Outcome.OK, (Poll(records),))
