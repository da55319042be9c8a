import pytest

from guarantees.expiry import EMPTIED_UNSEEN, LOOKS_DEAD, NO_COMMITS, PENDING, SUBSCRIBED, Never, expires_at_ms
from guarantees.unknown import Unknown
from tests.guarantees.builders import NOBODY, OWNER, group

COMMITTED_MS, EMPTY_MS, RETENTION_MS = 1_000, 5_000, 60_000
EMPTY, STABLE = group(()), group((OWNER,))
BY_COMMIT, BY_EMPTINESS = COMMITTED_MS + RETENTION_MS, EMPTY_MS + RETENTION_MS
SUBSCRIPTION_UNKNOWN = Unknown("the members' subscriptions are not known")


def expiry(state, *, subscribed=False, committed=COMMITTED_MS, empty_since=EMPTY_MS, pending=False):
    return expires_at_ms(
        state,
        is_subscribed=subscribed,
        committed_at_ms=committed,
        empty_since_ms=empty_since,
        is_pending=pending,
        retention_ms=RETENTION_MS,
    )


@pytest.mark.parametrize(
    ("state", "subscribed", "expected"),
    [
        (EMPTY, False, BY_EMPTINESS),
        (EMPTY, True, BY_EMPTINESS),
        (EMPTY, SUBSCRIPTION_UNKNOWN, BY_EMPTINESS),
        (STABLE, False, BY_COMMIT),
        (STABLE, True, SUBSCRIBED),
        (STABLE, SUBSCRIPTION_UNKNOWN, SUBSCRIPTION_UNKNOWN),
        (None, True, BY_COMMIT),
        (group((), kind="consumer"), False, BY_COMMIT),
        (group((), kind="streams"), SUBSCRIPTION_UNKNOWN, BY_COMMIT),
        (group((OWNER,), kind="consumer"), True, SUBSCRIBED),
        (group((OWNER,), kind="consumer", state="Reconciling"), False, BY_COMMIT),
        (group((OWNER,), kind="streams", state="NotReady"), True, SUBSCRIBED),
        (group((OWNER,), kind="share"), False, NO_COMMITS),
        (
            group((OWNER,), state="PreparingRebalance"),
            False,
            Never("nothing expires while the group is PreparingRebalance"),
        ),
        (
            group((OWNER,), state="CompletingRebalance"),
            False,
            Never("nothing expires while the group is CompletingRebalance"),
        ),
        (group((), state="Dead"), False, LOOKS_DEAD),
        (group((), kind="consumer", state="Unknown"), False, LOOKS_DEAD),
        (NOBODY, False, NOBODY),
    ],
)
def test_what_the_retention_counts_from_depends_on_the_groups_state(state, subscribed, expected):
    assert expiry(state, subscribed=subscribed) == expected


@pytest.mark.parametrize("state", [EMPTY, STABLE, None, group((), kind="consumer")])
def test_a_pending_transactional_commit_never_expires(state):
    assert expiry(state, pending=True) == PENDING


def test_an_empty_group_that_was_not_seen_to_become_empty_may_expire_at_any_time():
    assert expiry(EMPTY, empty_since=None) == EMPTIED_UNSEEN


@pytest.mark.parametrize(("state", "expected"), [(STABLE, NOBODY), (None, NOBODY), (EMPTY, BY_EMPTINESS)])
def test_when_a_commit_was_made_matters_only_where_it_is_the_base(state, expected):
    assert expiry(state, committed=NOBODY) == expected
