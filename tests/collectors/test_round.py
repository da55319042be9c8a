"""A round against a cluster in memory: its order, what fails alone, and what is remembered."""

from collectors.round import Collected, collect_round, fetch_cluster, unreachable_round
from collectors.signals import Signals
from collectors.watched import Remembered
from guarantees.observations import GroupState, Signal
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown
from tests.collectors.fake_cluster import FakeCluster, FakeGroup

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
SILENT = Unknown("broker 2 did not answer in time")


def one_round(cluster: FakeCluster, remembered: Remembered | None = None, tick: int = 0) -> Collected:
    signals, remembered = Signals(), remembered or Remembered()
    topology = fetch_cluster(cluster.watched, signals, remembered)
    if topology is None:
        return unreachable_round(cluster.watched, signals, remembered, "fake-id", tick)
    return collect_round(cluster.watched, signals, topology, remembered, tick)


def coverage(collected: Collected, signal: Signal):
    return next(each for each in collected.round.coverage if each.signal == signal)


def test_commits_are_read_after_log_starts_and_before_end_offsets_and_producers_before_coordinators():
    cluster = FakeCluster(log={0: (0, 90, 100), 1: (0, 50, 50)}, open_since={0: 90}, groups={"g": FakeGroup({0: 5})})

    one_round(cluster)

    order = list(dict.fromkeys(cluster.asked))
    assert order.index("log start") < order.index("commits") < order.index("high watermark")
    assert order.index("high watermark") < order.index("last stable offset")
    assert order.index("producers") < order.index("list transactions")


def test_of_a_topic_it_reads_a_group_has_no_commit_where_it_never_committed():
    seen = one_round(FakeCluster(groups={"g": FakeGroup({0: 5})}))

    assert seen.round.commits[GroupPartition("g", "orders", 0)].committed_offset == 5
    assert seen.round.commits[GroupPartition("g", "orders", 1)].committed_offset is None
    reasons = {row["partition"]: row["committed_offset_unknown"] for row in seen.rows["committed_offsets"].to_pylist()}
    assert reasons == {0: None, 1: "no commit"}


def test_a_group_that_owns_partitions_and_never_committed_has_no_commit_on_them():
    cluster = FakeCluster(groups={"g": FakeGroup(owned={"m": [0]})})

    first = one_round(cluster)
    second = one_round(cluster, first.remembered, tick=1)

    assert second.round.commits[GroupPartition("g", "orders", 0)].committed_offset is None


def test_a_silent_broker_hides_only_what_it_alone_can_tell():
    seen = one_round(FakeCluster(silent={2}, groups={"g": FakeGroup({0: 5}, coordinator=1)})).round

    assert seen.partitions[P0].high_watermark == 100
    assert seen.partitions[P1].high_watermark == SILENT
    assert {replica.broker: replica.log_end_offset for replica in seen.replicas[P0]} == {1: 100, 2: SILENT}
    assert seen.commits[GroupPartition("g", "orders", 0)].committed_offset == 5


def test_groups_of_a_silent_coordinator_are_remembered_and_come_back():
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5}, coordinator=2)})
    before = one_round(cluster)
    cluster.silent = {2}

    silent = one_round(cluster, before.remembered, tick=1)

    reason = Unknown("coordinator unavailable: broker 2 did not answer in time")
    assert silent.round.groups == {"g": reason}
    assert silent.round.commits[GroupPartition("g", "orders", 0)].committed_offset == reason
    assert coverage(silent, Signal.COMMITTED_OFFSETS).failed == 1
    (unknown,) = silent.rows["group_state"]
    assert (unknown["state"], unknown["state_unknown"], unknown["ended_before"]) == (None, reason.reason, None)

    cluster.silent = set()
    back = one_round(cluster, silent.remembered, tick=2)
    assert isinstance(back.round.groups["g"], GroupState)
    assert [row["ended_reason"] for row in back.rows["group_state"] if row["state"] is None] == ["known again"]


def test_a_group_its_coordinator_no_longer_lists_is_gone():
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5}, owned={"m": [0]})})
    before = one_round(cluster)
    cluster.groups = {}

    after = one_round(cluster, before.remembered, tick=1)

    assert after.round.groups == {}
    for table in ("group_state", "group_members"):
        assert [row["ended_reason"] for row in after.rows[table]] == ["the coordinator no longer lists the group"]


