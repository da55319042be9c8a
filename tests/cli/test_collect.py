from cli.collect import coverage_lines
from guarantees.observations import Coverage, Round


def test_what_was_refused_and_what_failed_is_said_beside_what_was_answered():
    whole = Coverage("log_start_offsets", 6, 6, 0, 0, None, 0, 1)
    partly = Coverage("committed_offsets", 9, 4, 3, 2, "broker 2: no answer", 0, 1)

    lines = coverage_lines(Round(cluster_id="c", tick=7, started_at_ms=0, ended_at_ms=1, coverage=(whole, partly)))

    assert lines[0] == "cluster c, round 7"
    assert lines[1].split() == ["log_start_offsets", "6", "of", "6", "answered"]
    assert lines[2].endswith("4 of 9 answered, 3 refused, 2 failed, broker 2: no answer")
