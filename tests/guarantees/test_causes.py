"""Each link once loud and, with one fact changed, silent; and incidents made of them."""

from dataclasses import replace

import pytest

from guarantees.cause_links import LINKS
from guarantees.causes import causes, followed_by, wanted_rebalances
from guarantees.findings import Finding, FindingState, Grade, Kind, Place, Statement
from guarantees.incidents import every_incident, incidents
from guarantees.lifecycle import changes, fold
from guarantees.links import Cause, GroupRebalance, WantedRebalances, earliest_ms
from guarantees.places import TopicPartition
from guarantees.promises import Guarantee, Pipeline
from guarantees.verdicts import OF_GROUP
from store.findings import event_row, parse_event
from tests.guarantees.builders import CLUSTER, GROUP, OWNER, PARTITION, TOPIC, TOPIC_ID, findings, member, seen, state

PIPELINE = Pipeline("billing", TOPIC, GROUP, "invoices", Guarantee.EXACTLY_ONCE)
T = 1_700_000_000_000
MINUTE = 60_000


def fact(
    kind, at=0, *, topic=TOPIC, partition=0, topic_id=TOPIC_ID, group_id=GROUP, closed=None, seen_to=None, **proof
):
    """A finding at so many seconds after T, with the evidence that a link looks at."""
    place = Place(CLUSTER, topic, topic_id, partition, group_id if kind in OF_GROUP else None)
    until = T + 1000 * (at if seen_to is None else seen_to)
    statements = (Statement(Grade.PROVEN, "seen"),)
    anchor = f"at {at}"
    return Finding(
        kind, place, anchor, 3, f"{kind} at {at}", statements, None, proof, T + 1000 * at, until, None, closed
    )


def rebalance(at=0, *, left=("m1",), moved=(PARTITION,), cause="1 member left", group_id=GROUP):
    at_ms = T + 1000 * at
    return GroupRebalance(CLUSTER, group_id, tuple(left), frozenset(moved), cause, at_ms - 5_000, at_ms)


def explain(effect, *others, rebalances=(), pipelines=(PIPELINE,)):
    """The causes found for the effect, as (link, grade)."""
    found = causes([effect, *others], rebalances, pipelines, LINKS).get(effect.finding_id, ())
    return [(cause.link, cause.statement.grade) for cause in found]


CUT = fact(Kind.LOG_TRUNCATED, 10, high_watermark_before=1500, high_watermark=1100)
EXPIRED = fact(Kind.EXPIRED_UNREAD, 10, committed_offset=100, log_start_offset=200)
LOST = fact(Kind.LOST_WRITE, 20, lost=[{"offset": 150, "observed_at_ms": T}, {"offset": 1200, "observed_at_ms": T}])
STOOD = fact(Kind.GROUP_STALLED, 5, committed_offset=100)
FROZEN = fact(Kind.STABLE_OFFSET_FROZEN, 5, start_offset=102)
BELOW = fact(Kind.BELOW_MIN_ISR, 5)
REWIND = fact(Kind.REWIND, 20, committed_offset_before=1400, committed_offset=0)
AHEAD = fact(Kind.COMMITTED_AHEAD, 15, committed_offset=1400)
IN_SINK = fact(Kind.DUPLICATE_WRITE, 60, topic="invoices", topic_id="sink")
DISORDER = fact(Kind.OUT_OF_ORDER, 60, topic="invoices", topic_id="sink")
GREW = fact(Kind.PARTITIONS_ADDED, 30, partition=None, partitions_before=3, partitions=4)
IN_SOURCE = fact(Kind.DUPLICATE_WRITE, 30)
REDELIVERY = fact(Kind.POSSIBLE_REDELIVERY, 30)
UNCLEAN = fact(Kind.UNCLEAN_ELECTION, 9, leader_epoch=4)
RECOVERED = fact(Kind.PRODUCER_RECOVERED, 15, leader_epoch=4, bumps=[{"producer_id": 7, "epoch": 2}])
MISSING = fact(Kind.MISSING_SEQUENCES, 15, leader_epoch=4)
RESENT = fact(Kind.RESENT_BATCH, 20, producer_id=7, offset=150)
COPIES = fact(Kind.DUPLICATE_WRITE, 30, producer_id=7, producer_epoch=2, first_offset=100, last_offset=150)
SKIPPED = fact(Kind.SKIPPED_FORWARD, 20, committed_offset_before=100, committed_offset=200)
GONE = fact(Kind.COMMIT_EXPIRED, 10, committed_offset=100, absent_since_ms=T + 10_000)
TIMED_OUT = fact(Kind.TRANSACTION_TIMED_OUT, 65, producer_id=7, first_offset=102)


