"""Tables of replication: partitions at risk to choose from, elections, and the log ends of one partition."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard import replica_offsets, replication, wording
from dashboard.components import grid, local_time, selection, tables
from dashboard.components.panel import Panel
from dashboard.replication import AtRisk
from dashboard.replication_answers import Chosen
from dashboard.view import View
from guarantees.promises import Verdict

COLUMNS = {
    "Verdict": st.column_config.TextColumn(width=95),
    "Partition": st.column_config.TextColumn(width=140),
    "State": st.column_config.TextColumn(width=170),
    "Since (UTC)": st.column_config.TextColumn(width=85, help="At the latest: the first sample that showed it"),
    "In sync": st.column_config.TextColumn(width=155),
    "Needed": st.column_config.TextColumn(
        "Min ISR", width=75, help="The one in force: min.insync.replicas, or the number of replicas if that is smaller"
    ),
    "Below min ISR": st.column_config.TextColumn(
        "Below min ISR",
        width=130,
        help="In the window. At least between the samples that showed it; at most from the last good one to the next",
    ),
    "Leader": st.column_config.TextColumn(width=95),
    "ELR": st.column_config.TextColumn(
        help="Eligible leader replicas (KIP-966): elected without loss. Asked for only where a replica is not in sync"
    ),
    "Last known ELR": st.column_config.TextColumn(help="The last eligible ones, where none is left (KIP-966)"),
}


def at_risk(known: Sequence[AtRisk], view: View, gap_ms: int, unharmed: Verdict, shown_by: Panel) -> None:
    """One row for each partition, worst first; the selected one is drawn below."""
    rows = pd.DataFrame([replication.risk_row(one, view, gap_ms, unharmed) for one in known])
    selection.table(
        "partition",
        [one.name for one in known],
        tables.coloured(rows, "Verdict"),
        rerun=shown_by.fragment_key,
        height=min(320, 38 + 35 * len(known)),
        column_config=COLUMNS,
        alt="Partitions at risk, worst first",
    )


def elections(rows: Sequence[Mapping[str, object]], left_out: int, view: View) -> None:
    """The elections of the window, those that were read; `left_out` were not."""
    st.markdown(
        f"{wording.plural(len(rows) + left_out, 'election')}, seen between two samples each",
        help=local_time.hover(("the window from", view.from_ms), ("to", view.to_ms)),
    )
    shown = pd.DataFrame(rows)
    grid.draw(
        shown,
        height=min(320, 38 + 35 * len(rows)),
        column_config={
            "Election": st.column_config.TextColumn(width=95),
            "Partition": st.column_config.TextColumn(width=170),
            "Because": st.column_config.TextColumn(width=420),
        },
        alt="Elections in the window",
    )


def newest_sample(one: Chosen) -> None:
    """The figure's last sample as tables, every offset in full digits."""
    if not one.offsets:
        return
    offsets, state = one.offsets[-1], one.history[-1] if one.history else None
    ends = replica_offsets.ends_by_tick(one.log_ends).get(offsets["tick"], {})
    tables.plain(
        replica_offsets.replica_rows(offsets, ends, state), None, "Log end offset of each replica in the newest sample"
    )
    tables.plain(replica_offsets.offset_rows(offsets), None, "Offsets as the leader answered in the newest sample")
    st.caption("Answers are moments apart: small differences prove nothing. The last stable offset was read just after "
               "the high watermark; its own time is not kept.")  # fmt: skip
