"""How Tidemark itself is, as the overview and the health page show it."""

import streamlit as st

from dashboard import answers, cached, queries, startup, wording
from dashboard.names import in_markdown
from dashboard.view import View

ICONS = {True: ":green[✓]", False: ":red[✕]", None: ":gray[…]"}


def draw(view: View) -> None:
    """One line for each part; a dead one is said."""
    st.markdown(startup.parts_line(cached.of_tidemark(view, queries.PARTS), answers.traces(view), view))


def checklist(view: View) -> None:
    """What must happen before the first answer: done, missing, or not known yet."""
    attempts = cached.of_tidemark(view, queries.ATTEMPTS, cluster=view.cluster)
    items = startup.checklist(cached.settings(), view, attempts, cached.of_tidemark(view, queries.PARTS))
    st.markdown("\n\n".join(f"{ICONS[done]} **{what}** :gray[{in_markdown(how, 200)}]" for done, what, how in items))


def store(view: View) -> None:
    """What the data directory holds, and for how long."""
    files, size = cached.store_size()
    keep = cached.settings().store
    st.markdown(
        f"{wording.compact(size)}B in {wording.plural(files, 'file')}. Raw samples are kept "
        f"{keep.raw_retention_h:g} h or {wording.compact(keep.raw_max_bytes)}B, whichever is less; findings for good."
    )
