from guarantees.findings import Kind
from lab.injected import Demand
from lab.judge import Claim, judge
from lab.table import table
from tests.lab.builders import expected, found, injected

GROUP = "payments-service"


def complaints(verdict):
    return [complaint for row in verdict.rows for complaint in row.complaints]


def test_what_was_injected_and_found_with_its_count_is_right():
    verdict = judge([injected(expected())], [found()])

    assert verdict.is_right
    (row,) = verdict.rows
    assert (row.injected, row.claim, row.visible_after_s) == (3, Claim(3, 3, 3), 4.0)


def test_a_verdict_on_nothing_is_not_right():
    assert not judge([], []).is_right


def test_a_partition_without_its_finding_is_missed():
    verdict = judge([injected(expected(partition=0), expected(partition=1))], [found(partition=0)])

    assert not verdict.is_right
    assert complaints(verdict) == ["missed on payments-1"]
    assert (verdict.rows[0].partitions, verdict.rows[0].partitions_found) == (2, 1)


def test_a_finding_on_a_partition_where_nothing_happened_is_false():
    stray = found(partition=5)

    verdict = judge([injected(expected())], [found(), stray])

    assert not verdict.is_right
    assert verdict.false_findings == (stray,)


def test_a_finding_of_another_kind_or_topic_is_false():
    wrong = [found(Kind.LOST_WRITE), found(topic="orders")]

    assert list(judge([injected(expected())], [found(), *wrong]).false_findings) == wrong


def test_a_finding_about_another_group_is_false():
    stray = found(Kind.LOST_WRITE, topic="orders", group="shipping-ledger")

    verdict = judge([injected(expected(Kind.LOST_WRITE, topic="orders", group=GROUP))], [stray])

    assert verdict.false_findings == (stray,)
    assert complaints(verdict) == ["missed on orders-0"]


def test_duplicates_are_the_topics_whichever_group_is_named():
    assert judge([injected(expected(group=None))], [found(group=GROUP)]).is_right


def test_a_wrong_estimate_is_a_complaint_even_within_its_interval():
    verdict = judge([injected(expected(count=3))], [found(count=4, bounds=(2, 6))])

    assert complaints(verdict) == ["payments-0: 3 injected, claimed 4 [2, 6]"]


def test_an_interval_without_the_true_count_is_a_complaint():
    finding = found(Kind.POSSIBLE_REDELIVERY, topic="orders", group=GROUP, count=None, bounds=(0, 2), offsets=None)

    verdict = judge([injected(expected(Kind.POSSIBLE_REDELIVERY, topic="orders", group=GROUP, count=3))], [finding])

    assert complaints(verdict) == ["orders-0: 3 injected, claimed [0, 2]"]


def test_an_upper_bound_at_the_true_count_holds():
    finding = found(Kind.POSSIBLE_REDELIVERY, topic="orders", group=GROUP, count=None, bounds=(0, 3), offsets=None)

    assert judge(
        [injected(expected(Kind.POSSIBLE_REDELIVERY, topic="orders", group=GROUP, count=3))], [finding]
    ).is_right


def test_findings_of_one_partition_count_together():
    parts = [found(count=2, offsets=(10, 11)), found(count=1, offsets=(12, 12))]

    assert judge([injected(expected(count=3, offsets=(10, 12)))], parts).is_right


def test_two_faults_on_one_partition_are_told_apart_by_offsets():
    early, late = expected(count=2, offsets=(10, 11)), expected(count=3, offsets=(50, 52))

    verdict = judge(
        [injected(early, fault="producer_resends"), injected(late, fault="consumer_dies")],
        [found(count=3, offsets=(50, 52)), found(count=2, offsets=(10, 11))],
    )

    assert verdict.is_right
    assert [(row.fault, row.claim.estimate) for row in verdict.rows] == [("producer_resends", 2), ("consumer_dies", 3)]