def proof(finding, **evidence):
    return replace(finding, evidence={**finding.evidence, **evidence})


AT_PLACE = [
    ("cut after too few replicas", Grade.PROBABLE, CUT, BELOW, [(CUT, fact(Kind.BELOW_MIN_ISR, 11))]),
    ("cut after too few replicas", Grade.PROBABLE, replace(CUT, happened_at_ms=T + 65_000), BELOW,
     [(replace(CUT, happened_at_ms=T + 65_001), BELOW)]),
    ("left beyond the end by a cut", Grade.PROVEN, AHEAD, CUT,
     [(proof(AHEAD, committed_offset=1501), CUT), (proof(AHEAD, committed_offset=1100), CUT)]),
    ("left beyond the end by a cut", Grade.PROVEN, proof(AHEAD, committed_offset=1500), CUT,
     [(AHEAD, replace(CUT, happened_at_ms=T + 15_001))]),
    ("set back after a cut", Grade.PROBABLE, REWIND, CUT,
     [(proof(REWIND, committed_offset_before=1100), CUT), (proof(REWIND, committed_offset_before=1501), CUT)]),
    ("set back after a cut", Grade.PROBABLE, proof(REWIND, committed_offset_before=1500), CUT, []),
    ("came back from beyond the end", Grade.PROBABLE, REWIND, AHEAD,
     [(REWIND, proof(AHEAD, committed_offset=1401))]),
    ("stood until it expired", Grade.PROVEN, EXPIRED, STOOD, [(EXPIRED, proof(STOOD, committed_offset=99))]),
    ("stood until it expired", Grade.PROVEN, EXPIRED, fact(Kind.GROUP_STOPPED, 5, committed_offset=100),
     [(EXPIRED, fact(Kind.GROUP_STOPPED, 11, committed_offset=100))]),
    ("waited until it expired", Grade.PROBABLE, EXPIRED, FROZEN,
     [(EXPIRED, proof(FROZEN, start_offset=103)), (EXPIRED, proof(FROZEN, start_offset=99))]),
    ("ids in the hole", Grade.PROVEN, LOST, EXPIRED,
     [(LOST, proof(EXPIRED, log_start_offset=150)), (LOST, proof(EXPIRED, committed_offset=151))]),
    ("ids in the hole", Grade.PROVEN, LOST, proof(EXPIRED, committed_offset=150),
     [(proof(LOST, lost=[{"offset": 150}, {"observed_at_ms": T}, 150, None]), EXPIRED)]),
    ("ids cut away", Grade.PROVEN, proof(LOST, lost=[{"offset": 1100, "observed_at_ms": T + 10_000}]), CUT, []),
    ("ids cut away", Grade.PROVEN, LOST, CUT,
     [(LOST, proof(CUT, high_watermark=1201)), (LOST, proof(CUT, high_watermark_before=1200)),
      (proof(LOST, lost=[{"offset": 1200, "observed_at_ms": T + 10_001}]), CUT)]),
    ("written again after redelivery", Grade.PROBABLE, IN_SINK, REDELIVERY,
     [(IN_SINK, fact(Kind.POSSIBLE_REDELIVERY, 61)),
      (IN_SINK, fact(Kind.POSSIBLE_REDELIVERY, 30, group_id="other")),
      (replace(IN_SINK, happened_at_ms=T + 330_001), REDELIVERY)]),
    ("written again after redelivery", Grade.PROBABLE, replace(IN_SINK, happened_at_ms=T + 320_000), REWIND,
     [(replace(IN_SINK, happened_at_ms=T + 320_001), REWIND)]),
    ("handed on from the source", Grade.PROBABLE, IN_SINK, IN_SOURCE,
     [(IN_SINK, fact(Kind.DUPLICATE_WRITE, 61)), (fact(Kind.DUPLICATE_WRITE, 331, topic="invoices"), IN_SOURCE)]),
    ("handed on from the source", Grade.PROBABLE, fact(Kind.DUPLICATE_WRITE, 330, topic="invoices"), IN_SOURCE, []),
    ("out of order at the source", Grade.PROBABLE, DISORDER, fact(Kind.OUT_OF_ORDER, 30),
     [(DISORDER, fact(Kind.OUT_OF_ORDER, 61)), (replace(DISORDER, happened_at_ms=T + 330_001),
      fact(Kind.OUT_OF_ORDER, 30)), (DISORDER, fact(Kind.OUT_OF_ORDER, 30, topic="other"))]),
    ("keys moved between partitions", Grade.POSSIBLE, DISORDER, GREW,
     [(DISORDER, proof(GREW, partitions_before=None)), (DISORDER, replace(GREW, happened_at_ms=T + 61_000)),
      (fact(Kind.OUT_OF_ORDER, 60), GREW)]),
    ("reset past the hole", Grade.PROBABLE, SKIPPED, proof(EXPIRED, newest_committed_offset=100),
     [(SKIPPED, proof(EXPIRED, newest_committed_offset=101)), (SKIPPED, EXPIRED)]),
    ("came back from beyond the end", Grade.PROBABLE, SKIPPED, proof(AHEAD, committed_offset=100),
     [(SKIPPED, AHEAD)]),
    ("began anew after expiry", Grade.PROBABLE, SKIPPED, GONE,
     [(SKIPPED, proof(GONE, absent_since_ms=None)), (SKIPPED, proof(GONE, committed_offset=99))]),
    ("began anew after expiry", Grade.PROBABLE, REWIND, proof(GONE, committed_offset=1400), [(REWIND, GONE)]),
    ("ids passed over", Grade.PROVEN, fact(Kind.LOST_WRITE, 30, lost=[{"offset": 100, "observed_at_ms": T}]),
     SKIPPED, [(fact(Kind.LOST_WRITE, 30, lost=[{"offset": 200, "observed_at_ms": T}]), SKIPPED),
      (fact(Kind.LOST_WRITE, 30, lost=[{"offset": 99, "observed_at_ms": T}]), SKIPPED)]),
    ("stood until it expired", Grade.PROVEN, EXPIRED, fact(Kind.STALE_SUBSCRIPTION, 5, committed_offset=100),
     [(EXPIRED, fact(Kind.STALE_SUBSCRIPTION, 5, committed_offset=99))]),
    ("began with this leader", Grade.PROVEN, proof(CUT, leader_epoch=4), UNCLEAN,
     [(proof(CUT, leader_epoch=5), UNCLEAN), (CUT, UNCLEAN)]),
    ("began with this leader", Grade.PROVEN, fact(Kind.TAIL_TRUNCATED, 10, leader_epoch=4), UNCLEAN,
     [(fact(Kind.TAIL_TRUNCATED, 10, leader_epoch=5), UNCLEAN)]),
    ("cut after too few replicas", Grade.PROBABLE, UNCLEAN, BELOW, [(UNCLEAN, fact(Kind.BELOW_MIN_ISR, 10))]),
    ("left beyond the end by a cut", Grade.PROVEN, fact(Kind.COMMIT_IN_TRUNCATED_LOG, 15, committed_offset=1400),
     CUT, [(fact(Kind.COMMIT_IN_TRUNCATED_LOG, 15, committed_offset=1100), CUT)]),
    ("began with this leader", Grade.PROVEN, MISSING, UNCLEAN, [(proof(MISSING, leader_epoch=5), UNCLEAN)]),
    ("began with this leader", Grade.PROVEN, RECOVERED, UNCLEAN, [(proof(RECOVERED, leader_epoch=3), UNCLEAN)]),
    ("lost with the old leader", Grade.PROBABLE, MISSING, proof(CUT, leader_epoch=4),
     [(MISSING, proof(CUT, leader_epoch=5)), (MISSING, CUT)]),
    ("lost with the old leader", Grade.PROBABLE, RECOVERED, proof(CUT, leader_epoch=4), [(RECOVERED, CUT)]),
    ("stored as a batch", Grade.PROVEN, COPIES, RESENT,
     [(COPIES, proof(RESENT, offset=99)), (COPIES, proof(RESENT, offset=151)),
      (COPIES, proof(RESENT, producer_id=8)), (proof(COPIES, last_offset=None), RESENT)]),
    ("stored as a batch", Grade.PROVEN, COPIES, proof(RESENT, offset=100), []),
    ("sent again after a recovery", Grade.PROBABLE, COPIES, RECOVERED,
     [(proof(COPIES, producer_epoch=3), RECOVERED), (proof(COPIES, producer_id=8), RECOVERED),
      (COPIES, proof(RECOVERED, bumps=None))]),
    ("stood open until its timeout", Grade.PROVEN, TIMED_OUT, proof(FROZEN, producer_id=7),
     [(TIMED_OUT, proof(FROZEN, producer_id=8)), (TIMED_OUT, proof(FROZEN, producer_id=7, start_offset=101)),
      (TIMED_OUT, FROZEN)]),
]  # fmt: skip


