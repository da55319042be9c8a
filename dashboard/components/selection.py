"""A table whose selected row is in the URL: a click writes it, a link or Back selects it, a refresh keeps it."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import streamlit as st


def table(parameter: str, ids: Sequence[str], rows: Any, *, rerun: str | Sequence[str], **shown: Any) -> None:
    """Draw `rows`, whose identities are `ids`; the selected one is the query parameter `parameter`.

    The grid is selected by row number, so it is made anew when the order changes or the URL was changed elsewhere.
    `rerun` is the key of the fragment that shows the selected row, or the keys where several do.
    """
    chosen = st.query_params.get(parameter)
    seen = f"{parameter}-seen"
    if st.session_state.get(seen, (None, 0))[0] != chosen:
        st.session_state[seen] = (chosen, st.session_state.get(seen, (None, 0))[1] + 1)
    key = f"{parameter}-{_digest(ids)}-{st.session_state[seen][1] if seen in st.session_state else 0}"
    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        selection_mode="single-row",
        selection_default={"selection": {"rows": [ids.index(chosen)]}} if chosen in ids else None,
        on_select=lambda: _select(parameter, ids, key, rerun),
        **shown,
    )


def choice(parameter: str, labels: Mapping[str, str]) -> str | None:
    """One of a few values to filter by, kept in the query parameter of that name; None: no filter."""
    linked = st.query_params.get(parameter)
    key = f"{parameter}-choice-{linked}"
    return st.segmented_control(
        parameter.capitalize(), list(labels), key=key, default=linked if linked in labels else None,
        format_func=lambda value: labels[value], on_change=_write, args=(parameter, key), label_visibility="collapsed",
    )  # fmt: skip


def _write(parameter: str, key: str) -> None:
    chosen = st.session_state[key]
    if chosen is not None:
        st.query_params[parameter] = chosen
    elif parameter in st.query_params:
        del st.query_params[parameter]


def _select(parameter: str, ids: Sequence[str], key: str, rerun: str | Sequence[str]) -> None:
    chosen = [ids[number] for number in st.session_state[key].selection.rows if number < len(ids)]
    seen = f"{parameter}-seen"
    st.session_state[seen] = (chosen[0] if chosen else None, st.session_state.get(seen, (None, 0))[1])
    if chosen:
        st.query_params[parameter] = chosen[0]
    elif parameter in st.query_params:
        del st.query_params[parameter]
    st.rerun(rerun if isinstance(rerun, str) else list(rerun))


def _digest(ids: Sequence[str]) -> str:
    return sha256("\x1f".join(ids).encode()).hexdigest()[:8]
