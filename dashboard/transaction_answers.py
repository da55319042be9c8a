"""What the page of transactions asks for: the shared answers, put together."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dashboard import (
    cached,
    coverage,
    fencing,
    known_findings,
    outcome_questions,
    outcomes,
    shapes,
    transaction_facts,
    transaction_questions,
    transactions,
)
from dashboard.fencing import Event
from dashboard.outcomes import Lanes, Outcomes
from dashboard.queries import Rows
from dashboard.timeline_questions import STEPS
from dashboard.transactions import Asked, OpenTransaction, Waiting
from dashboard.view import View
from guarantees.findings import Finding
from guarantees.lag import MARKER_SLACK


def asked(view: View) -> Asked:
    """Who told of transactions in the newest round."""
    return transactions.asked(coverage.by_signal(view))


def found(view: View) -> list[OpenTransaction]:
    """Every open transaction of the newest round, worst first."""
    share = cached.settings().thresholds.transaction_overdue_share
    rows = cached.now(view, transaction_questions.OPEN)
    return transactions.judged(rows, all_asked=asked(view).coordinators, overdue_share=share)


def findings(view: View, one: OpenTransaction) -> list[Finding]:
    """What was found about a transaction or its producer, the newest first."""
    return transaction_facts.about((known.finding for known in known_findings.findings(view).values()), one)


def waiting(view: View) -> Mapping[str, Waiting]:
    """Groups that would wait for each transaction, by its id."""
    return transactions.waiting(cached.now(view, transaction_questions.WAITING, slack=MARKER_SLACK))


def has_commits(view: View) -> bool:
    """Whether all commits of groups are known in the newest round."""
    return transactions.has_commits(coverage.by_signal(view))


def would_wait(view: View, found: Iterable[OpenTransaction]) -> Mapping[str, str]:
    """Who would wait for each transaction in words, by its id."""
    groups, all_known = waiting(view), has_commits(view)
    return {
        one.id: transactions.would_wait(one, groups.get(one.id, transactions.NOBODY), has_commits=all_known)
        for one in found
    }


def searched(view: View) -> list[OpenTransaction]:
    """Those that the search finds by transactional id, producer id, topic or waiting group."""
    groups = waiting(view)
    return [one for one in found(view) if view.finds(*one.names, *(groups[one.id].names if one.id in groups else ()))]


def chosen(view: View, asked: str | None) -> OpenTransaction | None:
    """The transaction of the link, whether or not the search finds it."""
    return next((one for one in found(view) if one.id == asked), None)


def parts(view: View, one: OpenTransaction) -> Rows:
    """Each partition of a transaction, with the moment from which on its stable offset stands."""
    rows = cached.now(view, transaction_questions.PARTS, **one.key)
    topics = sorted({row["topic"] for row in rows})
    standing = cached.recently(view, transaction_questions.STANDING, topics=topics) if topics else []
    since = {(row["topic"], row["partition"]): row for row in standing}
    nothing = {"since_ms": None, "first_ms": None}
    return [{**row, **(since.get((row["topic"], row["partition"])) or nothing)} for row in rows]


def readers(view: View, one: OpenTransaction) -> Rows:
    """Commits of groups on the transaction's partitions."""
    return cached.now(view, transaction_questions.READERS, **one.key)


def marker_view(view: View) -> View:
    """The window, or its last day: markers are raw and expire."""
    return replace(view, from_ms=max(view.from_ms, view.to_ms - cached.DAY_MS))


def headers_read(view: View) -> Rows:
    """What was read of batch headers in the day that ends with the window, by problem; empty: nothing ever."""
    return cached.last_day(view, transaction_questions.HEADERS_READ)


def ended(view: View, read_from_ms: int) -> Outcomes:
    """Outcomes in buckets of whole minutes; headers are read since `read_from_ms`."""
    step = shapes.bucket_ms(view.length_ms, cached.MINUTE_MS, shapes.CELLS)
    rows = cached.in_window(view, outcome_questions.OUTCOMES, step_ms=step)
    seen = _seen(view, step)
    return outcomes.outcomes(rows, seen, read_from_ms, (view.from_ms, view.to_ms), step)


def _seen(view: View, step_ms: int) -> Rows:
    """The buckets of which all headers were read; the minute before the last round tells how far that is behind."""
    known = cached.heard(view)
    if known is None:
        return []
    silent_ms = max(cached.MINUTE_MS, 3 * known.interval_ms)
    about = {"step_ms": step_ms, "since_ms": known.observed_at_ms - silent_ms, "silent_ms": silent_ms}
    return cached.in_window(view, outcome_questions.BUCKETS_SEEN, **about)


def lanes(view: View) -> Lanes:
    """Transactions that did not end well or not yet, as far as the search finds them."""
    share = cached.settings().thresholds.transaction_overdue_share
    lasting = cached.in_window(view, transaction_questions.LASTING, share=share)
    aborts = cached.in_window(view, transaction_questions.ABORTS)
    return outcomes.lanes(
        searched(view),
        [row for row in lasting if view.finds(row["transactional_id"], str(row["producer_id"]))],
        [row for row in aborts if view.finds(str(row["producer_id"]), row["topic"])],
        events(view),
    )


def steps(view: View) -> Rows:
    """What happened to transactional ids that the search finds, of the window's last day: records expire."""
    return cached.in_window(marker_view(view), STEPS, search=view.search)


def events(view: View) -> list[Event]:
    """Fencing, time-outs, restarts without fencing and torn transactions of the window that the search finds."""
    known = (history.finding for history in known_findings.findings(view).values())
    found = fencing.events(known, view.from_ms, view.to_ms)
    return [one for one in found if view.finds(*map(str, one.producers), *one.names, one.where)]


def why_none(view: View) -> tuple[str, str]:
    """Why no transaction is shown, and what to do; that there is none is only said where everybody answered."""
    if view.search.strip():
        return "No open transaction matches the search.", "Clear it to see all."
    told = asked(view)
    if not told.coordinators:
        return f"Whether a transaction is open is not known: {told.missing} did not all tell.", "See Health."
    if not told.leaders:
        return f"No coordinator lists an open transaction; {told.missing} did not all tell of others.", "See Health."
    return (
        "No coordinator lists an open transaction, and no leader has one that none of them lists.",
        "Transactional ids that Tidemark may not describe (DESCRIBE) are left out of these answers.",
    )
