"""Cases of groups whose lag is a sum: over partitions without a commit, without an answer, and over many groups."""

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
from store.log import SegmentLog
from store.segments import producer_name
from tests.guarantees.builders import (
    CLUSTER,
    GROUP,
    NOBODY,
    THRESHOLDS,
    TOPIC,
    TOPIC_ID,
    at,
    commit,
    finding,
    findings,
    lag_of,
    member,
    offsets,
    seen,
    steps,
    watch,
)
from tests.guarantees.test_lag import AHEAD

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
    rounds = RoundsSeen(at(-60), at(0), 5_000, 12, at(-60), at(0), 5_000, at(-60))
    sight = Sight(newest_ms, 5.0, coverage, frozenset({TOPIC}), rounds)
    verdict = pipeline_verdict(pipeline, [], sight, now_ms=at(0), window_from_ms=at(-60))

    assert verdict.verdict is Verdict.UNKNOWN
    assert verdict.unknowns[0].reason.startswith(reason)


# C47: 2000 groups with 6 partitions each, half of the answers missing in each round

GROUPS, PARTITIONS = 2000, 6


def half_answered(tick, rewound=()):
    """Commits and ends of every second group are missing, in turn; of each third of those the description too."""
    second = 5 * tick
    commits, ends, groups = {}, {}, {}
    for number in range(GROUPS):
        is_answered = number % 2 == tick % 2
        described = GroupState("classic", "Stable", 1, (owner(number),), None, None, at(second))
        groups[f"g{number}"] = described if is_answered or number % 3 else NOBODY
        for partition in range(PARTITIONS):
            key = GroupPartition(f"g{number}", f"t{number}", partition)
            committed = 50 if number in rewound else 90
            commits[key] = commit(committed if is_answered else NOBODY, second=second)
            ends[key.topic_partition] = offsets(100 if is_answered else NOBODY, second=second)
    return Round(
        cluster_id=CLUSTER,
        tick=tick,
        started_at_ms=at(second),
        ended_at_ms=at(second + 1),
        commits=commits,
        partitions=ends,
        groups=groups,
        coverage=(covered(Signal.COMMITTED_OFFSETS, [c.committed_offset for c in commits.values()], 0, 1),),
    )


def owner(number):
    return member("m", *(TopicPartition(f"t{number}", p) for p in range(PARTITIONS)))


def test_case_C47_half_of_the_answers_missing_in_each_round_opens_nothing_closes_nothing_and_is_said():
    rounds = [half_answered(tick) for tick in range(2)] + [half_answered(tick, {4, 6}) for tick in range(2, 6)]
    memory = Memory.empty()
    for number, one in enumerate(rounds):
        memory, found = observe(memory, one, THRESHOLDS)
        expected = 0 if number < 2 else 2 * PARTITIONS
        assert [f.kind for f in found] == [Kind.REWIND] * expected
        assert len(memory.open) == expected
        # The age of a value is that of its newest answer: in odd rounds the two groups gave none.
        newest = 5 * (number - number % 2) + 0.01
        assert {f.last_seen_at_ms for f in found} == ({at(newest)} if expected else set())

    (coverage,) = rounds[-1].coverage
    assert (coverage.asked, coverage.answered, coverage.failed) == (12_000, 6_000, 6_000)
    assert {lag.lag_hw for lag in missing_lags(rounds[-1])} == {NOBODY}


def missing_lags(observed: Round) -> list[Lag]:
    return [
        consumer_lag(read, observed.partitions[key.topic_partition])
        for key, read in observed.commits.items()
        if isinstance(read.committed_offset, Unknown)
    ]
