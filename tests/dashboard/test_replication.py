"""Which partitions are in danger, since when and for how long, and how elections went: values and rows."""

import pytest

from dashboard import elections, low_isr, replication
from dashboard.concerns import Concern
from dashboard.replication import AtRisk, Risk
from dashboard.view import View
from guarantees import completeness, isr
from guarantees.findings import Bounds, Unit
from guarantees.lifecycle import FindingHistory
from guarantees.memory import Memory
from guarantees.observations import Round
from guarantees.places import TopicPartition
from guarantees.promises import Guarantee, Pipeline, Verdict
from store.tables.intervals import NOT_OBSERVED
from tests.dashboard import story_replication
from tests.dashboard.fixture_store import HOSTILE

END_MS = 1_764_000_000_000
FROM_MS = END_MS - 900_000
GAP_MS = 30_000
VIEW = View("production", FROM_MS, END_MS, False, 10, "")


def s(started_s, last_seen_s, *in_sync, ended_s=None, after_s=None, **columns):
    """A state from and to so many seconds after the window begins; in sync 1, 2, 3 unless others are given."""
    row = {
        "topic": "t", "topic_id": "id-t", "partition": 0, "leader": 1, "leader_epoch": 3, "replicas": [1, 2, 3],
        "in_sync_replicas": list(in_sync) or [1, 2, 3], "eligible_leader_replicas": None,
        "last_known_eligible_leader_replicas": None, "offline_replicas": [], "min_insync_replicas": 2,
        "started_at_ms": FROM_MS + 1000 * started_s, "last_seen_at_ms": FROM_MS + 1000 * last_seen_s,
        "ended_before_ms": None if ended_s is None else FROM_MS + 1000 * ended_s,
        "started_after_ms": None if after_s is None else FROM_MS + 1000 * after_s, "ended_reason": None,
    }  # fmt: skip
    return row | columns


def below(*history):
    return low_isr.time_below(history, FROM_MS, END_MS, GAP_MS)


def test_time_below_min_isr_lies_between_its_samples_and_the_good_ones_around_them():
    history = [s(0, 100, ended_s=105), s(105, 140, 1, after_s=100, ended_s=145), s(145, 900, after_s=140)]

    assert below(*history) == Bounds(35, None, 45, Unit.SECONDS)


def test_a_single_low_sample_is_at_least_nothing_and_at_most_two_steps():
    history = [s(0, 100, ended_s=105), s(105, 105, 1, after_s=100, ended_s=110), s(110, 900, after_s=105)]

    assert below(*history) == Bounds(0, None, 10, Unit.SECONDS)


def test_two_low_states_in_a_row_are_one_stretch_with_the_time_between_them():
    history = [s(0, 100, 1, ended_s=105), s(105, 200, 2, after_s=100, ended_s=205), s(205, 900, after_s=200)]

    assert below(*history) == Bounds(200, None, 205, Unit.SECONDS)


def test_a_gap_in_what_was_seen_counts_for_the_upper_end_only():
    history = [s(0, 100, 1, ended_s=131), s(131, 200, 1, after_s=100, ended_s=205), s(205, 900, after_s=200)]

    assert below(*history) == Bounds(169, None, 205, Unit.SECONDS)


def test_several_stretches_add_up():
    history = [
        s(0, 10, 1, ended_s=15), s(15, 50, after_s=10, ended_s=55), s(55, 60, 1, after_s=50, ended_s=65),
        s(65, 900, after_s=60),
    ]  # fmt: skip

    assert below(*history) == Bounds(15, None, 30, Unit.SECONDS)


def test_what_began_before_the_window_counts_from_where_the_window_begins():
    assert below(s(-500, 100, 1, ended_s=105), s(105, 900, after_s=100)) == Bounds(100, None, 105, Unit.SECONDS)


def test_a_state_last_seen_before_the_window_may_have_lasted_into_it():
    assert below(s(-500, -20, 1, ended_s=10), s(10, 900, after_s=-20)) == Bounds(0, None, 10, Unit.SECONDS)


def test_what_lasts_may_last_to_the_end_of_the_window():
    assert below(s(0, 100, ended_s=105), s(105, 895, 1, after_s=100)) == Bounds(790, None, 800, Unit.SECONDS)


def test_offline_is_below_min_isr_and_at_it_is_not():
    assert below(s(0, 900, 1, 2)) is None
    assert below(s(0, 890, 1, 2, leader=None)) == Bounds(890, None, 900, Unit.SECONDS)


