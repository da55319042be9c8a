"""The panel of what batch headers say of producers: their sequences, and how their transactions ended."""

from collections.abc import Callable, Mapping

import streamlit as st

from dashboard import cached, header_accounts, header_questions
from dashboard.components import panel, tables
from dashboard.queries import Question, Rows
from dashboard.view import View


def draw(view: View) -> None:
    """Producers that passed over, repeated or aborted most come first."""
    if not any(known.header_topics for known in cached.settings().clusters if known.name == view.cluster):
        panel.empty(header_accounts.NOT_WANTED, header_accounts.DECLARE)
        return
    (found,) = _ask(view, header_questions.WINDOWS) or [{"windows": 0}]
    st.markdown(header_accounts.windows(found))
    if found["windows"]:
        _table(view, header_questions.SEQUENCES, header_accounts.sequence_row, "Sequence numbers", header_accounts.GAPS)
        _table(
            view, header_questions.TRANSACTIONS, header_accounts.transaction_row, "Transactions", header_accounts.TORN
        )


def _ask(view: View, question: Question) -> Rows:
    return cached.between(view, *header_accounts.span(view, cached.DAY_MS), question)


def _table(
    view: View,
    question: Question,
    row_of: Callable[[Mapping[str, object]], dict[str, object]],
    title: str,
    caution: str,
) -> None:
    rows = _ask(view, question)
    st.markdown(f"**{title}** by topic and producer")
    if not rows:
        panel.empty(f"No producer of this kind was seen: {title.lower()} are those of idempotent producers.")
        return
    tables.plain([row_of(row) for row in rows], None, f"{title} by topic and producer")
    tables.left_out(int(str(rows[0]["found"])), header_questions.SHOWN, "producer", "The table in the store has them.")
    st.caption(caution)
