"""Cases of people whose lag was wrong: what is a number, what is a reason, and what is a finding."""

import time
from dataclasses import replace

import pytest

from collectors.signals import covered
from dashboard import queries
from guarantees.completeness import RoundsSeen
from guarantees.findings import Grade, Kind
from guarantees.lag import NO_COMMIT, Lag, consumer_lag
from guarantees.memory import Memory
from guarantees.observations import GroupState, Round, Signal
from guarantees.places import GroupPartition, TopicPartition
from guarantees.promises import Guarantee, Pipeline, Verdict
from guarantees.unknown import Unknown
from guarantees.verdicts import ESSENTIAL, Sight, pipeline_verdict
from guarantees.watch import observe
from spark_jobs.ranges import Part, PartNow, plan
from store.log import SegmentLog
from store.segments import producer_name
from tests.guarantees.builders import (
    CLUSTER,
    GROUP,
    KEY,
    NOBODY,
    PARTITION,
    THRESHOLDS,
    TOPIC,
    TOPIC_ID,
    at,
    commit,
    finding,
    findings,
    member,
    offsets,
    producer,
    seen,
    steps,
    watch,
)

AHEAD = Unknown("committed beyond the end of the log")
LIVENESS = {Kind.GROUP_STOPPED, Kind.GROUP_STALLED}


def lag_of(observed: Round) -> Lag:
    return consumer_lag(observed.commits[KEY], observed.partitions[PARTITION])


def kinds(*rounds):
    return {found.kind for found in findings(*rounds)}


# C02: {S:0, H:1663, L:200, C:200}


def blocked(seconds, stable=200):
    return [
        seen(s, high=1663, stable=stable, committed=200, producers=(producer(200, last_second=s - 30),))
        for s in seconds
    ]


def test_case_C02_a_blocked_read_committed_group_has_no_lag_and_the_transaction_is_named():
    rounds = blocked(steps(0, 240, 60))
    frozen = finding(*rounds, kind=Kind.STABLE_OFFSET_FROZEN)

    assert lag_of(rounds[-1]) == Lag(purged=0, lag_hw=1463, lag_lso=0, blocked=1463, ahead=0)
    assert frozen.bounds.lower == frozen.bounds.upper == 1463
    assert (frozen.evidence["producer_id"], frozen.evidence["start_offset"]) == (7, 200)
    assert (frozen.evidence["held_since_ms"], frozen.last_seen_at_ms) == (at(0.02), at(240.02))
    assert frozen.evidence["last_timestamp_ms"] == at(210)
    assert "seen open for 240 s" in frozen.statements[2].text
    assert frozen.evidence["waiting_groups"] == [{"group_id": GROUP, "committed_offset": 200}]


def test_case_C02_a_group_that_waits_for_a_marker_is_not_called_slow_and_one_that_could_read_is():
    assert kinds(*blocked(steps(0, 240))) == {Kind.STABLE_OFFSET_FROZEN}
    assert kinds(*blocked(steps(0, 240), stable=1663)) == {Kind.GROUP_STALLED}


# C06: {S:0, H:3000000, C:3000000}, then S:3000000


def test_case_C06_a_topic_that_was_read_and_then_emptied_has_no_lag_and_no_finding():
    before, after = (seen(s, high=3_000_000, start=start, committed=3_000_000) for s, start in ((0, 0), (5, 3_000_000)))

    assert lag_of(after) == Lag(purged=0, lag_hw=0, lag_lso=0, blocked=0, ahead=0)
    assert not findings(before, after)


def test_case_C06_offsets_purged_before_they_were_committed_are_counted_apart_from_lag():
    before, after = (seen(s, high=3_000_000, start=start, committed=2_999_000) for s, start in ((0, 0), (5, 3_000_000)))
    expired = finding(before, after, kind=Kind.EXPIRED_UNREAD)

    assert lag_of(after) == Lag(purged=1000, lag_hw=0, lag_lso=0, blocked=0, ahead=0)
    assert (expired.bounds.lower, expired.bounds.upper, expired.anchor) == (0, 1000, "commit 2999000")
    assert not findings(after, seen(10, high=3_000_000, start=3_000_000, committed=2_999_000))


