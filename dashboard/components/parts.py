"""How Tidemark itself is, as the overview and the health page show it."""

from pathlib import Path

import streamlit as st

from dashboard import cached, kept, queries, settings_rows, startup, traces
from dashboard.names import in_markdown
from dashboard.view import View

ICONS = {True: ":green[✓]", False: ":red[✕]", None: ":gray[…]"}


def draw(view: View) -> None:
    """One line for each part; a dead one is said."""
    st.markdown(startup.parts_line(cached.of_tidemark(view, queries.PARTS), traces.of_parts(view), view))


def checklist(view: View) -> None:
    """What must happen before the first answer: done, missing, or not known yet."""
    attempts = cached.of_tidemark(view, queries.ATTEMPTS, cluster=view.cluster)
    items = startup.checklist(cached.settings(), view, attempts, cached.of_tidemark(view, queries.PARTS))
    st.markdown("\n\n".join(f"{ICONS[done]} **{what}** :gray[{in_markdown(how, 200)}]" for done, what, how in items))


def store(view: View) -> None:
    """What the data directory holds, for how long, and since when."""
    keep, (files, size) = cached.settings().store, cached.store_size()
    st.markdown(settings_rows.store_line(keep, files, size, kept.oldest_hour_ms(Path(keep.data_dir))))
