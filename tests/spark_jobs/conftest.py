import pytest

from settings import SparkSettings
from spark_jobs.audits.tasks import AuditTasks
from spark_jobs.session import spark_session
from spark_jobs.sources.kafka_ranges import KafkaRanges


@pytest.fixture(scope="session")
def spark():
    """One session for all tests that need Spark."""
    session = spark_session(SparkSettings(master="local[2]"))
    session.dataSource.register(KafkaRanges)
    session.dataSource.register(AuditTasks)
    yield session
    session.stop()
