"""Moments in the time zone of the reader's browser, for a hover: what is written stays UTC."""

import streamlit as st

from dashboard import zones


def hover(*moments: tuple[str, int | None]) -> str | None:
    """A help text that names each known moment; None where there is none, or the browser says no zone."""
    known = [(name, at_ms) for name, at_ms in moments if at_ms is not None]
    return zones.in_local_time(known, st.context.timezone) if known else None
