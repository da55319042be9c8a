"""The short form of the truth run: two faults and a control, for real and at once, judged against the ground truth."""

import time

import pytest

from lab.faults.catalogue import ON_GROUND
from lab.ground import STAYS
from lab.partition_log import PartitionLog
from lab.paths import LabPaths
from lab.trial import Trial
from lab.truth_page import score
from lab.watch import watching

CODES = ("S11", "S18", "C5")


@pytest.fixture(scope="module")
def results(cluster, tmp_path_factory):
    directory, seed = tmp_path_factory.mktemp("trial"), int(time.time())
    LabPaths(directory).create()
    with (
        PartitionLog(cluster.address(STAYS)) as log,
        watching(directory, cluster.bootstrap) as monitor,
    ):
        trial = Trial(cluster, log, monitor, directory, seed, progress=lambda _: None)
        trial.run([ON_GROUND[code] for code in CODES])
        return {result.code: result for result in trial.results()}


@pytest.mark.integration
def test_faults_are_found_with_their_counts_and_a_control_stays_silent(results):
    judged = [results[code] for code in CODES]

    assert {result.code: result.error for result in judged} == dict.fromkeys(CODES)
    assert [(row.kind, row.complaints) for result in judged for row in result.rows if row.complaints] == []
    assert [sentence for result in judged for sentence in result.false_findings] == []
    met = {result.code: [words.rpartition(" ")[0] for words in result.second_judge] for result in judged}
    assert met == {"S11": ["nonmonotonic-poll", "poll-skip"], "S18": ["poll-skip"], "C5": []}, "what clients met"
    total = score(judged)
    assert (total.demanded, total.met) == (3, 3), "a rewind, a skip, and what retention took"
