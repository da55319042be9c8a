"""The answers behind a finding, as the brokers gave them: read only when somebody opens them."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from dashboard import cached, kept, raw_answers, raw_questions, wording
from dashboard.components import grid, panel
from dashboard.names import cut
from dashboard.view import View
from guarantees.findings import Finding
from store.contracts import TABLES

EXPIRED = "Raw samples of that time have expired; the finding's evidence above stays."
NOTHING = "No answer about this place is stored around that moment: it was not asked, or nothing arrived."


def draw(finding: Finding, view: View) -> None:
    with st.expander("Answers behind it", on_change="rerun", key=f"answers-{finding.finding_id}") as opened:
        if opened.open:
            _tables(finding, view)


def _tables(finding: Finding, view: View) -> None:
    start, end = raw_answers.window(finding, cached.step_ms(view.cluster))
    st.caption(f"Stored between {wording.span(start, end)}: the rounds before and after it happened. Times are UTC.")
    then = replace(view, from_ms=start, to_ms=end)
    parameters = raw_answers.about(finding.place, finding.happened_at_ms)
    found = {
        table: rows
        for table in raw_answers.tables(finding.kind)
        if (rows := cached.in_window(then, raw_questions.RAW[table], **parameters))
    }
    oldest_ms = kept.oldest_hour_ms(Path(cached.settings().store.data_dir))
    if not found and (oldest_ms is None or end <= oldest_ms):
        panel.empty(EXPIRED)
    elif not found:
        panel.empty(NOTHING, "Health says what was asked in the last round.")
    for table, rows in found.items():
        _table(table, raw_answers.rows(table, rows[: raw_questions.SHOWN], finding), len(rows))


def _table(table: str, rows: list[dict[str, str]], found: int) -> None:
    contract = TABLES[table]
    st.markdown(f"**{table.replace('_', ' ').capitalize()}** :gray[{contract.meaning}]")
    grid.draw(
        [{name: cut(text, 300) for name, text in row.items()} for row in rows],
        height=min(300, 38 + 35 * len(rows)),
        alt=f"Stored rows of {table.replace('_', ' ')} around the finding",
    )
    if found > len(rows):
        st.caption(f"The {wording.count(len(rows))} rows nearest to the moment are shown.")
