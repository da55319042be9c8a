"""Pipelines proposed from what was seen, where none is configured: every group with each topic it reads."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from guarantees.promises import Guarantee, Pipeline


def proposed(group_lag: Iterable[Mapping[str, Any]]) -> tuple[Pipeline, ...]:
    """One pipeline for each group and topic. A commit that awaits a transaction's marker was made inside one."""
    return tuple(
        Pipeline(
            name=f"{row['group_id']}:{row['topic']}",
            source=row["topic"],
            group_id=row["group_id"],
            sink=None,
            promise=Guarantee.EXACTLY_ONCE if row["has_pending"] else Guarantee.AT_LEAST_ONCE,
            is_inferred=True,
        )
        for row in group_lag
    )


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