@pytest.mark.parametrize("name", ["observed_before_at_ms", "changed_after_ms", "after_ms"])
def test_a_fact_may_have_begun_just_after_the_last_sample_that_did_not_show_it(name):
    assert earliest_ms(proof(REWIND, **{name: T})) == T
    assert earliest_ms(proof(REWIND, **{name: "unknown"})) == earliest_ms(REWIND) == REWIND.happened_at_ms


@pytest.mark.parametrize(("link", "grade", "effect", "cause", "silent"), AT_PLACE)
def test_a_link_holds_on_its_evidence_and_not_beside_it(link, grade, effect, cause, silent):
    assert explain(effect, cause) == [(link, grade)]
    assert [explain(*pair) for pair in silent] == [[]] * len(silent)


def without(finding, name):
    return replace(finding, evidence={key: value for key, value in finding.evidence.items() if key != name})


@pytest.mark.parametrize(("link", "grade", "effect", "cause"), [row[:4] for row in AT_PLACE])
def test_a_link_that_lacks_a_piece_of_evidence_holds_as_before_or_not_at_all(link, grade, effect, cause):
    lacking = [
        *((without(effect, name), cause) for name in effect.evidence),
        *((effect, without(cause, name)) for name in cause.evidence),
    ]

    assert {tuple(explain(*pair)) for pair in lacking} <= {(), ((link, grade),)}


