"""What happened to transactional ids: as their coordinators wrote it, elsewhere as samples saw them open."""

from dashboard.queries import Question
from guarantees.internal_records import SAMPLES, TRANSACTION_STATE
from store.lag import literal

SHOWN = 200

# The newest steps that the search finds. Where a record tells a transaction, the samples of it say no more: it is known
# by its id and the coordinator's time of its begin. An interval is stated again after the window: one that ended then
# was open at the window's end, whatever states it had been through.
STEPS = Question(("transaction_steps", "open_transactions"), f"""
    WITH written AS (
        SELECT transactional_id, step, why, producer_id, producer_epoch, timeout_ms, partitions, transactions,
               epoch_ms(observed_at) AS at_ms, NULL::BIGINT AS after_ms, epoch_ms(started_at) AS started_at_ms,
               {literal(TRANSACTION_STATE)} AS source
        FROM transaction_steps WHERE cluster_id = $cluster_id),
    seen AS (
        SELECT transactional_id, producer_id, max(producer_epoch) AS producer_epoch, max(timeout_ms) AS timeout_ms,
               arg_max(partitions, last_seen_at) AS partitions, epoch_ms(least(max(last_seen_at), $to)) AS after_ms,
               epoch_ms(transaction_started_at) AS started_at_ms, bool_or(state = 'PrepareAbort') AS is_aborted,
               epoch_ms(arg_max_null(CASE WHEN ended_before <= $to THEN ended_before END, last_seen_at))
               AS ended_before_ms
        FROM open_transactions WHERE cluster_id = $cluster_id
        GROUP BY transactional_id, producer_id, transaction_started_at),
    sampled AS (
        SELECT transactional_id, CASE WHEN ended_before_ms IS NULL THEN 'begun' WHEN is_aborted THEN 'aborted'
                                      ELSE 'ended' END AS step,
               NULL::VARCHAR AS why, producer_id, producer_epoch, timeout_ms, partitions, 1::BIGINT AS transactions,
               coalesce(ended_before_ms, started_at_ms, after_ms) AS at_ms,
               CASE WHEN ended_before_ms IS NULL THEN at_ms ELSE after_ms END AS after_ms, started_at_ms,
               {literal(SAMPLES)} AS source
        FROM seen ANTI JOIN written USING (transactional_id, started_at_ms)),
    told AS (FROM written UNION ALL BY NAME FROM sampled)
    SELECT *, count(*) OVER () AS found FROM told
    WHERE contains(lower(concat_ws(' ', transactional_id, producer_id)), lower(trim($search)))
    ORDER BY at_ms DESC, transactional_id, step LIMIT {SHOWN}""")  # fmt: skip
