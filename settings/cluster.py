"""A watched cluster, and what of it is watched."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from settings.errors import SettingsError
from settings.security import Security


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """A watched cluster. Patterns are shell-style; a name is watched if it matches include and no exclude.

    `header_topics`: of which watched topics every batch is read, payloads untouched, for what headers prove.
    `history_bytes_per_s`: how much is read of Kafka's own topics, for commits, rebalances and transactions as their
    coordinators wrote them; 0: nothing.
    """

    name: str
    bootstrap_servers: str
    interval_s: float = 5.0
    request_timeout_s: float = 1.0
    include_topics: tuple[str, ...] = ("*",)
    exclude_topics: tuple[str, ...] = ()
    include_groups: tuple[str, ...] = ("*",)
    exclude_groups: tuple[str, ...] = ()
    header_topics: tuple[str, ...] = ()
    security: Security = field(default_factory=Security)
    max_bytes_per_s: int = 20_000_000
    history_bytes_per_s: int = 2_000_000

    def __post_init__(self) -> None:
        if not self.bootstrap_servers:
            raise SettingsError(f"clusters.{self.name}: bootstrap_servers must name at least one broker")
        if not 0 < self.request_timeout_s <= self.interval_s:
            raise SettingsError(f"clusters.{self.name}: request_timeout_s must be positive and at most interval_s")

    def watches_topic(self, topic: str) -> bool:
        return _matches(topic, self.include_topics, self.exclude_topics)

    def reads_headers(self, topic: str) -> bool:
        return self.watches_topic(topic) and _matches(topic, self.header_topics, ())

    def watches_group(self, group_id: str) -> bool:
        return _matches(group_id, self.include_groups, self.exclude_groups)


def _matches(name: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    return any(fnmatchcase(name, p) for p in include) and not any(fnmatchcase(name, p) for p in exclude)