def test_without_offsets_a_finding_belongs_to_the_newest_fault_before_it():
    def possible(**more):
        return expected(Kind.POSSIBLE_REDELIVERY, topic="orders", group=GROUP, offsets=None, **more)

    first = possible(count=0, demand=Demand.NONE)
    second = possible(count=3, demand=Demand.ANY, evidence_after_ms=30_000)
    faults = [
        injected(first, fault="commit_before_processing"),
        injected(second, fault="consumer_dies", injected_after_ms=20_000),
    ]

    def said_after(seen_after_ms):
        return found(
            Kind.POSSIBLE_REDELIVERY,
            topic="orders",
            group=GROUP,
            count=None,
            bounds=(0, 9),
            offsets=None,
            seen_after_ms=seen_after_ms,
        )

    late, early = judge(faults, [said_after(29_500)]), judge(faults, [said_after(2_000)])

    assert [row.fault for row in late.rows] == ["consumer_dies"]
    assert late.is_right
    assert [row.fault for row in early.rows] == ["commit_before_processing", "consumer_dies"]
    assert not early.is_right


def test_a_finding_seen_a_moment_before_the_lab_knew_of_its_evidence_is_explained():
    assert judge([injected(expected())], [found(seen_after_ms=-200)]).is_right


def test_records_beside_the_injected_ones_are_not_explained_by_them():
    for offsets in ((13, 15), (5, 9)):
        beside = found(offsets=offsets)
        assert judge([injected(expected(offsets=(10, 12)))], [beside]).false_findings == (beside,)


def test_a_finding_that_touches_the_last_injected_record_is_explained():
    assert judge([injected(expected(offsets=(10, 12)))], [found(offsets=(12, 20))]).is_right


def test_where_any_partition_is_enough_one_finding_satisfies():
    possible = [
        expected(Kind.POSSIBLE_REDELIVERY, topic="orders", partition=number, group=GROUP, demand=Demand.ANY)
        for number in range(3)
    ]
    finding = found(
        Kind.POSSIBLE_REDELIVERY, topic="orders", partition=1, group=GROUP, count=None, bounds=(0, 9), offsets=None
    )

    assert judge([injected(*possible)], [finding]).is_right
    assert complaints(judge([injected(*possible)], [])) == ["missed on all of orders-0, orders-1, orders-2"]


def test_what_may_be_said_is_neither_missed_nor_false():
    allowed = expected(Kind.POSSIBLE_REDELIVERY, topic="orders", group=GROUP, count=0, offsets=None, demand=Demand.NONE)
    said = found(Kind.POSSIBLE_REDELIVERY, topic="orders", group=GROUP, count=None, bounds=(0, 40), offsets=None)

    assert judge([injected(expected(), allowed)], [found()]).is_right
    assert judge([injected(expected(), allowed)], [found(), said]).is_right


def test_a_finding_without_a_count_needs_only_its_place():
    frozen = expected(Kind.STABLE_OFFSET_FROZEN, topic="shipments", count=None, offsets=(57, 57))
    finding = found(Kind.STABLE_OFFSET_FROZEN, topic="shipments", count=120, offsets=(57, 57))

    assert judge([injected(frozen)], [finding]).is_right


def test_the_delay_is_that_of_the_last_partition():
    verdict = judge(
        [injected(expected(partition=0), expected(partition=1))],
        [found(partition=0, seen_after_ms=2_000), found(partition=1, seen_after_ms=7_500)],
    )

    assert verdict.rows[0].visible_after_s == 7.5


def test_the_table_names_what_is_wrong():
    text = table(judge([injected(expected())], [found(count=4, bounds=(4, 4)), found(partition=5)]), {})

    assert "payments-0: 3 injected, claimed 4 [4, 4]" in text
    assert "false: duplicate_write on payments-5" in text


def test_a_claim_without_an_upper_bound_has_none_together():
    claim = Claim.of([found(count=None, bounds=(0, None)), found(count=None, bounds=(0, 4))])

    assert claim == Claim(lower=0, estimate=None, upper=None)
    assert claim.holds(1_000_000)
    assert claim.interval() == "[0, …]"


def test_the_table_counts_only_what_was_counted():
    frozen = expected(Kind.STABLE_OFFSET_FROZEN, topic="shipments", count=None, offsets=(57, 57))
    verdict = judge(
        [injected(frozen)], [found(Kind.STABLE_OFFSET_FROZEN, topic="shipments", count=233, offsets=(57, 57))]
    )

    assert "233" not in table(verdict, {})
    assert "1 of 1" in table(verdict, {})
