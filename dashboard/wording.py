"""The words, number formats and colours of the pages, in one place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dashboard.names import in_markdown
from dashboard.view import View
from guarantees.amounts import counted
from guarantees.completeness import RoundsSeen, ends_early, is_whole
from guarantees.findings import Bounds, Kind
from guarantees.promises import Guarantee, Verdict
from guarantees.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Look:
    """A state as icon, word and colour: never colour alone. `tone` is the theme's name of the colour."""

    icon: str
    word: str
    colour: str
    tone: str
    marker: str

    @property
    def text(self) -> str:
        return f"{self.icon} {self.word}"

    @property
    def badge(self) -> str:
        """As Markdown, with the theme's own readable text colour."""
        return f":{self.tone}-badge[{self.text}]"


LOOKS: Mapping[Verdict, Look] = {
    Verdict.VIOLATED: Look("✕", "Violated", "#D55E00", "red", "x"),
    Verdict.DEGRADED: Look("▲", "Degraded", "#E69F00", "orange", "triangle-up"),
    Verdict.UNKNOWN: Look("?", "Unknown", "#7A8793", "gray", "circle-open"),
    Verdict.STALE: Look("◷", "Stale", "#7A8793", "gray", "hourglass-open"),
    Verdict.OK: Look("✓", "OK", "#009E73", "green", "circle"),
}
WORST_FIRST: tuple[Verdict, ...] = tuple(LOOKS)
# What breaks no promise.
INFORMATION = "• Information"

KINDS: Mapping[Kind, str] = {
    Kind.DUPLICATE_WRITE: "Duplicate records",
    Kind.LOST_WRITE: "Lost records",
    Kind.REWIND: "Commit went back",
    Kind.POSSIBLE_REDELIVERY: "Possible re-delivery",
    Kind.GROUP_STOPPED: "Group stopped",
    Kind.GROUP_STALLED: "Group stalled",
    Kind.SKIPPED_FORWARD: "Commit jumped forward",
    Kind.COMMIT_EXPIRED: "Commit expired",
    Kind.NEW_PARTITION_SKIPPED: "New partition skipped",
    Kind.STALE_SUBSCRIPTION: "Stale subscription",
    Kind.COMMIT_PENDING: "Commit pending",
    Kind.READ_PAST_STABLE_OFFSET: "Read past the stable offset",
    Kind.ABORTED_AT_SINK: "Aborted records at the sink",
    Kind.OUT_OF_ORDER: "Records out of order",
    Kind.FALLING_BEHIND: "Falling behind",
    Kind.EXPIRED_UNREAD: "Expired unread",
    Kind.LOG_TRUNCATED: "Log truncated",
    Kind.CONFLICTING_OFFSET: "Two contents of an offset",
    Kind.TAIL_TRUNCATED: "Log tail truncated",
    Kind.UNCLEAN_ELECTION: "Unclean election",
    Kind.COMMIT_IN_TRUNCATED_LOG: "Commit in truncated log",
    Kind.WRONG_COMMIT_EPOCH: "Wrong commit epoch",
    Kind.COMMITTED_AHEAD: "Commit beyond the end",
    Kind.BELOW_MIN_ISR: "Below min ISR",
    Kind.AT_MIN_ISR: "At min ISR",
    Kind.MIN_ISR_ABOVE_REPLICAS: "Min ISR above replicas",
    Kind.TOPIC_RECREATED: "Topic created anew",
    Kind.COMMIT_OF_OLD_TOPIC: "Commit of the old topic",
    Kind.PARTITIONS_ADDED: "Partitions added",
    Kind.STABLE_OFFSET_FROZEN: "Stable offset frozen",
    Kind.RESENT_BATCH: "Batch stored twice",
    Kind.MISSING_SEQUENCES: "Missing sequences",
    Kind.SEQUENCE_GAP: "Sequence gap",
    Kind.PRODUCER_RECOVERED: "Producer recovered",
    Kind.ODD_TIMESTAMPS: "Odd timestamps",
    Kind.PRODUCER_FENCED: "Producer fenced",
    Kind.UNFENCED_RESTART: "Restart without fencing",
    Kind.TRANSACTION_TIMED_OUT: "Transaction timed out",
    Kind.TORN_TRANSACTION: "Torn transaction",
}

PROMISES: Mapping[Guarantee, str] = {
    Guarantee.AT_MOST_ONCE: "at most once",
    Guarantee.AT_LEAST_ONCE: "at least once",
    Guarantee.EXACTLY_ONCE: "exactly once",
}

SEVERITIES: Mapping[int, str] = {
    4: "data lost or wrong",
    3: "duplicates, disorder, or a small loss",
    2: "a promise at risk now",
    1: "information",
}


def promise(guarantee: Guarantee, is_inferred: bool) -> str:
    return f"{PROMISES[guarantee]} ({'inferred' if is_inferred else 'declared'})"


def count(value: int | None) -> str:
    """A count in full digits; a gap stays a gap."""
    return "–" if value is None else f"{value:,}"


def known(value: int | Unknown | None) -> str:
    """A value, or why there is none."""
    return f"unknown: {value.reason}" if isinstance(value, Unknown) else count(value)


def compact(value: int) -> str:
    """A count for a tile, in SI steps above 99,999."""
    for size, suffix in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= size and value >= 100_000:
            return f"{value / size:.3g} {suffix}"
    return count(value)


