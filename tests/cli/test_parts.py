import sys

import pytest

from cli.parts import ROOT, deaths_in_a_row, part_environment, parts, restart_delay_s
from settings import PageSettings


def test_a_part_that_keeps_dying_waits_twice_as_long_each_time_up_to_thirty_seconds():
    assert [restart_delay_s(deaths) for deaths in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]


@pytest.mark.parametrize(("before", "lived_s", "counts_as"), [(0, 1.0, 1), (3, 1.0, 4), (3, 59.9, 4), (3, 60.0, 1)])
def test_a_part_that_was_healthy_for_a_minute_is_forgiven_its_earlier_deaths(before, lived_s, counts_as):
    assert deaths_in_a_row(before, lived_s) == counts_as


def test_every_part_runs_under_the_same_interpreter():
    assert {part.command[0] for part in parts(PageSettings())} == {sys.executable}
    assert [part.name for part in parts(PageSettings())] == ["collect", "maintain", "jobs", "page"]


def test_the_page_listens_where_the_settings_say():
    page = parts(PageSettings(address="0.0.0.0", port=9000))[-1]

    assert {"--server.address=0.0.0.0", "--server.port=9000"} <= set(page.command)


def test_a_part_finds_tidemarks_folders_before_anything_else():
    environment = part_environment({"PYTHONPATH": "/elsewhere", "HOME": "/h"}, {"TIDEMARK_SETTINGS": "/t.toml"})

    assert environment["PYTHONPATH"] == f"{ROOT}:/elsewhere"
    assert environment["TIDEMARK_SETTINGS"] == "/t.toml"
    assert environment["HOME"] == "/h"
