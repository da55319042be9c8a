from collectors.rebalances import rebalances, settled_states
from guarantees.observations import GroupState, Member
from guarantees.places import TopicPartition

P0 = TopicPartition("orders", 0)


def group(state: str, at_ms: int, **owners: frozenset[TopicPartition]) -> dict[str, GroupState]:
    members = tuple(Member(name, None, "client", "/host", owned) for name, owned in owners.items())
    return {"g": GroupState("classic", state, 1, members, None, None, at_ms)}


def test_a_rebalance_that_spans_samples_is_compared_with_the_last_sample_outside_it():
    before = group("Stable", 1, a=frozenset({P0}))
    during = group("PreparingRebalance", 2, a=frozenset(), b=frozenset())
    after = group("Stable", 3, a=frozenset(), b=frozenset({P0}))

    settled = settled_states(before, during)

    assert rebalances(before, during) == {}
    found = rebalances(settled, after)["g"]
    assert (found.joined, found.changed_after_ms, found.observed_at_ms) == (("b",), 1, 3)


def test_a_static_member_that_came_back_is_no_rebalance():
    def static(member_id: str) -> dict[str, GroupState]:
        member = Member(member_id, "instance", "client", "/host", frozenset({P0}))
        return {"g": GroupState("classic", "Stable", 1, (member,), None, None, 1)}

    assert rebalances(static("old"), static("new")) == {}