def test_a_partition_without_a_leader_is_unknown_with_that_reason():
    seen = one_round(FakeCluster(leaders={0: 1, 1: 0}))

    offsets = seen.round.partitions[P1]
    reason = Unknown("the partition has no leader")
    assert (offsets.log_start_offset, offsets.high_watermark, offsets.broker) == (reason, reason, None)
    assert seen.round.states[P1].leader is None
    assert coverage(seen, Signal.END_OFFSETS).error == "the partition has no leader (2)"


def test_an_answer_of_a_stable_offset_read_later_never_lies_above_the_high_watermark():
    seen = one_round(FakeCluster(log={0: (0, 120, 100), 1: (0, 50, 50)}))

    assert seen.round.partitions[P0].last_stable_offset == 100


def test_producers_are_asked_for_only_where_the_stable_offset_lags():
    cluster = FakeCluster(log={0: (0, 90, 100), 1: (0, 50, 50)}, open_since={0: 90})

    seen = one_round(cluster)

    assert list(seen.round.producers) == [P0]
    assert [each.transactional_id for each in seen.round.transactions] == ["tx"]

    idle = FakeCluster()
    one_round(idle)
    assert "producers" not in idle.asked


def test_a_cluster_out_of_reach_still_says_so_for_every_signal():
    before = one_round(FakeCluster(groups={"g": FakeGroup({0: 5})}))

    seen = one_round(FakeCluster(is_reachable=False), before.remembered, tick=1)

    assert {row["signal"] for row in seen.rows["rounds"]} == set(Signal)
    assert {(row["answered"], row["failed"], row["error"]) for row in seen.rows["rounds"]} == {
        (0, 1, "no broker answers")
    }
    assert seen.round.groups == {"g": Unknown("the cluster is out of reach")}
    assert seen.remembered == before.remembered


def test_a_fault_in_one_signal_is_loud_and_leaves_the_others_alone(caplog):
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5})})
    del cluster.log[1]  # the fake has no answer and raises KeyError

    seen = one_round(cluster)

    assert coverage(seen, Signal.END_OFFSETS).error == "a fault of Tidemark, see its log: KeyError: 1"
    assert seen.round.commits[GroupPartition("g", "orders", 0)].committed_offset == 5
    assert "Traceback" in caplog.text


def test_configurations_are_asked_for_again_only_every_nth_round():
    cluster, remembered = FakeCluster(), Remembered()
    for tick in range(13):
        collected = one_round(cluster, remembered, tick)
        remembered = collected.remembered
        assert collected.round.topic_settings["orders"]["min.insync.replicas"] == "2"

    assert cluster.asked.count("configs") == 2


def test_members_that_change_between_two_rounds_are_a_rebalance():
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5}, owned={"a": [0, 1]})})
    before = one_round(cluster)
    cluster.groups["g"].owned = {"a": [0], "b": [1]}

    after = one_round(cluster, before.remembered, tick=1)

    (row,) = after.rows["rebalances"]
    assert (row["joined"], row["left"], row["moved"]) == ('["b"]', "[]", '[["orders", 1, "a", "b"]]')
    assert row["changed_after"] <= row["observed_at"]


def test_a_member_that_is_no_longer_described_left():
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5}, owned={"a": [0], "b": [1]})})
    before = one_round(cluster)
    cluster.groups["g"].owned = {"a": [0]}

    after = one_round(cluster, before.remembered, tick=1)

    ended = {row["member_id"]: row["ended_reason"] for row in after.rows["group_members"]}
    assert ended == {"a": None, "b": "the member left"}


def test_members_of_a_group_nobody_describes_have_not_left():
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5}, owned={"a": [0]})})
    before = one_round(cluster)
    cluster.silent = {2}

    assert one_round(cluster, before.remembered, tick=1).rows["group_members"] == []


def round_without_g_listed(cluster: FakeCluster) -> Collected:
    """The round after one that listed the group "g"."""
    before = one_round(cluster)
    cluster.loading = {"g"}
    return one_round(cluster, before.remembered, tick=1)


