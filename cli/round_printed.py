"""One round for a person or a script: what was asked, what came of it, and every group on the partitions it reads."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from cli.printed import table
from dashboard.names import visible
from guarantees.lag import consumer_lag
from guarantees.observations import Coverage, Round
from guarantees.unknown import Unknown

LAG_COLUMNS = ("group", "topic", "partition", "committed", "log start", "stable", "high watermark", "lag", "unknown")
NOT_ASKED = Unknown("not asked")


def coverage_lines(observed: Round) -> list[str]:
    """One line per signal; nothing that failed or was refused is left out."""
    lines = [f"cluster {observed.cluster_id or 'out of reach'}, round {observed.tick}"]
    for signal in observed.coverage:
        lines.append(f"  {signal.signal:<20} " + ", ".join(filter(None, [*_counts(signal), signal.error])))
    return [visible(line) for line in lines]


def _counts(signal: Coverage) -> Iterator[str]:
    yield f"{signal.answered} of {signal.asked} answered"
    for count, word in ((signal.refused, "refused"), (signal.failed, "failed")):
        if count:
            yield f"{count} {word}"


def as_table(observed: Round) -> str:
    """Coverage, then lags. Lag is to the high watermark; a gap's reason stands in the last column."""
    rows = [tuple(_shown(value) for value in row.values()) for row in lag_rows(observed)]
    lags = table(LAG_COLUMNS, rows) if rows else "no group has committed on a watched partition, as far as can be seen"
    return "\n".join([*coverage_lines(observed), lags])


def as_json(observed: Round) -> Mapping[str, object]:
    """The same for a script: what is unknown is an object with its reason, never a number."""
    return {
        "cluster_id": observed.cluster_id or None,
        "round": observed.tick,
        "started_at_ms": observed.started_at_ms,
        "ended_at_ms": observed.ended_at_ms,
        "coverage": [asdict(signal) for signal in observed.coverage],
        "partitions": [
            {
                "topic": place.topic,
                "partition": place.partition,
                "log_start_offset": _plain(offsets.log_start_offset),
                "last_stable_offset": _plain(offsets.last_stable_offset),
                "high_watermark": _plain(offsets.high_watermark),
                "leader": offsets.broker,
            }
            for place, offsets in sorted(observed.partitions.items())
        ],
        "lags": [{name: _plain(value) for name, value in row.items()} for row in lag_rows(observed)],
    }


def lag_rows(observed: Round) -> Iterator[dict[str, object]]:
    """Every group on every partition it reads, by name."""
    for key, commit in sorted(observed.commits.items()):
        offsets = observed.partitions.get(key.topic_partition)
        lag = consumer_lag(commit, offsets or NOT_ASKED).lag_hw
        row = {
            "group": key.group_id,
            "topic": key.topic,
            "partition": key.partition,
            "committed_offset": commit.committed_offset,
            "log_start_offset": offsets.log_start_offset if offsets else NOT_ASKED,
            "last_stable_offset": offsets.last_stable_offset if offsets else NOT_ASKED,
            "high_watermark": offsets.high_watermark if offsets else NOT_ASKED,
            "lag": lag,
        }
        yield row | {"why_unknown": lag.reason if isinstance(lag, Unknown) else None}


def _plain(value: object) -> object:
    return {"unknown": value.reason} if isinstance(value, Unknown) else value


def _shown(value: object) -> object:
    return None if isinstance(value, Unknown) else value
