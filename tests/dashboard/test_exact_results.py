"""The result of an exact audit in sentences: what was judged, what was not, and a grade only of what was found."""

from dashboard import exact_audits, exact_content
from guarantees.audits import Job
from guarantees.findings import Grade
from settings import PipelineSettings

PIPELINE = PipelineSettings(name="p", cluster="c", source="orders", group="g", sink="payments", one_to_one=True)
RUN = {"job": Job.AUDIT, "is_whole": True}


def sides(**counted):
    source = {"side": "source", "topic": "orders", "ids": 1000, "extra_copies": 0, "committed_to": 500}
    sink = {"side": "sink", "topic": "payments", "ids": 900, "extra_copies": 0, "surplus": 0}
    return [source | {"lost": 0, "late": 0, "waiting": 0} | counted, sink]


def said(**counted):
    return exact_audits.summary(RUN, sides(**counted), [], PIPELINE)


def content(number, compared, differing, topic="orders"):
    return {"side": "source", "topic": topic, "batches": number, "batches_compared": compared,
            "batches_differing": differing, "copies_silent": None if differing is None else 0}  # fmt: skip


def test_of_a_group_that_was_dead_all_night_no_id_is_judged_and_nothing_is_graded():
    found = said(waiting=1000)

    assert found[2] == (
        "losses: none of 1,000 ids is judged, the group had not passed them for long enough",
        None,
    )
    assert {grade for _, grade in found} == {None}


def test_ids_that_wait_are_none_of_those_of_which_so_many_are_lost():
    assert said(lost=3, late=2, waiting=100)[2] == (
        "3 ids lost of 900, 2 late; 100 more not judged, the group had not passed them for long enough",
        Grade.PROVEN,
    )


def test_what_was_not_found_has_no_grade_and_what_was_has_one():
    assert [grade for _, grade in said()] == [None] * 4
    found = exact_audits.summary(RUN, [sides()[0], sides()[1] | {"surplus": 2}], [], PIPELINE)
    assert found[3] == ("2 ids of the sink without a record of the source", Grade.PROBABLE)


def test_the_page_does_not_say_that_a_compacted_topic_was_compared():
    run, ranges = {"job": Job.CONTENT, "is_whole": True}, [content(500, None, None)]

    assert exact_content.summary(ranges) == [
        ("orders: compacted, 500 batches not compared", Grade.NOT_OBSERVABLE),
    ]
    assert "none of the batches in the window was compared" in exact_audits.exactness(run, ranges)
    beside = [*ranges, content(5, 10, 0, "payments")]
    assert "every batch in the window that is not compacted, and has another copy, was compared" in (
        exact_audits.exactness(run, beside)
    )


def test_batches_of_which_there_is_one_copy_alone_are_not_called_equal():
    assert exact_content.summary([content(500, 0, 0)]) == [
        ("orders: no other copy of 500 batches was read, none is compared", Grade.NOT_OBSERVABLE),
    ]
    assert exact_content.summary([content(500, 1000, 0)]) == [
        ("orders: 0 of 1,000 copies of 500 batches have another content than the leader", None),
    ]
