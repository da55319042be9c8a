"""What a page asks of a moment, begun beside one another before the first panel needs it.

A page asks panel by panel, and the store answers while the page waits. What is begun here is kept like every answer
(dashboard.remembered): who needs one that is being made waits for it, and one that failed is asked for again by the
panel that needs it, which says why.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

from dashboard import (
    answers,
    cached,
    coverage,
    groups_shown,
    pipeline_rows,
    promise_questions,
    queries,
    record_evidence,
    traces,
    transaction_answers,
)
from dashboard.view import View

AT_ONCE = 2  # beside the page itself; more of them hold up those that the others wait for
Ask = Callable[[View], object]


def _unread(view: View) -> object:
    return answers.unread_for(view, answers.standings(view)[: pipeline_rows.SHOWN])


def _copies(view: View) -> object:
    found = answers.found(view)
    of_window = record_evidence.counted_in_window(view, [one.finding for one in found])
    return of_window, record_evidence.counted_in_last_day(view, found)


# What others wait for first. The time strip and the promises of all pipelines, which every page needs.
OF_EVERY_PAGE: tuple[Ask, ...] = (
    cached.group_lag,
    lambda view: cached.now(view, queries.COVERAGE),
    coverage.by_signal,
    lambda view: cached.recently(view, promise_questions.PENDING_COMMITS),
    answers.cluster_trend,
    lambda view: cached.last_day(view, queries.SAMPLED),
)
# By the url path of the page.
OF_PAGE: Mapping[str, tuple[Ask, ...]] = {
    "": (
        answers.rounds_seen,
        _unread,
        _copies,
        transaction_answers.found,
        lambda view: cached.of_tidemark(view, queries.PARTS),
        traces.of_parts,
    ),
    "lag": (groups_shown.unread_for,),
}

_pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="ahead")


def begin(view: View, page: str) -> list[Future[object]]:
    """Begin to ask what the page (its url path) needs of the view, once for all sessions; return at once what was."""
    return _beginning(page)(view)


@cache
def _beginning(page: str) -> Callable[[View], list[Future[object]]]:
    return cached.shared(lambda view: [_pool.submit(ask, view) for ask in (*OF_EVERY_PAGE, *OF_PAGE.get(page, ()))])
