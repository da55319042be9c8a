"""Open transactions to choose from, and everything about the chosen one."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard import cached, expired, transaction_commands, transaction_facts, transaction_words, wording
from dashboard.components import grid, selection, story, tables
from dashboard.components.panel import Panel
from dashboard.names import cut, in_markdown, is_cut, visible
from dashboard.queries import Rows
from dashboard.transaction_commands import Command, Part
from dashboard.transactions import COMMITS_INCOMPLETE, OpenTransaction, coordinator, table_row
from dashboard.view import View
from guarantees.findings import Finding
from guarantees.rules.transactions import TransactionClass

SHOWN = 200
SHOWN_PARTS, SHOWN_READERS, SHOWN_FINDINGS = 100, 100, 5
EXPLAINED_ABORTS = 3
CHANGES = ":red-badge[⚠ Changes the log] "
WAITS = (
    "Whether a group reads read_committed is in no answer: these stand at the stable offset and would wait if they do; "
    "readers of read_uncommitted do not wait."
)


def open_ones(found: Sequence[OpenTransaction], waits: Mapping[str, str], view: View, *, shown_by: Panel) -> None:
    """The worst ones as a table, each with who would wait for it by its id; the selected row is in the URL."""
    shown = found[:SHOWN]
    rows = pd.DataFrame([table_row(one, waits[one.id], view) for one in shown])
    rows["Held back"] = pd.array(rows["Held back"].tolist(), dtype="Int64")
    if not rows["Unknown because"].any():
        rows = rows.drop(columns="Unknown because")
    selection.table(
        "transaction",
        [one.id for one in shown],
        tables.coloured(rows, "State"),
        rerun=shown_by.fragment_key,
        height=min(360, 38 + 35 * len(shown)),
        placeholder="–",
        column_config=COLUMNS,
        alt="Open transactions, worst first",
    )
    if len(found) > SHOWN:
        st.caption(
            f"The worst {SHOWN:,} of {len(found):,} are shown; search a transactional id, producer id or topic to find "
            "the others."
        )
    st.caption(f"{transaction_words.legend(Counter(one.state for one in shown))}. {WAITS}")


COLUMNS = {
    "State": st.column_config.TextColumn(width=95),
    "Transactional id": st.column_config.TextColumn(width=150),
    "Producer": st.column_config.TextColumn("Producer id · epoch", width=115),
    "Coordinator": st.column_config.TextColumn("Its coordinator says", width=160),
    "Since": st.column_config.TextColumn("Open since (UTC)", help="By its coordinator, else when it was first seen"),
    "For": st.column_config.TextColumn("Open for"),
    "Held back": tables.number(
        "Held back, offsets",
        "High watermark − last stable offset, over the partitions whose stable offset it holds; a dash: unknown",
    ),
    "Would wait": st.column_config.TextColumn("Would wait (read_committed)", width=170, help=WAITS),
    "Unknown because": st.column_config.TextColumn(width=220),
}


def headline(one: OpenTransaction) -> None:
    """Who, in which state, and what will or must happen."""
    look, name = transaction_words.STATES[one.state], one.row["transactional_id"]
    called = "No transactional id is known" if name is None else in_markdown(name)
    producer = f"producer id {one.row['producer_id']}, epoch {one.row['producer_epoch']}"
    st.markdown(f"{look.badge} **{called}** :gray[{producer} · {in_markdown(coordinator(one))}]")
    if name is not None and is_cut(name):
        st.caption("Transactional id in full")
        st.code(visible(name), language=None, wrap_lines=True)
    for sentence in transaction_facts.advice(one):
        st.markdown(in_markdown(sentence, 600))


def partitions(rows: Rows, one: OpenTransaction, view: View) -> None:
    """What both sides say of each partition."""
    if not rows:
        st.markdown(":gray[Its coordinator lists no partition yet.]")
        return
    shown = pd.DataFrame([transaction_facts.part_row(row, one, view) for row in rows[:SHOWN_PARTS]])
    shown["Partition"] = [cut(text) for text in shown["Partition"]]
    shown["Held back"] = pd.array(shown["Held back"].tolist(), dtype="Int64")
    if not shown["Unknown because"].any():
        shown = shown.drop(columns="Unknown because")
    grid.draw(shown, placeholder="–", column_config=PART_COLUMNS, alt="Partitions of the transaction")
    if len(rows) > SHOWN_PARTS:
        st.caption(f"{SHOWN_PARTS:,} of {len(rows):,} partitions are shown, those that hold back most first.")


PART_COLUMNS = {
    "Listed": st.column_config.TextColumn("Listed by its coordinator"),
    "Held back": tables.number("Held back, offsets", "A dash: unknown, or another transaction holds it"),
    "Start": tables.digits("Starts at offset", "currentTransactionStartOffset, as the leader says (DescribeProducers)"),
    "Last stable": tables.digits("Last stable offset"),
    "High watermark": tables.digits("High watermark"),
    "Stands since": st.column_config.TextColumn("Stable offset stands since (UTC)"),
    "Last write": st.column_config.TextColumn("Last write (UTC)", help="The producer's clock unless LogAppendTime"),
    "Last sequence": tables.digits("Last sequence"),
    "Coordinator epoch": tables.digits("Coordinator epoch", "−1 before the producer's first marker"),
}


def readers(rows: Rows, has_commits: bool, view: View) -> None:
    """Groups with a commit there, and whether they would wait; `has_commits`: all commits of groups were answered."""
    if not rows:
        why = expired.now(view) or (None if has_commits else COMMITS_INCOMPLETE)
        none = "No group with a commit on its partitions was seen."
        st.markdown(f":gray[{f'Who has a commit on its partitions is unknown: {why.reason}.' if why else none}]")
        return
    shown = [transaction_facts.reader_row(row) for row in rows[:SHOWN_READERS]]
    for row in shown:
        row |= {"Group": cut(str(row["Group"])), "Partition": cut(str(row["Partition"]))}
    grid.draw(
        shown,
        column_config={
            "Stands": st.column_config.TextColumn("Against the stable offset", help=WAITS),
            "Committed": tables.digits("Committed offset"),
            "Last stable": tables.digits("Last stable offset"),
        },
        alt="Groups with a commit on the transaction's partitions",
    )
    if len(rows) > SHOWN_READERS:
        st.caption(f"{SHOWN_READERS:,} of {len(rows):,} commits are shown; Lag has those of one group.")
    if not has_commits:
        st.caption(f"Whether other groups have commits there is unknown: {COMMITS_INCOMPLETE.reason}.")


def findings(known: Sequence[Finding]) -> None:
    """Findings about it, each a link to its evidence."""
    if not known:
        st.markdown(":gray[No finding names it.]")
    for finding in known[:SHOWN_FINDINGS]:
        state = "open" if finding.closed_reason is None else "closed"
        story.link(f"{wording.KINDS[finding.kind]} ({state}): {in_markdown(finding.title, 120)}", finding.finding_id)
    if len(known) > SHOWN_FINDINGS:
        st.caption(f"The newest {SHOWN_FINDINGS} of {len(known):,}; Violations has the others.")


def commands(rows: Rows, one: OpenTransaction, view: View) -> None:
    """What an operator would run: shown, never executed."""
    cluster = next(known for known in cached.settings().clusters if known.name == view.cluster)
    reach = transaction_commands.connection(cluster.bootstrap_servers, cluster.security.protocol)
    parts = [transaction_facts.command_part(row) for row in rows]
    st.markdown("**Commands** :gray[shown, never executed by Tidemark; the words are quoted for bash and zsh]")
    for command in transaction_commands.reading(reach, one.row["transactional_id"], parts):
        _command(command)
    if one.state is TransactionClass.HANGING:
        _aborts(reach, [part for part, row in zip(parts, rows, strict=True) if not row["is_listed"]])


def _aborts(reach: tuple[str, ...], hanging: Sequence[Part]) -> None:
    """One command for each partition that hangs: a few with what each does, the others together."""
    found = transaction_commands.aborting(reach, hanging)
    for command in found[:EXPLAINED_ABORTS]:
        _command(command)
    if others := found[EXPLAINED_ABORTS:]:
        st.markdown(
            f"{CHANGES}{wording.plural(len(others), 'partition')} more it hangs on, each with a command of its own."
        )
        st.code("\n".join(command.line for command in others), language="bash", wrap_lines=True)
    if unnamed := len(hanging) - len(found):
        st.caption(
            f"Of {wording.plural(unnamed, 'partition')} the start offset is not known: no command can end it there."
        )


def _command(command: Command) -> None:
    st.markdown(f"{CHANGES if command.changes else ''}{in_markdown(command.does, 500)}")
    st.code(command.line, language="bash", wrap_lines=True)
