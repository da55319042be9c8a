"""Which findings are shown: by kind, verdict, state, handling, grade and pipeline, as the URL says it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from dashboard import wording
from dashboard.concerns import Concern
from guarantees.findings import FindingState, Grade
from guarantees.promises import Verdict

INFORMATION = "information"


@dataclass(frozen=True, slots=True)
class Filter:
    """One question about a finding. `words`: every answer there is, with its word; empty where the data decides."""

    parameter: str
    label: str
    answers: Callable[[Concern], Collection[str]]
    words: Mapping[str, str]


FILTERS = (
    Filter("kind", "Kind", lambda one: (one.finding.kind,), {kind.value: word for kind, word in wording.KINDS.items()}),
    Filter(
        "verdict",
        "Verdict",
        lambda one: (one.verdict or INFORMATION,),
        {v.value: wording.LOOKS[v].word for v in (Verdict.VIOLATED, Verdict.DEGRADED)} | {INFORMATION: "Information"},
    ),
    Filter("state", "State", lambda one: (one.finding.state,), {state.value: state.value for state in FindingState}),
    Filter(
        "handling",
        "Handling",
        lambda one: ("acknowledged" if one.is_acknowledged else "unattended",),
        {"acknowledged": "acknowledged", "unattended": "not acknowledged"},
    ),
    Filter("grade", "Grade", lambda one: (one.finding.grade,), {grade.value: grade.value for grade in Grade}),
    Filter("pipeline", "Pipeline", lambda one: tuple(known.name for known, _ in one.broken), {}),
)

Chosen = Mapping[str, Sequence[str]]


def chosen(query: Mapping[str, str]) -> dict[str, list[str]]:
    """What a URL asks for, by parameter; words it cannot mean are dropped."""
    return {one.parameter: asked for one in FILTERS if (asked := _asked(one, query.get(one.parameter, "")))}


def in_url(values: Iterable[str]) -> str:
    """Several values as one parameter: a name may hold a comma, so each is quoted on its own."""
    return ",".join(quote(value, safe="") for value in values)


def options(one: Filter, found: Iterable[Concern], asked: Sequence[str]) -> list[str]:
    """Answers that findings give, and those already asked for; in the order of the words."""
    seen = {str(value) for concern in found for value in one.answers(concern)} | set(asked)
    order = list(one.words)
    return sorted(seen, key=lambda value: (order.index(value) if value in order else 0, value))


def narrowed(found: Iterable[Concern], asked: Chosen) -> list[Concern]:
    """Findings that give one of the answers asked for to every question."""
    questions = [(one, set(asked[one.parameter])) for one in FILTERS if asked.get(one.parameter)]
    return [concern for concern in found if all(wanted & set(one.answers(concern)) for one, wanted in questions)]


def _asked(one: Filter, text: str) -> list[str]:
    values = [unquote(part) for part in text.split(",") if part]
    return list(dict.fromkeys(value for value in values if not one.words or value in one.words))
