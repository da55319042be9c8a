"""All faults, by name."""

from collections.abc import Mapping
from typing import Protocol

from lab.faults import commit_before_processing, consumer_dies, producer_resends, transaction_left_open
from lab.injected import Injected
from lab.pipelines import Lab


class FaultModule(Protocol):
    """What a file of a fault has."""

    NAME: str

    def inject(self, lab: Lab) -> Injected: ...

    def recover(self, lab: Lab, injected: Injected) -> Injected: ...


_MODULES: tuple[FaultModule, ...] = (
    producer_resends,
    commit_before_processing,
    consumer_dies,
    transaction_left_open,
)
FAULTS: Mapping[str, FaultModule] = {module.NAME: module for module in _MODULES}
