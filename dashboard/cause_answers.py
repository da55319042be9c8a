"""What explains the findings, and what a pipeline's promise needs, put together from cached answers."""

from collections.abc import Mapping, Sequence

from dashboard import answers, cached, explained, known_findings, promise_questions, queries
from dashboard.explained import Explanation
from dashboard.view import View
from guarantees.causes import followed_by
from guarantees.findings import Finding
from guarantees.links import Cause


def explanation(view: View, name: str | None) -> Explanation | None:
    """What the pipeline of that name promises and what that needs; None where there is none."""
    judged = next((one.judged for one in answers.standings(view) if one.pipeline.name == name), None)
    if judged is None:
        return None
    of_one = {"group_id": judged.pipeline.group_id, "topic": judged.pipeline.source}
    about_one = {one: cached.recently(view, one, **of_one) for one in promise_questions.OF_ONE_RECENT}
    about_one[promise_questions.LAST_CAUGHT_UP] = cached.last_day(view, promise_questions.LAST_CAUGHT_UP, **of_one)
    known = [history.finding for history in known_findings.findings(view).values()]
    return explained.explanation(judged, answers.promise_answers(view) | about_one, known, causes(view))


def causes(view: View) -> Mapping[str, tuple[Cause, ...]]:
    """What explains each finding of the cluster, by finding id."""
    return _causes(view.without_search())


@cached.shared
def _causes(view: View) -> Mapping[str, tuple[Cause, ...]]:
    heard, known = cached.heard(view), [history.finding for history in known_findings.findings(view).values()]
    if heard is None:
        return {}
    rebalances = cached.last_day(view, queries.REBALANCES)
    return explained.causes_of(known, rebalances, heard.cluster_id, answers.pipelines(view))


def story(view: View, finding: Finding) -> tuple[Sequence[Cause], list[Finding]]:
    """What explains a finding, and the findings it explains."""
    known, why = known_findings.findings(view), causes(view)
    effects = followed_by(why).get(finding.finding_id, ())
    return why.get(finding.finding_id, ()), [known[effect].finding for effect in effects]
