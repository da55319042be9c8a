"""The clusters that a task in a worker reads from: a set of connections each, opened once for all its ranges.

A broker that hangs is then left alone after one time-out: the ranges it leads fail at once, those of others are read.
"""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from kafka_reader.connection import Connections
from settings import Security
from spark_jobs.sources.kafka_ranges import RangeRequest


class OpenClusters:
    """Opens nothing before it is asked for."""

    def __init__(self) -> None:
        self._closing = ExitStack()
        self._opened: dict[tuple[str, Security], Connections] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def connections(self, request: RangeRequest) -> Connections:
        """To the brokers of the cluster that the request is about."""
        cluster = request.bootstrap_servers, request.security
        if cluster not in self._opened:
            self._opened[cluster] = self._closing.enter_context(Connections(*cluster))
        return self._opened[cluster]
