"""`python -m lab truth`: every fault and control, for real, and the table of what Tidemark made of them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.check import judged_story
from lab.errors import LabError
from lab.faults.catalogue import ON_GROUND, STORY_CODES, GroundFault
from lab.judge import Verdict
from lab.kafka_jars import Progress
from lab.results import Result, append_results, load_results, result_of
from lab.running import discard, new_directory
from lab.story import tell_more
from lab.trial import Trial, trial
from lab.truth import now_ms

SEEDS = (1, 2, 3)
RESULTS = Path("build/truth.jsonl")
CODES = (*ON_GROUND, *STORY_CODES.values())
# What the story's cluster showed besides its faults.
_WORKLOAD = "workload"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which faults, with which seeds; `only` names faults, none of them means all, `again` also those with a result."""

    seeds: Sequence[int]
    only: Sequence[str]
    again: bool

    def left(self, results: Path, seed: int) -> set[str]:
        """What has no result yet."""
        done = {each.code for each in load_results(results) if each.seed == seed and each.error is None}
        return {code for code in self.only or CODES if self.again or code not in done}


def run_truth(results: Path, wanted: Wanted, progress: Progress) -> None:
    """For each seed a cluster for the faults that need no records, and one for the story of those that do."""
    if unknown := sorted(set(wanted.only) - set(CODES)):
        raise LabError(f"No fault is called {', '.join(unknown)}: choose from {', '.join(CODES)}.")
    for seed in wanted.seeds:
        left = wanted.left(results, seed)
        if faults := [fault for code, fault in ON_GROUND.items() if code in left]:
            _run_on_ground(results, seed, faults, progress)
        if left & set(STORY_CODES.values()):
            _run_story(results, seed, progress)


def _run_on_ground(results: Path, seed: int, faults: Sequence[GroundFault], progress: Progress) -> None:
    """First what leaves the brokers alone, all at once; then each that hurts them by itself."""

    def run(directory: Path) -> bool:
        with trial(directory, seed, faults, progress) as running:
            together = [fault for fault in faults if not fault.ALONE]
            for batch in filter(None, [together, *([fault] for fault in faults if fault.ALONE)]):
                running.run(batch)
                found = _note(results, running)
                running.clear()
            return all(map(_is_right, found))

    _in_directory(run, progress)


def _run_story(results: Path, seed: int, progress: Progress) -> None:
    """The faults of the workload; each takes as long as all of them."""

    def run(directory: Path) -> bool:
        at_ms, started_s = now_ms(), time.monotonic()
        try:
            verdict, disagreements, met = judged_story(directory, tell_more)
            error = f"the lab is wrong about itself: {'; '.join(disagreements)}" if disagreements else None
        except LabError as exc:
            error = str(exc)
        took_s = round(time.monotonic() - started_s, 1)
        if error is None:
            found = story_results(verdict, seed, at_ms, took_s, met)
        else:
            found = [Result(code, seed, at_ms, took_s, error=error) for code in STORY_CODES.values()]
        append_results(results, found)
        _say_what_is_wrong(found, progress)
        return all(map(_is_right, found))

    _in_directory(run, progress)


def story_results(
    verdict: Verdict, seed: int, at_ms: int, took_s: float, met: tuple[str, ...] | None = None
) -> list[Result]:
    """One for each fault of the story, and one for what nothing injected explains. `met`: by clients of all of it."""
    numbered = replace(verdict, rows=tuple(replace(row, fault=STORY_CODES[row.fault]) for row in verdict.rows))
    false = [f"{each.kind} on {each.place}: {each.title}" for each in verdict.false_findings]
    found = [result_of(code, seed, at_ms, took_s, numbered, (), met) for code in STORY_CODES.values()]
    return [*found, result_of(_WORKLOAD, seed, at_ms, took_s, numbered, false)]


def _in_directory(run: Callable[[Path], bool], progress: Progress) -> None:
    """What went wrong keeps its ground truth, findings and logs."""
    directory = new_directory()
    if run(directory):
        discard(directory)
    else:
        progress(f"Ground truth, findings and logs are kept in {directory}")


def _note(results: Path, running: Trial) -> list[Result]:
    """Everything so far again: a claim about an earlier fault may come late."""
    found = running.results()
    append_results(results, found)
    _say_what_is_wrong(found, running.progress)
    return found


def _say_what_is_wrong(found: Sequence[Result], progress: Progress) -> None:
    for result in found:
        complaints = [complaint for row in result.rows for complaint in row.complaints]
        for sentence in filter(None, (result.error, *complaints, *result.false_findings)):
            progress(f"         {result.code}: {sentence}")


def _is_right(result: Result) -> bool:
    return not (result.error or result.false_findings or any(row.complaints for row in result.rows))