def test_without_its_evidence_a_link_does_not_hold():
    """Stored evidence may be older than the link."""
    bare = [fact(kind, 5) for kind in Kind]
    held = {(effect.kind, link) for effect in bare for link, _ in explain(effect, *bare, rebalances=[rebalance(5)])}

    assert held == {
        (Kind.LOG_TRUNCATED, "cut after too few replicas"),
        (Kind.UNCLEAN_ELECTION, "cut after too few replicas"),
        (Kind.GROUP_STALLED, "stands since a rebalance"),
        (Kind.LOST_WRITE, "owner left after committing"),
    }


@pytest.mark.parametrize(
    "elsewhere",
    [
        fact(Kind.LOG_TRUNCATED, 10, partition=1, high_watermark_before=1500, high_watermark=1100),
        fact(Kind.LOG_TRUNCATED, 10, topic_id="other", high_watermark_before=1500, high_watermark=1100),
        fact(Kind.LOG_TRUNCATED, 10, topic="other", high_watermark_before=1500, high_watermark=1100),
        replace(CUT, place=replace(CUT.place, cluster_id="other")),
        fact(Kind.LOG_TRUNCATED, 10),
    ],
)
def test_a_finding_elsewhere_or_without_the_evidence_explains_nothing(elsewhere):
    assert explain(REWIND, elsewhere) == []


def test_another_groups_standing_explains_nothing():
    other = fact(Kind.GROUP_STALLED, 5, committed_offset=100, group_id="other")

    assert explain(EXPIRED, other) == []


STOPPED = fact(Kind.GROUP_STOPPED, 100, seen_to=200)
ALL_LEFT = {"cause": "all members left"}


BY_REBALANCE = [
    (STOPPED, rebalance(40, **ALL_LEFT), [("last member left", Grade.PROVEN)]),
    (STOPPED, rebalance(200, **ALL_LEFT), [("last member left", Grade.PROVEN)]),
    (STOPPED, rebalance(39, **ALL_LEFT), []),
    (STOPPED, rebalance(201, **ALL_LEFT), []),
    (STOPPED, rebalance(110), []),
    (STOPPED, rebalance(110, **ALL_LEFT, group_id="other"), []),
    (STOOD, rebalance(65), [("stands since a rebalance", Grade.PROBABLE)]),
    (STOOD, rebalance(-55), [("stands since a rebalance", Grade.PROBABLE)]),
    (STOOD, rebalance(66), []),
    (STOOD, rebalance(-56), []),
    (STOOD, rebalance(10, moved=[TopicPartition(TOPIC, 1)]), []),
    (LOST, rebalance(20), [("owner left after committing", Grade.PROBABLE)]),
    (LOST, rebalance(80), [("owner left after committing", Grade.PROBABLE)]),
    (LOST, rebalance(81), []),
    (LOST, rebalance(19), []),
    (LOST, rebalance(30, left=()), []),
    (LOST, rebalance(30, moved=[TopicPartition(TOPIC, 1)]), []),
    (LOST, rebalance(30, moved=[TopicPartition("other", 0)]), []),
]


