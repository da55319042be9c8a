"""Names, keys and messages from outside are text: cut, made visible and escaped before anything shows them."""

import html
import re
import unicodedata
from collections.abc import Sequence

LIMIT = 80

# Everything Streamlit's Markdown gives a meaning, its own directives (:red[…]) and formulas ($…$) included.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~:$&^=\"'])")
# What Markdown makes a link of although nobody wrote one (GFM's autolinks: https://…, www.…, name@host).
_LINKED = re.compile(r"(?i)(https?|www)(?=\\?[:.])|(?=@)")
_NO_LINK = "\u2060"  # a word joiner: nothing to see, and no address any more
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    """The text with control, direction and unassigned characters written out, so that nothing hides or re-orders."""
    if text.isprintable():  # holds none of them (and no space but the common one); so are nearly all
        return text
    return "".join(f"\\u{ord(char):04x}" if unicodedata.category(char) in _INVISIBLE else char for char in text)


def cut(text: str, limit: int = LIMIT) -> str:
    """At most `limit` characters; the reader sees that something is missing."""
    shown = visible(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def is_cut(text: str, limit: int = LIMIT) -> bool:
    return len(visible(text)) > limit


def in_markdown(text: str, limit: int = LIMIT) -> str:
    """The text as Markdown that shows exactly it, and links nowhere."""
    return _LINKED.sub(rf"\g<0>{_NO_LINK}", _MARKDOWN.sub(r"\\\1", cut(text, limit)))


def told_apart(texts: Sequence[str], limit: int = 40) -> list[str]:
    """Each text cut in its middle, with as many characters more as it takes for different texts to differ.

    What tells the partitions of a topic apart stands at the end of their names.
    """
    longest = max((len(visible(text)) for text in texts), default=0)
    while True:
        shown = {text: _cut_in_the_middle(visible(text), limit) for text in texts}
        if limit >= longest or len(set(shown.values())) == len(shown):
            return [shown[text] for text in texts]
        limit += limit // 2


def _cut_in_the_middle(shown: str, limit: int) -> str:
    if len(shown) <= limit:
        return shown
    tail = (limit - 1) // 2
    return f"{shown[: limit - 1 - tail]}…{shown[-tail:]}"


def in_figure(text: str, limit: int = 40) -> str:
    """The text for Plotly, which reads a few HTML tags in labels."""
    return html.escape(cut(text, limit), quote=False)


def lanes_in_figure(texts: Sequence[str], limit: int = 40) -> list[str]:
    """Names of rows for Plotly, which draws rows of one name over one another: different names stay different."""
    return [html.escape(shown, quote=False) for shown in told_apart(texts, limit)]
