"""What hardly changes, or costs brokers more than a glance, is asked in every Nth round."""

SELDOM_ROUNDS = 12  # once a minute at the default interval of 5 s


def is_due(rounds_done: int) -> bool:
    return rounds_done % SELDOM_ROUNDS == 0
