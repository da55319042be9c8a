"""What the jobs over batch headers counted, over the windows of theirs that ended in the window on screen.

Asked with header_accounts.span: a window of theirs that ended as the one on screen began belongs to the one before.
"""

from dashboard.queries import Question

SHOWN = 100

# Which stretches were computed: a window that is not among them says nothing.
WINDOWS = Question(("header_windows",), """
    SELECT count(*) AS windows, count(*) FILTER (segments > 0) AS with_headers, epoch_ms(min(window_from)) AS from_ms,
           epoch_ms(max(window_to)) AS to_ms
    FROM header_windows WHERE window_to >= $from AND window_to < $to""")  # fmt: skip
# Of each producer and epoch, those that passed over or repeated most first.
SEQUENCES = Question(("sequence_accounts",), f"""
    SELECT topic, producer_id, producer_epoch, count(DISTINCT partition) AS partitions, sum(batches)::BIGINT AS batches,
           sum(records)::BIGINT AS records, sum(gaps)::BIGINT AS gaps,
           sum(sequences_passed_over)::BIGINT AS passed_over, sum(sequences_repeated)::BIGINT AS repeated,
           count(*) OVER () AS found
    FROM sequence_accounts WHERE cluster_id = $cluster_id AND observed_at >= $from AND observed_at < $to
    GROUP BY topic, producer_id, producer_epoch
    ORDER BY passed_over + repeated DESC, records DESC, topic, producer_id, producer_epoch
    LIMIT {SHOWN}""")  # fmt: skip
# Of each producer; open ones are those at the end of the newest window: what was open before has ended since.
TRANSACTIONS = Question(("transaction_accounts", "header_windows"), f"""
    SELECT topic, producer_id, count(DISTINCT partition) AS partitions, sum(committed)::BIGINT AS committed,
           sum(aborted)::BIGINT AS aborted, sum(without_data)::BIGINT AS without_data, sum(torn)::BIGINT AS torn,
           coalesce(sum(open) FILTER (is_newest), 0)::BIGINT AS open,
           sum(records_committed)::BIGINT AS records_committed, sum(records_aborted)::BIGINT AS records_aborted,
           max(longest_ms)::BIGINT AS longest_ms, count(*) OVER () AS found
    FROM (SELECT *, window_to = (
              SELECT max(window_to) FROM header_windows WHERE window_to >= $from AND window_to < $to) AS is_newest
          FROM transaction_accounts WHERE cluster_id = $cluster_id AND observed_at >= $from AND observed_at < $to)
    GROUP BY topic, producer_id
    ORDER BY torn DESC, records_aborted DESC, aborted DESC, open DESC, committed DESC, topic, producer_id
    LIMIT {SHOWN}""")  # fmt: skip
