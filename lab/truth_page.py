"""docs/truth.md: what was injected, what was found, and how right that was, made from the results alone. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lab.results import Result, ResultRow

_SEPARATOR = " · "


@dataclass(frozen=True, slots=True)
class About:
    """What the page says of a fault or control besides its results."""

    code: str
    title: str
    breaks: str
    silent: str
    is_control: bool


@dataclass(frozen=True, slots=True)
class Score:
    """`met` of the `demanded` findings were there and right; `right` of all `findings` were true."""

    demanded: int
    met: int
    findings: int
    right: int

    @property
    def recall(self) -> float | None:
        return self.met / self.demanded if self.demanded else None

    @property
    def precision(self) -> float | None:
        return self.right / self.findings if self.findings else None


def score(results: Iterable[Result]) -> Score:
    """Over everything that could be injected."""
    judged = [result for result in results if result.error is None]
    rows = [row for result in judged for row in result.rows]
    return Score(
        demanded=sum(row.demanded for row in rows),
        met=sum(row.met for row in rows),
        findings=sum(row.findings for row in rows) + sum(len(result.false_findings) for result in judged),
        right=sum(row.right_findings for row in rows),
    )


def page(
    results: Sequence[Result],
    about: Sequence[About],
    settle_s: Mapping[str, float],
    not_injected: Mapping[str, str],
) -> str:
    """The whole page. `settle_s`: kinds that wait on purpose, and how long; they are within the seconds shown."""
    shown = [each for each in about if any(result.code == each.code for result in results)]
    parts = [
        _INTRODUCTION,
        _summary(results),
        "## Faults",
        _table(_FAULT_HEAD, (line for each in shown if not each.is_control for line in _fault_lines(each, results))),
        _settle(settle_s),
        "## Controls",
        "What happens in every healthy cluster: nothing may be claimed but the fact itself.",
        _table(_CONTROL_HEAD, (_control_line(each, results) for each in shown if each.is_control)),
        _beside(results, about),
        "## What was wrong",
        _wrong(results),
        "## Not injected",
        _table(("fault", "why"), [*not_injected.items(), *_without_result(results, about)]),
    ]
    return "\n\n".join(parts) + "\n"


_INTRODUCTION = """# Truth table

Written by `make truth` from its own results; nothing in it is edited. Each fault was injected for real into a Kafka
cluster of a controller and three brokers on the loopback address: brokers killed and paused, clients that crash,
offsets set, transactions left open. Each run is another seed: other counts, other brokers. Tidemark watched from
outside with its default thresholds and rounds of five seconds.

*injected* is what the lab did, *claimed* the interval the finding gives (with its best estimate where it has one),
*right* how many of the findings that had to be made were made with the right place, count, grade and evidence.
*seconds* run from the moment the evidence existed in the cluster, which the lab recorded, until the finding was in the
store; below zero, Tidemark saw it before the lab did. Values of several runs, or of several topics, are
separated by dots.