def test_a_group_that_its_new_coordinator_has_not_loaded_is_unknown_and_not_gone():
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5}, owned={"m": [0]}), "other": FakeGroup({0: 7})})
    before = one_round(cluster)
    cluster.loading = {"g"}

    during = one_round(cluster, before.remembered, tick=1)

    reason = Unknown("coordinator unavailable: COORDINATOR_LOAD_IN_PROGRESS")
    assert during.round.groups["g"] == reason
    assert during.round.commits[GroupPartition("g", "orders", 0)].committed_offset == reason
    assert during.round.commits[GroupPartition("other", "orders", 0)].committed_offset == 7
    assert during.rows["group_members"] == []
    assert not coverage(during, Signal.GROUPS).is_complete
    cluster.loading = set()
    after = one_round(cluster, during.remembered, tick=2)
    assert after.round.commits[GroupPartition("g", "orders", 0)].committed_offset == 5


def test_a_group_loaded_between_the_list_and_the_question_for_it_is_there():
    """Its coordinator has loaded it by the time it is asked by name, and lists it then."""

    class Loading(FakeCluster):
        def _group_error(self, broker: int, name: str) -> int:
            self.loading = set()
            return super()._group_error(broker, name)

    cluster = Loading(groups={"g": FakeGroup({0: 5}, owned={"m": [0]})})

    seen = round_without_g_listed(cluster)

    assert seen.round.commits[GroupPartition("g", "orders", 0)].committed_offset == 5
    assert isinstance(seen.round.groups["g"], GroupState)


def test_a_group_that_was_listed_and_whose_coordinator_unloads_it_meanwhile_is_not_gone():
    """Partitions move one by one: another group of the broker was asked for, and its later list no longer has this."""

    class Unloading(FakeCluster):
        def _group_error(self, broker: int, name: str) -> int:
            self.loading = {"g", "other"}
            return super()._group_error(broker, name)

    cluster = Unloading(groups={"g": FakeGroup({0: 5}), "other": FakeGroup({0: 7})})

    seen = round_without_g_listed(cluster)

    assert seen.round.groups.keys() == {"g", "other"}
    assert isinstance(seen.round.groups["g"], Unknown)


def test_a_group_that_its_coordinator_knows_and_does_not_list_is_unknown():
    class Unlisting(FakeCluster):
        def _group_error(self, broker: int, name: str) -> int:
            return 0

    cluster = Unlisting(groups={"g": FakeGroup({0: 5})})

    seen = round_without_g_listed(cluster)

    assert seen.round.groups["g"] == Unknown("coordinator unavailable: it knew the group and did not list it")


def test_a_group_is_unknown_where_the_list_after_the_question_for_it_fails():
    class Dying(FakeCluster):
        def _group_error(self, broker: int, name: str) -> int:
            if name not in self.loading:
                return super()._group_error(broker, name)
            self.silent = {2}
            return 69

    cluster = Dying(groups={"g": FakeGroup({0: 5})})

    seen = round_without_g_listed(cluster)

    assert seen.round.groups["g"] == Unknown("coordinator unavailable: broker 2 did not answer in time")


def test_a_group_that_could_not_be_asked_for_is_not_gone():
    class Failing(FakeCluster):
        def _group_error(self, broker: int, name: str) -> int:
            if name in self.loading:
                raise KeyError("a bug")
            return super()._group_error(broker, name)

    cluster = Failing(groups={"g": FakeGroup({0: 5})})

    seen = round_without_g_listed(cluster)

    assert seen.round.groups["g"] == Unknown("whether it is gone or hidden could not be asked")


def test_a_group_is_gone_once_its_coordinator_looked_for_it_in_vain():
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5}, owned={"m": [0]}), "other": FakeGroup()})
    before = one_round(cluster)
    del cluster.groups["g"]

    after = one_round(cluster, before.remembered, tick=1)

    assert after.round.groups.keys() == {"other"}
    assert [row["ended_reason"] for row in after.rows["group_members"]] == ["the coordinator no longer lists the group"]
    assert coverage(after, Signal.GROUPS).is_complete
    cluster.asked.clear()
    one_round(cluster, after.remembered, tick=2)
    assert cluster.asked.count("list groups") == 2, "one a broker: of a group that is gone nobody is asked again"


