"""`tidemark explain PIPELINE`: its promise and why, its verdict and what that rests on, what is missing or unknown."""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.chosen import CommandError, add_settings_arguments, chosen_settings
from cli.explained import as_json, as_text
from dashboard import explained, promise_questions, proposals, queries, standing
from dashboard.explained import Explanation
from dashboard.names import cut
from dashboard.promise_facts import Seen
from dashboard.queries import Question, Rows
from guarantees.findings import Finding
from guarantees.promises import Pipeline
from guarantees.verdicts import pipeline_verdict
from settings import ClusterSettings, Settings
from store.findings import load_findings

DAY_MS = 86_400_000
RECENT_MS = 15 * 60_000
ROUNDS_BACK = 3


@dataclass(frozen=True, slots=True)
class Heard:
    """A cluster as the store knows it; `cluster_id` None: nothing was heard of it in the last day."""

    data_dir: Path
    settings: ClusterSettings
    cluster_id: str | None
    observed_at_ms: int
    now_ms: int

    @property
    def interval_ms(self) -> int:
        return round(self.settings.interval_s * 1000)

    def newest(self, questions: Sequence[Question]) -> dict[Question, Rows]:
        return self._ask(self.observed_at_ms - ROUNDS_BACK * self.interval_ms, self.observed_at_ms + 1, questions, {})

    def recent(self, questions: Sequence[Question], **about: object) -> dict[Question, Rows]:
        return self._ask(self.observed_at_ms - RECENT_MS, self.observed_at_ms + 1, questions, about)

    def last_day(self, questions: Sequence[Question], **about: object) -> dict[Question, Rows]:
        return self._ask(self.now_ms - DAY_MS, self.now_ms, questions, about)

    def _ask(self, from_ms: int, to_ms: int, questions: Sequence[Question], about: Any) -> dict[Question, Rows]:
        if self.cluster_id is None:
            return {}
        asked = {"cluster_id": self.cluster_id, **about}
        return {one: queries.ask(self.data_dir, from_ms, to_ms, one, asked) for one in questions}


def add_to(commands: Any) -> None:
    """Describe `explain` to the command line."""
    command = commands.add_parser("explain", help="a pipeline's promise, its verdict, and what both rest on")
    command.add_argument("pipeline", metavar="PIPELINE", help="its name in tidemark.toml, or as proposed: GROUP:TOPIC")
    add_settings_arguments(command)
    command.add_argument("--format", choices=("text", "json"), default="text")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print one pipeline's explanation; a name nobody knows is a mistake that lists the known ones."""
    found = find(chosen_settings(arguments), arguments.pipeline, time.time_ns() // 1_000_000)
    if arguments.format == "json":
        print(json.dumps(as_json(found), indent=1, sort_keys=True))
    else:
        print("\n".join(as_text(found)))
    return 0


def find(settings: Settings, name: str, now_ms: int) -> Explanation:
    """The explanation of the pipeline of that name; raises CommandError where there is none."""
    names: list[str] = []
    for cluster in settings.clusters:
        heard = _heard(settings, cluster, now_ms)
        pipelines = _pipelines(settings, heard)
        names += [one.name for one in pipelines]
        for pipeline in pipelines:
            if pipeline.name == name:
                return _explanation(heard, pipeline, pipelines)
    known = ", ".join(sorted(map(cut, names))) or "none: no pipeline is configured and no group with a commit was seen"
    raise CommandError(f"no pipeline is named {cut(name)!r}; known: {known}")


def _heard(settings: Settings, cluster: ClusterSettings, now_ms: int) -> Heard:
    data_dir = Path(settings.store.data_dir)
    rows = queries.ask(data_dir, now_ms - DAY_MS, now_ms, queries.CLUSTERS, {})
    newest = next((row for row in rows if row["cluster"] == cluster.name and row["cluster_id"]), None)
    if newest is None:
        return Heard(data_dir, cluster, None, now_ms, now_ms)
    return Heard(data_dir, cluster, newest["cluster_id"], newest["observed_at_ms"], now_ms)


def _pipelines(settings: Settings, heard: Heard) -> tuple[Pipeline, ...]:
    """Declared ones; where a cluster has none, those proposed from what was seen."""
    declared = tuple(known.pipeline for known in settings.pipelines if known.cluster == heard.settings.name)
    if declared or heard.cluster_id is None:
        return declared
    answers = heard.newest(promise_questions.OF_THE_NEWEST_ROUND) | heard.recent(promise_questions.OF_RECENT)
    answers |= heard.last_day((queries.SAMPLED,))
    return proposals.proposed(answers[queries.GROUP_LAG], Seen(answers))


def _explanation(heard: Heard, pipeline: Pipeline, pipelines: Sequence[Pipeline]) -> Explanation:
    of_one = {"group_id": pipeline.group_id, "topic": pipeline.source}
    answers = heard.newest((*promise_questions.OF_THE_NEWEST_ROUND, queries.GROUP_STATES))
    answers |= heard.recent((*promise_questions.OF_RECENT, *promise_questions.OF_ONE_RECENT), **of_one)
    answers |= heard.last_day((queries.SAMPLED, queries.REBALANCES, promise_questions.ROUNDS_SEEN))
    answers |= heard.last_day((promise_questions.LAST_CAUGHT_UP,), **of_one)
    findings = _findings(heard)
    from_ms = heard.now_ms - DAY_MS
    seen = answers.get(promise_questions.ROUNDS_SEEN, ())
    rounds = standing.rounds_seen(seen, from_ms, heard.now_ms, heard.interval_ms)
    sight = standing.sight(
        pipeline,
        standing.newest(answers.get(queries.COVERAGE, ()), rounds.interval_ms),
        answers.get(queries.GROUP_LAG, ()),
        answers.get(queries.GROUP_STATES, ()),
        frozenset(row["topic"] for row in answers.get(queries.SAMPLED, ())),
        rounds,
    )
    judged = pipeline_verdict(pipeline, findings, sight, now_ms=heard.now_ms, window_from_ms=from_ms)
    rebalances = answers.get(queries.REBALANCES, ())
    causes = explained.causes_of(findings, rebalances, heard.cluster_id or "", pipelines)
    return explained.explanation(judged, answers, findings, causes)


def _findings(heard: Heard) -> list[Finding]:
    histories = load_findings(heard.data_dir).values() if heard.cluster_id is not None else ()
    return [known.finding for known in histories if known.finding.place.cluster_id == heard.cluster_id]
