"""Which offsets a finding is about, from the evidence its rule stored; and which groups it names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from guarantees.findings import Finding, Kind
from guarantees.links import whole_number
from guarantees.unknown import Unknown

NO_RANGE = Unknown("its evidence names no range of offsets")


@dataclass(frozen=True, slots=True)
class Offsets:
    """From `first` up to, not including, `following`. Offsets are not records: markers and aborted data use some."""

    first: int
    following: int


# Evidence that holds the first offset, and the one that follows the last.
ENDS: Mapping[Kind, tuple[str, str]] = {
    Kind.REWIND: ("committed_offset", "committed_offset_before"),
    Kind.POSSIBLE_REDELIVERY: ("first_offset", "high_watermark"),
    Kind.SKIPPED_FORWARD: ("committed_offset_before", "committed_offset"),
    Kind.NEW_PARTITION_SKIPPED: ("log_start_offset", "committed_offset"),
    Kind.EXPIRED_UNREAD: ("committed_offset", "log_start_offset"),
    Kind.LOG_TRUNCATED: ("first_lost_offset", "high_watermark_before"),
    Kind.TAIL_TRUNCATED: ("first_lost_offset", "log_end_offset_before"),
    Kind.COMMITTED_AHEAD: ("high_watermark", "committed_offset"),
    Kind.COMMIT_IN_TRUNCATED_LOG: ("end_offset", "committed_offset"),
    Kind.READ_PAST_STABLE_OFFSET: ("last_stable_offset", "committed_offset"),
    Kind.STABLE_OFFSET_FROZEN: ("start_offset", "high_watermark"),
    Kind.TRANSACTION_TIMED_OUT: ("first_offset", "marker_offset"),
}
# Evidence that lists groups with their commits.
LISTS_OF_GROUPS = ("groups_beyond_end", "waiting_groups")


def offsets(finding: Finding) -> Offsets | Unknown:
    """The offsets of the finding's own partition; of sampled ids those between the first and the last one sampled."""
    if finding.kind is Kind.LOST_WRITE:
        return _of_lost_ids(finding)
    if finding.kind in (Kind.DUPLICATE_WRITE, Kind.ABORTED_AT_SINK, Kind.OUT_OF_ORDER):
        first, last = whole_number(finding, "first_offset"), whole_number(finding, "last_offset")
        return _range(first, None if last is None else last + 1)
    first, following = (whole_number(finding, name) for name in ENDS.get(finding.kind, ("", "")))
    return _range(first, following)


def groups(finding: Finding) -> dict[str, Offsets | Unknown]:
    """The group of the finding and those its evidence lists, each with the offsets that concern it."""
    own = offsets(finding)
    found = {} if finding.place.group_id is None else {finding.place.group_id: own}
    for group_id, committed in _listed(finding):
        found.setdefault(group_id, _up_to(own, committed, is_cut=finding.kind is not Kind.STABLE_OFFSET_FROZEN))
    return found


def _of_lost_ids(finding: Finding) -> Offsets | Unknown:
    listed = finding.evidence.get("lost")
    shown = [one["offset"] for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    known = [offset for offset in shown if isinstance(offset, int)]
    if len(known) < (whole_number(finding, "sampled_lost") or 0):
        return Unknown("its evidence shows some of the lost ids only")
    return _range(min(known), max(known) + 1) if known else NO_RANGE


def _listed(finding: Finding) -> Iterator[tuple[str, int]]:
    for name in LISTS_OF_GROUPS:
        listed = finding.evidence.get(name)
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict) and isinstance(one.get("committed_offset"), int):
                yield str(one.get("group_id")), one["committed_offset"]


def _up_to(own: Offsets | Unknown, committed: int, *, is_cut: bool) -> Offsets | Unknown:
    """Of a cut log a group had read the lost offsets below its commit; what it waits for begins at its commit."""
    if isinstance(own, Unknown):
        return own
    return _range(own.first, committed) if is_cut else _range(max(own.first, committed), own.following)


def _range(first: int | None, following: int | None) -> Offsets | Unknown:
    return NO_RANGE if first is None or following is None or following < first else Offsets(first, following)
