"""A table whose selected row is in the URL: a click writes it, a link or Back selects it, a refresh keeps it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import streamlit as st

from dashboard.components import grid

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Selected:
    """What a grid shows as selected, in which row, and the number of the grid among those of its table."""

    chosen: str | None
    row: int | None
    grid: int


def table(
    parameter: str,
    ids: Sequence[str],
    rows: Any,
    *,
    rerun: str | Sequence[str],
    alt: str,
    within: Mapping[str, str] = NOTHING,
    parts: Sequence[str] = (),
    **shown: Any,
) -> None:
    """Draw `rows`, whose identities are `ids`; the selected one is the query parameter `parameter`.

    The grid is selected by row number, so it is made anew when the selected row moved or the URL was changed elsewhere,
    and only then: with it goes how far the reader has scrolled and by what the rows were sorted.
    `rerun` is the key of the fragment that shows the selected row, or the keys where several do. `alt` tells the tables
    of one parameter apart. `within`: parameters of what the rows belong to, written with the selected one; `parts`:
    parameters of what belongs to the selected row, or chose for the same panel before: they go with another choice.
    """
    name = f"{parameter}: {alt}"
    now = selected(st.session_state.get(name), st.query_params.get(parameter), ids)
    st.session_state[name] = now
    key = f"{name} {now.grid}"
    grid.draw(
        rows,
        key=key,
        selection_mode="single-row",
        selection_default=None if now.row is None else {"selection": {"rows": [now.row]}},
        on_select=lambda: _select(parameter, ids, st.session_state[key].selection.rows, name, rerun, within, parts),
        alt=alt,
        **shown,
    )


def selected(before: Selected | None, chosen: str | None, ids: Sequence[str]) -> Selected:
    """The same grid while it shows what is chosen where it is; else the next one."""
    row = ids.index(chosen) if chosen in ids else None
    if before is None:
        return Selected(chosen, row, 0)
    return before if (before.chosen, before.row) == (chosen, row) else Selected(chosen, row, before.grid + 1)


def linked_after(
    before: Mapping[str, str], parameter: str, chosen: str | None, within: Mapping[str, str], parts: Sequence[str]
) -> dict[str, str]:
    """The parameters of the link once a row is selected, or none any more."""
    is_another = before.get(parameter) != chosen
    after = {name: value for name, value in before.items() if name != parameter and not (is_another and name in parts)}
    return after if chosen is None else after | within | {parameter: chosen}


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


def _select(
    parameter: str,
    ids: Sequence[str],
    rows: Sequence[int],
    name: str,
    rerun: str | Sequence[str],
    within: Mapping[str, str],
    parts: Sequence[str],
) -> None:
    row = next((number for number in rows if number < len(ids)), None)
    chosen = None if row is None else ids[row]
    st.session_state[name] = Selected(chosen, row, st.session_state[name].grid)  # the grid shows it already
    before = st.query_params.to_dict()
    after = linked_after(before, parameter, chosen, within, parts)
    for gone in before.keys() - after.keys():
        del st.query_params[gone]
    st.query_params.update({key: value for key, value in after.items() if before.get(key) != value})
    st.rerun(rerun if isinstance(rerun, str) else list(rerun))
