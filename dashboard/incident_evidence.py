"""What is stored about the time of an incident: lines, lanes, and what held at a moment; from cached answers."""

import json
from collections.abc import Mapping
from dataclasses import replace

from dashboard import (
    cached,
    finding_groups,
    incident_answers,
    incident_lanes,
    incident_moment,
    incident_places,
    incident_questions,
    incident_rows,
    incident_series,
    replication_answers,
)
from dashboard.incident_lanes import IncidentLanes
from dashboard.incident_moment import Held
from dashboard.incident_places import Places, TouchedPartition
from dashboard.incident_series import IncidentLines
from dashboard.lag_steps import LagSteps
from dashboard.partition_questions import OWNERS, SAMPLES
from dashboard.queries import Question, Rows
from dashboard.replication_questions import LOG_ENDS_OF, OFFSETS_OF
from dashboard.view import View
from guarantees.findings import Kind
from guarantees.incidents import Incident


def lines(view: View, touched: Places, at_ms: int) -> IncidentLines:
    """Lag over the window, and the offsets of the quarter of an hour around a moment."""
    asked, step_ms = incident_places.parameters(touched), cached.step_ms(view.cluster)
    steps = LagSteps(view.from_ms, view.to_ms, step_ms, incident_series.POINTS, reads_raw=True)
    lag_rows = steps.rows(
        incident_questions.LAG_LINES,
        lambda question, *span: _between(view, span, question, asked | {"step_ms": steps.bucket_ms}),
    )
    detail = incident_series.detail(view, at_ms)
    bucket_ms = LagSteps(*detail, step_ms, incident_series.POINTS, reads_raw=True).bucket_ms
    rows = _between(view, detail, incident_questions.OFFSET_LINES, asked | {"step_ms": bucket_ms})
    window, names = (view.from_ms, view.to_ms), touched.lines
    return IncidentLines(
        lag=incident_series.lines(lag_rows, names, window, steps.bucket_ms),
        not_replicated=incident_series.lines(
            rows, names, detail, bucket_ms, value="not_replicated", unknown="not_replicated_unknown"
        ),
        held=incident_series.lines(rows, names, detail, bucket_ms, value="held", unknown="held_unknown"),
        detail=detail,
    )


def lanes(view: View, incident: Incident, touched: Places) -> IncidentLanes:
    asked, window = incident_places.parameters(touched), (view.from_ms, view.to_ms)
    events = incident_rows.events(incident_answers.judged(view, incident))
    return incident_lanes.lanes(
        states=_between(view, window, incident_questions.STATES, asked),
        rebalances=_between(view, window, incident_questions.REBALANCES, asked),
        group_states=_between(view, window, incident_questions.GROUP_STATES, asked),
        transactions=_between(view, window, incident_questions.OPEN_TRANSACTIONS, asked),
        findings=finding_groups.marks(events),
        unclean=unclean_epochs(incident),
        view=view,
        gap_ms=replication_answers.gap_ms(view),
    )


def unclean_epochs(incident: Incident) -> set[tuple[str, object]]:
    """(partition, leader epoch) of each unclean election that the incident tells of."""
    return {
        (f"{one.place.topic_id}-{one.place.partition}", one.evidence.get("leader_epoch"))
        for one in incident.findings
        if one.kind is Kind.UNCLEAN_ELECTION
    }


def held(view: View, touched: Places, one: TouchedPartition, at_ms: int) -> list[Held]:
    """What held on one of the touched partitions at a moment."""
    asked, step_ms = incident_places.parameters(replace(touched, partitions=(one,))), cached.step_ms(view.cluster)
    around = at_ms - incident_moment.BEFORE_MS, at_ms + 1
    by_id = {"topic_id": one.topic_id, "partition": one.partition}
    offsets = _between(view, around, OFFSETS_OF, by_id)
    states = _between(view, around, incident_questions.STATES, asked)
    transactions = _between(view, around, incident_questions.OPEN_TRANSACTIONS, asked)
    found: list[Held] = incident_moment.replication(states, at_ms, step_ms)
    for group_id in touched.groups[: incident_moment.GROUPS]:
        found += _of_group(view, one, group_id, around)
    return [
        *found,
        *incident_moment.offsets(offsets, at_ms),
        incident_moment.log_end(_between(view, around, LOG_ENDS_OF, by_id), offsets, at_ms),
        incident_moment.transactions(transactions, offsets, at_ms),
    ]


def _of_group(view: View, one: TouchedPartition, group_id: str, around: tuple[int, int]) -> list[Held]:
    at_ms = around[1] - 1
    place = json.dumps([one.topic, one.partition], ensure_ascii=False)
    owners = _between(view, around, OWNERS, {"group_id": group_id, "place": place})
    states = _between(view, around, incident_questions.GROUP_STATES, {"groups": [group_id]})
    about = {"group_id": group_id, "topic": one.topic, "partition": one.partition}
    return [
        incident_moment.owner(owners, states, group_id, at_ms, cached.step_ms(view.cluster)),
        incident_moment.commits(_between(view, around, SAMPLES, about), group_id, at_ms),
    ]


def _between(view: View, span: tuple[int, int], question: Question, about: Mapping[str, object]) -> Rows:
    asked = {"cluster_id": incident_answers.known(view).cluster_id, **about}
    return cached.ask(cached.data_dir(), *span, question, asked)