# C07: commits beyond the end on seven partitions, no owner

C07 = [(2020, 1611), (2128, 1667), (2239, 1653), (3787, 1678), (1917, 1622), (2370, 1684), (2388, 1821)]


def ownerless(second, committed, high, **given):
    return seen(second, high=high, committed=committed, members=(), **given)


@pytest.mark.parametrize(("committed", "high"), C07)
def test_case_C07_a_commit_beyond_the_end_is_said_so_and_never_a_negative_lag(committed, high):
    rounds = [ownerless(s, committed, high) for s in (0, 5)]
    ahead = finding(*rounds, kind=Kind.COMMITTED_AHEAD)

    assert lag_of(rounds[-1]) == Lag(purged=0, lag_hw=AHEAD, lag_lso=AHEAD, blocked=0, ahead=committed - high)
    assert ahead.bounds.lower == ahead.bounds.upper == committed - high
    assert "beyond the end of orders-0" in ahead.title
    assert len(ahead.evidence["possible_causes"]) == 3


@pytest.mark.parametrize(("committed", "high"), C07)
def test_case_C07_under_the_same_topic_id_and_a_new_epoch_the_log_was_cut(committed, high):
    before = ownerless(0, committed, committed, epoch=1)
    cut = [ownerless(s, committed, high, epoch=2) for s in (5, 10)]
    truncated = finding(before, *cut, kind=Kind.LOG_TRUNCATED)
    ahead = finding(before, *cut, kind=Kind.COMMITTED_AHEAD)

    assert truncated.bounds.lower == committed - high
    assert "an open finding shows one" in ahead.evidence["possible_causes"][0]


@pytest.mark.parametrize(("committed", "high"), C07)
def test_case_C07_under_another_topic_id_nothing_was_cut(committed, high):
    before = ownerless(0, committed, committed, topic_id="topic-id-0")
    anew = [ownerless(s, committed, high) for s in (5, 10)]
    ahead = finding(before, *anew, kind=Kind.COMMITTED_AHEAD)

    assert kinds(before, *anew) == {Kind.COMMITTED_AHEAD}
    assert any("created anew" in cause for cause in ahead.evidence["possible_causes"])
    assert not any("an open finding" in cause for cause in ahead.evidence["possible_causes"])


# C08: high watermark at 8.120, commit at 8.922, next high watermark at 18.1


def read(second, high, *, committed_second):
    round_ = seen(second, high=high, committed=659_257_652)
    late = replace(round_.commits[KEY], observed_at_ms=at(committed_second))
    return replace(round_, commits={KEY: late}, ended_at_ms=at(max(second, committed_second) + 0.05))


def test_case_C08_a_commit_read_after_the_high_watermark_has_no_lag_until_a_later_one():
    first = read(8.12, 659_256_972, committed_second=8.922)
    later = read(18.1, 659_260_000, committed_second=18.05)

    assert isinstance(lag_of(first).lag_hw, Unknown)
    assert isinstance(lag_of(first).ahead, Unknown)
    assert lag_of(later).lag_hw == 2348
    assert not findings(first, later)


def test_case_C08_only_the_order_of_reading_tells_it_from_a_commit_beyond_the_end():
    wrong = [read(s, 659_256_972, committed_second=s + 0.8) for s in (8.12, 18.12)]
    right = [read(s, 659_256_972, committed_second=s - 0.8) for s in (8.12, 18.12)]

    assert not findings(*wrong)
    assert finding(*right, kind=Kind.COMMITTED_AHEAD).bounds.lower == 680


# C43, C75: partitions without a commit, as the pages sum them up


@pytest.fixture
def totals(tmp_path):
    """The row of a group over partitions given as (committed offset, high watermark)."""
    log = SegmentLog(tmp_path, producer_name("host", "collect"))

    def row(*partitions):
        shared = {"cluster_id": CLUSTER, "tick": 7, "topic": TOPIC, "topic_id": TOPIC_ID, "observed_at": at(1)}
        log.append("committed_offsets", [
            shared | {"group_id": GROUP, "partition": n, "committed_offset": committed, "is_pending": False,
                      "committed_offset_unknown": NO_COMMIT.reason if committed is None else None}
            for n, (committed, _) in enumerate(partitions)
        ])  # fmt: skip
        log.append("partition_offsets", [
            shared | {"partition": n, "log_start_offset": 0, "last_stable_offset": high, "high_watermark": high,
                      "log_start_observed_at": at(0)}
            for n, (_, high) in enumerate(partitions)
        ])  # fmt: skip
        (found,) = queries.ask(tmp_path, at(-60), at(60), queries.GROUP_LAG, {"cluster_id": CLUSTER})
        return found["lag"], found["without_commit"], found["partitions"], found["unknown"]

    yield row
    log.close()