@pytest.mark.parametrize(("effect", "event", "links"), BY_REBALANCE)
def test_a_rebalance_explains_by_group_partition_and_time(effect, event, links):
    assert explain(effect, rebalances=[event]) == links


BY_EVIDENCE = [
    (proof(REWIND, rebalance={"cause": "1 member joined", "observed_at_ms": T}),
     [("came with a rebalance", Grade.PROBABLE)]),
    (proof(REWIND, rebalance=None), []),
    (proof(REWIND, rebalance={"cause": "1 member joined"}), []),
    (proof(REWIND, is_operator_reset=True), [("set by an operator", Grade.PROBABLE)]),
    (proof(REWIND, is_operator_reset=False), []),
    (proof(REDELIVERY, observed_at_ms=T, cause="1 member left"), [("member left", Grade.PROVEN)]),
    (REDELIVERY, []),
    (proof(CUT, leader_epoch_before=3, leader_epoch=4, leader_before=1, leader=2), [("election", Grade.PROVEN)]),
    (proof(UNCLEAN, leader_epoch_before=3, leader_before=None, leader=2), [("election", Grade.PROVEN)]),
    (proof(CUT, leader_epoch_before=3, leader_epoch=4, is_unclean=True), [("election", Grade.PROBABLE)]),
    (CUT, []),
    (proof(CUT, leader_epoch_before=3), []),
    (proof(FROZEN, producer_id=7, producer_epoch=0), [("open transaction", Grade.PROVEN)]),
    (proof(FROZEN, producer_id=None, producer_epoch=None), []),
    (proof(FROZEN, producer_id=7, producer_epoch=None), []),
    (proof(IN_SINK, cause="sent_twice"), [("sent again", Grade.PROBABLE)]),
    (proof(IN_SINK, cause="something else"), []),
]  # fmt: skip


@pytest.mark.parametrize(("effect", "links"), BY_EVIDENCE)
def test_the_finding_s_own_evidence_may_name_the_event(effect, links):
    assert explain(effect) == links


def test_of_many_findings_in_the_source_those_of_the_nearest_event_explain_one_in_the_sink():
    many = [replace(REDELIVERY, anchor=str(s), happened_at_ms=T + 1000 * s) for s in range(60)]
    found = causes([IN_SINK, *many], (), (PIPELINE,), LINKS)[IN_SINK.finding_id]

    assert [cause.at_ms for cause in found] == [T + 1000 * s for s in range(59, 48, -1)]


def test_of_one_event_on_many_partitions_so_many_are_named():
    many = [replace(REDELIVERY, place=replace(REDELIVERY.place, partition=n)) for n in range(60)]

    assert len(causes([IN_SINK, *many], (), (PIPELINE,), LINKS)[IN_SINK.finding_id]) == 20


def test_of_two_rebalances_after_a_loss_the_nearer_one_explains_it():
    near, far = rebalance(25), rebalance(50)

    for both in ((near, far), (far, near)):
        (cause,) = causes([LOST], both, (PIPELINE,), LINKS)[LOST.finding_id]
        assert cause.event == near.event


def test_two_events_of_one_kind_within_a_minute_are_two_incidents_where_each_has_its_cause():
    first, second = REDELIVERY, replace(REDELIVERY, anchor="other", place=replace(REDELIVERY.place, partition=1))
    first = proof(first, observed_at_ms=T + 29_000, cause="1 member left")
    near = proof(second, observed_at_ms=T + 29_000, cause="1 member left")
    other = proof(second, observed_at_ms=T + 31_000, cause="1 member left")

    def told(*found):
        return len(incidents(found, causes(found, (), (PIPELINE,), LINKS), (PIPELINE,)))

    assert (told(first, near), told(first, other)) == (1, 2)


