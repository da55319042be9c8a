"""The stored answers about one place around one moment, as they are: the nearest rows of a table."""

from collections.abc import Mapping

from dashboard.queries import Question
from store.contracts import TABLES, Family

# One row more than is shown: whether any was left out.
SHOWN = 60


def _question(table: str) -> Question:
    """`$topic`, `$partition`, `$group_id` and `$held` (`["topic", 0]` as members and transactions list it) narrow it
    as far as the table knows them; null narrows nothing."""
    names = {column.name for column in TABLES[table].columns}
    places = [f"{name} = coalesce(${name}, {name})" for name in ("topic", "partition", "group_id") if name in names]
    held = [f"contains({name}, coalesce($held, ''))" for name in ("assignment", "partitions") if name in names]
    observed = "started_at" if TABLES[table].family is Family.INTERVAL else "observed_at"
    return Question(
        (table,),
        f"""SELECT * FROM {table} WHERE {" AND ".join(["cluster_id = $cluster_id", *places, *held])}
            ORDER BY abs(epoch_ms({observed}) - $at_ms) LIMIT {SHOWN + 1}""",
    )


RAW: Mapping[str, Question] = {
    table: _question(table)
    for table in (
        "committed_offsets",
        "partition_offsets",
        "replica_offsets",
        "epoch_ends",
        "batch_headers",
        "partition_state",
        "topic_configuration",
        "group_state",
        "group_members",
        "open_producers",
        "open_transactions",
    )
}
