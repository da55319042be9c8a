"""One audit of the order of records within their keys, slice by slice, as ExactAudit: read, compare, name the keys.

Workers keep key, place and producer of every record in Parquet files, and compare one bucket of keys after another. A
bucket that a few keys fill beyond what a worker may hold is compared by Spark, which puts on disk what does not fit.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_reader.ordered_records import KEY
from settings import RecordOrder
from spark_jobs.audits import blocks, folders, order_files
from spark_jobs.audits.exact import COMPARING, NAMES_AT_ONCE, NAMING, READING, AuditFailedError, ExactAudit, Steps
from spark_jobs.audits.plans import AuditPlan, AuditRange
from spark_jobs.audits.tallies import Tally, texts
from spark_jobs.audits.tasks import NameTask, OrderCompareTask, OrderTask, Outcome, ReadTask, Task
from spark_jobs.audits.words import NO_ORDER
from spark_jobs.transforms import order as transforms

COUNTS = ("ordered", "keys", "keys_elsewhere", "out_of_order", "repeated", "numbers_missing")
_LEAST = ("first_offset", "nearest_offsets")
_MOST = ("last_offset", "farthest_offsets")


MOST_IN_MEMORY = 500_000  # records that a worker compares at once: about 120 MB


@dataclass(frozen=True, slots=True)
class CompareOrder:
    """One bucket of keys that no worker should hold; Spark's own work, no lane's."""

    bucket: int


class OrderAudit(ExactAudit):
    """`next_slice` until it returns False; then `result`."""

    def result(self) -> Tally:
        found = self._tally()
        named = texts(self._folder)
        for example in _examples(found):
            later = example["later"]
            example["key"] = named.get((f"{example['side']}-{example['partition']}", later["offset"]))
        return found

    def _steps(self, until_ms: int) -> Steps:
        return (
            (READING, lambda: self._to_read(until_ms)),
            (COMPARING, self._to_compare_keys),
            (NAMING, self._to_name_keys),
        )

    def _outcomes(self, tasks: Sequence[Task | CompareOrder], until_ms: int) -> list[Outcome]:
        first = tasks[0]
        if isinstance(first, CompareOrder):
            return [self._compare(first.bucket)]
        return super()._outcomes(tasks, until_ms)

    def _reading(self, task: ReadTask) -> OrderTask:
        return OrderTask(**{name: getattr(task, name) for name in ReadTask.__dataclass_fields__}, order=self._order)

    def _to_compare_keys(self) -> list[OrderCompareTask] | list[CompareOrder]:
        """What workers compare, and only then what Spark has to."""
        paths = [folders.compared_path(self._folder, bucket) for bucket in range(self.plan.buckets)]
        left = [bucket for bucket, path in enumerate(paths) if not path.exists()]
        sizes = order_files.sizes(self._folder / folders.READ) if left else {}
        small = [bucket for bucket in left if sizes.get(bucket, 0) <= MOST_IN_MEMORY]
        tasks = [OrderCompareTask(self._folder, bucket, self._is_numbered) for bucket in small]
        return tasks or [CompareOrder(bucket) for bucket in left]

    def _compare(self, bucket: int) -> Outcome:
        started = time.process_time()
        found = compare(self._records(bucket), is_numbered=self._is_numbered)
        blocks.write_json(folders.compared_path(self._folder, bucket), found)
        return Outcome(done=1, cpu_s=time.process_time() - started)

    def _records(self, bucket: int) -> DataFrame:
        paths = [str(path) for path in order_files.complete(self._folder / folders.READ)]
        if not paths:
            return self._spark.createDataFrame([], transforms.RECORDS)
        return self._spark.read.schema(transforms.RECORDS).parquet(*paths).where(sf.col("bucket") == bucket)

    def _to_name_keys(self) -> list[NameTask]:
        """Texts of the keys of the examples; where only hashes may be stored there are none."""
        if not self._pipeline.store_ids:
            return []
        tasks: list[NameTask] = []
        for each, offsets in listed_offsets(self._tally()).items():
            for number, start in enumerate(range(0, len(offsets), NAMES_AT_ONCE)):
                path = folders.named_path(self._folder, each.name, number)
                if not path.exists():
                    request = replace(self._request(each, each.read_first, each.read_next), message_id=KEY)
                    tasks.append(NameTask(request, tuple(offsets[start : start + NAMES_AT_ONCE]), path))
        return tasks

    def _tally(self) -> Tally:
        paths = (folders.compared_path(self._folder, bucket) for bucket in range(self.plan.buckets))
        return order_tally(
            self.plan,
            blocks.accounts(self._folder / folders.READ),
            [json.loads(path.read_text()) for path in paths],
        )

    @property
    def _is_numbered(self) -> bool:
        return not self._order.timestamp

    @property
    def _order(self) -> RecordOrder:
        if self._pipeline.order is None:
            raise AuditFailedError(NO_ORDER)
        return self._pipeline.order


def compare(records: DataFrame, *, is_numbered: bool) -> dict[str, list[dict[str, Any]]]:
    """What is found among the records of whole keys: `accounts` by partition, and `groups` of violations."""
    compared = transforms.compared(records, sf.col("in_window"), is_numbered=is_numbered)
    accounts = transforms.order_accounts(compared).toArrow().to_pylist()
    is_broken = any(account["out_of_order"] for account in accounts)
    groups = transforms.violation_groups(compared).toArrow().to_pylist() if is_broken else []
    return {"accounts": accounts, "groups": groups}


def order_tally(
    plan: AuditPlan, accounts: Mapping[str, blocks.Account], compared: Sequence[Mapping[str, Any]]
) -> Tally:
    """The buckets as one: a key lies in one bucket only, so the counts add up."""
    order: dict[tuple[str, int], dict[str, int | None]] = {
        (each.side, each.part.partition): dict.fromkeys(COUNTS, 0) for each in plan.ranges
    }
    groups: dict[tuple[object, ...], dict[str, Any]] = {}
    for summary in compared:
        for account in summary["accounts"]:
            known = order[account["side"], account["partition"]]
            known.update({name: _added(known[name], account[name]) for name in COUNTS})
        for group in summary["groups"]:
            key = tuple(group[name] for name in transforms.GROUP_KEYS)
            groups[key] = group if key not in groups else _merged(groups[key], group)
    return Tally(plan, accounts, order=order, order_groups=[groups[key] for key in sorted(groups)])


def listed_offsets(found: Tally) -> dict[AuditRange, list[int]]:
    """The records whose keys are shown, by range."""
    wanted: dict[tuple[str, int], set[int]] = {}
    for example in _examples(found):
        wanted.setdefault((example["side"], example["partition"]), set()).add(example["later"]["offset"])
    ranges = {(each.side, each.part.partition): each for each in found.plan.ranges}
    return {ranges[place]: sorted(offsets) for place, offsets in sorted(wanted.items())}


def _examples(found: Tally) -> list[dict[str, Any]]:
    """With the side and partition they are of."""
    for group in found.order_groups:
        for example in group["examples"]:
            example |= {"side": group["side"], "partition": group["partition"]}
    return [example for group in found.order_groups for example in group["examples"]]


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    examples = sorted([*one["examples"], *other["examples"]], key=lambda example: int(example["at"]))
    return {
        **one,
        **{name: one[name] + other[name] for name in ("out_of_order", "keys")},
        **{name: min(one[name], other[name]) for name in _LEAST},
        **{name: max(one[name], other[name]) for name in _MOST},
        "examples": examples[: transforms.EXAMPLES],
    }


def _added(one: int | None, other: int | None) -> int | None:
    """What is not known of a part is not known of the whole."""
    return None if one is None or other is None else one + other
