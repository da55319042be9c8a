"""Findings as they stood at a moment, and what people did about them; read again only where something was added."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path

from dashboard import action_log, actions, cached
from dashboard.actions import Action, Handling
from dashboard.remembered import remembered
from dashboard.view import View
from guarantees import lifecycle
from guarantees.lifecycle import FindingEvent, FindingHistory
from store.findings import events_version, load_events
from store.reading import segments


def findings(view: View) -> Mapping[str, FindingHistory]:
    """Every finding of the cluster as it stood at the end of the window."""
    known = cached.heard(view)
    if known is None:
        return {}
    where = cached.data_dir()
    version = events_version(Path(where))
    number = bisect_right(_events(where, version), view.to_ms, key=attrgetter("at_ms"))
    return _by_cluster(where, version, number).get(known.cluster_id, {})


def newest(cluster_id: str) -> Mapping[str, FindingHistory]:
    """Every finding of a cluster as it stands now, whatever the window: what an incident of last night became."""
    return _newest().get(cluster_id, {})


def cluster_ids() -> list[str]:
    """The clusters that findings tell of."""
    return sorted(_newest())


def version() -> str:
    """A word that changes whenever an event was added."""
    return events_version(Path(cached.data_dir()))


def handled() -> Mapping[str, Handling]:
    """What people did about findings, as it is now whatever the window: a note on an old finding is read at once."""
    return _handled(cached.data_dir(), _files_of_actions())


def of_incidents() -> Mapping[str, list[Action]]:
    """What people did about incidents, as it is now, by the identity each had then."""
    return _of_incidents(cached.data_dir(), _files_of_actions())


def _files_of_actions() -> tuple[str, ...]:
    return tuple(file.name for file in segments(Path(cached.data_dir()), action_log.TABLE, None))


@remembered(4)
def _events(data_dir: str, version: str) -> Sequence[FindingEvent]:
    """Every event, the oldest first; read again when a segment was added (`version`: store.findings)."""
    return load_events(Path(data_dir))


def _newest() -> Mapping[str, Mapping[str, FindingHistory]]:
    where, newest = cached.data_dir(), version()
    return _by_cluster(where, newest, len(_events(where, newest)))


@remembered(20)
def _by_cluster(data_dir: str, version: str, known: int) -> Mapping[str, Mapping[str, FindingHistory]]:
    """After so many events."""
    found: dict[str, dict[str, FindingHistory]] = {}
    for name, one in lifecycle.fold(_events(data_dir, version)[:known]).items():
        found.setdefault(one.finding.place.cluster_id, {})[name] = one
    return found


@remembered(4)
def _handled(data_dir: str, files: tuple[str, ...]) -> Mapping[str, Handling]:
    """`files` is what the answer rests on: another action is another file."""
    return actions.handled(action_log.load(Path(data_dir)))


@remembered(4)
def _of_incidents(data_dir: str, files: tuple[str, ...]) -> Mapping[str, list[Action]]:
    return actions.of_incidents(action_log.load(Path(data_dir)))
