"""When the records of a pipeline's topics tell nothing: before they were read, where they were not, and not yet."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from dashboard import queries, record_reading, wording
from dashboard.names import cut
from dashboard.queries import Row, Rows
from dashboard.record_reading import Reading
from dashboard.reports import questions
from dashboard.reports.look import Look
from dashboard.stored_cluster import DAY_MS
from guarantees.promise_time import Stretch, union
from guarantees.promises import Guarantee, Pipeline, Verdict
from settings import PipelineSettings

DAYS_BACK = 31  # how long before the window a first range is sought: a topic may be quiet


def unread(look: Look, pipeline: Pipeline, own: PipelineSettings | None, read: Rows) -> Iterator[Stretch]:
    """Where a promise needs the records. `read`: what was read in the window, by day and topic."""
    needed = list(dict.fromkeys(_needed(pipeline)))
    if pipeline.sink is None and pipeline.promise is not Guarantee.AT_MOST_ONCE:
        yield _all(look, "without a sink, what the group did with a record is not observable")
    yield from _without_ids(look, needed, read)
    yield from _not_compared(look, pipeline)
    yield from _before_the_first(look, needed)
    yield from _never_read(look, needed, read)
    yield from _not_yet(look, needed, _settle_ms(pipeline, own))


def compared(look: Look, pipeline: Pipeline) -> Row | None:
    """The comparison of its source with its sink, where an id was judged."""
    rows = look.ask(queries.COMPARISONS)
    return next((row for row in rows if row["pipeline"] == pipeline.name and row["judged"]), None)


def read_by_day(look: Look, pipeline: Pipeline) -> Rows:
    """What was read of its topics; asked day by day: covered ranges are many."""
    return [
        {"day_ms": start, **row}
        for start, end in look.days()
        for row in look.between(start, end, queries.SAMPLED)
        if row["topic"] in (pipeline.source, pipeline.sink)
    ]


def has_ids(read: Row) -> bool:
    """Of what was read of a topic, some record has an id."""
    return bool(read["records"] > read["records_without_id"])


def _needed(pipeline: Pipeline) -> Iterator[str]:
    """As the verdict needs them: duplicates where records end up, losses on both sides."""
    if pipeline.promise is not Guarantee.AT_MOST_ONCE and pipeline.sink is not None:
        yield from (pipeline.source, pipeline.sink)
    if pipeline.promise is not Guarantee.AT_LEAST_ONCE:
        yield pipeline.source if pipeline.sink is None else pipeline.sink


def _without_ids(look: Look, needed: Sequence[str], read: Rows) -> Iterator[Stretch]:
    """Topics of which no id was read; of others the days most of whose records have none."""
    identified = {row["topic"] for row in read if has_ids(row)}
    for topic in needed:
        if topic not in identified:
            yield _all(look, f"no message ids of {cut(topic)} were read in the window")
    for row in read:
        if row["topic"] in identified.intersection(needed) and record_reading.is_mostly_without_id(row):
            without = f"{wording.count(row['records_without_id'])} of the" if has_ids(row) else "none of the"
            have = "have no id" if has_ids(row) else "has an id"
            why = f"{without} {wording.plural(row['records'], 'record')} read of {cut(row['topic'])} {have}"
            yield Stretch(row["day_ms"], min(look.to_ms, row["day_ms"] + DAY_MS), Verdict.UNKNOWN, why)


def _not_compared(look: Look, pipeline: Pipeline) -> Iterator[Stretch]:
    needs_losses = pipeline.promise is not Guarantee.AT_MOST_ONCE and pipeline.sink is not None
    if needs_losses and compared(look, pipeline) is None:
        yield _all(look, f"no id of {cut(pipeline.source)} was compared with {cut(pipeline.sink or '')}")


def _before_the_first(look: Look, topics: Sequence[str]) -> Iterator[Stretch]:
    """Until the first range of a topic; nothing where one was read before the window."""
    left = set(topics)
    for start in range(look.from_ms - DAY_MS, look.from_ms - (DAYS_BACK + 1) * DAY_MS, -DAY_MS):
        left -= {row["topic"] for row in _first_ranges(look, start, start + DAY_MS, left)}
    since: dict[str, int] = {}
    for start, end in look.days():
        for row in _first_ranges(look, start, end, left - since.keys()):
            since[row["topic"]] = row["since_ms"]
    for topic in sorted(left):
        why = f"before the first range read of {cut(topic)}"
        yield Stretch(look.from_ms, since.get(topic, look.to_ms), Verdict.UNKNOWN, why)


def _first_ranges(look: Look, from_ms: int, to_ms: int, topics: Iterable[str]) -> Rows:
    asked = sorted(topics)
    if not asked:
        return []
    return look.stored.between(from_ms, to_ms, (questions.FIRST_RANGES,), topics=asked).get(questions.FIRST_RANGES, [])


def _never_read(look: Look, topics: Sequence[str], read: Rows) -> Iterator[Stretch]:
    """From the range before to when it was seen that the offsets after it are in none: purged, or a gap."""
    rows = [row for start, end in _days_with_unread(look, read) for row in _unread_ranges(look, start, end, topics)]
    rows.sort(key=_topic_and_kind)
    for (topic, is_purged), own in groupby(rows, key=_topic_and_kind):
        why = f"offsets of {cut(topic)} {'were purged before they were read' if is_purged else 'are in no range read'}"
        spans = ((max(look.from_ms, row["from_ms"] or 0), min(look.to_ms, row["to_ms"])) for row in own)
        for start, end in union(spans):
            yield Stretch(start, end, Verdict.UNKNOWN, why)


def _days_with_unread(look: Look, read: Rows) -> Iterator[tuple[int, int]]:
    """Those of the window, and those after it: what was purged in it may have been noticed later."""
    missing = {row["day_ms"] for row in read if row["purged_offsets"] or row["gap_offsets"]}
    yield from ((start, end) for start, end in look.days() if start in missing)
    yield from ((start, min(look.made_ms, start + DAY_MS)) for start in range(look.to_ms, look.made_ms, DAY_MS))


def _unread_ranges(look: Look, from_ms: int, to_ms: int, topics: Sequence[str]) -> Rows:
    """The range before is sought in the day before; where it is older, all of the window since then is unknown."""
    asked, about = (questions.UNREAD_RANGES,), {"topics": list(topics), "since_ms": from_ms}
    return look.stored.between(from_ms - DAY_MS, to_ms, asked, **about).get(questions.UNREAD_RANGES, [])


def _topic_and_kind(row: Row) -> tuple[str, bool]:
    return row["topic"], row["is_purged"]


def _not_yet(look: Look, topics: Sequence[str], settle_ms: int) -> Iterator[Stretch]:
    """After the newest look at a topic that read it to its end, less the time an id may be missing."""
    rows = look.stored.between(look.from_ms, look.made_ms, (queries.LOOKS,)).get(queries.LOOKS, [])
    looks = record_reading.looks(rows, look.stored.settings.name)
    for topic in topics:
        known = record_reading.reading(looks, topic)
        judged_ms = max(look.from_ms, (known.until_ms or 0) - settle_ms)
        if judged_ms < look.to_ms:
            yield Stretch(judged_ms, look.to_ms, Verdict.UNKNOWN, _why_not_yet(topic, known))


def _why_not_yet(topic: str, known: Reading) -> str:
    if known.why is None:
        return f"the record jobs have not judged {cut(topic)} yet"
    return f"the record jobs cannot read {cut(topic)}: {cut(known.why, 200)}"


def _settle_ms(pipeline: Pipeline, own: PipelineSettings | None) -> int:
    """How long an id may be missing before it counts as lost; a promise that allows losses waits for none."""
    is_waiting = own is not None and pipeline.promise is not Guarantee.AT_MOST_ONCE
    return round(own.settle_s * 1000) if own and is_waiting else 0


def _all(look: Look, why: str) -> Stretch:
    return Stretch(look.from_ms, look.to_ms, Verdict.UNKNOWN, why)
