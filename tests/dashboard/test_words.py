"""Words, names and links: pure functions."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from dashboard import facts, names, view, wording, zones
from dashboard.view import View
from guarantees.completeness import RoundsSeen
from guarantees.findings import Bounds, Kind, Unit
from guarantees.promises import Guarantee, Verdict
from guarantees.unknown import Unknown
from tests.dashboard import fixture_store


def test_every_kind_promise_and_verdict_has_a_word():
    assert set(wording.KINDS) == set(Kind)
    assert set(wording.PROMISES) == set(Guarantee)
    assert set(wording.LOOKS) == set(Verdict)


def test_no_two_states_look_alike():
    looks = wording.LOOKS.values()
    for part in ("icon", "word", "marker"):
        assert len({getattr(look, part) for look in looks}) == len(looks)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        (Bounds(41, 41, 41, Unit.RECORDS), "41 records"),
        (Bounds(38, 41, 44, Unit.MESSAGE_IDS), "41 (38 to 44) message ids"),
        (Bounds(0, None, 260, Unit.RECORDS), "at most 260 records"),
        (Bounds(0, 0, 12, Unit.RECORDS), "at most 12 records"),
        (Bounds(5, None, 9, Unit.OFFSETS), "5 to 9 offsets"),
        (Bounds(7, None, None, Unit.RECORDS), "at least 7 records"),
        (Bounds(7, 9, None, Unit.RECORDS), "at least 7 records"),
        (Bounds(0, None, None, Unit.RECORDS), "unknown how many records"),
        (Bounds(0, 0, 0, Unit.RECORDS), "0 records"),
        (None, "–"),
    ],
)
def test_bounds_are_said_with_their_interval(bounds, said):
    assert wording.bounds(bounds) == said


@pytest.mark.parametrize(
    ("length_ms", "said"),
    [
        (0, "0 s"),
        (59_999, "59 s"),
        (60_000, "1 min"),
        (125_000, "2 min 5 s"),
        (3_600_000, "1 h"),
        (90_061_000, "1 d 1 h"),
    ],
)
def test_a_duration_has_its_two_largest_units(length_ms, said):
    assert wording.duration(length_ms) == said


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (RoundsSeen(0, 60_000, 5_000, 11, 5_000, 60_000, 10_000, 20_000),
         "11 of 11 expected rounds since 1970-01-01 00:00:05.000 UTC, longest gap between rounds 10 s"),
        (RoundsSeen(0, 60_000, 5_000, 3, 0, 60_000, 30_000, 20_000),
         "3 of 12 expected rounds since 1970-01-01 00:00:00.000 UTC, longest gap between rounds 30 s"),
        (RoundsSeen(0, 60_000, 5_000, 9, 0, 44_999, 5_000, 20_000),
         "9 of 12 expected rounds since 1970-01-01 00:00:00.000 UTC, longest gap between rounds 5 s, "
         "none after 00:00:44"),
        (RoundsSeen(0, 60_000, 5_000, 0, None, None, None, None), "no answered round"),
    ],
)  # fmt: skip
def test_how_complete_a_window_is_is_said_in_rounds(seen, said):
    assert wording.rounds(seen) == said


WHOLE = RoundsSeen(0, 60_000, 5_000, 12, 0, 60_000, 5_000, 0)


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (WHOLE, "No group moved in this window."),
        (replace(WHOLE, present=10), "No group moved in this window."),
        (replace(WHOLE, present=9),
         "No group moved in this window, as far as 9 of 12 expected rounds since 1970-01-01 00:00:00.000 UTC, "
         "longest gap between rounds 5 s tell."),
        (replace(WHOLE, first_ms=20_000, present=8),
         "No group moved in this window, as far as 8 of 8 expected rounds since 1970-01-01 00:00:20.000 UTC, "
         "longest gap between rounds 5 s tell."),
        (RoundsSeen(0, 60_000, 5_000, 0, None, None, None, None), "Unknown: no round was stored in this window."),
    ],
)  # fmt: skip
def test_what_did_not_happen_is_said_as_far_as_somebody_looked_and_else_unknown(seen, said):
    assert wording.none_seen("No group moved", seen) == said


def test_an_unknown_number_is_its_reason_and_a_gap_is_a_dash():
    assert wording.known(Unknown("no answer")) == "unknown: no answer"
    assert wording.known(None) == "–"
    assert wording.known(0) == "0"


def test_small_counts_stay_in_full_and_large_ones_shrink():
    assert [wording.compact(value) for value in (0, 99_999, 123_456, 7_200_000)] == ["0", "99,999", "123 k", "7.2 M"]


def test_a_hostile_name_is_escaped_cut_and_shows_its_hidden_characters():
    shown = names.in_markdown(fixture_store.HOSTILE)

    assert shown.startswith("\\<img src\\=x onerror\\=alert\\(1\\)\\> \\*\\*bold\\*\\*")
    assert "\\:red\\[x\\]" in shown
    assert "\\$x\\^2\\$" in shown
    assert "\u202e" not in names.visible(fixture_store.HOSTILE)
    assert len(names.cut(fixture_store.HOSTILE)) == names.LIMIT
    assert "\u202e" not in names.cut(fixture_store.HOSTILE, 200)
    assert "\\u202e" in names.cut(fixture_store.HOSTILE, 200)
    assert names.in_figure("<b>x</b>") == "&lt;b&gt;x&lt;/b&gt;"
    assert "\n" not in names.visible("two\nlines")


@pytest.mark.parametrize("text", ["see http://example.org/x", "HTTPS://a.b", "www.example.org", "ada@example.org"])
def test_an_address_in_a_name_is_not_made_a_link(text):
    """Markdown links bare addresses unless something stands inside them."""
    shown = names.in_markdown(text)

    assert not re.search(r"(?i)https?\\\\?:|www\\\\?\.|[^\u2060]@(?!\u2060)", shown)
    assert shown.replace("\\", "").replace("\u2060", "") == text


def test_a_link_gives_back_its_window_and_nonsense_gives_none():
    start, end = 1_764_000_000_123, 1_764_000_060_456

    assert view.parse_window(view.format_time(start), view.format_time(end)) == (start, end)
    assert view.parse_window(view.format_time(end), view.format_time(start)) is None
    assert view.parse_window("yesterday", view.format_time(end)) is None
    assert view.parse_window(None, None) is None


@pytest.mark.parametrize(
    ("answered_ms", "opens_for_ms"),
    [
        (None, 30_000),
        (30_000, 30_000),
        (20_000, 20_000),  # nobody asked for the newest yet: the answers before it are there
        (10_000, 30_000),
        (25_000, 30_000),  # of another pace
        (40_000, 30_000),  # a clock that was set back
    ],
)
def test_a_page_opens_for_a_moment_that_was_answered_if_it_is_recent(answered_ms, opens_for_ms):
    assert view.shared_moment(answered_ms, 39_999, 10_000) == opens_for_ms


def test_a_live_window_ends_on_a_sampling_step():
    assert view.live_window("1h", 1_764_000_003_999, 5_000) == (1_763_996_400_000, 1_764_000_000_000)
    assert view.live_window("nonsense", 900_000, 5_000) == (0, 900_000)


def test_the_search_ignores_case_and_finds_everything_when_empty():
    looking = View("production", 0, 1, False, None, " Order ")

    assert looking.finds("payments", "ORDERS")
    assert not looking.finds("payments", None)
    assert View("production", 0, 1, False, None, " ").finds("anything")


def test_evidence_keeps_every_digit_and_says_times_in_utc():
    shown = dict(
        facts.facts(
            {
                "first_lost_offset": 9_007_199_254_740_993,
                "commit_passed_at_ms": 1_764_000_000_123,
                "settle_s": 30.0,
                "timeout_ms": 60_000,
                "sink_read_to": [[0, 12], [1, 15]],
                "source": {"partition": 2},
                "owner": None,
                "examples": [{"offset": 1}],
            }
        )
    )

    assert shown == {
        "First lost offset": "9007199254740993",
        "Commit passed at": "2025-11-24 16:00:00.123 UTC",
        "Settle": "30 s",
        "Timeout": "60000 ms",
        "Sink read to": "0 → 12, 1 → 15",
        "Source: partition": "2",
        "Owner": "none",
    }


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [
        ({"is_listed_by_coordinator": None}, "not known"),
        ({"previous_offset": None}, "not known"),
        ({"source": {"epoch_end": None}}, "not known"),
        ({"sink_read_to": [[0, None]]}, "0 → not known"),
        ({"leader": None}, "none"),
        ({"producer_id": None}, "none"),
        ({"held_since_ms": 0, "producer_id": None}, "not known"),
        ({"held_since_ms": 0, "producer_id": 7}, "7"),
        ({"members": 0, "owner": None}, "none"),
        ({"members": None, "owner": None}, "not known"),
    ],
)
def test_what_nobody_could_tell_is_not_known_and_only_what_is_not_there_is_none(evidence, shown):
    assert facts.facts(evidence)[-1][1] == shown


@pytest.mark.parametrize(
    "name", ["since_ms", "held_since_ms", "after_ms", "changed_after_ms", "last_timestamp_ms", "last_write_ms"]
)
def test_a_moment_is_said_as_one_however_it_is_named(name):
    assert facts.value(name, 1_764_000_000_000) == "2025-11-24 16:00:00.000 UTC"


@pytest.mark.parametrize("name", ["observed_ms", "ahead_by_ms", "observed_below_ms", "commit_stood_before_ms"])
def test_a_length_is_no_moment(name):
    assert facts.value(name, 60_000) == "60000 ms"


def test_a_record_of_a_producer_that_is_not_idempotent_has_no_id_and_no_sequence():
    copies = {"first": {"producer_id": None, "sequence": None, "timestamp_ms": None}}

    (row,) = facts.examples({"examples": [copies]})

    assert (row["Producer id"], row["Sequence"], row["Timestamp"]) == ("none", "none", "not known")


def test_both_copies_of_a_duplicate_are_rows():
    rows = facts.examples(fixture_store.duplicates(10**12).evidence)

    assert [(row["Copy"], row["Producer id"]) for row in rows] == [("First", "7001"), ("Last", "7014")]
    assert {row["Message id"] for row in rows} == {"order-000456"}


def test_moments_are_said_in_the_readers_time_zone_where_it_is_known():
    noon_ms = 1_767_268_800_000  # 2026-01-01 12:00:00 UTC

    assert zones.in_local_time([("Opened", noon_ms)], "Asia/Kolkata") == (
        "In your time zone, Asia/Kolkata: Opened 2026-01-01 17:30:00"
    )
    assert zones.in_local_time([("Opened", noon_ms)], None) is None
    assert zones.in_local_time([("Opened", noon_ms)], "../etc/passwd") is None


@pytest.mark.parametrize(
    ("zone", "month", "said"),
    [
        ("Asia/Kolkata", 1, "In your time zone, Asia/Kolkata: UTC+05:30 at the end of the window"),
        ("Europe/Berlin", 1, "In your time zone, Europe/Berlin: UTC+01:00 at the end of the window"),
        ("Europe/Berlin", 7, "In your time zone, Europe/Berlin: UTC+02:00 at the end of the window"),
        ("America/New_York", 1, "In your time zone, America/New_York: UTC-05:00 at the end of the window"),
        ("UTC", 1, None),
        (None, 1, None),
        ("../etc/passwd", 1, None),
        ("Europe", 1, None),
        ("x" * 5_000, 1, None),
    ],
)
def test_how_far_the_readers_clock_is_from_utc_is_said_as_of_the_window_and_where_it_is_known(zone, month, said):
    assert zones.note(zone, round(datetime(2026, month, 1, tzinfo=UTC).timestamp() * 1000)) == said
