"""An unclean election of a real cluster, investigated from the page alone: its report says what the lab did."""

import csv
import io
import re
import time
import zipfile
from pathlib import Path

import pytest

from dashboard import wording
from guarantees.findings import Kind
from lab.faults.catalogue import ON_GROUND
from lab.ground import STAYS
from lab.injected import load_injected
from lab.partition_log import PartitionLog
from lab.paths import LabPaths
from lab.trial import Trial
from lab.watch import watching
from tests.dashboard.conftest import running_page
from tests.dashboard.test_journey import Visit
from tests.dashboard.test_journey import chromium as chromium

pytestmark = [pytest.mark.integration, pytest.mark.browser, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def election(cluster, tmp_path_factory):
    """The page over what Tidemark saw of the election, and what the lab did, by the kind of the true finding."""
    directory = tmp_path_factory.mktemp("election")
    LabPaths(directory).create()
    with (
        PartitionLog(cluster.address(STAYS)) as log,
        watching(directory, cluster.bootstrap) as monitor,
    ):
        trial = Trial(cluster, log, monitor, directory, int(time.time()), progress=lambda _: None)
        trial.run([ON_GROUND["S7"]])
    assert {code: error for code, (_, _, error) in trial.runs.items()} == {"S7": None}
    (done,) = load_injected(LabPaths(directory).injected)
    with running_page(directory / "tidemark.toml") as address:
        yield address, {one.kind: one for one in done.expected}


def rows(document: zipfile.ZipFile, table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(document.read(f"{table}.csv").decode("utf-8-sig"))))


def test_an_unclean_election_is_investigated_from_the_page_and_its_report_is_the_ground_truth(
    chromium, election, tmp_path
):
    address, truth = election
    cut, ahead = truth[Kind.LOG_TRUNCATED], truth[Kind.COMMITTED_AHEAD]
    with Visit(chromium, address) as visit:
        page = visit.page
        visit.open("/?refresh=Off&range=1h")
        line = page.locator('[class*="st-key-attention-"]').filter(has_text=f"{cut.place} was cut").first
        line.get_by_role("link", name="Incident").click()
        page.get_by_text("On one time axis").wait_for()
        visit.settle()
        assert page.get_by_text(f"{cut.count:,}").count(), "what was lost stands on the page of the incident"

        page.get_by_role("link", name="Report of it").click()
        page.get_by_role("button", name="Make the report").click()
        with page.expect_download(timeout=90_000) as download:
            page.get_by_role("button", name=re.compile(r"^CSV \(zip\)")).click(timeout=90_000)
        download.value.save_as(tmp_path / "report.zip")
        assert visit.faults == []

    with zipfile.ZipFile(Path(tmp_path / "report.zip")) as report:
        effects = {row["Kind"]: row for row in rows(report, "effects")}
        touched = [row for row in rows(report, "touched") if row["Name"] == ahead.group_id]
        told = {row["Kind"]: row for row in rows(report, "findings")}
    lost = effects[wording.KINDS[Kind.LOG_TRUNCATED]]
    assert (lost["Topic"], int(lost["Partition"]), lost["Grade"]) == (cut.topic, cut.partition, str(cut.grade))
    assert int(lost["lower"]) == cut.count
    assert lost["Effect"] == "lost"
    assert (int(lost["From offset"]), int(lost["Up to, not including"]) - 1) == (cut.first_offset, cut.last_offset)
    assert {wording.KINDS[kind] for kind in (Kind.UNCLEAN_ELECTION, Kind.COMMITTED_AHEAD)} <= told.keys()
    touched_from = {row["From offset"] for row in touched if row["Grade"] == str(ahead.grade)}
    assert touched_from == {str(ahead.first_offset)}, "the group whose commit the cut left beyond the end"
