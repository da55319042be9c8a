"""Every grid of the pages but the answer of the SQL page. Its times are UTC; a head says where the reader is."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import streamlit as st

from dashboard import zones
from dashboard.components import toolbar

PLAIN: Mapping[str, Any] = MappingProxyType({})


def draw(rows: Any, *, alt: str, column_config: Mapping[str, Any] = PLAIN, **shown: Any) -> None:
    """`rows` are a frame, a Styler, or mappings with the same names each."""
    columns = list(rows.columns if hasattr(rows, "columns") else rows[0] if rows else ())
    note = zones.note(st.context.timezone, toolbar.look().to_ms)
    st.dataframe(rows, hide_index=True, column_config=with_zone(columns, column_config, note), alt=alt, **shown)


def with_zone(columns: Sequence[str], config: Mapping[str, Any], note: str | None) -> dict[str, Any]:
    """The columns' configuration, with the note on the head of each column of times; None: the browser says no zone."""
    timed = [name for name in columns if _label(name, config).endswith("(UTC)")] if note else []
    return {**config, **{name: _noted(config.get(name), note) for name in timed}}


def _label(name: str, config: Mapping[str, Any]) -> str:
    return (config.get(name) or {}).get("label") or name


def _noted(column: Mapping[str, Any] | None, note: str | None) -> dict[str, Any]:
    known = column or st.column_config.TextColumn()
    return {**known, "help": ". ".join(filter(None, (known.get("help"), note)))}
