"""What is said beside the findings, whole: causes, inferred promises and promise audits, kept as text files.

`python -m tests.guarantees.whole_answers` writes the files anew; the difference is for a person to read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from guarantees.cause_links import LINKS
from guarantees.causes import causes
from guarantees.findings import Finding
from guarantees.inference import inferred
from guarantees.links import GroupRebalance
from guarantees.promise_audit import Requirement
from guarantees.promises import Guarantee
from tests.guarantees.pipeline_builders import facts
from tests.guarantees.test_causes import (
    AT_PLACE,
    BY_EVIDENCE,
    BY_REBALANCE,
    IN_SINK,
    IN_SOURCE,
    PIPELINE,
    REDELIVERY,
    T,
)
from tests.guarantees.test_inference import CHANGES, PLAIN
from tests.guarantees.test_promise_audit import ONE_FACT, requirements

DIRECTORY = Path(__file__).parent / "whole_answers"


def explained(effect: Finding, *others: Finding, rebalances: Iterable[GroupRebalance] = ()) -> Iterator[str]:
    for cause in causes([effect, *others], rebalances, (PIPELINE,), LINKS).get(effect.finding_id, ()):
        said, by = cause.statement, cause.event or "a finding"
        yield f"{effect.kind}: {cause.link}, by {by}, at {(cause.at_ms - T) / 1000:g} s"
        yield f"  {said.grade}: {said.text}" + (f" [if {said.assumption}]" if said.assumption else "")


def links() -> Iterator[str]:
    for _, _, effect, cause, _ in AT_PLACE:
        yield from explained(effect, cause)
    for source in (REDELIVERY, IN_SOURCE):
        yield from explained(IN_SINK, source)
    for effect, event, _ in BY_REBALANCE:
        yield from explained(effect, rebalances=[event])
    for effect, _ in BY_EVIDENCE:
        yield from explained(effect)


def inferences() -> Iterator[str]:
    for changed, _ in CHANGES:
        said = inferred("payments", facts(**PLAIN | changed))
        yield f"{said.promise}"
        yield from (f"  {reason.speaks_for}: {reason.fact} ({reason.source})" for reason in said.reasons)
        yield from (f"  unseen: {one}" for one in said.unseen)


def audits() -> Iterator[str]:
    for promise in Guarantee:
        yield f"{promise}"
        yield from (required(one) for one in requirements(promise).values())
    yield "without a sink"
    yield from (required(one) for one in requirements(has_sink=False).values())
    yield "changed in one fact"
    yield from (required(requirements(**changed)[name]) for name, changed, _ in ONE_FACT)


def required(one: Requirement) -> str:
    return f"  {one.name} | needed: {one.needed} | seen: {one.seen} | met: {one.met} | else: {one.consequence}"


ANSWERS: Mapping[str, Callable[[], Iterator[str]]] = {one.__name__: one for one in (links, inferences, audits)}


def written_out(lines: Iterable[str]) -> str:
    """Each line once."""
    return "\n".join(dict.fromkeys(lines)) + "\n"


if __name__ == "__main__":
    for name, answer in ANSWERS.items():
        (DIRECTORY / f"{name}.txt").write_text(written_out(answer()))
