"""Amounts in sentences."""


def counted(number: int, noun: str) -> str:
    """A count in full digits with its noun, which takes an s: 1 record, 1,200 records."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