# What explains these is in no evidence: which broker failed, and why, only its own log tells.
NEVER_EXPLAINED = {
    # Which broker failed, and why, is in no evidence.
    Kind.BELOW_MIN_ISR,
    Kind.AT_MIN_ISR,
    Kind.FALLING_BEHIND,
    # What a person or an application did, or did not do.
    Kind.COMMIT_EXPIRED,
    Kind.COMMIT_PENDING,
    Kind.READ_PAST_STABLE_OFFSET,
    Kind.NEW_PARTITION_SKIPPED,
    Kind.STALE_SUBSCRIPTION,
    Kind.MIN_ISR_ABOVE_REPLICAS,
    Kind.TOPIC_RECREATED,
    Kind.PARTITIONS_ADDED,
    Kind.COMMIT_OF_OLD_TOPIC,
    Kind.WRONG_COMMIT_EPOCH,
    Kind.ODD_TIMESTAMPS,
    Kind.UNFENCED_RESTART,
    Kind.PRODUCER_FENCED,
    # The finding is the explanation, or there is none.
    Kind.RESENT_BATCH,
    Kind.SEQUENCE_GAP,
    Kind.TORN_TRANSACTION,
    Kind.CONFLICTING_OFFSET,
}


def test_every_kind_has_a_link_that_may_explain_it_or_is_known_to_have_none():
    table = (*LINKS.at_place, *LINKS.to_sink, *LINKS.rebalances, *LINKS.evidence)

    assert set(Kind) - {link.effect for link in table} == NEVER_EXPLAINED


def test_the_order_of_the_findings_does_not_matter():
    chain = [CUT, AHEAD, REWIND, EXPIRED, LOST, STOOD]

    assert causes(chain, (), (), LINKS) == causes(chain[::-1], (), (), LINKS)


def test_the_surest_cause_comes_first_then_the_nearest():
    rewind = proof(REWIND, rebalance={"cause": "1 member joined", "observed_at_ms": T + 19_000})
    frozen_long = proof(FROZEN, start_offset=100)

    assert [link for link, _ in explain(EXPIRED, frozen_long, STOOD)] == [
        "stood until it expired",
        "waited until it expired",
    ]
    assert [link for link, _ in explain(rewind, CUT)] == ["came with a rebalance", "set back after a cut"]


def stored(found):
    """The findings as the store gives them back: tuples have become lists."""
    rows = [event_row(event) for event in changes({}, found, T)]
    return [history.finding for history in fold(parse_event(row) for row in rows).values()]


def test_a_cut_a_commit_beyond_it_and_the_way_back_are_one_chain_of_the_rules_own_findings():
    rounds = (
        seen(0, high=1500, committed=1400, isr=state([1, 2])),
        seen(5, high=1100, epoch=1, broker=3, committed=1400, isr=state([3], leader=3, epoch=1, second=5)),
        seen(10, high=1110, epoch=1, broker=3, committed=1400),
        seen(15, high=1120, epoch=1, broker=3, committed=20),
    )
    found = stored(findings(*rounds))
    explained = causes(found, (), (PIPELINE,), LINKS)
    (incident,) = incidents(found, explained, (PIPELINE,))
    kinds = {one.kind: explained[one.finding_id] for one in found}

    assert [c.link for c in kinds[Kind.LOG_TRUNCATED]] == ["began with this leader", "election"]
    assert kinds[Kind.LOG_TRUNCATED][1].statement.text.endswith("It was an unclean election.")
    assert [c.link for c in kinds[Kind.UNCLEAN_ELECTION]] == ["election"]
    assert [c.link for c in kinds[Kind.COMMITTED_AHEAD]] == ["left beyond the end by a cut"]
    assert {c.link for c in kinds[Kind.REWIND]} == {"set back after a cut", "came back from beyond the end"}
    assert [one.kind for one in incident.findings] == [
        *(Kind.UNCLEAN_ELECTION, Kind.LOG_TRUNCATED, Kind.COMMITTED_AHEAD, Kind.REWIND)
    ]
    assert (incident.severity, incident.state, incident.to_ms) == (4, FindingState.OPEN, None)
    assert incident.title == f"{incident.first_cause.title}, and 3 more findings"
    assert kinds[Kind.REWIND][0].statement.text in incident.sentences[3]
    assert incident.sentences[2].endswith(
        "The commit 1,400 was within the log until it was cut from 1,500 to 1,100. (PROVEN)"
    )


