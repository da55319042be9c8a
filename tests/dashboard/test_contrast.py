"""State words in tables are drawn on a canvas that no style sheet reaches: they can be read on both themes."""

import tomllib
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from streamlit.runtime.context import ContextProxy

from dashboard import transaction_words, wording
from dashboard.components import tables

THEME = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())["theme"]
READABLE = 4.5  # WCAG 2.2, 1.4.3
WORDS = [look.text for look in (*wording.LOOKS.values(), *transaction_words.STATES.values())]


def luminance(colour):
    """WCAG 2.2, relative luminance of #RRGGBB."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_coloured_word_of_a_table_can_be_read_on_the_background_of_its_theme(monkeypatch, theme):
    monkeypatch.setattr(ContextProxy, "theme", property(lambda _: SimpleNamespace(type=theme)))
    styler = tables.coloured(pd.DataFrame({"Verdict": WORDS}), "Verdict")
    styler._compute()
    inks = [value for style in styler.ctx.values() for name, value in style if name == "color"]

    assert len(inks) == len(WORDS) - 3, "unknown, stale and an open transaction are plain text"
    backgrounds = [THEME[theme][name] for name in ("backgroundColor", "secondaryBackgroundColor")]
    assert min(contrast(ink, background) for ink in inks for background in backgrounds) >= READABLE


@pytest.mark.parametrize(("theme", "inks"), [("light", tables.LIGHT), ("dark", tables.DARK)])
def test_a_word_in_a_table_has_the_colour_of_the_same_word_beside_it(theme, inks):
    named = {tone: THEME[theme][f"{tone}TextColor"] for tone in ("red", "orange", "green")}
    assert named.items() <= inks.items()
