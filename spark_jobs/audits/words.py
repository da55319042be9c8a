"""What an exact audit cannot see, and why one cannot run, in sentences."""

from collections.abc import Iterable, Sequence

from guarantees.audits import Job
from settings import MessageId, PipelineSettings, RecordOrder
from spark_jobs.audits.plans import SINK, SOURCE, AuditRange

COMMITS_SEEN_MS = 15 * 60_000  # how far back a sample of the group's commits is sought
NAMED = 3

OF_THE_WINDOW = (
    "Times are mapped to offsets by ListOffsets: a partition's window begins at its first record that is not older, by "
    "the records' own times; where those are out of order, a few fall on the other side."
)

NO_SINK = "the pipeline declares no sink: a loss at the consumer cannot be seen from outside"
NO_ORDER = "the pipeline declares no order: what rises within a key is not known"
NOT_OVER = "the window is not over yet: an exact audit needs a closed one"


def blind_spots(
    job: Job, pipeline: PipelineSettings, ranges: Sequence[AuditRange], without_policy: Iterable[str]
) -> tuple[str, ...]:
    """What limits the figures, most general first."""
    return (
        OF_THE_WINDOW,
        *_of_job(job, pipeline, ranges),
        *(_of_losses(pipeline, ranges) if job.counts_losses else ()),
        *_of_ranges(ranges),
        *(f"cleanup.policy of {topic} is not known: its gaps stay unexplained." for topic in without_policy),
    )


def _of_ids(pipeline: PipelineSettings) -> tuple[str, ...]:
    return (
        f"First copies, origins and answers outside the window are sought {pipeline.settle_s:g} s before and after it.",
        _same_message(pipeline.id),
    )


def _same_message(place: MessageId) -> str:
    what = "key" if place.key else "hash of key and value"
    if place.header is not None:
        what = f"header {place.header}"
    elif place.decoder is not None:
        what = f"decoder {place.decoder}"
    elif place.json is not None:
        what = f"JSON path {place.json} of the value"
    return (
        f"Records are one message where the 64-bit hashes of their ids ({what}) are equal; without an id they are not."
    )


def _of_job(job: Job, pipeline: PipelineSettings, ranges: Sequence[AuditRange]) -> tuple[str, ...]:
    if job is Job.ORDER:
        return _of_order(pipeline)
    return _of_content(ranges) if job is Job.CONTENT else _of_ids(pipeline)


def _of_content(ranges: Sequence[AuditRange]) -> tuple[str, ...]:
    compacted = [each for each in ranges if each.is_compacted]
    sentences = [
        "Batches are one content where their CRCs are equal, which 32 bits can be by chance once in four billion.",
        "What was read earlier is known of topics in header_topics, as long as raw samples are kept.",
    ]
    if compacted:
        sentences.append(f"{_named(compacted)} compacted: each replica writes its batches anew, and none is compared.")
    return tuple(sentences)


def _of_order(pipeline: PipelineSettings) -> tuple[str, ...]:
    """Only where an order is declared."""
    order = pipeline.order or RecordOrder(timestamp=True)
    what = f"JSON path {order.json} of the value" if order.header is None else f"header {order.header}"
    of_times = "Times are the producer's word, or the broker's where it stamps; records with equal times are in order."
    return (
        f"What is stored more than {pipeline.settle_s:g} s before the window is not compared with: who fell behind it "
        "is not seen.",
        "A key is compared on each of its partitions alone: offsets of two partitions say nothing of each other. Of "
        "keys that lie on several (the topic grew, or producers choose differently) missing numbers are not counted.",
        "Keys are equal where their 64-bit hashes are; records without a key are not compared.",
        of_times
        if order.timestamp
        else f"Places are the whole numbers of {what}; a number its key has had before is a repeat, not a violation.",
    )


def _of_losses(pipeline: PipelineSettings, ranges: Sequence[AuditRange]) -> tuple[str, ...]:
    if not any(each.side == SINK for each in ranges):
        return (f"Losses are not observable: {NO_SINK}.",)
    sentences = ["Missing ids are sought in the sink up to its stable offset when the audit was planned."]
    if pipeline.fan_out > 1:
        sentences.append(
            f"One source record is declared to become {pipeline.fan_out} of the sink: an id with fewer is missing, "
            "however many of them there are."
        )
    unknown = [each for each in ranges if each.side == SOURCE and each.committed_to is None]
    if unknown:
        sentences.append(
            f"How far the group had committed is not known of {_named(unknown)}: it is taken to have passed the window."
        )
    if not pipeline.one_to_one:
        sentences.append(
            "Missing ids are PROBABLE losses at most: a pipeline that filters or joins drops ids on purpose. "
            "Where each record must have one in the sink, declare one_to_one = true."
        )
    return tuple(sentences)


def _of_ranges(ranges: Sequence[AuditRange]) -> tuple[str, ...]:
    sentences: list[str] = []
    if cut := [each for each in ranges if each.begins_at_log_start]:
        sentences.append(
            f"The window begins at the log start of {_named(cut)}: older records of it may have been purged, "
            "how many is not known."
        )
    if open_ended := [each for each in ranges if each.undecided]:
        offsets = sum(each.undecided for each in open_ended)
        sentences.append(
            f"{offsets} offsets of the window lie above the last stable offset of {_named(open_ended)}, behind an open "
            "transaction: they were not read."
        )
    return tuple(sentences)


def _named(ranges: Sequence[AuditRange]) -> str:
    names = ", ".join(str(each.part) for each in ranges[:NAMED])
    return names + (f" and {len(ranges) - NAMED} more partitions" if len(ranges) > NAMED else "")