def test_a_member_that_left_explains_what_may_be_delivered_again_and_the_rewind_by_one_event():
    one, two = OWNER, member("m2")
    rounds = (
        seen(0, high=900, committed=500, members=(one, two)),
        seen(5, high=900, committed=400, members=(member("m2", PARTITION),)),
    )
    found = stored(findings(*rounds))
    explained = causes(found, (), (PIPELINE,), LINKS)

    assert {one.kind for one in found} == {Kind.REWIND, Kind.POSSIBLE_REDELIVERY}
    assert len({explained[one.finding_id][0].event for one in found}) == 1
    assert len(incidents(found, explained, (PIPELINE,))) == 1


def test_followed_by_is_the_other_direction():
    explained = causes([CUT, AHEAD, REWIND], (), (), LINKS)

    assert followed_by(explained) == {
        CUT.finding_id: (AHEAD.finding_id, REWIND.finding_id),
        AHEAD.finding_id: (REWIND.finding_id,),
    }


def told(*found, pipelines=(PIPELINE,)):
    return incidents(found, causes(found, (), pipelines, LINKS), pipelines)


def test_an_incident_keeps_its_identity_when_consequences_are_added_or_come_in_another_order():
    first = told(CUT)[0].incident_id

    assert {one.incident_id for one in (*told(CUT, AHEAD), *told(REWIND, AHEAD, CUT))} == {first}


def test_the_cause_comes_first_although_its_effect_was_sampled_before_it():
    later = replace(proof(CUT, observed_before_at_ms=T), happened_at_ms=AHEAD.happened_at_ms + 20)

    assert told(AHEAD, later)[0].first_cause == later


def test_an_identity_stands_in_links_and_notes_and_is_what_it_always_was():
    (of_a_pipeline,) = told(CUT)
    (of_none,) = every_incident([CUT], {}, ())

    assert (of_a_pipeline.incident_id, of_none.incident_id) == ("b24a8215266d562c", "edb95357beb862c1")


def test_findings_that_explain_each_other_in_a_circle_are_told_by_time():
    def because_of(finding):
        return (
            Cause("circle", Statement(Grade.POSSIBLE, "it came with it"), finding.happened_at_ms, finding.finding_id),
        )

    circle = {AHEAD.finding_id: because_of(REWIND), REWIND.finding_id: because_of(AHEAD)}
    (incident,) = incidents([REWIND, AHEAD], circle, (PIPELINE,))

    assert incident.findings == (AHEAD, REWIND)


def test_an_incident_answers_to_the_name_that_each_of_its_findings_gave_it():
    """A note written before an earlier cause was found stays with it, and so does one from before two became one."""
    before, reset = told(AHEAD)[0], told(REWIND)[0]

    (after,) = told(CUT, AHEAD, REWIND)

    assert after.incident_id not in {before.incident_id, reset.incident_id}
    assert {before.incident_id, reset.incident_id, after.incident_id} == after.known_as
    assert not after.known_as & told(CUT, pipelines=(replace(PIPELINE, name="other"),))[0].known_as


def test_findings_that_concern_no_pipeline_are_incidents_too_and_no_finding_is_told_twice():
    apart = replace(CUT, place=replace(CUT.place, topic="elsewhere", topic_id="e"))
    found = [CUT, AHEAD, apart]

    every = every_incident(found, causes(found, (), (PIPELINE,), LINKS), (PIPELINE,))

    assert {(one.pipeline, len(one.findings)) for one in every} == {("billing", 2), (None, 1)}


def election(partition, at=0, *, leader_before=2, in_sync=(2,)):
    return fact(Kind.UNCLEAN_ELECTION, at, partition=partition, leader_before=leader_before, leader=1,
                leader_epoch_before=4, leader_epoch=5 + partition, in_sync_replicas_before=list(in_sync))  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "number"),
    [
        (election(0), election(1, 30), 1),
        (election(0), election(1, 60), 1),
        (election(0), election(1, 61), 2),
        (election(0), election(1, 30, leader_before=3), 2),
        (election(0, leader_before=None), election(1, 30), 1),
        (election(0, leader_before=None, in_sync=(2, 3)), election(1, 30), 2),
        (election(0, leader_before=None, in_sync=(3,)), election(1, 30), 2),
    ],
)
def test_partitions_that_lost_the_same_leader_within_a_minute_are_one_incident(one, other, number):
    assert len(told(one, other)) == number


