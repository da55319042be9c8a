from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from tests.guarantees.builders import GROUP, KEY, NOBODY, OWNER, PARTITION, at, finding, findings, seen, state, steps
from tests.guarantees.test_watch import written

SKIPPED = Kind.SKIPPED_FORWARD
HIGH = 100_000


def stood(last=15, *, epoch=(0, 1), committed=5, members=(OWNER,)):
    """A commit stands with work left while the leader of the partition changes."""
    return [
        seen(s, high=HIGH, committed=committed, members=members, epoch=e, isr=state(epoch=e, second=s))
        for s in steps(0, last)
        for e in [epoch[0] if s < 5 else epoch[1]]
    ]


def end(second, committed=HIGH, epoch=1, **given):
    return seen(second, high=HIGH, committed=committed, epoch=epoch, isr=state(epoch=epoch, second=second), **given)


def test_a_commit_at_the_end_after_a_change_of_leader_skipped_what_lay_between():
    found = finding(*stood(), end(20), kind=SKIPPED)

    assert (found.severity, found.grade, found.anchor) == (4, Grade.PROBABLE, "5->100000")
    assert (found.bounds.lower, found.bounds.estimate, found.bounds.upper) == (0, None, 99_995)
    assert found.evidence["trigger"] == "leader_change"


@pytest.mark.parametrize(("later_ms", "is_found"), [(0, True), (-1, False)])
def test_the_leader_changed_once_the_old_one_was_seen_no_earlier_than_the_silence_began(later_ms, is_found):
    first, *others = stood()
    (old,) = first.states.values()
    (commit,) = first.commits.values()
    seen_at_ms = commit.observed_at_ms + later_ms
    first = replace(first, states={PARTITION: replace(old, observed_at_ms=seen_at_ms)})

    assert bool(findings(first, *others, end(20), kind=SKIPPED)) is is_found


def slow_before(quiet_s):
    """Its last commit ended a silence of so many seconds."""
    return [end(s, 3, epoch=0) for s in steps(-quiet_s, -5)]


def test_a_commit_that_stood_for_ten_seconds_and_longer_than_the_group_is_wont_has_stood():
    assert findings(*stood(10), end(15), kind=SKIPPED)
    assert findings(*slow_before(10), *stood(), end(20), kind=SKIPPED)
    assert not findings(*slow_before(15), *stood(), end(20), kind=SKIPPED)


SILENT = {
    "the leader did not change": (*stood(epoch=(0, 0)), end(20, epoch=0)),
    "the leader changed before it stood": (end(-10, 3, epoch=0), end(-5, 4), *stood(epoch=(1, 1)), end(20)),
    "the commit had not stood": (*stood(5), end(10)),
    "it stays below what existed": (*stood(), end(20, committed=HIGH - 1)),
    "so few may be read between two samples": (*stood(committed=90_001), end(20)),
    "the commit did not move": (*stood(), end(20, committed=5)),
}


@pytest.mark.parametrize("rounds", SILENT.values(), ids=SILENT.keys())
def test_no_jump_is_claimed_where(rounds):
    assert not findings(*rounds, kind=SKIPPED)


def test_the_smallest_jump_that_counts_is_ten_thousand_offsets():
    assert findings(*stood(committed=90_000), end(20), kind=SKIPPED)


def overtaken(start, then, high=HIGH):
    """Retention overtakes a commit that stands, and the next commit lies elsewhere."""
    standing = [seen(s, high=high, start=0 if s < 5 else start, committed=5) for s in steps(0, 10)]
    return (*standing, seen(15, high=high, start=start, committed=then))


def test_a_commit_below_the_log_start_that_comes_out_at_the_end_skipped_what_was_left():
    found = finding(*overtaken(50_000, HIGH), kind=SKIPPED)

    assert (found.severity, found.grade, found.evidence["trigger"]) == (4, Grade.PROBABLE, "below_log_start")
    assert (found.bounds.lower, found.bounds.upper) == (0, 50_000)
    assert "from 50,000 to 99,999" in found.statements[2].text


def test_so_little_left_may_have_been_read_within_a_round():
    surely, maybe = (finding(*overtaken(start, HIGH), kind=SKIPPED) for start in (90_000, 90_001))

    assert (surely.severity, maybe.severity) == (4, 2)
    assert (maybe.grade, maybe.bounds.upper, maybe.statements[2].grade) == (Grade.POSSIBLE, 9_999, Grade.NOT_OBSERVABLE)