def test_a_group_is_gone_though_another_broker_is_silent():
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5}, coordinator=1), "other": FakeGroup(coordinator=1)})
    before = one_round(cluster)
    del cluster.groups["g"]
    cluster.silent = {2}

    assert one_round(cluster, before.remembered, tick=1).round.groups.keys() == {"other"}


def test_a_transaction_that_its_new_coordinator_has_not_loaded_has_not_ended():
    cluster = FakeCluster(log={0: (0, 90, 100), 1: (0, 50, 50)}, open_since={0: 90})
    before = one_round(cluster)
    cluster.loading = {"tx"}

    during = one_round(cluster, before.remembered, tick=1)

    assert during.rows["open_transactions"] == []
    assert coverage(during, Signal.TRANSACTIONS).failed == 1
    cluster.loading, cluster.open_since = set(), {}
    after = one_round(cluster, during.remembered, tick=2)
    assert [row["ended_reason"] for row in after.rows["open_transactions"]] == ["no longer open"]


def test_a_transaction_loaded_between_the_list_and_the_question_for_it_is_open():
    class Loading(FakeCluster):
        def _transaction_error(self, broker: int) -> int:
            self.loading = set()
            return super()._transaction_error(broker)

    cluster = Loading(log={0: (0, 90, 100), 1: (0, 50, 50)}, open_since={0: 90})
    before = one_round(cluster)
    cluster.loading = {"tx"}

    seen = one_round(cluster, before.remembered, tick=1)

    assert [each.transactional_id for each in seen.round.transactions] == ["tx"]
    assert [row["ended_reason"] for row in seen.rows["open_transactions"]] == [None]


def test_a_transaction_has_not_ended_where_asking_failed():
    class Failing(FakeCluster):
        def _listed_transactions(self, broker, request):
            raise KeyError("a bug")

    before = one_round(FakeCluster(log={0: (0, 90, 100), 1: (0, 50, 50)}, open_since={0: 90}))

    after = one_round(Failing(), before.remembered, tick=1)

    assert after.rows["open_transactions"] == []


def test_every_connection_is_told_where_brokers_are_and_again_only_when_the_cluster_says_otherwise():
    cluster = FakeCluster()
    first = one_round(cluster)
    assert cluster.asked.count("learn brokers") == 3

    second = one_round(cluster, first.remembered, tick=1)
    assert cluster.asked.count("learn brokers") == 3

    cluster.leaders = {0: 2, 1: 2}
    one_round(cluster, second.remembered, tick=2)
    assert cluster.asked.count("learn brokers") == 6


def test_a_transaction_ends_though_another_broker_is_silent():
    cluster = FakeCluster(log={0: (0, 90, 100), 1: (0, 50, 50)}, open_since={0: 90})
    before = one_round(cluster)
    cluster.silent, cluster.open_since = {2}, {}

    after = one_round(cluster, before.remembered, tick=1)

    assert [row["ended_reason"] for row in after.rows["open_transactions"]] == ["no longer open"]


def test_a_transaction_of_a_silent_coordinator_has_not_ended():
    cluster = FakeCluster(log={0: (0, 90, 100), 1: (0, 50, 50)}, open_since={0: 90}, leaders={0: 2, 1: 2})
    before = one_round(cluster)
    cluster.silent = {1}

    silent = one_round(cluster, before.remembered, tick=1)
    assert silent.rows["open_transactions"] == []

    cluster.silent, cluster.open_since = set(), {}
    after = one_round(cluster, silent.remembered, tick=2)
    assert [row["ended_reason"] for row in after.rows["open_transactions"]] == ["no longer open"]
    assert [row["ended_reason"] for row in after.rows["open_producers"]] == ["the transaction ended"]


def test_a_producer_on_a_partition_that_does_not_answer_has_not_ended():
    cluster = FakeCluster(log={0: (0, 90, 100), 1: (0, 50, 50)}, open_since={0: 90})
    before = one_round(cluster)
    cluster.silent = {1}

    assert one_round(cluster, before.remembered, tick=1).rows["open_producers"] == []
