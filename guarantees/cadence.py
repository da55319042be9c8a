"""How often a round asks what seldom changes of a large cluster, and so how old the newest answer may be."""

from collections.abc import Mapping

from guarantees.observations import Signal

# A cluster of no more is asked everything in every round.
FEW_PARTITIONS = 1_000
# Of a larger one: every how many rounds. How old the newest round is, the other signals of it say.
ASKED_LESS_OFTEN: Mapping[str, int] = {Signal.LOG_START: 3, Signal.PARTITION_STATES: 2}
# Of every cluster: configurations, log directories, rights and features. Once a minute at the default interval of 5 s.
SELDOM_ROUNDS = 12

# How far apart the record jobs say at most that they looked and found nothing new, where that is told as one stretch:
# they say so once a minute.
IDLE_LOOKS_APART_MS = 90_000


def rounds_apart(signal: str, asked: int) -> int:
    """From one asking to the next, where the last one was about so many partitions."""
    return ASKED_LESS_OFTEN.get(signal, 1) if asked > FEW_PARTITIONS else 1
