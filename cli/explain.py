"""`tidemark explain PIPELINE`: its promise and why, its verdict and what that rests on, what is missing or unknown."""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from cli.chosen import CommandError, add_settings_arguments, chosen_settings
from cli.explained import as_json, as_text
from dashboard import explained, promise_questions, queries, rebalances_read, record_reading, standing, traces
from dashboard.coverage import LAST_ANSWERED, last_answered
from dashboard.explained import Explanation
from dashboard.freshness import freshness
from dashboard.names import cut
from dashboard.queries import Question, Rows
from dashboard.record_evidence import COVERED
from dashboard.record_reading import HowRead
from dashboard.stored_cluster import DAY_MS, StoredCluster, known_pipelines, stored_cluster
from guarantees.findings import Finding
from guarantees.observations import Signal
from guarantees.promises import Pipeline
from guarantees.verdicts import pipeline_verdict
from settings import Settings
from store.findings import load_findings


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
        heard = stored_cluster(settings, cluster, now_ms)
        pipelines = known_pipelines(settings, heard)
        names += [one.name for one in pipelines]
        for pipeline in pipelines:
            if pipeline.name == name:
                return _explanation(heard, settings, pipeline, pipelines)
    known = ", ".join(sorted(map(cut, names))) or "none: no pipeline is configured and no group with a commit was seen"
    raise CommandError(f"no pipeline is named {cut(name)!r}; known: {known}")


def _explanation(
    heard: StoredCluster, settings: Settings, pipeline: Pipeline, pipelines: Sequence[Pipeline]
) -> Explanation:
    of_one = {"group_id": pipeline.group_id, "topic": pipeline.source}
    answers = heard.newest((*promise_questions.OF_THE_NEWEST_ROUND, queries.GROUP_STATES))
    answers |= heard.recent((*promise_questions.OF_RECENT, *promise_questions.OF_ONE_RECENT), **of_one)
    answers |= heard.last_day((queries.SAMPLED,))
    answers |= heard.last_day((promise_questions.ROUNDS_SEEN,), signal=Signal.END_OFFSETS)
    answers |= heard.last_day((promise_questions.LAST_CAUGHT_UP,), **of_one)
    findings = _findings(heard)
    from_ms = heard.now_ms - DAY_MS
    seen = answers.get(promise_questions.ROUNDS_SEEN, ())
    rounds = standing.rounds_seen(seen, from_ms, heard.now_ms, heard.interval_ms)
    # A signal that these rounds did not answer makes the verdict stale, however long ago it was answered.
    coverage = last_answered(answers.get(queries.COVERAGE, ()), heard.last_day((LAST_ANSWERED,)).get(LAST_ANSWERED, ()))
    missed = record_reading.never_compared(answers.get(queries.SAMPLED, ()))
    sight = standing.sight(
        pipeline,
        standing.newest(coverage, freshness(coverage, (), rounds.interval_ms).observed_at_ms),
        answers.get(queries.GROUP_LAG, ()),
        answers.get(queries.GROUP_STATES, ()),
        _sampled(heard, answers, settings, missed),
        rounds,
        missed,
    )
    judged = pipeline_verdict(pipeline, findings, sight, now_ms=heard.now_ms, window_from_ms=from_ms)
    cluster_id = heard.cluster_id or ""
    rebalances = rebalances_read.rebalances(heard.data_dir, cluster_id, findings, heard.now_ms)
    causes = explained.causes_of(findings, rebalances, cluster_id, pipelines)
    unseen = rebalances_read.missed_by(heard.data_dir, findings, causes)
    return explained.explanation(judged, answers, findings, causes, unseen)


def _sampled(
    heard: StoredCluster, answers: Mapping[Question, Rows], settings: Settings, missed: Mapping[str, str]
) -> frozenset[str]:
    """Topics of which the record jobs tell duplicates now, as the pages say it."""
    asked = heard.last_day((queries.LOOKS, queries.JOB_RUNS))
    pace_ms = traces.look_pace_ms(traces.of_runs(asked.get(queries.JOB_RUNS, []), settings.spark.round_s))
    looks = record_reading.looks(asked.get(queries.LOOKS, ()), heard.settings.name)

    def how(topic: str) -> HowRead:
        known = record_reading.reading(looks, topic)
        return record_reading.how_read(known, heard.now_ms, pace_ms, missed.get(topic))

    def covered_before(topics: list[str]) -> list[str]:
        from_ms = heard.now_ms - round(settings.store.history_retention_d * DAY_MS)
        rows = heard.between(from_ms, heard.now_ms - DAY_MS, (COVERED,), topics=topics)
        return [row["topic"] for row in rows.get(COVERED, ())]

    own = (one.pipeline for one in settings.pipelines if one.cluster == heard.settings.name)
    declared = {topic for pipeline in own for topic in pipeline.topics}
    told = record_reading.tell_of_copies(answers.get(queries.SAMPLED, ()), declared, covered_before, how)
    return frozenset(row["topic"] for row in told)


def _findings(heard: StoredCluster) -> list[Finding]:
    histories = load_findings(heard.data_dir).values() if heard.cluster_id is not None else ()
    return [known.finding for known in histories if known.finding.place.cluster_id == heard.cluster_id]
