"""What the numbers of the tables count or name, by the column's name. Pure."""

from collections.abc import Mapping

from store.contracts import Column, Table, Type

_NAMES: Mapping[str, str] = {
    "offset": """
        base_offset committed_offset current_transaction_start_offset end_offset first_copy_offset first_offset
        high_watermark high_watermark_last high_watermark_max judged_from judged_to last_copy_offset last_offset
        last_stable_offset log_end_offset log_offset log_start_offset next_offset offset previous_offset
        read_from read_to start_offset committed_to""",
    "offsets": """
        backlog below_log_start compacted farthest_offsets lag lag_last lag_max lag_min missing nearest_offsets
        offset_lag offsets_planned offsets_read undecided unexplained""",
    "records": """
        aborted aborted_records extra_copies markers not_json records records_not_json records_without_id
        sampled_extra_copies visible without_id without_key without_place ordered out_of_order repeated
        records_committed records_aborted records_open""",
    "message ids": "ids ids_judged ids_late ids_lost ids_unseen late lost sampled surplus waiting",
    "batches": "batches batches_compared batches_differing gaps",
    "keys": "keys keys_elsewhere",
    "numbers": "numbers_missing sequences_passed_over sequences_repeated",
    "segments": "segments",
    "slices": "slices_done slices_planned",
    "answers": "answered asked failed refused",
    "samples": "samples",
    "commits": "commits",
    "transactions": "committed open torn transactions",
    "version": "client_version",
    "partitions": "partitions without_commit",
    "members": "members",
    "replicas": "copies_silent min_insync_replicas",
    "ranges": "ranges",
    "starts": "restarts",
    "ms": "farthest_ms interval_ms longest_ms median_ms nearest_ms timeout_ms unread_for_ms",
    "s": "busy_s cpu_s horizon_s settle_s",
    "ms since 1970, UTC": "base_timestamp_ms max_timestamp_ms",
    "bytes": "size_bytes total_bytes usable_bytes",
    "share, 0 to 1": "sampling_rate compared_rate",
    "node id": """
        broker controller coordinator copy eligible_leader_replicas in_sync_replicas last_known_eligible_leader_replicas
        leader offline_replicas replica replicas""",
    "epoch": """
        answered_epoch asked_epoch assignment_epoch committed_leader_epoch controller_epoch coordinator_epoch
        copy_leader_epoch current_leader_epoch data_epoch generation group_epoch leader_epoch member_epoch
        producer_epoch topology_epoch""",
    "producer id": "first_producer_id producer_id",
    "sequence": "base_sequence first_sequence highest_sequence last_sequence sequence",
    "hash": "body_hash copy_crc crc id_hash",
    "number": "exit_code level log_partition partition pid port severity tick",
}
OF_NAME: Mapping[str, str] = {name: unit for unit, names in _NAMES.items() for name in names.split()}
# One name, several things counted.
OF_COLUMN: Mapping[tuple[str, str], str] = {
    **{("finding_events", name): "see unit" for name in ("lower", "estimate", "upper")},
    **{("duplicates", name): "records" for name in ("lower", "estimate", "upper")},
    ("lost_ids", "missing"): "records",
    ("transaction_accounts", "aborted"): "transactions",
    ("transaction_accounts", "without_data"): "markers",
    **{("losses", name): "message ids" for name in ("lower", "estimate", "upper")},
    **{(f"lag_{period}", "unknown"): "samples" for period in ("minute", "hour")},
    **{(f"group_lag_{period}", "unknown"): "partitions" for period in ("round", "minute", "hour")},
}
WITHOUT_UNIT = frozenset({Type.TEXT, Type.JSON, Type.FLAG})


def unit(table: Table, column: Column) -> str:
    """The unit of a number, or what it names; empty for text and flags. Raises KeyError for a forgotten one."""
    if column.type in WITHOUT_UNIT:
        return ""
    if column.type is Type.TIME:
        return "UTC, to the ms"
    return OF_COLUMN.get((table.name, column.name)) or OF_NAME[column.name]
