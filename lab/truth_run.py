"""`python -m lab truth`: every fault and control, for real, and the table of what Tidemark made of them."""

from collections.abc import Sequence
from pathlib import Path

from lab.errors import LabError
from lab.faults.catalogue import ON_GROUND, GroundFault
from lab.kafka_jars import Progress
from lab.results import append_results, load_results
from lab.running import discard, new_directory
from lab.trial import Trial, trial

SEEDS = (1, 2, 3)
RESULTS = Path("build/truth.jsonl")


def run_truth(results: Path, seeds: Sequence[int], only: Sequence[str], *, again: bool, progress: Progress) -> None:
    """Run what has no result yet, one cluster a seed; `only` names faults, none of them means all."""
    if unknown := sorted(set(only) - ON_GROUND.keys()):
        raise LabError(f"No fault is called {', '.join(unknown)}: choose from {', '.join(ON_GROUND)}.")
    for seed in seeds:
        done = set() if again else {each.code for each in load_results(results) if each.seed == seed and not each.error}
        left = [fault for code, fault in ON_GROUND.items() if code not in done and (not only or code in only)]
        if left:
            _run_seed(results, seed, left, progress)


def _run_seed(results: Path, seed: int, faults: Sequence[GroundFault], progress: Progress) -> None:
    """First what leaves the brokers alone, all at once; then each that hurts them by itself."""
    directory = new_directory()
    with trial(directory, seed, progress) as running:
        together = [fault for fault in faults if not fault.ALONE]
        for batch in filter(None, [together, *([fault] for fault in faults if fault.ALONE)]):
            running.run(batch)
            _note(results, running)
    discard(directory)


def _note(results: Path, running: Trial) -> None:
    """Everything so far again: a claim about an earlier fault may come late."""
    found = running.results()
    append_results(results, found)
    for result in found:
        for sentence in (*(c for row in result.rows for c in row.complaints), *result.false_findings):
            running.progress(f"         {result.code}: {sentence}")
