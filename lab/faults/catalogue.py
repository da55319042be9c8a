"""All faults, by name."""

from collections.abc import Mapping
from typing import Protocol

from lab.faults import (
    commit_before_processing,
    consumer_dies,
    producer_resends,
    transaction_left_open,
    unclean_election,
)
from lab.ground import Ground
from lab.injected import Injected
from lab.pipelines import Lab


class FaultModule(Protocol):
    """What a file of a fault has."""

    NAME: str

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

    def recover(self, ground: Ground, injected: Injected) -> Injected: ...


_MODULES: tuple[FaultModule, ...] = (
    producer_resends,
    commit_before_processing,
    consumer_dies,
    transaction_left_open,
)
FAULTS: Mapping[str, FaultModule] = {module.NAME: module for module in _MODULES}

_ON_GROUND: tuple[GroundFault, ...] = (unclean_election,)
ON_GROUND: Mapping[str, GroundFault] = {module.CODE: module for module in _ON_GROUND}
