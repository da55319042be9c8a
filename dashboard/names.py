"""Names, keys and messages from outside are text: cut, made visible and escaped before anything shows them."""

import html
import re
import unicodedata

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


def in_figure(text: str, limit: int = 40) -> str:
    """The text for Plotly, which reads a few HTML tags in labels."""
    return html.escape(cut(text, limit), quote=False)
