"""What every table of the pages shares: coloured verdicts, numbers in full, gaps as dashes."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from dashboard import transaction_words, wording
from dashboard.components import grid

# The text colours of the theme (.streamlit/config.toml): a grid is drawn on a canvas, which knows none of them.
LIGHT = {"red": "#A84400", "orange": "#7A5200", "green": "#006B4E", "violet": "#8A3E6E"}
DARK = {"red": "#FF9A5C", "orange": "#F2BC4B", "green": "#4FD3AB", "violet": "#E0A3CB"}
TONES = {
    look.text: look.tone for look in (*wording.LOOKS.values(), *transaction_words.STATES.values()) if look.tone in LIGHT
}

# A table shows so many rows, in the order of what matters most: more are not read, only carried to the browser.
ROWS = 100

TREND = "Over the window, or since the last gap in what was observed"


def coloured(rows: pd.DataFrame, column: str) -> Styler:
    """The rows with the verdicts of one column in their colours."""
    inks = DARK if st.context.theme.type == "dark" else LIGHT
    return rows.style.map(
        lambda text: f"color: {inks[TONES[text]]}; font-weight: 600" if text in TONES else "", subset=[column]
    )


def number(label: str, help_text: str = "") -> Any:
    """A column of counts, in full digits."""
    return st.column_config.NumberColumn(label, format="%,d", help=help_text or None)


def behind(whose: str) -> Any:
    """A column of how long, at least, what is unread has been there, s; `whose` partition that is."""
    return st.column_config.NumberColumn(
        "Behind at least, s",
        format="%,d",
        help=f"The oldest unread offset of {whose} partition has been there at least so long, as far as the samples of "
        "the last 15 minutes show; a dash where nothing shows it",
    )


def digits(label: str, help_text: str = "") -> Any:
    """A column of absolute offsets: text, because a browser's numbers are exact only below 2^53."""
    return st.column_config.TextColumn(label, help=help_text or None, alignment="right")


def plain(
    rows: Sequence[Mapping[str, object]], verdict: str | None, alt: str, help_texts: Mapping[str, str] | None = None
) -> None:
    """A small table without selection; whole numbers in full digits. `help_texts`: by column, for a hover."""
    shown, texts = pd.DataFrame(rows).convert_dtypes(), help_texts or {}
    counts = {
        name: number(name, texts.get(name, "")) for name in shown.columns if pd.api.types.is_integer_dtype(shown[name])
    }
    grid.draw(
        coloured(shown, verdict) if verdict else shown,
        placeholder="–",
        column_config=counts,
        alt=alt,
    )


def left_out(found: int, shown: int, noun: str, remedy: str = "The search finds them.") -> None:
    """How many rows a long table leaves out, and how to find them."""
    if found > shown:
        st.caption(f"{wording.plural(found - shown, noun)} left out, those that matter least. {remedy}")