def test_without_a_readable_minimum_only_the_time_offline_is_known():
    unknown = {"min_insync_replicas": None}

    assert below(s(0, 900, 1, **unknown)) == low_isr.MIN_ISR_NOT_READ
    assert below(s(0, 890, leader=None, **unknown)) == Bounds(890, None, 900, Unit.SECONDS)
    offline = s(100, 110, 1, after_s=95, ended_s=115, leader=None, **unknown)
    assert below(s(0, 95, 1, ended_s=100, **unknown), offline) == Bounds(10, None, None, Unit.SECONDS)


def low_for_a_minute(*after, first=None):
    """Good, low for a minute, good for four more, and what came after."""
    good = s(300, 540, after_s=295) if not after else s(300, 540, after_s=295, ended_s=600, ended_reason=NOT_OBSERVED)
    return [first or s(0, 235, ended_s=240), s(240, 295, 1, after_s=235, ended_s=300), good, *after]


@pytest.mark.parametrize(
    "history",
    [
        low_for_a_minute(),
        low_for_a_minute(s(571, 900, after_s=540)),
        low_for_a_minute(s(571, 900, 1, 2, after_s=540)),
        low_for_a_minute(s(570, 869, after_s=540)),
        low_for_a_minute(s(570, 800, after_s=540, ended_s=950, ended_reason=NOT_OBSERVED)),
        low_for_a_minute(s(570, 900, after_s=540), first=s(31, 235, ended_s=240)),
    ],
    ids=["nobody looked after it", "a gap", "a gap before another state", "before the end", "and after the end",
         "nobody looked before it"],
)  # fmt: skip
def test_time_that_nobody_looked_leaves_no_upper_end(history):
    assert below(*history) == Bounds(55, None, None, Unit.SECONDS)
    assert replication.below_words(history, VIEW, GAP_MS) == "at least 55 seconds"
    assert low_isr.no_upper_end(history, FROM_MS, END_MS, GAP_MS) == low_isr.NOT_WATCHED


@pytest.mark.parametrize(
    "history",
    [
        low_for_a_minute(s(570, 870, after_s=540)),
        low_for_a_minute(s(570, 800, after_s=540, ended_s=805, ended_reason="the topic is no more")),
        low_for_a_minute(s(570, 900, after_s=540), first=s(30, 235, ended_s=240)),
        low_for_a_minute(s(570, 900, after_s=540), first=s(-900, 235, ended_s=240)),
        low_for_a_minute(s(570, 900, after_s=540), first=s(100, 235, after_s=-5, ended_s=240)),
    ],
)
def test_a_partition_that_was_watched_all_the_time_it_was_there_has_an_upper_end(history):
    assert below(*history) == Bounds(55, None, 65, Unit.SECONDS)


def test_a_gap_beside_a_low_time_counts_for_its_upper_end():
    history = [s(0, 100, ended_s=200, ended_reason=NOT_OBSERVED), s(200, 250, 1, after_s=100, ended_s=700,
               ended_reason=NOT_OBSERVED), s(700, 900, after_s=250)]  # fmt: skip

    assert below(*history) == Bounds(50, None, 600, Unit.SECONDS)
    assert not low_isr.is_watched(history, FROM_MS, END_MS, GAP_MS, low_isr.is_offline)


def test_nothing_seen_is_not_watched():
    assert not low_isr.is_watched([], FROM_MS, END_MS, GAP_MS)


def test_the_minimum_in_force_never_exceeds_the_replicas():
    assert below(s(0, 900, 1, replicas=[1], min_insync_replicas=2)) is None
    assert replication.effective_minimum(s(0, 1, replicas=[1], min_insync_replicas=2)) == 1


@pytest.mark.parametrize(
    ("state", "risk"),
    [
        (s(0, 1, leader=None), Risk.OFFLINE),
        (s(0, 1, 1, leader=None, min_insync_replicas=None), Risk.OFFLINE),
        (s(0, 1, 1), Risk.BELOW_MIN_ISR),
        (s(0, 1, 1, 2), Risk.AT_MIN_ISR),
        (s(0, 1, 1, 2, min_insync_replicas=1), Risk.UNDER_REPLICATED),
        (s(0, 1, 1, min_insync_replicas=None), Risk.UNDER_REPLICATED),
        (s(0, 1, min_insync_replicas=3), Risk.NONE),
    ],
)
def test_the_risk_of_a_state(state, risk):
    assert replication.risk_of(state) is risk


def row_of(one, unharmed=Verdict.OK, view=VIEW):
    return replication.risk_row(one, view, GAP_MS, unharmed)