@pytest.mark.parametrize(
    ("other", "number"),
    [
        (fact(Kind.REWIND, 80, partition=1), 1),
        (replace(fact(Kind.REWIND, 80, partition=1), happened_at_ms=T + 80_001), 2),
        (fact(Kind.EXPIRED_UNREAD, 20, partition=1), 2),
        (fact(Kind.REWIND, 20, partition=1, group_id="other"), 1),
    ],
)
def test_the_same_thing_on_other_partitions_within_a_minute_is_one_incident(other, number):
    assert len(told(REWIND, other)) == number


def test_the_same_thing_on_two_topics_by_turns_is_two_incidents():
    here, there = (
        (fact(Kind.BELOW_MIN_ISR, at, partition=at) for at in (5, 15)),
        fact(Kind.BELOW_MIN_ISR, 10, topic="invoices"),
    )

    assert len(told(*here, replace(there, place=replace(there.place, topic_id="sink")))) == 2


def test_what_has_no_cause_of_its_own_joins_the_same_thing_on_another_partition():
    assert len(told(CUT, REWIND, fact(Kind.REWIND, 30, partition=1))) == 1


def test_a_cause_that_does_not_concern_a_pipeline_is_named_and_no_part_of_its_incident():
    reading = Pipeline("reading", "invoices", "archiver", None, Guarantee.AT_LEAST_ONCE)
    (incident,) = told(IN_SINK, REDELIVERY, pipelines=(PIPELINE, reading))[1:]

    assert (incident.pipeline, incident.findings) == ("reading", (IN_SINK,))
    assert "The group was delivered records again" in incident.sentences[0]


def test_what_happened_together_is_told_by_time():
    rewinds = [fact(Kind.REWIND, at, partition=at) for at in (20, 10, 40, 30, 50)]

    assert [one.place.partition for one in told(*rewinds)[0].findings] == [10, 20, 30, 40, 50]


def test_the_gravest_incident_comes_first_then_the_earliest():
    later, early, grave = (fact(Kind.REWIND, at, partition=at) for at in (200, 100, 300))
    found = told(later, early, replace(grave, severity=4))

    assert [one.first_cause.place.partition for one in found] == [300, 100, 200]


def test_a_finding_that_concerns_two_pipelines_is_an_incident_of_each():
    other = replace(PIPELINE, name="audit", group_id="other")

    assert {one.pipeline for one in told(CUT, pipelines=(PIPELINE, other))} == {"billing", "audit"}
    assert len({one.incident_id for one in told(CUT, pipelines=(PIPELINE, other))}) == 2


def test_an_incident_closes_with_its_last_finding_and_says_where_no_cause_was_observed():
    over = [replace(one, closed_reason="over", last_seen_at_ms=T + 90_000) for one in (EXPIRED, STOOD)]
    (incident,) = told(*over)

    assert (incident.state, incident.from_ms, incident.to_ms) == (FindingState.CLOSED, T + 5_000, T + 90_000)
    assert incident.sentences[0].endswith("Cause not observed.")
    assert told(over[0], replace(STOOD))[0].to_ms is None


def test_rebalances_are_wanted_of_the_groups_and_for_as_long_as_they_may_explain_a_finding():
    stalled = fact(Kind.GROUP_STALLED, 5, group_id="other", seen_to=900)
    again = fact(Kind.GROUP_STALLED, 6, group_id="other", partition=1)
    wanted = wanted_rebalances([STOPPED, stalled, again, REWIND], LINKS)

    assert set(wanted.spans) == {(GROUP, T + 40_000, T + 200_000), ("other", T - 55_000, T + 66_000)}
    assert (wanted.from_ms, wanted.to_ms) == (T - 55_000, T + 200_000)
    assert wanted.within(T, T + 39_999) == WantedRebalances((("other", T, T + 39_999),))
    assert wanted.within(T + 200_001, T + 300_000) is None
    assert wanted_rebalances([REWIND, CUT], LINKS) is None


@pytest.mark.parametrize(("effect", "seen"), [case[:2] for case in BY_REBALANCE if case[2]])
def test_every_rebalance_that_explains_a_finding_is_wanted(effect, seen):
    at_ms = seen.observed_at_ms

    wanted = wanted_rebalances([effect], LINKS).within(at_ms, at_ms)
    assert wanted.spans == ((seen.group_id, at_ms, at_ms),)
