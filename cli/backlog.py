"""`tidemark jobs backlog`: how far the live job is behind, one line of JSON for each topic it follows."""

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cli.chosen import add_settings_arguments, chosen_settings
from dashboard.queries import Question, ask
from settings import Settings
from store.reading import EVERYTHING_TO_MS

KNOWN, NOT_KNOWN = 0, 3

# How far each partition was read, of every history of its topic.
COVERED_TO = Question(("ledger",), """
    SELECT cluster_id, topic, topic_id, partition, max(next_offset) AS next_offset
    FROM ledger GROUP BY ALL""")  # fmt: skip


def add_backlog(kinds: Any) -> None:
    """Describe `jobs backlog` to the command line."""
    command = kinds.add_parser("backlog", help="what the live job has not read yet")
    add_settings_arguments(command)
    command.set_defaults(run=run_backlog)


def run_backlog(arguments: argparse.Namespace) -> int:
    """Print it; 3 where it is not known of some partition."""
    settings = chosen_settings(arguments)
    lines = backlog_lines(settings, time.time_ns() // 1_000_000)
    for line in lines:
        print(json.dumps(line, sort_keys=True))
    return NOT_KNOWN if any(line["unknown"] for line in lines) else KNOWN


def backlog_lines(settings: Settings, now_ms: int) -> list[dict[str, Any]]:
    """One entry for each cluster and topic, with the reason of everything that is not known."""
    # Imported here: PySpark costs a second that no other command should pay.
    from kafka_reader.errors import CollectionError
    from spark_jobs.audited import audited_topics
    from spark_jobs.backlog import topic_backlog
    from spark_jobs.clusters import AuditedCluster
    from spark_jobs.ledger import Coverage
    from spark_jobs.ranges import Part

    rows = ask(Path(settings.store.data_dir), 0, EVERYTHING_TO_MS - 1, COVERED_TO, {})
    covered_to = {
        Part(row["cluster_id"], row["topic"], row["topic_id"], row["partition"]): row["next_offset"] for row in rows
    }
    coverage = {part: Coverage(offset, 0) for part, offset in covered_to.items()}
    topics = audited_topics(settings.pipelines)
    lines: list[dict[str, Any]] = []
    for cluster in settings.clusters:
        names = [topic.topic for topic in topics if topic.cluster == cluster.name]
        if not names:
            continue
        with AuditedCluster(cluster, topics, settings.spark.round_s) as connected:
            now = connected.look(coverage, now_ms)
        if isinstance(now, CollectionError):
            unknown = {"cluster": cluster.name, "offsets": None, "partitions": None, "unknown": {"cluster": str(now)}}
            lines += [{"topic": name, **unknown} for name in names]
        else:
            lines += [{"cluster": cluster.name, **asdict(topic_backlog(now, name, covered_to))} for name in names]
    return lines
