from dataclasses import replace

import pytest

from guarantees.audited_order import OrderCause, OrderedRecord, OrderExample, OrderGroup
from guarantees.findings import FindingState, Grade, Kind
from guarantees.promises import Guarantee, Verdict, judge
from guarantees.rules.out_of_order import CAUSES, order_findings
from tests.guarantees.builders import at

EARLIER, LATER = OrderedRecord(9, 40, at(2), 7, 0, 3), OrderedRecord(7, 44, at(3), 8, 0, 0)
GROUP = OrderGroup(
    pipeline="billing",
    cluster_id="c",
    topic="invoices",
    topic_id="t",
    partition=0,
    cause=OrderCause.OTHER_PRODUCER,
    producer_id=8,
    producer_epoch=0,
    first_producer_ids=(7,),
    out_of_order=12,
    first_offset=44,
    last_offset=90,
    nearest_offsets=4,
    farthest_offsets=31,
    keys_elsewhere=2,
    order="the number in the header version",
    window_ms=(at(1), at(5)),
    decided_at_ms=at(6),
    horizon_s=60.0,
    audited=((0, 100), (200, 300)),
    examples=(OrderExample("k", 5, EARLIER, LATER),),
)


def found(group=GROUP, now_ms=GROUP.decided_at_ms):
    (finding,) = order_findings([group], now_ms)
    return finding


@pytest.mark.parametrize("cause", list(OrderCause))
def test_disorder_is_probable_by_its_declaration_whoever_stored_the_record(cause):
    headline = found(replace(GROUP, cause=cause)).statements[0]

    assert headline.grade is Grade.PROBABLE
    assert headline.assumption == "the number in the header version rises from record to record of a key, as declared"
    assert CAUSES[cause] in headline.text


def test_both_records_with_places_offsets_and_times_are_in_the_evidence():
    (example,) = found().evidence["examples"]

    assert (example["record_key"], example["key_hash"]) == ("k", 5)
    assert (example["earlier"]["place"], example["earlier"]["offset"], example["earlier"]["producer_id"]) == (9, 40, 7)
    assert (example["later"]["place"], example["later"]["offset"], example["later"]["timestamp_ms"]) == (7, 44, at(3))


def test_more_records_are_the_same_finding_and_another_producer_cause_or_pipeline_is_another():
    more = replace(GROUP, out_of_order=20, first_offset=5, last_offset=250, examples=(), window_ms=(at(0), at(9)))

    assert found(more).finding_id == found().finding_id
    others = {"producer_id": 9, "producer_epoch": 1, "pipeline": "other", "cause": OrderCause.SAME_PRODUCER}
    for changed in ({name: value} for name, value in {**others, "partition": 1}.items()):
        assert found(replace(GROUP, **changed)).finding_id != found().finding_id


@pytest.mark.parametrize(("now_ms", "state"), [(at(66), FindingState.OPEN), (at(66.001), FindingState.CLOSED)])
def test_it_settles_when_no_audit_added_a_record_for_the_horizon(now_ms, state):
    assert found(now_ms=now_ms).state is state


@pytest.mark.parametrize(("keys", "said"), [(0, []), (1, ["hold 1 key of"]), (2, ["hold 2 keys of"])])
def test_keys_on_several_partitions_are_said_to_have_no_order(keys, said):
    unseen = [s for s in found(replace(GROUP, keys_elsewhere=keys)).statements if s.grade is Grade.NOT_OBSERVABLE]

    assert [" ".join(one.text.split()[2:6]) for one in unseen] == said


@pytest.mark.parametrize(("second", "happened"), [(3, 3), (0, 1), (9, 5)])
def test_it_happened_at_the_time_of_the_first_record_known_but_never_outside_the_window(second, happened):
    later = OrderExample("k", 5, EARLIER, replace(LATER, timestamp_ms=at(second)))
    after = OrderExample("j", 6, EARLIER, replace(LATER, offset=60, timestamp_ms=at(4)))

    assert found(replace(GROUP, examples=(after, later))).happened_at_ms == at(happened)


def test_without_an_example_it_happened_in_the_window():
    assert found(replace(GROUP, examples=())).happened_at_ms == at(1)


@pytest.mark.parametrize(
    ("nearest", "farthest", "said"), [(4, 31, "4 to 31 offsets"), (4, 4, "4 offsets"), (1, 1, "1 offset")]
)
def test_how_far_behind_is_a_span_only_where_there_is_one(nearest, farthest, said):
    text = found(replace(GROUP, nearest_offsets=nearest, farthest_offsets=farthest)).statements[1].text

    assert text.startswith(f"Each lies {said} behind")


@pytest.mark.parametrize("promise", list(Guarantee))
def test_order_is_no_promise_of_delivery(promise):
    assert judge(Kind.OUT_OF_ORDER, 3, promise) is Verdict.OK