@pytest.mark.parametrize(
    "rounds",
    [overtaken(50_000, HIGH - 1), overtaken(50_000, 50_100), overtaken(5, HIGH), overtaken(HIGH - 2, HIGH)],
    ids=["below the end", "from the log start on", "not overtaken", "a marker's worth was left"],
)
def test_a_group_that_reads_on_from_a_log_start_skipped_nothing(rounds):
    assert not findings(*rounds, kind=SKIPPED)


def empty(second, committed, **given):
    return seen(second, high=900, committed=committed, members=(), **given)


def test_an_operator_who_moves_an_empty_group_forward_is_named_and_counted():
    found = finding(seen(0, high=900, committed=500), empty(5, 500), empty(10, 500), empty(15, 800), kind=SKIPPED)

    assert (found.severity, found.bounds.upper, found.evidence["trigger"]) == (1, 300, "operator_reset")
    assert found.statements[2].grade is Grade.PROBABLE


QUIET = {
    "members left with their last commit": (seen(0, high=900, committed=500), empty(5, 500), empty(10, 800)),
    "the group never had members: a mirror or a consumer that assigns for itself": (empty(0, 500), empty(5, 800)),
    "members came with the change": (
        seen(0, high=900, committed=500),
        empty(5, 500),
        seen(10, high=900, committed=800),
    ),
    "a marker's worth": (seen(0, high=900, committed=500), *(empty(s, 500) for s in (5, 10)), empty(15, 502)),
}


@pytest.mark.parametrize("rounds", QUIET.values(), ids=QUIET.keys())
def test_no_operator_is_seen_where(rounds):
    assert not findings(*rounds, kind=SKIPPED)


def absent(then):
    first = (seen(0, high=900, committed=500, isr=state()), seen(5, high=900, no_commit=True, isr=state()))
    return (*first, seen(10, high=950, committed=then, isr=state()))


def test_a_commit_at_the_end_after_an_absence_may_have_skipped_or_read_again():
    found = finding(*absent(900), kind=SKIPPED)

    assert (found.severity, found.grade, found.bounds.upper) == (2, Grade.POSSIBLE, 400)
    assert found.statements[2].grade is Grade.NOT_OBSERVABLE
    assert not findings(*absent(899), kind=SKIPPED)


@pytest.mark.parametrize(("then", "reason"), [(HIGH, "the group went on from"), (7, "the commit went back to 7")])
def test_it_is_over_with_the_next_commit(then, reason):
    over = finding(*stood(), end(20), end(25, then), kind=SKIPPED)

    assert over.closed_reason.startswith(reason)
    assert over.last_seen_at_ms == at(25.01)


def test_it_is_the_same_finding_after_a_restart():
    rounds = [*stood(), end(20), end(25), end(30)]

    assert written(rounds, {4, 5, 6}).keys() == written(rounds).keys()


@pytest.mark.parametrize("now", [{"high": NOBODY}, {"high": HIGH, "start": NOBODY}], ids=["offsets", "log start"])
def test_where_the_log_starts_unknown_the_old_commit_is_the_first_that_was_left(now):
    jumped = seen(20, committed=HIGH, epoch=1, isr=state(epoch=1, second=20), **now)

    assert finding(*stood(), jumped, kind=SKIPPED).bounds.upper == 99_995


def test_an_end_that_was_never_seen_or_was_another_topics_says_nothing_of_an_absence():
    unseen = [replace(one, partitions={}) for one in absent(900)[:2]]
    others = [
        replace(one, partitions={p: replace(o, topic_id="topic-id-0") for p, o in one.partitions.items()})
        for one in absent(900)[:2]
    ]

    assert not findings(*unseen, absent(900)[2], kind=SKIPPED)
    assert not findings(*others, absent(900)[2], kind=SKIPPED)


@pytest.mark.parametrize(("late_ms", "is_found"), [(0, True), (1, False)])
def test_an_operator_is_seen_only_where_the_commit_was_read_after_the_members_had_left(late_ms, is_found):
    """The commit of the round that shows the group empty, read in the same millisecond or before."""
    left = empty(5, 500)
    seen_at_ms = left.commits[KEY].observed_at_ms + late_ms
    emptied = replace(left, groups={GROUP: replace(left.groups[GROUP], observed_at_ms=seen_at_ms)})

    assert bool(findings(seen(0, high=900, committed=500), emptied, empty(10, 800), kind=SKIPPED)) is is_found
