"""The demo's story: four ways in which delivery breaks, within a minute and a half, on a running workload."""

import time
from collections.abc import Mapping

from lab.faults import (
    commit_before_processing,
    consumer_dies,
    producer_resends,
    transaction_left_open,
    transactional_member_killed,
)
from lab.faults.catalogue import FAULTS, FaultModule
from lab.injected import Injected, append_injected
from lab.pipelines import Lab

# One sentence for whoever watches, said when the fault begins.
SENTENCES: Mapping[str, str] = {
    producer_resends.NAME: "A producer of orders crashes before it records its progress; its successor sends again",
    commit_before_processing.NAME: "A member of payments-service commits a batch and dies before it processes it",
    consumer_dies.NAME: "A member of payments-service dies between processing and commit; its partitions move",
    transaction_left_open.NAME: "A transactional producer of shipments hangs with its transaction open",
    transactional_member_killed.NAME: "The member of shipping-ledger is killed at random, twice",
}
_QUIET_S = 5.0


def tell(lab: Lab) -> list[Injected]:
    """Inject all faults, the slow transaction under the others: it touches another pipeline. Returns the truth."""
    time.sleep(_QUIET_S)
    told = [run_fault(lab, producer_resends)]
    frozen = begin(lab, transaction_left_open)
    told += [run_fault(lab, commit_before_processing), run_fault(lab, consumer_dies)]
    return [*told, end(lab, frozen)]


def tell_more(lab: Lab) -> list[Injected]:
    """The story, and what the truth run injects into the same workload."""
    return [*tell(lab), run_fault(lab, transactional_member_killed)]


def run_fault(lab: Lab, module: FaultModule) -> Injected:
    """One fault from its beginning until the workload is healthy again."""
    return end(lab, begin(lab, module))


def begin(lab: Lab, module: FaultModule) -> Injected:
    """Inject, and write the truth down as soon as the evidence exists."""
    lab.progress(f"{_clock()} {SENTENCES[module.NAME]}")
    injected = module.inject(lab)
    append_injected(lab.paths.injected, injected)
    for line in facts(injected):
        lab.progress(f"           {line}")
    return injected


def end(lab: Lab, injected: Injected) -> Injected:
    """Bring the workload back to health, and complete the truth."""
    injected = FAULTS[injected.fault].recover(lab, injected)
    append_injected(lab.paths.injected, injected)
    lab.progress(f"{_clock()} {injected.fault}: the workload is healthy again")
    return injected


def facts(injected: Injected) -> list[str]:
    """What is true now, one line for each kind and topic."""
    totals: dict[tuple[str, str], list[int | None]] = {}
    for each in injected.expected:
        totals.setdefault((each.kind, each.topic), []).append(each.count)
    return [
        f"{kind} on {topic}: {_total(counts)} in {len(counts)} partition{'s' if len(counts) > 1 else ''}"
        for (kind, topic), counts in totals.items()
    ]


def _total(counts: list[int | None]) -> str:
    known = [count for count in counts if count is not None]
    return str(sum(known)) if known else "once"


def _clock() -> str:
    return time.strftime("%H:%M:%S")
