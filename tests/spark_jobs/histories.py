"""Random histories of a source and a sink as stored copies, and what plain Python says of them."""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import numpy as np

from guarantees.audits import Job
from spark_jobs.audits import blocks, folders
from spark_jobs.audits.blocks import Account, Copies
from spark_jobs.audits.plans import SINK, SOURCE, AuditPlan, AuditRange, compared_at_once
from spark_jobs.ranges import Part

WINDOW = (10, 30)  # of every partition; 0 to 40 is read
READ = (0, 40)
MIXED = 0x9E3779B97F4A7C15  # spreads small ids over the hashes


@dataclass(frozen=True)
class Copy:
    """One stored copy."""

    side: str
    partition: int
    offset: int
    number: int
    pid: int = 1
    epoch: int = 0
    seq: int = 0
    transactional: bool = False
    timestamp_ms: int = 1_700_000_000_000

    @property
    def id_hash(self):
        return (self.number * MIXED % 2**64 + 2**63) % 2**64 - 2**63

    @property
    def in_window(self):
        return WINDOW[0] <= self.offset < WINDOW[1]


def history(chance, partitions=2):
    """Few ids, producers and epochs, so that every boundary is met."""
    return [
        Copy(
            side, partition, offset, chance.randrange(50),
            pid=(pid := chance.choice([-1, 1, 2])), epoch=-1 if pid < 0 else chance.randrange(2),
            seq=-1 if pid < 0 else chance.randrange(2), transactional=chance.random() < 0.5,
            timestamp_ms=1_700_000_000_000 + chance.randrange(1000),
        )
        for side in (SOURCE, SINK)
        for partition in range(partitions)
        for offset in range(*READ)
        if chance.random() < 0.6
    ]  # fmt: skip


def as_copies(rows):
    columns = {
        "id_hash": [row.id_hash for row in rows],
        "partition": [row.partition for row in rows],
        "offset": [row.offset for row in rows],
        "timestamp_ms": [row.timestamp_ms for row in rows],
        "producer_id": [row.pid for row in rows],
        "producer_epoch": [row.epoch for row in rows],
        "sequence": [row.seq for row in rows],
    }
    flags = np.array([row.transactional for row in rows], dtype=np.bool_)
    return Copies(**{k: np.array(v, dtype=np.int64) for k, v in columns.items()}, is_transactional=flags)


def audit_range(side, partition, **changed):
    known = AuditRange(
        side=side,
        part=Part("c", {SOURCE: "orders", SINK: "bills"}[side], f"{side}-id", partition),
        leader=1,
        read_first=READ[0],
        window_first=WINDOW[0],
        window_next=WINDOW[1],
        read_next=READ[1],
        search_next=READ[1],
        undecided=0,
        log_start_offset=0,
        last_stable_offset=100,
        high_watermark=100,
        is_compacted=False,
    )
    return replace(known, **changed)


def plan(partitions=2, job=Job.AUDIT, sides=(SOURCE, SINK), fan_out=1, **changed):
    ranges = tuple(audit_range(side, p, **changed.get(side, {})) for side in sides for p in range(partitions))
    return AuditPlan(job, "c", 1_700_000_000_000, ranges, ("said",), compared_at_once(job), fan_out)


def spool(rows, folder, buckets, pieces=((0, 17), (17, 40)), kind=folders.READ):
    """Files as the workers leave them."""
    for side in (SOURCE, SINK):
        for partition in {row.partition for row in rows}:
            for first, following in pieces:
                own = [r for r in rows if (r.side, r.partition) == (side, partition) and first <= r.offset < following]
                account = Account(visible=sum(row.in_window for row in own), compared=len(own))
                name = f"{side}-{partition}"
                blocks.write_block(folder / kind, name, first, following, as_copies(own), account, buckets)


def cause_of(first, later):
    if first.pid < 0 or later.pid < 0:
        return "not_idempotent"
    if first.pid != later.pid:
        return "other_producer_id"
    if first.epoch != later.epoch:
        return "other_transaction" if later.transactional else "other_epoch"
    return "same_sequence" if (first.partition, first.seq) == (later.partition, later.seq) else "sent_twice"


def oracle(rows, fan_out=1):
    """Extra copies by group; per side and partition the ids; missing and surplus ids by place. Plain Python."""
    firsts = {}
    extra = Counter()
    seen = Counter()
    meant = {SOURCE: 1, SINK: fan_out}
    for row in sorted(rows, key=lambda row: (row.offset, row.partition)):
        first = firsts.setdefault((row.side, row.number), row)
        seen[row.side, row.number] += 1
        if seen[row.side, row.number] > meant[row.side] and row.in_window:
            extra[row.side, row.partition, cause_of(first, row), first.pid, row.pid, row.epoch] += 1
    ids = defaultdict(int)
    lacking = {SOURCE: set(), SINK: set()}
    for (side, number), first in firsts.items():
        if first.in_window:
            ids[side, first.partition] += 1
            other = {SOURCE: SINK, SINK: SOURCE}[side]
            if seen[other, number] < meant[other]:
                lacking[side].add((first.partition, first.offset, first.id_hash))
    return extra, dict(ids), lacking[SOURCE], lacking[SINK]