*met by clients* is a second judge that knows neither the fault nor Tidemark: everything the lab's clients sent, were
acknowledged, polled and read at the end, checked with the definitions of Jepsen's Kafka workload, in records. Where it
and the ground truth disagree the lab is wrong, and the run counts as not injected; where both disagree with a finding,
Tidemark is. The faults of the workload share their clients, and one history."""
_FAULT_HEAD = (
    *("fault", "what it breaks", "finding", "injected", "claimed", "right"),
    *("seconds", "false findings", "met by clients"),
)
_CONTROL_HEAD = ("control", "runs", "stated as a fact or a possibility", "false findings", "met by clients")


def _summary(results: Sequence[Result]) -> str:
    found = score(results)
    seeds = sorted({result.seed for result in results})
    waits = [row.visible_after_s for result in results for row in result.rows if _is_timed(row)]
    slowest = f"; the slowest finding took {max(w for w in waits if w is not None):.1f} s" if waits else ""
    return (
        f"**Recall {_share(found.recall)}**: {found.met} of {found.demanded} findings that had to be made were made, "
        f"and were right. **Precision {_share(found.precision)}**: {found.right} of {found.findings} findings were "
        f"true and right. Runs: {len(seeds)}{slowest}."
    )


def _fault_lines(about: About, results: Sequence[Result]) -> Iterable[tuple[str, ...]]:
    runs = [result for result in results if result.code == about.code]
    judged = [result for result in runs if result.error is None]
    false = sum(len(result.false_findings) for result in judged)
    if not judged:
        yield f"{about.code} {about.title}", about.breaks, "could not be injected", "", "", "", "", "", ""
    kinds = dict.fromkeys(row.kind for result in judged for row in result.rows if row.demanded)
    if judged and not kinds:
        head = (f"**{about.code}** {about.title}", about.breaks, "none may be made", "", "", _runs(judged))
        yield *head, "", str(false), _met(judged)
    for number, kind in enumerate(kinds):
        rows = [row for result in judged for row in result.rows if row.kind == kind and row.demanded]
        yield (
            f"**{about.code}** {about.title}" if number == 0 else "",
            about.breaks if number == 0 else "",
            f"`{kind}`",
            _SEPARATOR.join("–" if row.injected is None else f"{row.injected:,}" for row in rows),
            _SEPARATOR.join(_claimed(row) for row in rows),
            f"{sum(row.met for row in rows)} of {sum(row.demanded for row in rows)}",
            _SEPARATOR.join("–" if row.visible_after_s is None else f"{row.visible_after_s:.1f}" for row in rows),
            str(false) if number == 0 else "",
            _met(judged) if number == 0 else "",
        )


def _runs(results: Sequence[Result]) -> str:
    return f"{len(results)} run{'' if len(results) == 1 else 's'}"


def _control_line(about: About, results: Sequence[Result]) -> tuple[str, ...]:
    runs = [result for result in results if result.code == about.code and result.error is None]
    stated = dict.fromkeys(f"`{row.kind}`" for result in runs for row in result.rows if row.findings)
    false = sum(len(result.false_findings) for result in runs)
    return f"**{about.code}** {about.title}", str(len(runs)), ", ".join(stated) or "nothing", str(false), _met(runs)


def _met(results: Sequence[Result]) -> str:
    """What the second judge found in each run; it agrees with the ground truth, or the run was not judged."""
    met = [", ".join(each.second_judge) or "nothing" for each in results if each.second_judge is not None]
    return met[0] if len(set(met)) == 1 else _SEPARATOR.join(met)


def _claimed(row: ResultRow) -> str:
    if not row.findings:
        return "missed"
    if row.injected is None:
        return "–"
    upper = "…" if row.upper is None else f"{row.upper:,}"
    estimate = "" if row.estimate is None else f"{row.estimate:,} "
    return f"{estimate}[{row.lower or 0:,}, {upper}]"


def _beside(results: Sequence[Result], about: Sequence[About]) -> str:
    """Findings on what was true because of a fault and is no fault's own: too few in-sync replicas of other topics."""
    codes = {each.code for each in about}
    rows = [row for result in results if result.code not in codes for row in result.rows if row.findings]
    kinds = dict.fromkeys(row.kind for row in rows)
    counts = {kind: [(row.right_findings, row.findings) for row in rows if row.kind == kind] for kind in kinds}
    told = [
        f"`{kind}` {sum(right for right, _ in found)} of {sum(all_ for _, all_ in found)} right"
        for kind, found in counts.items()
    ]
    what = "Beside them, because brokers were away, and with the seconds that the lab saw itself"
    return f"{what}: {', '.join(told) or 'nothing was found'}."


def _without_result(results: Sequence[Result], about: Sequence[About]) -> Iterable[tuple[str, str]]:
    """What could be injected, and was not run."""
    known = {result.code for result in results}
    return [(f"{each.code} {each.title}", "no run so far") for each in about if each.code not in known]


def _settle(settle_s: Mapping[str, float]) -> str:
    waits = ", ".join(f"`{kind}` {seconds:.0f} s" for kind, seconds in settle_s.items())
    return f"Within these seconds some rules wait on purpose before they speak: {waits}."


def _wrong(results: Sequence[Result]) -> str:
    lines = [f"- {result.code}, run {result.seed}: {sentence}" for result in results for sentence in _sentences(result)]
    return "\n".join(lines) or "Nothing."


def _sentences(result: Result) -> Iterable[str]:
    if result.error is not None:
        yield f"could not be injected: {result.error}"
    for row in result.rows:
        yield from (f"`{row.kind}`: {complaint}" for complaint in row.complaints)
    yield from (f"false: {finding}" for finding in result.false_findings)


def _is_timed(row: ResultRow) -> bool:
    return row.visible_after_s is not None and row.demanded > 0


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)
