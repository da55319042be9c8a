"""Pipelines proposed from what was seen, where none is configured: every group with each topic it reads."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dashboard.promise_facts import Seen
from guarantees.inference import inferred_promise
from guarantees.promises import Guarantee, Pipeline


def proposed(group_lag: Iterable[Mapping[str, Any]], seen: Seen) -> tuple[Pipeline, ...]:
    """One pipeline for each group and topic, with the promise it seems to make."""
    return tuple(_proposed(row["group_id"], row["topic"], seen) for row in group_lag)


def _proposed(group_id: str, topic: str, seen: Seen) -> Pipeline:
    def promising(promise: Guarantee) -> Pipeline:
        return Pipeline(f"{group_id}:{topic}", topic, group_id, None, promise, is_inferred=True)

    unjudged = promising(Guarantee.AT_LEAST_ONCE)
    return promising(inferred_promise(group_id, seen.facts(unjudged)))


def snippet(pipelines: Iterable[Pipeline], cluster: str) -> str:
    """The pipelines as they would stand in tidemark.toml; strings are escaped as TOML, like JSON, wants them."""
    return "\n\n".join(
        "\n".join(
            (
                "[[pipelines]]",
                f"name = {json.dumps(pipeline.name)}",
                f"cluster = {json.dumps(cluster)}",
                f"source = {json.dumps(pipeline.source)}",
                f"group = {json.dumps(pipeline.group_id)}",
                f'promise = "{pipeline.promise}"  # inferred: check it',
            )
        )
        for pipeline in pipelines
    )