def test_a_row_says_who_leads_who_is_missing_what_is_needed_and_who_may_be_elected():
    history = [s(0, 100, ended_s=105), s(105, 900, 1, after_s=100, eligible_leader_replicas=[3],
                                         last_known_eligible_leader_replicas=[])]  # fmt: skip

    row = row_of(AtRisk(history[-1], history, None))

    assert row["Verdict"] == "▲ Degraded"
    assert (row["Partition"], row["State"]) == ("t-0", "below min ISR")
    assert row["Since (UTC)"] == replication.wording.clock(FROM_MS + 105_000)
    assert row["Below min ISR"] == "13 min 15 s to 13 min 20 s"
    assert (row["Leader"], row["In sync"]) == ("1 (epoch 3)", "1 of 3: 1 (without 2, 3)")
    assert (row["Needed"], row["ELR"], row["Last known ELR"]) == ("2", "3", "none")
    assert row["Unclean election"] == "–"


def test_what_is_not_known_is_said_and_never_a_number():
    now = s(0, 900, 1, min_insync_replicas=None)

    row = row_of(AtRisk(now, [now], None))

    assert row["State"] == "under-replicated, min ISR unknown"
    assert row["Needed"] == row["Below min ISR"] == "unknown: min ISR could not be read"
    assert row["ELR"] == row["Last known ELR"] == "off or not asked"


def test_an_offline_partition_has_no_leader_and_nobody_in_sync():
    now = s(0, 900, leader=None) | {"in_sync_replicas": []}

    row = row_of(AtRisk(now, [now], None))

    assert (row["State"], row["Leader"]) == ("offline: no leader", "none (epoch 3)")
    assert row["In sync"] == "0 of 3 (without 1, 2, 3)"


def test_a_recovered_partition_is_not_green_on_old_evidence():
    history = [s(0, 100, 1, ended_s=105), s(105, 900, after_s=100)]
    one = AtRisk(history[-1], history, None)

    assert (row_of(one)["Verdict"], row_of(one)["State"]) == ("✓ OK", "in sync again")
    assert row_of(one, Verdict.STALE)["Verdict"] == "◷ Stale"


def test_a_partition_that_is_no_longer_listed_says_so_and_is_neither_in_danger_nor_safe():
    history = [s(0, 100, ended_s=105), s(105, 700, 1, after_s=100, leader=None, ended_s=705,
                                         ended_reason="the topic was made anew")]  # fmt: skip

    row = row_of(AtRisk(history[-1], history, None, is_gone=True))

    assert (row["Verdict"], row["State"]) == ("–", "no longer listed")
    assert row["Since (UTC)"] == replication.wording.clock(FROM_MS + 705_000)
    assert row["Below min ISR"] == "9 min 55 s to 10 min 5 s"


def test_since_when_reaches_back_over_other_states_of_the_same_danger_only():
    history = [s(0, 100, ended_s=105), s(105, 200, 1, ended_s=205), s(205, 300, 2, ended_s=305), s(305, 900, 1, 2)]

    assert replication.since_ms(AtRisk(history[2], history[:3], None)) == FROM_MS + 105_000
    assert replication.since_ms(AtRisk(history[3], history, None)) == FROM_MS + 305_000
    assert replication.since_ms(AtRisk(history[3], [], None)) == FROM_MS + 305_000


def test_an_unclean_election_makes_a_recovered_partition_what_it_means_for_the_promise():
    now, finding = s(0, 900), story_replication.unclean(END_MS)
    history = FindingHistory(finding, END_MS, END_MS)
    broken = ((Pipeline("p", "t", "g", None, Guarantee.AT_LEAST_ONCE), Verdict.DEGRADED),)

    assert row_of(AtRisk(now, [now], Concern(history, broken)))["Verdict"] == "▲ Degraded"
    informed = row_of(AtRisk(now, [now], Concern(history, ())))
    assert informed["Verdict"] == "✓ OK"
    assert informed["Unclean election"] == replication.wording.clock(finding.happened_at_ms)


def test_a_hostile_topic_is_cut_and_made_visible_in_its_row():
    now = s(0, 900, 1, topic=HOSTILE)

    shown = row_of(AtRisk(now, [now], None))["Partition"]

    assert len(shown) <= 80
    assert "\u202e" not in shown


def test_the_totals_name_every_danger_and_what_is_unknown():
    row = {"partitions": 9, "offline": 1, "below_min_isr": 2, "at_min_isr": 3, "under_replicated": 6,
           "min_isr_unknown": 0}  # fmt: skip

    assert replication.totals(row) == (
        "**9 partitions:** 1 offline · 2 below min ISR, offline ones included · 3 at min ISR · "
        "6 under-replicated in all"
    )
    assert replication.totals(row | {"min_isr_unknown": 4}).endswith(" · ? min ISR could not be read for 4")


