"""Which partitions an incident touched, and which of them a chart draws by themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dashboard import wording
from guarantees.findings import Finding
from guarantees.incidents import Incident
from guarantees.promises import Pipeline

DRAWN = 3  # more lines than these and one for the rest are not told apart
MOST = 500  # so many partitions are read for the chart; the findings themselves are all counted


@dataclass(frozen=True, slots=True)
class TouchedPartition:
    """A partition that findings of the incident name. `topic_id` None: only the topic's name is known."""

    topic: str
    topic_id: str | None
    partition: int

    @property
    def label(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def name(self) -> str:
        """As the page of replication names it: a topic made anew has another id."""
        return f"{self.topic_id}-{self.partition}"


@dataclass(frozen=True, slots=True)
class Places:
    """`partitions`: those of the worst findings first, at most MOST of `found`. `groups`: whose commits are drawn."""

    partitions: tuple[TouchedPartition, ...]
    found: int
    groups: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of a chart: the worst partitions by themselves, and one for all others."""
        return tuple(dict.fromkeys(self.line_of(number) for number in range(len(self.partitions))))

    def line_of(self, number: int) -> str:
        """The line that draws the partition of that number."""
        rest = len(self.partitions) - DRAWN
        if number < DRAWN or rest == 1:
            return self.partitions[number].label
        return f"highest of {wording.count(rest)} others"

    def chosen(self, label: str | None) -> TouchedPartition | None:
        """The one of that label; without one the first."""
        asked = (one for one in self.partitions if label is None or one.label == label)
        return next(asked, self.partitions[0] if self.partitions else None)


def places(incident: Incident, pipelines: Iterable[Pipeline]) -> Places:
    """Of the worst findings first, and among these in the order of the story."""
    worst = sorted(incident.findings, key=lambda one: -one.severity)
    found = list(dict.fromkeys(one for finding in worst if (one := _partition(finding)) is not None))
    return Places(tuple(found[:MOST]), len(found), _groups(incident, pipelines))


def _partition(finding: Finding) -> TouchedPartition | None:
    place = finding.place
    if place.topic is None or place.partition is None:
        return None
    return TouchedPartition(place.topic, place.topic_id, place.partition)


def _groups(incident: Incident, pipelines: Iterable[Pipeline]) -> tuple[str, ...]:
    own = [one.group_id for one in pipelines if one.name == incident.pipeline]
    named = [finding.place.group_id for finding in incident.findings if finding.place.group_id is not None]
    return tuple(dict.fromkeys([*own, *named]))


def parameters(known: Places) -> dict[str, Sequence[object]]:
    """The partitions as a question names them: lists side by side, each with the line that draws it."""
    return {
        "topics": [one.topic for one in known.partitions],
        "topic_ids": [one.topic_id for one in known.partitions],
        "partitions": [one.partition for one in known.partitions],
        "lines": [known.line_of(number) for number in range(len(known.partitions))],
        "groups": list(known.groups),
    }
