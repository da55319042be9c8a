"""What is in force, as rows: clusters, pipelines, thresholds, missing rights. Of secrets nothing is read or shown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from dashboard import wording
from dashboard.configured import BOOTSTRAP_VARIABLE, SETTINGS_VARIABLE
from dashboard.names import cut
from guarantees.needs import hidden_without, rights_in_words
from guarantees.observations import Signal
from guarantees.promises import Pipeline
from guarantees.thresholds import Thresholds
from settings import ClusterSettings, MessageId, PipelineSettings, Security, StoreSettings

Row = Mapping[str, Any]


def origin(environ: Mapping[str, str]) -> tuple[str, str]:
    """Where the settings come from, and how to change them."""
    if path := environ.get(SETTINGS_VARIABLE):
        return path, "This page reads the file again when it changes; the other parts when they start (tidemark up)."
    return (
        f"{BOOTSTRAP_VARIABLE}={environ.get(BOOTSTRAP_VARIABLE, '')}",
        f"There is no settings file: every value is a default. Write a tidemark.toml and set {SETTINGS_VARIABLE}.",
    )


def cluster_row(known: ClusterSettings) -> dict[str, object]:
    return {
        "Cluster": cut(known.name),
        "Bootstrap servers": cut(known.bootstrap_servers, 160),
        "Interval, s": f"{known.interval_s:g}",
        "Request timeout, s": f"{known.request_timeout_s:g}",
        "Topics": _patterns(known.include_topics, known.exclude_topics),
        "Groups": _patterns(known.include_groups, known.exclude_groups),
        "Headers read of": _patterns(known.header_topics, ()),
        "Read at most, bytes/s": known.max_bytes_per_s,
        "Connection": _connection(known.security),
    }


def pipeline_row(cluster: str, known: Pipeline, audited: PipelineSettings | None) -> dict[str, object]:
    """`audited`: how its records are read; None where the pipeline is only proposed, and they are not."""
    return {
        "Pipeline": cut(known.name),
        "Cluster": cut(cluster),
        "Source": cut(known.source),
        "Group": cut(known.group_id),
        "Sink": cut(known.sink or "–"),
        "Promise": wording.promise(known.promise, known.is_inferred),
        "Message id": _message_id(audited.id) if audited else "not audited",
        "Ids kept": _ids_kept(audited) if audited else "–",
        "Settle, s": f"{audited.settle_s:g}" if audited else "–",
        "Horizon, s": f"{audited.horizon_s:g}" if audited else "–",
        "One to one": ("declared" if audited.one_to_one else "no") if audited else "–",
        "Fan-out": str(audited.fan_out) if audited else "–",
        "Ids stored": ("yes" if audited.store_ids else "hashes only") if audited else "–",
    }


def threshold_rows(chosen: Thresholds) -> list[dict[str, object]]:
    """Every threshold with its default and the reason of the default, those that were changed first."""
    rows = [_threshold_row(one.name, getattr(chosen, one.name), one.default, one.metadata) for one in fields(chosen)]
    return sorted(rows, key=lambda row: row["Changed"] == "–")


def missing_right_rows(coverage: Iterable[Row]) -> list[dict[str, object]]:
    """Each signal that a broker refused when it was asked last: which right it needs, and what stays hidden."""
    return [
        {
            "Signal": row["signal"].replace("_", " "),
            "Not permitted": f"{wording.count(row['refused'])} of {wording.count(row['asked'])}",
            "Right to grant": rights_in_words(row["signal"]),
            "Hidden meanwhile": hidden_without(row["signal"]),
            "Answer": cut(row["error"] or "–", 160),
        }
        for row in coverage
        if row["refused"]
    ]


def lists_line(coverage: Iterable[Row]) -> str:
    """Whether the brokers' lists of topics, groups and transactional ids show all there is to watch."""
    asked = next((row for row in coverage if row["signal"] == Signal.RIGHTS), None)
    if asked is None or asked["failed"]:
        return (
            "Brokers leave out of their lists what may not be described, without a word; whether they leave out "
            "anything here is not known" + ("." if asked is None else f": {cut(asked['error'] or '–', 160)}.")
        )
    if asked["refused"]:
        return (
            "Brokers leave out of their lists what may not be described, without a word: none seen is not none. "
            "Grant the right, or name less in include_topics and include_groups."
        )
    return (
        "Everything the settings name may be described, so the brokers' lists show all of it, unless a rule denies "
        "single names."
    )


def store_line(keep: StoreSettings, files: int, size: int, oldest_ms: int | None) -> str:
    """What the data directory holds, what expires when, and how far back the raw samples go."""
    oldest = "none are kept yet" if oldest_ms is None else f"the oldest hour kept begins {wording.utc(oldest_ms)}"
    return (
        f"{wording.compact(size)}B in {wording.plural(files, 'file')}. Raw samples are kept {keep.raw_retention_h:g} h "
        f"or {wording.compact(keep.raw_max_bytes)}B, whichever is less; {oldest}. Rounds, intervals, events "
        f"and lag by the hour are kept {keep.history_retention_d:g} days. Findings and what people did about them are "
        "kept for good."
    )


def job_line(runs: Sequence[Row], to_ms: int) -> str:
    """The newest run of the record jobs and what was left to read after it; `runs` come newest first."""
    if not runs:
        return "No run of the record jobs is known: duplicates and losses stay unknown."
    newest = runs[0]
    ended = newest["ended_at_ms"]
    when = f"started {wording.age(newest['started_at_ms'], to_ms)}" + (
        "" if ended is None else f", ended {wording.age(ended, to_ms)}"
    )
    backlog = "unknown" if newest["backlog"] is None else wording.plural(newest["backlog"], "offset")
    return f"Newest run: {newest['job']}, {newest['state']}, {when}. Backlog: {backlog}."


def _threshold_row(name: str, value: float, default: float, about: Mapping[str, str]) -> dict[str, object]:
    return {
        "Threshold": name,
        "Value": f"{value:,g}",
        "Default": f"{default:,g}",
        "Changed": "● changed" if value != default else "–",
        "Why this default": about["why"],
    }


def _patterns(include: Sequence[str], exclude: Sequence[str]) -> str:
    left_out = f", but not {', '.join(exclude)}" if exclude else ""
    return cut((", ".join(include) or "none") + left_out, 160)


def _connection(security: Security) -> str:
    """Protocol, mechanism and user. Passwords and keys, even where they are kept, are nobody's business here."""
    parts = (security.protocol, security.sasl_mechanism, f"as {security.username}" if security.username else None)
    return cut(" · ".join(part for part in parts if part), 160)


def _ids_kept(audited: PipelineSettings) -> str:
    within = "" if audited.records_per_s is None else f", less above {audited.records_per_s:g} records/s"
    return f"{audited.rate:.3g}{within}"


def _message_id(known: MessageId) -> str:
    if known.header is not None:
        return cut(f"header {known.header}")
    if known.decoder is not None:
        return cut(f"decoder {known.decoder}")
    if known.json is not None:
        return cut(f"JSON path {known.json} of the value")
    return "key" if known.key else "hash of key and value"
