import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.contracts import TABLES
from store.segments import SegmentName, folder, hour_start_ms, live_names, producer_name
from tests.store.builders import HOUR, T0


def test_a_name_says_producer_level_and_covered_range():
    assert SegmentName.parse("h_collect.1.7-12.parquet") == SegmentName("h_collect", 1, 7, 12)


@pytest.mark.parametrize(
    "text",
    [
        "host-1.0.1-5.parquet",
        "h.0.5-1.parquet",
        "h.10.1-5.parquet",
        "h.0.1-5.parquet.tmp",
        "h.0.1-5.parquet\n",
        "h.0.1.parquet",
        "é.0.1-5.parquet",
        ".0.1-5.parquet",
    ],
)
def test_anything_else_is_no_segment(text):
    assert SegmentName.parse(text) is None


@given(st.text(min_size=1, max_size=20), st.sampled_from(["collect", "maintain", "jobs"]))
def test_every_host_gives_a_producer_whose_segments_are_read(host, role):
    name = SegmentName(producer_name(host, role), 0, 3, 3)

    assert SegmentName.parse(str(name)) == name


def test_a_host_name_keeps_its_letters_and_escapes_the_rest():
    assert producer_name("host-1.example", "collect") == "host_2d1_2eexample_collect"


def test_hosts_that_differ_in_one_character_give_different_producers():
    assert producer_name("host-1", "collect") != producer_name("host.1", "collect")


def test_a_wider_segment_replaces_those_inside_it_and_no_other():
    wide, inside = SegmentName("a", 1, 1, 9), SegmentName("a", 0, 4, 4)
    beside, other = SegmentName("a", 0, 10, 10), SegmentName("b", 0, 4, 4)

    assert live_names([inside, other, beside, wide]) == [wide, beside, other]


def test_of_two_segments_over_the_same_range_the_higher_level_counts():
    lower, higher = SegmentName("a", 0, 1, 9), SegmentName("a", 2, 1, 9)

    assert live_names([lower, higher]) == [higher]


def nested(first, last):
    """Ranges over first to last that nest or are disjoint, as merging whole live segments makes them."""
    if last <= first:
        return st.just([(first, first)])
    split = st.integers(first, last - 1)
    parts = split.flatmap(lambda at: st.tuples(nested(first, at), nested(at + 1, last)))
    inner = parts.map(lambda both: both[0] + both[1])
    return st.one_of(inner, inner.map(lambda ranges: [(first, last), *ranges]))


@given(st.sets(st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(0, 5)), max_size=12))
def test_whatever_lies_in_a_folder_a_live_segment_is_covered_by_no_other_and_every_other_is(found):
    names = {SegmentName(producer, 0, first, first + length) for producer, first, length in found}
    live = live_names(names)

    assert not any(one.covers(other) for one in live for other in live if one is not other)
    assert all(any(one.covers(name) for one in live) for name in names)


@given(nested(0, 7), st.randoms())
def test_of_nested_ranges_the_live_ones_cover_every_number_exactly_once(ranges, random):
    names = [SegmentName("a", 0, first, last) for first, last in ranges]
    random.shuffle(names)

    covered = [number for name in live_names(names) for number in range(name.first, name.last + 1)]

    assert covered == list(range(8))


def test_a_sample_lies_in_its_hour_and_what_is_kept_in_its_month():
    assert folder(TABLES["rounds"], T0 + HOUR - 1) == "raw/rounds/dt=2025-11-24/hr=16"
    assert folder(TABLES["finding_events"], T0) == "log/finding_events/month=2025-11"


def test_an_hour_folder_names_the_start_of_its_hour():
    assert hour_start_ms("dt=2025-11-24", "hr=16") == T0
    assert hour_start_ms("dt=2025-11-24", "hr=24") is None
    assert hour_start_ms("2025-11-24", "16") is None
