"""Times in sentences."""

from datetime import UTC, datetime


def utc(at_ms: int) -> str:
    """Milliseconds since 1970 as a reader expects them: 2026-03-01 03:12:05.123 UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"
