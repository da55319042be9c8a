from collectors.signals import Signals, covered, error_sentence
from guarantees.observations import Signal
from guarantees.unknown import Unknown
from kafka_reader.errors import BrokerUnavailableError

REFUSED = Unknown("not permitted: TOPIC_AUTHORIZATION_FAILED")
SILENT = Unknown("broker 3 did not answer in time")


def test_unknown_values_are_refused_or_failed_and_everything_else_is_an_answer():
    coverage = covered(Signal.END_OFFSETS, [5, 0, None, REFUSED, SILENT, SILENT], 1, 2)

    assert (coverage.asked, coverage.answered, coverage.refused, coverage.failed) == (6, 3, 1, 2)
    assert not coverage.is_complete


def test_nothing_to_ask_for_is_complete():
    assert covered(Signal.PRODUCERS, [], 1, 2).is_complete


def test_the_commonest_reason_comes_first_and_only_three_are_told():
    values = [*[SILENT] * 3, *[REFUSED] * 2, Unknown("a"), Unknown("b")]

    assert error_sentence(values) == (
        "broker 3 did not answer in time (3); not permitted: TOPIC_AUTHORIZATION_FAILED (2); a (1); 1 more reasons"
    )
    assert error_sentence([]) is None


def test_two_steps_of_one_signal_are_one_coverage():
    signals = Signals()
    for values in ([1, 2], [SILENT]):
        signals.run(Signal.GROUPS, lambda given=values: given, otherwise=[], values=lambda found: found)

    (coverage,) = signals.coverage
    assert (coverage.asked, coverage.answered, coverage.failed) == (3, 2, 1)
    assert coverage.error == "broker 3 did not answer in time (1)"


def test_a_signal_that_fails_as_a_whole_gives_what_stands_in_for_it_and_the_reason():
    def collect() -> list[int]:
        raise BrokerUnavailableError("no broker answers")

    signals = Signals()
    assert signals.run(Signal.GROUPS, collect, otherwise=[], values=lambda found: found) == []

    (coverage,) = signals.coverage
    assert (coverage.asked, coverage.failed, coverage.error) == (1, 1, "no broker answers")


def test_signals_that_did_not_run_are_failures_with_the_reason():
    signals = Signals()
    signals.run(Signal.GROUPS, lambda: [1], otherwise=[], values=lambda found: found)

    signals.skip_the_rest("no broker answers")

    assert {each.signal for each in signals.coverage} == set(Signal)
    assert sum(each.is_complete for each in signals.coverage) == 1
