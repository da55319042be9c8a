"""The settings page's tables and lines."""

import os
import resource
from importlib.metadata import version

import streamlit as st
from streamlit import runtime

from dashboard import answers, cached, configured, coverage, diagnostics, queries, settings_rows, wording
from dashboard.components import panel, parts, tables
from dashboard.names import cut, in_markdown
from dashboard.view import View

ROWS = 200


def origin() -> None:
    """Where the settings are, and that nothing can be changed here."""
    names = (configured.SETTINGS_VARIABLE, configured.BOOTSTRAP_VARIABLE)
    where, how = settings_rows.origin({name: os.environ[name] for name in names if name in os.environ})
    st.markdown("What is in force. Nothing is changed here; the settings come from:")
    st.code(cut(where, 400), language=None, wrap_lines=True)
    st.caption(how)


def clusters(_: View) -> None:
    rows = [settings_rows.cluster_row(known) for known in cached.settings().clusters]
    tables.plain(rows, None, "Clusters watched")
    st.caption("Change them under `[[clusters]]`. Secrets are read when a connection is made, and are not shown.")


def pipelines(view: View) -> None:
    """Declared pipelines of every cluster, and of this one those proposed where none is declared."""
    declared = [(one.cluster, one.pipeline, one) for one in cached.settings().pipelines]
    proposed = [(view.cluster, one, None) for one in answers.pipelines(view) if one.is_inferred]
    found = [
        one for one in (*declared, *proposed) if view.finds(one[1].name, one[1].source, one[1].group_id, one[1].sink)
    ]
    if not found:
        panel.empty("No pipeline is declared or proposed, or the search finds none.", "Declare one in tidemark.toml.")
        return
    tables.plain([settings_rows.pipeline_row(*one) for one in found[:ROWS]], None, "Pipelines and their promises")
    if len(found) > ROWS:
        st.caption(f"{wording.count(ROWS)} of {wording.count(len(found))} pipelines are listed; search for the others.")
    st.caption("Change them under `[[pipelines]]`. What a promise needs is on Health.")


def thresholds(view: View) -> None:
    rows = settings_rows.threshold_rows(cached.settings().thresholds)
    shown = [row for row in rows if view.finds(str(row["Threshold"]), str(row["Why this default"]))]
    if not shown:
        panel.empty("The search finds no threshold.", "Clear it to see them all.")
        return
    # A static table: its reasons wrap, where a grid would cut them.
    texts = {name: [in_markdown(str(row[name]), 300) for row in shown] for name in shown[0]}
    st.table(texts, border="horizontal", hide_index=True, alt="Thresholds, changed ones first")
    st.caption("Names end in their unit: `_s` seconds, `_share`, `_offsets`. Change them under `[thresholds]`.")


def store(view: View) -> None:
    st.code(cut(cached.settings().store.data_dir, 400), language=None, wrap_lines=True)
    parts.store(view)
    st.caption("Change it under `[store]`.")


def rights(view: View) -> None:
    """What was refused when each signal was asked last."""
    asked = coverage.by_signal(view)
    if not asked:
        panel.empty("Not known: no round was stored in the last day.", "Start the collector: tidemark up.")
        return
    if rows := settings_rows.missing_right_rows(asked):
        tables.plain(rows, None, "Rights missing, and what that hides")
    else:
        st.markdown("Nothing was refused, of each signal in the round that asked for it last.")
    st.caption(in_markdown(settings_rows.lists_line(asked), 400))


def jobs(view: View) -> None:
    spark = cached.settings().spark
    st.markdown(in_markdown(settings_rows.job_line(cached.of_tidemark(view, queries.JOB_RUNS), view.to_ms), 300))
    st.markdown(f":gray[Spark master {in_markdown(spark.master)}; {spark.round_s:g} s between two rounds.]")
    st.caption("Change it under `[spark]`. Every run is on Health.")


def this_page(_: View) -> None:
    versions = {name: version(name) for name in ("streamlit", "plotly", "duckdb")}
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    tables.plain(diagnostics.rows(_figures(), peak_bytes, versions), None, "The page's own process")


def _figures() -> diagnostics.Figures | None:
    """What Streamlit counts in this process; None where it does not run as a server, or has changed its ways."""
    try:
        found = runtime.get_instance().stats_mgr.get_stats([diagnostics.SESSIONS, diagnostics.EVENTS])
        return {
            (family, str((one.labels or {}).get("type", ""))): int(one.value)
            for family, stats in found.items()
            for one in stats
        }
    except (RuntimeError, AttributeError):
        return None