def plural(number: int, noun: str) -> str:
    """As the findings count: one record, two records."""
    return counted(number, noun)


def bounds(value: Bounds | None) -> str:
    """How much, with the interval it is known to lie in: `41 (38 to 44) records`."""
    return "–" if value is None else f"{amount(value.lower, value.estimate, value.upper)} {value.unit}"


def amount(lower: int, estimate: int | None, upper: int | None) -> str:
    """A number with its interval, said as little as the truth allows."""
    if lower == upper:
        return count(lower)
    if upper is None:
        return f"at least {count(lower)}" if lower else "unknown how many"
    if estimate is None or (lower == 0 and estimate == 0):
        return f"{count(lower)} to {count(upper)}" if lower else f"at most {count(upper)}"
    return f"{count(estimate)} ({count(lower)} to {count(upper)})"


def duration(length_ms: int) -> str:
    """A length of time in its two largest units."""
    seconds = max(0, length_ms) // 1000
    if seconds < 60:
        return f"{seconds} s"
    for size, unit, rest, rest_unit in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            small = seconds % size // rest
            return f"{seconds // size} {unit}" + (f" {small} {rest_unit}" if small else "")
    raise AssertionError("every length above a minute has a unit")


def age(time_ms: int | None, at_ms: int) -> str:
    return "never" if time_ms is None else f"{duration(at_ms - time_ms)} ago"


def utc(time_ms: int | None) -> str:
    """A moment in full, as evidence shows it."""
    return "–" if time_ms is None else f"{_moment(time_ms):%Y-%m-%d %H:%M:%S}.{time_ms % 1000:03d} UTC"


def clock(time_ms: int) -> str:
    return f"{_moment(time_ms):%H:%M:%S}"


def since(time_ms: int, at_ms: int) -> str:
    """When, as short as it is clear: the date only when it is another day."""
    same_day = _moment(time_ms).date() == _moment(at_ms).date()
    return clock(time_ms) if same_day else f"{_moment(time_ms):%d %b %H:%M}"


def span(from_ms: int, to_ms: int) -> str:
    start, end = _moment(from_ms), _moment(to_ms)
    last = f"{end:%H:%M:%S}" if start.date() == end.date() else f"{end:%Y-%m-%d %H:%M:%S}"
    return f"{start:%Y-%m-%d %H:%M:%S} to {last} UTC"


def _moment(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms / 1000, UTC)


def rounds(seen: RoundsSeen) -> str:
    """How complete a window is: `178 of 180 expected rounds, longest gap between rounds 12 s`."""
    if not seen.present:
        return "no answered round"
    gap = seen.longest_gap_ms
    between = "" if gap is None else f", longest gap between rounds {gap / 1000:.0f} s"
    since = "" if seen.first_ms is None else f" since {utc(seen.first_ms)}"
    ended = f", none after {clock(seen.last_ms)}" if seen.last_ms is not None and ends_early(seen) else ""
    return f"{count(seen.present)} of {count(seen.expected)} expected rounds{since}{between}{ended}"


def none_seen(what: str, seen: RoundsSeen, within: str = "this window") -> str:
    """What did not happen in a window, as far as anybody looked: where nobody did, that is unknown and not none."""
    if not seen.present:
        return f"Unknown: no round was stored in {within}."
    told = "" if is_whole(seen) else f", as far as {rounds(seen)} tell"
    return f"{what} in {within}{told}."


def nothing_collected(view: View) -> tuple[str, str]:
    """That nothing of the cluster is known up to the end of the window, and what to do."""
    if view.is_frozen:
        return "No answer of this cluster is stored of any time before the end of this window.", "Choose a later one."
    return (
        "The collector has stored no answer of this cluster yet.",
        "tidemark up starts it; Overview says how far it is.",
    )


def searched(view: View) -> str:
    """What belongs into a sentence that denies something, where the search alone may leave it out."""
    return " that the search finds" if view.search.strip() else ""


NOT_OBSERVED = "Grey cells: unknown or not observed, never zero."


def lag_chart_notes(partitions: int, shown: int, unknown_reasons: Sequence[str]) -> list[str]:
    """What a reader of the lag chart must know: units, what is left out, and why there are gaps."""
    notes = ["Lag is counted in offsets, not records; a bucket shows the highest value seen.", NOT_OBSERVED]
    if shown < partitions:
        notes.append(f"{count(shown)} of {count(partitions)} partitions are drawn, those with the most lag.")
    if unknown_reasons:
        reasons = "; ".join(in_markdown(reason) for reason in unknown_reasons[:3])
        notes.append(f"The total is withheld where a partition is unknown ({reasons}).")
    return notes


def cut_note(shown: int, total: int, what: str, which: str, remedy: str) -> str:
    """That a list is cut: how much of it is shown, which part, and how to find the rest."""
    return f"{count(shown)} of {count(total)} {what} are shown, {which}. {remedy}"


def answer_note(observed_at_ms: int | None, step_ms: int, view: View) -> str:
    """How fresh the answer is, how often the cluster is sampled, and when the page asks again."""
    seen = "no data yet" if observed_at_ms is None else f"Data up to {clock(observed_at_ms)} UTC"
    refresh = f"next refresh in {view.refresh_s} s" if view.refresh_s else "not refreshing"
    return f"{seen} · sampled every {step_ms / 1000:g} s · {'frozen window' if view.is_frozen else refresh}"
