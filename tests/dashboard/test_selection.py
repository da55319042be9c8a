"""When a table with a selected row is made anew: then, and only then, its reader loses place and order."""

import pytest

from dashboard.components.selection import Selected, linked_after, selected

IDS = ("a", "b", "c")


def test_a_table_begins_with_what_the_link_chooses():
    assert selected(None, "b", IDS) == Selected("b", 1, 0)
    assert selected(None, None, IDS) == Selected(None, None, 0)


@pytest.mark.parametrize("order", [("c", "b", "a"), ("a", "b", "c", "d"), ("b",), ()])
def test_with_nothing_selected_rows_may_come_go_and_move(order):
    before = Selected(None, None, 4)

    assert selected(before, None, order) is before


@pytest.mark.parametrize("order", [IDS, ("c", "b", "a"), ("a", "b")])
def test_a_selected_row_that_stays_where_it_is_keeps_the_table(order):
    before = Selected("b", 1, 4)

    assert selected(before, "b", order) is before


@pytest.mark.parametrize(
    ("chosen", "order", "row"),
    [
        ("b", ("b", "a", "c"), 0),  # it moved
        ("b", ("a", "c"), None),  # it has gone
        ("c", IDS, 2),  # Back, or a link, chose another
        (None, IDS, None),  # nothing any more
    ],
)
def test_what_is_selected_elsewhere_makes_the_next_table(chosen, order, row):
    assert selected(Selected("b", 1, 4), chosen, order) == Selected(chosen, row, 5)


@pytest.mark.parametrize(
    ("before", "chosen", "after"),
    [
        ({"group": "a", "partition": "t-1", "range": "1h"}, "b", {"group": "b", "range": "1h"}),
        ({"partition": "t-1"}, "b", {"group": "b"}),
        ({"group": "a", "partition": "t-1"}, None, {}),
        ({"group": "a", "partition": "t-1"}, "a", {"group": "a", "partition": "t-1"}),
    ],
    ids=["another", "the first", "none any more", "the same again"],
)
def test_with_another_group_its_partition_leaves_the_link(before, chosen, after):
    assert linked_after(before, "group", chosen, {}, ("partition",)) == after


def test_a_partition_is_linked_with_the_group_that_is_shown():
    assert linked_after({}, "partition", "t-1", {"group": "a"}, ()) == {"group": "a", "partition": "t-1"}
    assert linked_after({"group": "a", "partition": "t-1"}, "partition", None, {"group": "a"}, ()) == {"group": "a"}
