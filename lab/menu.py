"""What the page of the lab offers: every fault, where one sees it next, and why some cannot be had there. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lab.faults.catalogue import FAULTS, INJECTABLE, NOT_IN_A_RUNNING_LAB, ON_GROUND, STORY_CODES
from lab.requests import Request, State
from lab.story import SENTENCES

_PAGES = "dashboard/pages"


@dataclass(frozen=True, slots=True)
class Look:
    """A page of Tidemark and what will be on it."""

    page: str
    sentence: str

    @property
    def path(self) -> str:
        return f"{_PAGES}/{self.page}.py"


@dataclass(frozen=True, slots=True)
class Offer:
    """One fault. `name` is what is asked for; `refusal` says why it cannot be."""

    code: str
    name: str
    title: str
    breaks: str
    look: Look
    refusal: str | None


_LOOKS: Mapping[str, Look] = {
    "S1": Look("audit", "Records of the outbox that the target never got, by id"),
    "S2": Look("audit", "Ids stored twice in orders and in payments, by two producers"),
    "S3": Look("violations", "A batch stored twice, byte for byte"),
    "S4": Look("violations", "Nothing new: the broker recognised the batch"),
    "S5": Look("replication", "A clean election, and one of two topics with a batch stored twice"),
    "S6": Look("replication", "A log that ends lower than its old leader's did"),
    "S7": Look("incident", "An unclean election, the offsets it cut, and the group that stands beyond the end"),
    "S8": Look("rebalances", "A member that left, its partitions, and what may come again"),
    "S9": Look("audit", "Orders that no payment was made for, by id"),
    "S10": Look("rebalances", "A member that left while it worked, and the partition that moved"),
    "S11": Look("lag", "One group set back, one set forward, and by how much"),
    "S12": Look("violations", "Commits that are gone, a rewind to the start, and a skip to the end"),
    "S13": Look("violations", "A group that has committed past the stable offset"),
    "S14": Look("transactions", "A producer that was fenced; no loss and no duplicate"),
    "S15": Look("transactions", "An open transaction, who waits behind it, and its end by timeout"),
    "S15h": Look("transactions", "A hanging transaction that no coordinator knows, and what would end it"),
    "S15w": Look("transactions", "An open transaction of shipments, and the group that waits behind it"),
    "S16": Look("overview", "Nothing new: the pipeline keeps its promise"),
    "S17": Look("replication", "Too few in-sync replicas, and for how many seconds"),
    "S18": Look("violations", "Records that retention deleted before a group had read them"),
    "S19": Look("audit", "Records that were reported as delivered and are nowhere"),
    "S20": Look("rebalances", "A partition that moved, and no duplicate at the sink"),
    "S20d": Look("overview", "Nothing new: the sink holds every record once"),
}


def offers() -> list[Offer]:
    """Faults by number; those of the workload are asked for by their names."""
    of_workload = [
        Offer(STORY_CODES[name], name, SENTENCES[name], module.BREAKS, _LOOKS[STORY_CODES[name]], None)
        for name, module in FAULTS.items()
    ]
    of_ground = [
        Offer(code, code, module.TITLE, module.BREAKS, _LOOKS[code], NOT_IN_A_RUNNING_LAB.get(code))
        for code, module in ON_GROUND.items()
        if code in INJECTABLE or code in NOT_IN_A_RUNNING_LAB
    ]
    return sorted([*of_workload, *of_ground], key=lambda offer: int("".join(filter(str.isdigit, offer.code))))


def newest(requests: Sequence[Request]) -> dict[str, Request]:
    """The last request for each fault."""
    return {request.name: request for request in requests}


def is_busy(requests: Iterable[Request]) -> bool:
    """Something is being injected, or waits to be."""
    return any(request.state is not State.DONE for request in requests)


def state_in_words(request: Request | None) -> str:
    """For the line beside a button."""
    if request is None:
        return "not injected yet"
    match request.state:
        case State.WAITING:
            return "waits for the one before it"
        case State.RUNNING:
            return "is being injected"
        case State.DONE:
            return (
                f"could not be injected: {request.failure}" if request.failure else "injected; the cluster is healthy"
            )
