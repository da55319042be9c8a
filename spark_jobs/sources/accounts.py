"""The account of a range: what was read, and whether completely."""

from dataclasses import dataclass

ACCOUNT_DDL = (
    "error string, records bigint, records_without_id bigint, records_not_json bigint, aborted_records bigint, "
    "markers bigint, bytes bigint, log_start_offset bigint, last_stable_offset bigint, high_watermark bigint, "
    "observed_at_ms bigint"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """`error` None: the range was read to its end. Counts are of the range's offsets; `bytes` of what was fetched.

    `records` are those a read_committed consumer is given; those without an id among them are counted apart and never
    hashed, and among those the ones whose id is sought in JSON and whose value is none. Offsets are as the last answer
    gave them; `observed_at_ms` is when that arrived.
    """

    error: str | None
    records: int = 0
    records_without_id: int = 0
    records_not_json: int = 0
    aborted_records: int = 0
    markers: int = 0
    bytes: int = 0
    log_start_offset: int = 0
    last_stable_offset: int = 0
    high_watermark: int = 0
    observed_at_ms: int = 0
