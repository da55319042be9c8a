"""The page of the truth run, from the catalogue of faults and the results on disk."""

from pathlib import Path

from guarantees.findings import Kind
from guarantees.thresholds import Thresholds
from lab.faults.catalogue import FAULTS, ON_GROUND, STORY_CODES
from lab.results import load_results
from lab.truth_page import About, page
from lab.watch import SETTLE_S

PAGE = Path("docs/truth.md")
# Of what the lab set out to inject.
_NOT_INJECTED = {
    "S1 without a source": "what a producer never sent is not observable from outside; nothing is claimed of it",
}
_SETTLE_S = {
    str(Kind.STABLE_OFFSET_FROZEN): Thresholds().frozen_after_s,
    str(Kind.LOST_WRITE): float(SETTLE_S),
    str(Kind.ABORTED_AT_SINK): float(SETTLE_S),
}


def write_page(results: Path, target: Path) -> None:
    """Made anew from all results."""
    target.write_text(page(load_results(results), _about(), _SETTLE_S, _NOT_INJECTED))


def _about() -> list[About]:
    on_ground = [
        About(each.CODE, each.TITLE, each.BREAKS, each.SILENT, is_control=each.CODE.startswith("C"))
        for each in ON_GROUND.values()
    ]
    story = [
        About(STORY_CODES[name], _words(name), module.BREAKS, "", is_control=False) for name, module in FAULTS.items()
    ]
    return sorted([*on_ground, *story], key=_place)


def _place(about: About) -> tuple[str, int]:
    """Faults before controls, by number."""
    return ("C" if about.is_control else "", int("".join(filter(str.isdigit, about.code))))


def _words(name: str) -> str:
    return name.replace("_", " ")
