"""A log that healthy producers write: plain, idempotent, transactional of both versions; and what can go wrong."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from guarantees.batches import Batch, HeaderScan
from guarantees.findings import Kind
from tests.guarantees.logs import ABORT, COMMIT, batch, marker, scan

# Fault -> the one kind of finding it gives.
FAULTS = {
    "resend_plain": Kind.RESENT_BATCH,
    "repeat_sequences": Kind.RESENT_BATCH,
    "resend_under_raised_epoch": Kind.RESENT_BATCH,
    "lose_first_batches": Kind.MISSING_SEQUENCES,
    "skip_sequences": Kind.SEQUENCE_GAP,
    "recover": Kind.PRODUCER_RECOVERED,
    "fence": Kind.PRODUCER_FENCED,
    "write_late": Kind.TORN_TRANSACTION,
}


@dataclass
class Session:
    """A living producer: its id, epoch and next sequence, and how many of its records are in an open transaction."""

    pid: int
    epoch: int = 0
    sequence: int = 0
    open: int = 0


@dataclass
class Log:
    """One partition. Every batch is written at a second of its own; `producers` are by their kind."""

    STEPS = (
        "plain",
        "idempotent",
        "restart",
        "classic_tx",
        "raising_tx",
        "empty_marker",
        "elect",
        "retention",
        "compact",
    )

    batches: list[Batch] = field(default_factory=list)
    end: int = 0
    leader: int = 0
    next_pid: int = 100
    start: int = 0
    policy: str = "delete"
    producers: dict[str, Session] = field(default_factory=dict)

    def run(self, steps: Iterable[tuple[str, int]]) -> None:
        for step, size in steps:
            getattr(self, f"_{step}")(size + 1)

    def scans(self, cuts: Sequence[int]) -> list[HeaderScan]:
        """The whole log from its first offset, read in pieces cut before the given batches."""
        limits = sorted({0, *(cut for cut in cuts if cut < len(self.batches)), len(self.batches)})
        scans, first = [], 0
        for number, (low, high) in enumerate(zip(limits, limits[1:], strict=False)):
            part = self.batches[low:high]
            following = part[-1].next_offset if high < len(self.batches) else self.end
            scans.append(scan(*part, first=first, following=following, policy=self.policy, second=number))
            first = following
        return scans

    def _append(self, count: int, session: Session | None = None, *, tx: bool = False, value: object = None) -> None:
        pid, epoch, seq = (None, 0, None) if session is None else (session.pid, session.epoch, session.sequence)
        made = batch(
            self.end, count, pid=pid, epoch=epoch, seq=seq, leader=self.leader, tx=tx, second=self.end, value=value
        )
        self._store(made)
        if session is not None:
            session.sequence += count

    def _store(self, made: Batch) -> None:
        self.batches.append(replace(made, base_offset=self.end, last_offset=self.end + made.sequences - 1))
        self.end += made.sequences

    def _mark(self, kind: object, session: Session, epoch: int) -> None:
        self._store(marker(self.end, kind, pid=session.pid, epoch=epoch, second=self.end, leader=self.leader))

    def _session(self, kind: str) -> Session:
        if kind not in self.producers:
            self.producers[kind] = Session(self._new_pid())
        return self.producers[kind]

    def _new_pid(self) -> int:
        self.next_pid += 1
        return self.next_pid

    def _plain(self, count: int) -> None:
        self._append(count)

    def _idempotent(self, count: int) -> None:
        self._append(count, self._session("idempotent"))

    def _restart(self, _: int) -> None:
        """Without transactional id a new producer id; with one, the old id under a higher epoch."""
        self.producers.pop("idempotent", None)
        if "classic" in self.producers:
            old = self.producers["classic"]
            self.producers["classic"] = Session(old.pid, old.epoch + 1)

    def _classic_tx(self, count: int) -> None:
        session = self._session("classic")
        for _ in range(count):
            self._append(1, session, tx=True)
        self._mark(ABORT if count == 2 else COMMIT, session, session.epoch)

    def _raising_tx(self, count: int) -> None:
        """transaction.version 2: every end raises the epoch, and sequences begin at 0."""
        session = self._session("raising")
        self._append(count, session, tx=True)
        session.epoch, session.sequence = session.epoch + 1, 0
        self._mark(ABORT if count == 2 else COMMIT, session, session.epoch)

    def _empty_marker(self, count: int) -> None:
        session = self._session("classic")
        self._mark(ABORT if count % 2 else COMMIT, session, session.epoch)

    def _elect(self, _: int) -> None:
        self.leader += 1

    def _retention(self, _: int) -> None:
        """Moves nothing in what was read before it."""
        self.start = self.end

    def _compact(self, count: int) -> None:
        """Empties or removes batches in the middle, as the cleaner does: headers keep offsets and sequences, and a
        marker stays for as long as data of its transaction (LogCleaner, CleanedTransactionMetadata).
        """
        self.policy = "compact"
        for number in range(0, len(self.batches) - 1, 3):
            self.batches[number] = replace(self.batches[number], records=0)
        if count > 2 and len(self.batches) > 4 and self.batches[2].marker is None:
            del self.batches[2]

    def _resend_plain(self, _: int) -> None:
        self._append(3, value="once")
        self._store(self.batches[-1])

    def _repeat_sequences(self, _: int) -> None:
        self._append(3, self._fresh())
        self._store(replace(self.batches[-1], body_hash=0, crc=0))

    def _resend_under_raised_epoch(self, _: int) -> None:
        self._append(3, self._fresh())
        last = self.batches[-1]
        self._store(replace(last, producer_epoch=1, base_sequence=0, crc=0))

    def _lose_first_batches(self, _: int) -> None:
        self.policy = "delete"
        self._append(2, Session(self._new_pid(), sequence=4))

    def _skip_sequences(self, _: int) -> None:
        session = self._fresh()
        self._append(1, session)
        session.sequence += 5
        self._append(1, session)

    def _recover(self, _: int) -> None:
        session = self._fresh()
        self._append(1, session)
        session.epoch, session.sequence = 1, 0
        self._append(1, session)

    def _fence(self, _: int) -> None:
        session = self._fresh()
        self._append(1, session, tx=True)
        self._mark(ABORT, session, 1)
        session.epoch, session.sequence = 2, 0
        self._append(1, session, tx=True)

    def _write_late(self, _: int) -> None:
        session = self._fresh()
        self._append(1, session, tx=True)
        self._mark(COMMIT, session, 1)
        self._append(1, session, tx=True)

    def _fresh(self) -> Session:
        return Session(self._new_pid())
