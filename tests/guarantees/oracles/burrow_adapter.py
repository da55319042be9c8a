"""Burrow's terms in ours: commits and end offsets become rounds, the findings of the rounds Burrow's word.

Burrow reads each commit as it is made and knows no members. We sample every 5 s and cannot see a commit repeated. So
the group has its member for as long as it goes on committing: until the longest distance between two of its commits has
passed after the last one. The end of the log is what the commits' lags say, and comes to the given current lag by the
steps of the broker offsets; it never falls, and never below a commit.
"""

from guarantees.findings import Finding, Kind
from guarantees.observations import Round
from tests.guarantees.builders import GROUP, OWNER, seen, steps, watch

INTERVAL_S = 5
# Burrow's badness, the worst last.
WORDS = {Kind.GROUP_STOPPED: "STOP", Kind.GROUP_STALLED: "STALL", Kind.REWIND: "REWIND", Kind.FALLING_BEHIND: "WARN"}
BADNESS = ("OK", "WARN", "STOP", "STALL", "REWIND")


def window_of(case: dict) -> dict:
    """A whole-group case as a window: the end offset stands, and ages count back from the evaluation."""
    if case["kind"] == "evaluate":
        return case
    now_s = max(commit["age_s"] for commit in case["commits"])
    end = case["broker_offset"]
    window = [
        {"offset": c["offset"], "timestamp_ms": (now_s - c["age_s"]) * 1000, "lag": end - c["offset"]}
        for c in case["commits"]
    ]
    return case | {
        "window": window,
        "broker_offsets": [end],
        "current_lag": end - window[-1]["offset"],
        "now_s": now_s,
    }


def rounds(case: dict, *, waited_s: float = 0, growing: bool = False) -> list[Round]:
    """What we would have sampled by the evaluation, or so much later; `growing`: records go on coming, one a round."""
    if case.get("commits", ()) is None:
        return []
    case = window_of(case)
    first_ms = case["window"][0]["timestamp_ms"]
    commits = [(c["timestamp_ms"] - first_ms) / 1000 for c in case["window"]]
    gone_s = commits[-1] + max(after - before for before, after in zip(commits, commits[1:], strict=False))
    now_s = case["now_s"] - first_ms / 1000
    ends = _ends(case, commits, now_s)
    found = []
    for second in sorted({*steps(0, now_s + waited_s, INTERVAL_S), now_s + waited_s}):
        number = max(number for number, at_s in enumerate(commits) if at_s <= second)
        grown = max(0, int((second - commits[-1]) / INTERVAL_S)) if growing else 0
        found.append(
            seen(
                second,
                high=max(end for at_s, end in ends if at_s <= second) + grown,
                committed=case["window"][number]["offset"],
                members=(OWNER,) if second <= gone_s else (),
            )
        )
    return found


def _ends(case: dict, commits: list[float], now_s: float) -> list[tuple[float, int]]:
    """From which second on the log ended at least where."""
    newest = case["window"][-1]["offset"] + case["current_lag"]
    ends = [
        (at_s, max(c["offset"], min(c["offset"] + (c["lag"] or 0), newest)))
        for at_s, c in zip(commits, case["window"], strict=True)
    ]
    later = [end for end in sorted(case["broker_offsets"]) if end < newest]
    step_s = (now_s - commits[-1]) / (len(later) + 1)
    return [*ends, *((commits[-1] + step_s * n, end) for n, end in enumerate([*later, newest], start=1))]


def word(observed: list[Round]) -> str:
    """The worst open finding at the end in Burrow's word; a group that was never seen is not found."""
    memory, _ = watch(observed)
    if GROUP not in memory.groups:
        return "NOTFOUND"
    return max(("OK", *(WORDS[f.kind] for f in memory.open.values() if f.kind in WORDS)), key=BADNESS.index)


def rewinds(observed: list[Round]) -> list[Finding]:
    """Also those that are over: unlike Burrow we keep a rewind that was made good."""
    _, found = watch(observed)
    return [finding for finding in found.values() if finding.kind is Kind.REWIND]


def group_word(partition_word: str) -> str:
    """Burrow's group status of a group with one partition."""
    return "ERR" if partition_word in ("STOP", "STALL", "REWIND") else partition_word
