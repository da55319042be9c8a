"""`python -m benchmarks.questions DIRECTORY`: the CPU time of what the pages ask of the store of `large_store`.

CPU and not wall time: it says the same on a busy machine. Every figure is the second of two tries, ms over all threads.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import live_store
from benchmarks.large_cluster import CLUSTER_ID, LARGE, Cluster
from dashboard import (
    cached,
    lag_questions,
    partition_questions,
    promise_questions,
    queries,
    replication_questions,
    transaction_questions,
)
from dashboard.lag_steps import MINUTE_MS, LagSteps
from dashboard.queries import Question, Rows

HOUR_MS = 60 * MINUTE_MS
LENGTHS = {"15 min": 15 * MINUTE_MS, "1 h": HOUR_MS, "6 h": 6 * HOUR_MS, "24 h": 24 * HOUR_MS}
STEP_MS = 5_000


def cpu_ms(answer: Callable[[], object]) -> float:
    for _ in range(2):
        began_s = time.process_time()
        answer()
    return 1_000 * (time.process_time() - began_s)


def of_every_step(data_dir: Path, to_ms: int) -> Iterator[tuple[str, float]]:
    """What is asked together once for each step of the sampling, for all sessions."""
    spans = {
        "newest round": 3 * STEP_MS,
        "newest round, of the cluster": 3 * STEP_MS,
        "last day": 24 * HOUR_MS,
        "Tidemark itself": HOUR_MS,
        "15 min": 15 * MINUTE_MS,
        "states of 15 min": 15 * MINUTE_MS,
        "changes of 15 min": 15 * MINUTE_MS,
    }
    about = {"cluster_id": CLUSTER_ID, "search": ""}
    for (name, length_ms), group in zip(spans.items(), cached.GROUPS, strict=True):
        yield (
            f"together, {name}",
            cpu_ms(
                lambda span=length_ms, group=group: queries.ask_together(data_dir, to_ms - span, to_ms, group, about)
            ),
        )


def one_by_one(data_dir: Path, to_ms: int, of_group: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """The questions about one window, one group or one topic."""
    questions: Mapping[str, tuple[Question, int]] = {
        "clusters heard": (queries.CLUSTERS, 15 * MINUTE_MS),
        "lag of all groups now": (queries.GROUP_LAG, 3 * STEP_MS),
        "open transactions now": (transaction_questions.OPEN, 3 * STEP_MS),
        "partitions of a group now": (queries.PARTITION_LAG, 3 * STEP_MS),
        "members of a group now": (queries.MEMBERS, 3 * STEP_MS),
        "commits of a group and topic, 15 min": (promise_questions.COMMIT_MOVES, 15 * MINUTE_MS),
        "unread since, 15 min": (promise_questions.UNREAD_SINCE, 15 * MINUTE_MS),
        "unread for, 100 groups": (partition_questions.UNREAD_FOR, 15 * MINUTE_MS),
        "unread for, partitions of a group": (partition_questions.UNREAD_BY_PARTITION, 15 * MINUTE_MS),
        "caught up last, 24 h": (promise_questions.LAST_CAUGHT_UP, 24 * HOUR_MS),
        "leader changes, 15 min": (replication_questions.LEADER_CHANGES, 15 * MINUTE_MS),
        "leader changes, 24 h": (replication_questions.LEADER_CHANGES, 24 * HOUR_MS),
        "rebalances, 24 h": (queries.REBALANCES, 24 * HOUR_MS),
    }
    for name, (question, length_ms) in questions.items():
        yield (
            name,
            cpu_ms(lambda one=question, span=length_ms: queries.ask(data_dir, to_ms - span, to_ms, one, of_group)),
        )


def lag_over_time(data_dir: Path, to_ms: int, of_group: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """The chart of one group, and the trends of all."""
    for name, length_ms in LENGTHS.items():
        cells = LagSteps(to_ms - length_ms, to_ms, STEP_MS, 240, reads_raw=True)
        trend = LagSteps(to_ms - length_ms, to_ms, STEP_MS, 60, reads_raw=False)
        for what, steps, questions in (
            ("lag of a group", cells, lag_questions.LAG_CELLS),
            ("trends of all groups", trend, lag_questions.LAG_TREND),
        ):
            about = {**of_group, "step_ms": steps.bucket_ms, "left_groups": [], "left_topics": []}

            def ask(question: Question, start_ms: int, end_ms: int, about: Mapping[str, object] = about) -> Rows:
                return queries.ask(data_dir, start_ms, end_ms, question, about)

            yield f"{what}, {name}", cpu_ms(lambda s=steps, q=questions, a=ask: s.rows(q, a))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions", description=__doc__)
    parser.add_argument("directory", type=Path, help="of python -m benchmarks.large_store")
    given = parser.parse_args(arguments)
    data_dir, to_ms = given.directory / "data", live_store.seen_to_ms(given.directory)
    cluster = Cluster(LARGE, to_ms)
    group, topic = cluster.pairs[0]
    topics = [cluster.topics[t] for g, t in cluster.pairs if g == group]
    of_group = {"cluster_id": CLUSTER_ID, "group_id": cluster.groups[group], "topic": cluster.topics[topic],
                "topics": topics, "groups": cluster.groups[::10], "since_ms": to_ms - 6 * STEP_MS,
                "ended_by_ms": to_ms}  # fmt: skip
    print("| question | CPU |\n|---|---|")
    for found in (
        of_every_step(data_dir, to_ms),
        one_by_one(data_dir, to_ms, of_group),
        lag_over_time(data_dir, to_ms, of_group),
    ):
        for name, spent_ms in found:
            print(f"| {name} | {spent_ms:,.0f} ms |", flush=True)


if __name__ == "__main__":
    main()