def e(leader, *in_sync, epoch=4, last_leader=1, topic="t", **before):
    """An election of `leader` in epoch 4 after a state of epoch 3 with leader 1 and 1, 2 in sync."""
    known = {"leader": 1, "leader_epoch": 3, "replicas": [1, 2, 3], "in_sync_replicas": [1, 2],
             "eligible_leader_replicas": None, "last_known_eligible_leader_replicas": None,
             "last_seen_at_ms": FROM_MS + 100_000}  # fmt: skip
    after = s(105, 900, *in_sync, leader=leader, leader_epoch=epoch, topic=topic)
    return after | {"before": known | before, "last_leader": last_leader}


@pytest.mark.parametrize(
    ("election", "is_found", "verdict", "reason"),
    [
        (e(2, 2), False, Verdict.OK, "broker 2 was in sync when last seen"),
        (e(3, 3, eligible_leader_replicas=[3]), False, Verdict.OK, "broker 3 was eligible (KIP-966) when last seen"),
        (e(3, 3), False, Verdict.DEGRADED, "broker 3 was neither in sync nor known to be eligible when last seen"),
        (e(3, 2, 3), True, Verdict.DEGRADED, "broker 3 was neither in sync nor known to be eligible when last seen"),
        (e(3, 2, 3), False, Verdict.UNKNOWN, "broker 3 was not in sync when last seen, and may have caught up since"),
        (e(4, 4), False, Verdict.UNKNOWN, "broker 4 was no replica when last seen"),
        (
            e(2, 2, in_sync_replicas=[]), False, Verdict.UNKNOWN,
            "nobody was in sync when last seen, and who was eligible was not asked or the feature is off (KIP-966)",
        ),
        (e(2, 2, epoch=6), False, Verdict.UNKNOWN, "2 leader epochs in between were not seen"),
        (e(2, 2, epoch=5), False, Verdict.UNKNOWN, "1 leader epoch in between was not seen"),
    ],
)  # fmt: skip
def test_an_election_is_clean_unclean_or_unknown_and_says_why(election, is_found, verdict, reason):
    assert elections.judged(election, is_found=is_found) == (verdict, reason)


def test_an_election_row_names_both_samples_both_leaders_and_the_jump_of_epochs():
    row = elections.election_row(e(2, 2, 3, epoch=6, topic=HOSTILE), VIEW, is_found=False)

    assert row["Election"] == "? unknown"
    assert row["After (UTC)"] == replication.wording.clock(FROM_MS + 100_000)
    assert row["Seen by (UTC)"] == replication.wording.clock(FROM_MS + 105_000)
    assert (row["Leader"], row["Leader epoch"]) == ("1 → 2", "3 → 6")
    assert (row["In sync before"], row["In sync after"]) == ("1, 2", "2, 3")
    assert "\u202e" not in row["Partition"]


def test_a_time_without_a_leader_stands_between_the_old_and_the_new_one():
    election = e(1, 1, last_leader=3)
    election["before"]["leader"] = None

    assert elections.leaders(election) == "3 → none → 1"
    assert elections.leaders(election | {"last_leader": None}) == "nobody seen → none → 1"


def test_seconds_of_the_page_are_seconds_of_the_finding():
    """The same samples, every 5 s, through the memory of the rule and as the intervals that are stored."""
    partition, settings = TopicPartition("t", 0), {"t": {"min.insync.replicas": "2"}}
    memory, low, last_low = Memory.empty(), {}, None
    for second in range(0, 150, 5):
        in_sync = (1,) if 105 <= second <= 140 else (1, 2, 3)
        states = {partition: low_isr.state_of(s(second, second, *in_sync))}
        seen = Round(
            cluster_id="c", tick=second, started_at_ms=0, ended_at_ms=0, states=states, topic_settings=settings
        )
        low = isr.remember_low(low, memory, seen, 30, isr.is_below)
        last_low, memory = low.get(partition, last_low), Memory(states=states)

    found = isr.seconds(isr.low_evidence(last_low, states[partition], 2), FROM_MS + 145_000)

    assert below(s(0, 100, ended_s=105), s(105, 140, 1, after_s=100, ended_s=145), s(145, 900, after_s=140)) == found


@pytest.mark.parametrize(("interval_ms", "expected"), [(5_000, 30_000), (10_000, 30_000), (30_000, 90_000)])
def test_a_gap_is_never_shorter_than_three_rounds(interval_ms, expected):
    assert completeness.gap_ms(30.0, interval_ms) == expected


@pytest.mark.parametrize(("partitions", "expected"), [(1_000, 30_000), (1_001, 60_000)])
def test_a_gap_of_states_is_as_many_of_their_askings_where_a_large_cluster_is_asked_less_often(partitions, expected):
    assert completeness.gap_of_states_ms(15.0, 10_000, partitions) == expected
