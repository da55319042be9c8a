"""What hardly changes, or costs brokers more than a glance, is asked in every Nth round."""

from guarantees.cadence import SELDOM_ROUNDS


def is_due(rounds_done: int) -> bool:
    return rounds_done % SELDOM_ROUNDS == 0