def test_case_C43_a_partition_without_a_commit_has_no_lag_and_is_not_the_whole_log(totals):
    lags = [consumer_lag(commit(c), offsets(h)).lag_hw for c, h in ((None, 3083), (None, 0), (4388, 4388))]

    assert lags == [NO_COMMIT, NO_COMMIT, 0]
    assert totals((None, 3083), (None, 0), (4388, 4388)) == (0, 2, 3, 0)


def test_case_C75_a_group_is_blank_only_where_no_partition_has_a_commit(totals):
    assert totals((10, 10), (None, 0)) == (0, 1, 2, 0)


def test_case_C75_a_group_without_any_commit_is_blank(totals):
    assert totals((None, 10), (None, 0)) == (None, 2, 2, 0)


def test_case_C75_a_commit_ahead_for_one_sample_is_no_finding_and_is_not_clamped():
    early, later = seen(0, high=40, committed=50), seen(10, high=60, committed=50)

    assert lag_of(early) == Lag(purged=0, lag_hw=AHEAD, lag_lso=AHEAD, blocked=0, ahead=10)
    assert (lag_of(later).lag_hw, lag_of(later).ahead) == (10, 0)
    assert not findings(early, later)


def test_case_C75_a_commit_that_stays_ahead_while_producers_are_idle_is_found():
    ahead = finding(*[seen(s, high=40, committed=50) for s in steps(0, 40, 10)], kind=Kind.COMMITTED_AHEAD)

    assert (ahead.bounds.lower, ahead.bounds.upper, ahead.grade) == (10, 10, Grade.PROVEN)


# C46: members without commits


def test_case_C46_members_without_a_commit_are_members_without_a_commit():
    rounds = [seen(s, high=328 + int(s), no_commit=True) for s in steps(0, 300)]
    memory, found = watch(rounds)

    assert len(memory.groups[GROUP].state.members) == 1
    assert lag_of(rounds[-1]) == Lag(NO_COMMIT, NO_COMMIT, NO_COMMIT, NO_COMMIT, NO_COMMIT)
    assert not found


@pytest.mark.parametrize(
    ("newest_ms", "answered", "reason"),
    [
        (None, 1, "nothing was observed yet"),
        (at(0), 0, "committed_offsets: 0 of 1 values answered"),
    ],
)
def test_case_C46_before_commits_were_read_the_verdict_is_unknown_and_says_why(newest_ms, answered, reason):
    pipeline = Pipeline("billing", TOPIC, GROUP, None, Guarantee.AT_MOST_ONCE)
    values = {signal: [1] for signal in ESSENTIAL} | {Signal.COMMITTED_OFFSETS: [1] if answered else [NOBODY]}
    coverage = tuple(covered(signal, given, at(0), at(0)) for signal, given in values.items())
    rounds = RoundsSeen(at(-60), at(0), 5_000, 12, at(-60), 5_000, at(-60))
    sight = Sight(newest_ms, 5.0, coverage, frozenset({TOPIC}), rounds)
    verdict = pipeline_verdict(pipeline, [], sight, now_ms=at(0), window_from_ms=at(-60))

    assert verdict.verdict is Verdict.UNKNOWN
    assert verdict.unknowns[0].reason.startswith(reason)


# C47: 2000 groups with 6 partitions each, half of the answers missing in each round

GROUPS, PARTITIONS = 2000, 6


