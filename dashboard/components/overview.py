"""What the overview draws: the answer, the tiles, the pipelines, what needs attention, and how Tidemark itself is."""

from collections.abc import Sequence
from math import nan

import pandas as pd
import streamlit as st

from dashboard import answers, proposals, shapes, standing, wording
from dashboard.components import acting, evidence, tables
from dashboard.components.grades import grade
from dashboard.concerns import Concern
from dashboard.names import cut, in_markdown
from dashboard.standing import Standing
from dashboard.view import View
from guarantees.promises import Pipeline

VIOLATIONS = "dashboard/pages/violations.py"
ATTENTION_ROWS = 8


def answer(standings: Sequence[Standing], note: str) -> None:
    """One sentence: is delivery safe; under it how fresh this answer is."""
    verdict, sentence = standing.headline(standings)
    head, colon, rest = sentence.partition(":")
    look = wording.LOOKS[verdict]
    st.markdown(f"### :{look.tone}[{look.icon} {head}{colon}]{rest}", anchors=False)
    st.caption(note)


def draw_tiles(view: View) -> None:
    """How much, each figure with what it leaves open."""
    with st.grid(5, min_column_width=165, key="tiles"):
        for tile in answers.overview_tiles(view):
            with st.container(border=True, height="stretch", gap=None):
                st.metric(
                    tile.label,
                    tile.value,
                    chart_data=[nan if value is None else value for value in tile.series]
                    if _is_drawable(tile.series)
                    else None,
                    chart_type="area",
                )
                look = wording.LOOKS[tile.verdict] if tile.verdict else None
                note = f":{look.tone}[{look.icon} {tile.note}]" if look else f":gray[{tile.note}]"
                st.markdown(f":small[{note}]")


def pipelines(standings: Sequence[Standing], view: View) -> None:
    """One row for each pipeline, worst first; the selected one leads to its lag."""
    rows = pd.DataFrame([_row(known, view) for known in standings])
    rows["Lag"] = rows["Lag"].astype("Int64")
    st.dataframe(
        tables.coloured(rows, "Verdict"),
        hide_index=True,
        height=min(400, 38 + 35 * len(standings)),
        placeholder="–",
        column_config={
            "Verdict": st.column_config.TextColumn(width=95),
            "Pipeline": st.column_config.TextColumn(width=160),
            "Promise": st.column_config.TextColumn(width=165),
            "Because": st.column_config.TextColumn(width=300),
            "Lag": tables.number("Lag, offsets", "To the high watermark; a dash where a partition is unknown"),
            "Trend": st.column_config.AreaChartColumn("Trend", y_min=0, width=110, help=tables.TREND),
        },
        alt="Pipelines with promise and verdict, worst first",
    )


def attention(concerns: Sequence[Concern], view: View) -> None:
    """What breaks or weakens a promise now, each with a link to its evidence."""
    for concern in concerns[:ATTENTION_ROWS]:
        finding = concern.finding
        with st.container(
            horizontal=True, vertical_alignment="center", wrap=False, key=f"attention-{finding.finding_id}"
        ):
            since = f"since {wording.since(finding.happened_at_ms, view.to_ms)} UTC"
            badges = f"{evidence.verdict(concern)} {acting.mark(concern.handling)}{grade(finding.grade)}"
            st.markdown(
                f"{badges} **{in_markdown(finding.title, 120)}** :gray[{in_markdown(concern.where, 60)} · {since}]",
                width="stretch",
            )
            st.page_link(VIOLATIONS, label=":blue[Evidence →]", query_params={"finding": finding.finding_id}, icon="")
    if len(concerns) > ATTENTION_ROWS:
        st.page_link(VIOLATIONS, label=f":blue[All {wording.count(len(concerns))} of them →]", icon="")


def proposed(known: Sequence[Pipeline], cluster: str) -> None:
    """What to copy into tidemark.toml where nothing is declared yet."""
    st.markdown(
        "No pipeline is configured. These were proposed from the groups and topics seen; "
        "their promise is *inferred*. Copy them into tidemark.toml, correct the promise, add the sink."
    )
    with st.expander("tidemark.toml"):
        st.code(proposals.snippet(known[:20], cluster), language="toml")


def _row(known: Standing, view: View) -> dict[str, object]:
    pipeline, last = known.pipeline, known.last_finding_at_ms
    return {
        "Verdict": wording.LOOKS[known.judged.verdict].text,
        "Pipeline": cut(pipeline.name),
        "Promise": wording.promise(pipeline.promise, pipeline.is_inferred),
        "Because": cut(known.reason, 160),
        "Grade": known.grade,
        "Lag": known.lag,
        "Trend": shapes.newest_run(known.trend),
        "Last finding": "–" if last is None else wording.since(last, view.to_ms),
        "Not known": wording.count(len(known.judged.unknowns)),
    }


def _is_drawable(series: Sequence[int | None]) -> bool:
    return sum(value is not None for value in series) > 1
