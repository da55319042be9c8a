"""Jobs over the batch headers of a real cluster: what the collectors stored is what producers did."""

import pytest

from collectors.runner import ClusterRounds
from collectors.watched import open_cluster
from settings import ClusterSettings, Settings, StoreSettings
from spark_jobs import header_jobs
from spark_jobs.header_jobs import VISIBLE_AFTER_MS, WINDOW_MS, HeaderJobs
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter, snapshot
from store.reading import read
from store.rows import python_rows
from tests.spark_jobs.scripted import Script, ids
from tests.spark_jobs.test_exact_audit_live import now_ms

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def test_sequences_and_transactions_of_a_real_topic_are_counted(spark, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(header_jobs, "CAUGHT_UP", 2)  # the windows that can hold what is sent here
    script = Script(cluster.bootstrap, partitions=1).create()
    watched = ClusterSettings(
        name="lab", bootstrap_servers=cluster.bootstrap, include_topics=(script.source,),
        header_topics=(script.source,), interval_s=5.0,
    )  # fmt: skip
    settings = Settings(clusters=(watched,), store=StoreSettings(data_dir=str(tmp_path)))
    log = SegmentLog(tmp_path, "host_collect")
    with open_cluster(watched) as opened:
        rounds = ClusterRounds(opened, settings, log)
        rounds.next_round()  # from the end of the log on
        script.send(script.source, ids("a", 0, 50))
        script.send_in_transaction(script.source, ids("kept", 0, 7), is_committed=True)
        script.send_in_transaction(script.source, ids("gone", 0, 5), is_committed=False)
        for _ in range(20):
            rounds.next_round()
            if read(tmp_path, "batch_headers").num_rows >= 5:
                break
    log.close()

    with MetricsWriter(tmp_path / METRICS_FILE) as metrics:
        jobs = HeaderJobs(spark, settings, metrics)
        while jobs.run_due(now_ms() + WINDOW_MS + VISIBLE_AFTER_MS):
            pass

    found = {name: python_rows(name, table) for name, table in
             snapshot(tmp_path / METRICS_FILE, ["sequence_accounts", "transaction_accounts"]).items()}  # fmt: skip
    producers = found["sequence_accounts"]
    assert sum(row["records"] for row in producers) == 50 + 7 + 5
    assert {(row["first_sequence"], row["sequences_passed_over"], row["sequences_repeated"]) for row in producers} == {
        (0, 0, 0)
    }
    ended = {name: sum(row[name] for row in found["transaction_accounts"]) for name in
             ("committed", "aborted", "open", "torn", "records_committed", "records_aborted")}  # fmt: skip
    assert ended == {"committed": 1, "aborted": 1, "open": 0, "torn": 0, "records_committed": 7, "records_aborted": 5}