def half_answered(tick, rewound=()):
    """Groups of the one coordinator answer in even rounds, those of the other in odd ones; so do the leaders."""
    answers = [number % 2 == tick % 2 for number in range(GROUPS)]
    keys = [GroupPartition(f"g{n}", f"t{n}", p) for n in range(GROUPS) for p in range(PARTITIONS)]
    second = 5 * tick
    commits = {
        key: commit(
            (50 if key.group_id in rewound else 90) if answers[int(key.group_id[1:])] else NOBODY, second=second
        )
        for key in keys
    }
    return Round(
        cluster_id=CLUSTER,
        tick=tick,
        started_at_ms=at(second),
        ended_at_ms=at(second + 1),
        commits=commits,
        partitions={
            key.topic_partition: offsets(100 if answers[int(key.group_id[1:])] else NOBODY, second=second)
            for key in keys
        },
        groups={
            f"g{n}": GroupState("classic", "Stable", n % 2, (owner(n),), None, None, at(second))
            if answers[n]
            else NOBODY
            for n in range(GROUPS)
        },
        coverage=(covered(Signal.COMMITTED_OFFSETS, [c.committed_offset for c in commits.values()], 0, 1),),
    )


def owner(number):
    return member("m", *(TopicPartition(f"t{number}", p) for p in range(PARTITIONS)))


def test_case_C47_half_of_the_answers_missing_in_each_round_opens_nothing_closes_nothing_and_is_said():
    rounds = [half_answered(tick) for tick in range(2)] + [half_answered(tick, {"g4"}) for tick in range(2, 6)]
    memory, took_s = Memory.empty(), []
    for number, one in enumerate(rounds):
        started_s = time.process_time()
        memory, found = observe(memory, one, THRESHOLDS)
        took_s.append(time.process_time() - started_s)
        expected = 0 if number < 2 else PARTITIONS
        assert [f.kind for f in found] == [Kind.REWIND] * expected
        assert len(memory.open) == expected
        # The age of a value is that of its newest answer: in odd rounds g4 gave none.
        newest = 5 * (number - number % 2) + 0.01
        assert {f.last_seen_at_ms for f in found} == ({at(newest)} if expected else set())

    (coverage,) = rounds[-1].coverage
    assert (coverage.asked, coverage.answered, coverage.failed) == (12_000, 6_000, 6_000)
    assert all(lag_of_missing.lag_hw == NOBODY for lag_of_missing in missing_lags(rounds[-1]))
    assert sum(took_s) < 2


def missing_lags(observed: Round) -> list[Lag]:
    return [
        consumer_lag(read, observed.partitions[key.topic_partition])
        for key, read in observed.commits.items()
        if isinstance(read.committed_offset, Unknown)
    ]


# C51: a gap between the wanted offset and the first record

WANTED = [(0, 0), (150, 50), (100, 0), (101, 1)]


@pytest.mark.parametrize(("log_start", "hole"), WANTED)
def test_case_C51_only_a_known_log_start_above_the_wanted_offset_is_a_hole(log_start, hole):
    """Our own reader of records wants 100; the first record it is given may well lie higher."""
    part = Part(CLUSTER, TOPIC, TOPIC_ID, 0)
    now = PartNow(part, 1, log_start, 200, 200, 0, at(0))
    planned = plan([now], {part: 100}, budget_bytes=10**9, bytes_per_offset={})

    assert sum(purged.offsets for purged in planned.purged) == hole
    assert not planned.waiting


def test_case_C51_an_unknown_log_start_is_no_hole_but_a_reason_to_wait():
    part = Part(CLUSTER, TOPIC, TOPIC_ID, 0)
    planned = plan([PartNow(part, 1, NOBODY, 200, 200, 0, at(0))], {part: 100}, budget_bytes=10**9, bytes_per_offset={})

    assert not planned.purged
    assert planned.waiting == {part: NOBODY.reason}


@pytest.mark.parametrize(("log_start", "hole"), [*WANTED, (NOBODY, 0)])
def test_case_C51_a_group_that_wants_an_offset_has_lost_only_what_the_log_start_passed(log_start, hole):
    """Under read_committed the group skips what markers and aborted data use: plain gaps, not losses."""
    rounds = seen(0, high=200, committed=100), seen(5, high=200, start=log_start, committed=100)
    found = findings(*rounds)

    assert [(f.kind, f.bounds.lower, f.bounds.upper) for f in found] == (
        [(Kind.EXPIRED_UNREAD, 0, hole)] if hole else []
    )
