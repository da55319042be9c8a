"""Answers kept for all sessions of a process: found in microseconds, and made once however many ask at once."""

from collections.abc import Callable, Hashable
from threading import Condition
from typing import Any, TypeVar

from cachetools import TTLCache, cached
from cachetools.keys import hashkey

Answer = TypeVar("Answer")

KEPT_FOR_S = 120


def remembered(
    entries: int, *, kept_for_s: float = KEPT_FOR_S, key: Callable[..., Hashable] = hashkey
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Keep the newest answers of a function by its arguments, or by what `key` makes of them.

    Who asks for an answer that is being made waits for it. A failure is not kept. Nobody changes a kept answer.
    """
    answers: TTLCache[Any, Any] = TTLCache(entries, kept_for_s)
    return cached(answers, key=key, condition=Condition())


def as_key(about: dict[str, Any]) -> tuple[tuple[str, Hashable], ...]:
    """The parameters of a question as a key; lists count by what they hold."""
    return tuple(sorted((name, tuple(value) if isinstance(value, list) else value) for name, value in about.items()))
