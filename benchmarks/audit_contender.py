"""One contender of `benchmarks.audit`, in a process of its own: `python -m benchmarks.audit_contender NAME SPEC`.

SPEC is JSON: the bootstrap address and the fields of `Topics`. The last line printed is JSON: what was used and found.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from benchmarks import plain_reading, spark_reading
from benchmarks.audit_topics import Topics
from benchmarks.process_tree import Part, Used, measured

Outcome = tuple[Used, dict[str, int | None], Part | None]
Contender = Callable[[str, Topics, Path], Outcome]


def main() -> None:
    name, spec = sys.argv[1:]
    given = json.loads(spec)
    bootstrap = given.pop("bootstrap")
    with tempfile.TemporaryDirectory(prefix="tidemark-audit-") as folder:
        used, found, part = CONTENDERS[name](bootstrap, Topics(**given), Path(folder))
    of_part = None if part is None else {"cpu_s": part[0].all_cpu_s, "records": part[1]}
    print(json.dumps({"used": asdict(used), "found": found, "part": of_part}))


def _plainly(read: Callable[[str, Topics], int | None]) -> Contender:
    def run(bootstrap: str, topics: Topics, _: Path) -> Outcome:
        with measured() as used:
            records = read(bootstrap, topics)
        return used, {"records": records}, None

    return run


def _both(topics: Topics) -> tuple[str, str]:
    return topics.source, topics.alike


CONTENDERS: Mapping[str, Contender] = {
    "kcat": _plainly(lambda bootstrap, topics: plain_reading.kcat(bootstrap, _both(topics))),
    "kafka-consumer-perf-test": _plainly(
        lambda bootstrap, topics: plain_reading.consumer_perf_test(bootstrap, topics.records, _both(topics))
    ),
    "confluent-kafka, consume(10000)": _plainly(
        lambda bootstrap, topics: plain_reading.confluent_kafka(bootstrap, _both(topics))
    ),
    "official connector, count": lambda bootstrap, topics, _: spark_reading.connector_count(bootstrap, _both(topics)),
    "official connector, duplicates by key": lambda bootstrap, topics, _: spark_reading.connector_duplicates(
        bootstrap, _both(topics)
    ),
    "headers": _plainly(lambda bootstrap, topics: plain_reading.header_scan(bootstrap, _both(topics))),
    "sample 1/64": lambda bootstrap, topics, folder: spark_reading.sample(bootstrap, topics, 1 / 64, folder),
    "sample 1/16": lambda bootstrap, topics, folder: spark_reading.sample(bootstrap, topics, 1 / 16, folder),
    "exact, partitioned alike": lambda bootstrap, topics, folder: spark_reading.exact(
        bootstrap, topics, topics.alike, folder
    ),
    "exact, partitioned otherwise": lambda bootstrap, topics, folder: spark_reading.exact(
        bootstrap, topics, topics.otherwise, folder
    ),
}


if __name__ == "__main__":
    main()
