"""All faults, by name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol, runtime_checkable

from lab.controls import (
    aborts,
    compaction,
    group_deleted,
    idle_topic,
    partitions_added,
    rolling_restart,
    skewed_clocks,
    slow_consumer,
    tidemark_restarted,
    topic_recreated,
)
from lab.faults import (
    acks_zero,
    answer_lost,
    answer_lost_idempotent,
    below_min_isr,
    broker_dies_before_ack,
    commit_before_processing,
    commits_gone,
    consumer_dies,
    idempotent_consumer,
    idempotent_consumer_dies,
    offsets_reset,
    poll_interval_exceeded,
    producer_dies_before_sending,
    producer_resends,
    reads_uncommitted,
    retention_overtakes,
    tail_lost,
    transaction_hangs,
    transaction_left_open,
    transaction_times_out,
    transactional_member_killed,
    unclean_election,
    zombie_producer,
)
from lab.ground import Ground
from lab.injected import Injected
from lab.pipelines import Lab
from lab.topics import Flow
from lab.truth import now_ms


class FaultModule(Protocol):
    """What a file of a fault of the workload has."""

    NAME: str
    BREAKS: str

    def inject(self, lab: Lab) -> Injected: ...

    def recover(self, lab: Lab, injected: Injected) -> Injected: ...


class GroundFault(Protocol):
    """What a file of a fault has that brings its own topics and groups, and of a control, which breaks nothing.

    `CODE` starts the names of its topics and groups. `BREAKS` and `SILENT`: which promise it breaks, and what a monitor
    must say nothing of. `ALONE`: it hurts brokers or the monitor, which the others need.
    """

    CODE: str
    TITLE: str
    BREAKS: str
    SILENT: str
    ALONE: bool

    def inject(self, ground: Ground) -> Injected: ...


@runtime_checkable
class Mended(GroundFault, Protocol):
    """One after which something is to be mended, or that tells more when it is over."""

    def recover(self, ground: Ground, injected: Injected) -> Injected: ...


@runtime_checkable
class Piped(GroundFault, Protocol):
    """One whose topics are a pipeline that Tidemark is told of, and reads record by record."""

    FLOW: Flow


def mended(fault: GroundFault, ground: Ground, injected: Injected) -> Injected:
    """The cluster is healthy again; the whole truth."""
    if isinstance(fault, Mended):
        return fault.recover(ground, injected)
    return replace(injected, recovered_at_ms=now_ms())


_MODULES: tuple[FaultModule, ...] = (
    producer_resends,
    commit_before_processing,
    consumer_dies,
    transaction_left_open,
    transactional_member_killed,
)
FAULTS: Mapping[str, FaultModule] = {module.NAME: module for module in _MODULES}

# By the numbers under which the truth run tells of them; they run together, on the workload and with the record jobs.
STORY_CODES: Mapping[str, str] = {
    producer_resends.NAME: "S2",
    consumer_dies.NAME: "S8",
    commit_before_processing.NAME: "S9",
    transaction_left_open.NAME: "S15w",
    transactional_member_killed.NAME: "S16",
}

_ON_GROUND: tuple[GroundFault, ...] = (
    producer_dies_before_sending,
    answer_lost,
    answer_lost_idempotent,
    broker_dies_before_ack,
    tail_lost,
    unclean_election,
    poll_interval_exceeded,
    offsets_reset,
    commits_gone,
    reads_uncommitted,
    zombie_producer,
    transaction_times_out,
    transaction_hangs,
    below_min_isr,
    retention_overtakes,
    acks_zero,
    idempotent_consumer,
    idempotent_consumer_dies,
    rolling_restart,
    partitions_added,
    topic_recreated,
    group_deleted,
    aborts,
    idle_topic,
    tidemark_restarted,
    slow_consumer,
    compaction,
    skewed_clocks,
)
ON_GROUND: Mapping[str, GroundFault] = {module.CODE: module for module in _ON_GROUND}

# What cannot be asked of a lab that runs, and why. Controls are the truth run's.
_UNDECLARED = "it is seen by reconciling a pipeline, which must be declared before Tidemark starts: make truth ONLY="
NOT_IN_A_RUNNING_LAB: Mapping[str, str] = {
    tail_lost.CODE: "with the quick timings of these brokers the tail is gone before anybody looks: make truth ONLY=S6",
    producer_dies_before_sending.CODE: f"{_UNDECLARED}S1",
    acks_zero.CODE: f"{_UNDECLARED}S19",
}
BESIDE_THE_WORKLOAD = tuple(code for code in ON_GROUND if code.startswith("S") and code not in NOT_IN_A_RUNNING_LAB)
INJECTABLE = (*FAULTS, *BESIDE_THE_WORKLOAD)
