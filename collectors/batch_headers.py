"""Batch headers of the topics that were asked for: read on, stored and judged after each round."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from collectors.configurations import Settings as TopicSettings
from collectors.header_positions import Position, after, begun, part
from collectors.header_rows import BATCHES, RANGES, ReadRange, batch_rows, range_row, scans
from collectors.leaders import by_leader
from collectors.scope import watched_partitions
from collectors.stored import REPLAYED_MS
from collectors.watched import Watched
from guarantees.batches import HeaderScan
from guarantees.findings import Finding, Place
from guarantees.header_watch import JOINED, HeaderMemory, HeaderRound, observe_headers, remembered
from guarantees.lifecycle import FindingHistory, changes, fold
from guarantees.observations import Round
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.answer import now_ms
from kafka_reader.header_fetch import FetchedHeaders, fetch_headers
from kafka_reader.metadata import Topology
from kafka_reader.producers import fetch_known_producers
from store.findings import append_events, load_findings
from store.log import SegmentLog
from store.reading import Window, read
from store.rows import python_rows

# What a leader sends in one answer at most: a round must not wait for more.
ANSWER_BYTES = 8_000_000
CLEANUP_POLICY = "cleanup.policy"
_NEWEST_OF_EACH = (
    "cluster_id = ? QUALIFY row_number() OVER (PARTITION BY topic_id, partition ORDER BY observed_at DESC) = 1"
)


@dataclass(frozen=True, slots=True)
class HeaderState:
    """What a round takes from the one before. `known` are the findings of batch headers as they are stored.

    `old` are the partitions of the first round, None before it.
    """

    cluster_id: str = ""
    positions: Mapping[TopicPartition, Position] = field(default_factory=dict)
    memory: HeaderMemory = field(default_factory=HeaderMemory)
    known: Mapping[str, FindingHistory] = field(default_factory=dict)
    old: frozenset[TopicPartition] | None = None


class HeaderRounds:
    """The batch headers of one cluster, read on where the store says they were read to."""

    def __init__(self, watched: Watched, log: SegmentLog, data_dir: Path) -> None:
        self._watched = watched
        self._log = log
        self._data_dir = data_dir
        self._state = HeaderState()

    def next_round(self, topology: Topology, observed: Round, topic_settings: TopicSettings) -> list[ReadRange]:
        """Read what is new of every wanted partition, store it, then judge it.

        A round without any is one too: partitions of later rounds are new then.
        """
        if not self._watched.settings.header_topics:
            return []
        wanted = [p for p in watched_partitions(self._watched.settings, topology) if self._is_wanted(p)]
        if self._state.cluster_id != topology.cluster_id:
            self._resume(topology.cluster_id)
        state = self._state
        old = frozenset(wanted) if state.old is None else state.old
        positions = begun(state.positions, topology.topic_ids, wanted, observed.partitions, old)
        positions = self._with_producers(topology, positions)
        fetched = self._fetched(topology, positions, observed)
        ranges = [
            _range(topology.cluster_id, partition, positions[partition], answer, topic_settings)
            for partition, answer in fetched.items()
        ]
        self._store(ranges)
        moved = {
            partition: after(positions[partition], answer, observed.partitions.get(partition))
            for partition, answer in fetched.items()
            if not isinstance(answer, Unknown)
        }
        self._state = replace(state, positions={**state.positions, **positions, **moved}, old=old)
        self._judge(ranges, observed)
        return ranges

    def _is_wanted(self, partition: TopicPartition) -> bool:
        return self._watched.settings.reads_headers(partition.topic)

    def _with_producers(
        self, topology: Topology, positions: Mapping[TopicPartition, Position]
    ) -> dict[TopicPartition, Position]:
        """Asked once, when the reading of a partition begins: who is not among them is new."""
        led, _ = by_leader(topology, [p for p, position in positions.items() if position.producers_before is None])
        producers = fetch_known_producers(self._watched.connections, led)
        return {
            partition: replace(position, producers_before=producers.get(partition, position.producers_before))
            for partition, position in positions.items()
        }

    def _fetched(
        self, topology: Topology, positions: Mapping[TopicPartition, Position], observed: Round
    ) -> dict[TopicPartition, FetchedHeaders | Unknown]:
        """Of the partitions that are due, a request a leader."""
        due = [p for p, position in positions.items() if _is_due(position, observed, p)]
        led, without = by_leader(topology, due)
        parts = {partition: part(partition, positions[partition]) for partition in due}
        asked = {leader: {parts[p]: positions[p].offset for p in its} for leader, its in led.items()}
        settings = self._watched.settings
        a_round = round(settings.max_bytes_per_s * settings.interval_s / max(1, len(asked)))
        answers = fetch_headers(
            self._watched.connections, asked, min(ANSWER_BYTES, a_round), settings.request_timeout_s
        )
        return {p: without[p] if p in without else answers[parts[p]] for p in due}

    def _store(self, ranges: list[ReadRange]) -> None:
        """The batches first: a range without its entry is read again, and takes the place of what is left of it."""
        for one in ranges:
            scan = one.scan
            if scan.batches:
                self._log.append_range(
                    BATCHES,
                    batch_rows(scan),
                    topic_id_hex=str(scan.place.topic_id).replace("-", ""),
                    partition=int(scan.place.partition or 0),
                    first=scan.first_offset,
                    last=scan.next_offset - 1,
                    observed_at_ms=scan.observed_at_ms,
                )
        self._log.append(RANGES, [range_row(one) for one in ranges])

    def _resume(self, cluster_id: str) -> None:
        """A finding that a crash kept from being written is written now."""
        self._state, found = resumed(self._data_dir, cluster_id)
        self._write(found)

    def _judge(self, ranges: list[ReadRange], observed: Round) -> None:
        read_now = tuple(one.scan for one in ranges if one.problem is None)
        memory, found = observe_headers(self._state.memory, HeaderRound(read_now, observed.transactions, now_ms()))
        self._state = replace(self._state, memory=memory)
        self._write(found)

    def _write(self, found: Iterable[Finding]) -> None:
        events = changes(self._state.known, found, now_ms())
        append_events(self._log, events)
        self._state = replace(self._state, known=fold(events, self._state.known))


def resumed(data_dir: Path, cluster_id: str) -> tuple[HeaderState, list[Finding]]:
    """What the store says was read: the newest positions, the memory that the last 15 minutes leave, what it shows."""
    newest = python_rows(RANGES, read(data_dir, RANGES, None, _NEWEST_OF_EACH, (cluster_id,)))
    last_ms = max((int(str(row["observed_at"])) for row in newest), default=0)
    window = Window(max(0, last_ms - REPLAYED_MS), last_ms + 1)
    of_cluster = ("cluster_id = ? ORDER BY observed_at, first_offset", (cluster_id,))
    ranges = python_rows(RANGES, read(data_dir, RANGES, window, *of_cluster))
    batches = python_rows(
        BATCHES, read(data_dir, BATCHES, window, "cluster_id = ? ORDER BY base_offset", (cluster_id,))
    )
    known = {
        key: history
        for key, history in load_findings(data_dir).items()
        if history.finding.place.cluster_id == cluster_id and history.finding.kind in JOINED
    }
    rounds = [HeaderRound((scan,), (), scan.observed_at_ms) for scan in scans(ranges, batches)]
    memory, found = remembered(rounds, [history.finding for history in known.values()])
    state = HeaderState(
        cluster_id=cluster_id,
        positions={
            TopicPartition(str(row["topic"]), int(str(row["partition"]))): Position(
                str(row["topic_id"]), int(str(row["next_offset"])), None
            )
            for row in sorted(newest, key=lambda row: int(str(row["observed_at"])))
        },
        memory=memory,
        known=known,
    )
    return state, found


def _is_due(position: Position, observed: Round, partition: TopicPartition) -> bool:
    """It has grown, its end is not known, or where its reading begins has yet to be written down."""
    offsets = observed.partitions.get(partition)
    is_at_end = offsets is not None and offsets.high_watermark == position.offset
    return not is_at_end or position.break_reason is not None


def _range(
    cluster_id: str,
    partition: TopicPartition,
    position: Position,
    answer: FetchedHeaders | Unknown,
    topic_settings: TopicSettings,
) -> ReadRange:
    """What the answer holds of the log; an answer that failed is an empty range that says why."""
    problem = answer.reason if isinstance(answer, Unknown) else None
    batches = () if isinstance(answer, Unknown) else answer.batches
    if not isinstance(answer, Unknown) and answer.is_out_of_range:
        problem = f"the log does not hold offset {position.offset} any more"
    return ReadRange(
        HeaderScan(
            place=Place(cluster_id, partition.topic, position.topic_id, partition.partition),
            first_offset=position.offset,
            next_offset=batches[-1].next_offset if batches else position.offset,
            batches=batches,
            log_start_offset=answer if isinstance(answer, Unknown) else answer.log_start_offset,
            cleanup_policy=_policy(topic_settings.get(partition.topic)),
            producers_before=Unknown("the leader was not asked")
            if position.producers_before is None
            else position.producers_before,
            observed_at_ms=now_ms() if isinstance(answer, Unknown) else answer.observed_at_ms,
        ),
        break_reason=position.break_reason,
        problem=problem,
    )


def _policy(settings: Mapping[str, str] | Unknown | None) -> str | Unknown:
    if settings is None or isinstance(settings, Unknown):
        return settings or Unknown("the topic's settings were not read")
    return settings.get(CLEANUP_POLICY, Unknown("the broker does not tell the cleanup policy"))
