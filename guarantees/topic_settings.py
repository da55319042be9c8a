"""A topic's settings as the brokers resolve them (DescribeConfigs), read by name; None where one may not be read."""

from collections.abc import Mapping

TopicSettings = Mapping[str, str]

MIN_INSYNC_REPLICAS = "min.insync.replicas"
UNCLEAN_LEADER_ELECTION = "unclean.leader.election.enable"
CLEANUP_POLICY = "cleanup.policy"
RETENTION_MS = "retention.ms"
RETENTION_BYTES = "retention.bytes"

UNLIMITED = -1


def min_insync_replicas(settings: TopicSettings | None) -> int | None:
    """The configured number; what counts never exceeds the number of replicas."""
    return _whole(settings, MIN_INSYNC_REPLICAS)


def is_unclean_election_enabled(settings: TopicSettings | None) -> bool | None:
    value = None if settings is None else settings.get(UNCLEAN_LEADER_ELECTION)
    return None if value is None else value == "true"


def deletes_nothing_by_age_or_size(settings: TopicSettings | None) -> bool | None:
    """Retention has no limit, or the cleaner only compacts: then nothing but a request moves the log start."""
    if settings is None or CLEANUP_POLICY not in settings:
        return None
    if "delete" not in settings[CLEANUP_POLICY].split(","):
        return True
    limits = (_whole(settings, RETENTION_MS), _whole(settings, RETENTION_BYTES))
    return None if None in limits else limits == (UNLIMITED, UNLIMITED)


def _whole(settings: TopicSettings | None, name: str) -> int | None:
    value = None if settings is None else settings.get(name)
    return None if value is None else int(value)
