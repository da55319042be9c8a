"""What explains the findings, and what a pipeline's promise needs, put together from cached answers."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dashboard import answers, cached, explained, known_findings, promise_questions, rebalances_read
from dashboard.cached import DAY_MS, HOUR_MS
from dashboard.explained import Needs
from dashboard.queries import Rows
from dashboard.rebalance_questions import REBALANCES_OF
from dashboard.remembered import remembered
from dashboard.view import View
from guarantees.cause_links import LINKS
from guarantees.causes import followed_by, wanted_rebalances
from guarantees.findings import Finding
from guarantees.links import Cause, WantedRebalances
from guarantees.unknown import Unknown


def needs(view: View, name: str | None) -> Needs | None:
    """What the promise of the pipeline of that name needs; None where there is none."""
    judged = next((one.judged for one in answers.standings(view) if one.pipeline.name == name), None)
    if judged is None:
        return None
    of_one = {"group_id": judged.pipeline.group_id, "topic": judged.pipeline.source}
    about_one = {one: cached.recently(view, one, **of_one) for one in promise_questions.OF_ONE_RECENT}
    about_one[promise_questions.LAST_CAUGHT_UP] = cached.last_day(view, promise_questions.LAST_CAUGHT_UP, **of_one)
    return explained.needs(judged, answers.promise_answers(view) | about_one)


def causes(view: View) -> Mapping[str, tuple[Cause, ...]]:
    """What explains each finding of the cluster, by finding id."""
    return _causes(view.without_search())


@cached.shared
def _causes(view: View) -> Mapping[str, tuple[Cause, ...]]:
    heard, known = cached.heard(view), [history.finding for history in known_findings.findings(view).values()]
    if heard is None:
        return {}
    seen = rebalances(heard.cluster_id, known, view.to_ms)
    return explained.causes_of(known, seen, heard.cluster_id, answers.pipelines(view))


def rebalances(cluster_id: str, findings: Iterable[Finding], until_ms: int) -> Rows:
    """Those that may explain the findings, seen until then, however long ago; what lies a day back is read once an
    hour.
    """
    every = wanted_rebalances(findings, LINKS)
    wanted = every and every.within(every.from_ms, until_ms)
    if wanted is None:
        return []
    settled_ms = (wanted.to_ms - DAY_MS) // HOUR_MS * HOUR_MS
    older, newer = wanted.within(wanted.from_ms, settled_ms - 1), wanted.within(settled_ms, wanted.to_ms)
    known = _settled(cached.data_dir(), cluster_id, older) if older else []
    return [*known, *(_asked(cluster_id, newer) if newer else [])]


def _asked(cluster_id: str, wanted: WantedRebalances) -> Rows:
    about = rebalances_read.asked(cluster_id, wanted)
    return cached.ask(cached.data_dir(), wanted.from_ms, wanted.to_ms + 1, REBALANCES_OF, about)


@remembered(4, kept_for_s=3_600)
def _settled(data_dir: str, cluster_id: str, wanted: WantedRebalances) -> Rows:
    """A month of a large cluster takes seconds to read, and what is over stays as it was."""
    return rebalances_read.read(data_dir, cluster_id, wanted)


def story(view: View, finding: Finding) -> tuple[Sequence[Cause], list[Finding], list[Unknown]]:
    """What explains a finding, the findings it explains, and what nobody can look for any more."""
    known, why = known_findings.findings(view), causes(view)
    effects = followed_by(why).get(finding.finding_id, ())
    gone = rebalances_read.not_looked_for(Path(cached.data_dir()), [finding], why)
    return why.get(finding.finding_id, ()), [known[effect].finding for effect in effects], gone
