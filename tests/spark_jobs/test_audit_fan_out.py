"""One source record that becomes several of the sink: an id is missing until the last of them is found."""

import pytest

from spark_jobs.audits import folders
from spark_jobs.audits.plans import SINK, SOURCE
from spark_jobs.audits.tallies import LATE, LOST, SURPLUS, tally
from spark_jobs.audits.tasks import CompareTask
from spark_jobs.audits.working import work
from spark_jobs.sources.open_clusters import OpenClusters
from tests.spark_jobs.histories import Copy, plan, spool

INSIDE, BEHIND = 15, 45


def counted(tmp_path, fan_out, inside, behind):
    """One id of the source; so many of its records in the sink's window, and so many met by the search behind it."""
    planned = plan(partitions=1, fan_out=fan_out, sink={"search_next": 60})
    folder = folders.run_folder(tmp_path, "r")
    sink = [Copy(SINK, 0, INSIDE + number, 7) for number in range(inside)]
    spool([Copy(SOURCE, 0, INSIDE, 7), *sink], folder, 1)
    work(CompareTask(planned.job, planned.ranges, folder, 0, fan_out), OpenClusters())
    found = [Copy(SINK, 0, BEHIND + number, 7) for number in range(behind)]
    spool(found, folder, 1, pieces=((40, 60),), kind=folders.FOUND)
    result = tally(planned, folder)
    return result.total(LOST), result.total(LATE), result.extra_copies, result.total(SURPLUS)


@pytest.mark.parametrize(
    ("inside", "behind", "expected"),
    [
        (0, 0, (1, 0, 0, 0)),
        (2, 0, (1, 0, 0, 0)),
        (3, 0, (0, 0, 0, 0)),
        (4, 0, (0, 0, 1, 0)),
        (2, 1, (0, 1, 0, 0)),
        (1, 1, (1, 0, 0, 0)),
        (0, 3, (0, 1, 0, 0)),
    ],
)
def test_an_id_of_a_fan_out_of_three_is_missing_until_three_are_found_and_the_fourth_is_extra(
    tmp_path, inside, behind, expected
):
    assert counted(tmp_path, 3, inside, behind) == expected


def test_without_a_fan_out_one_record_is_enough_and_the_second_is_extra(tmp_path):
    assert counted(tmp_path, 1, 2, 0) == (0, 0, 1, 0)
