"""The filters of findings: a row of choices that writes the URL, from which every panel reads what to show."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from dashboard import answers, concerns, finding_filters, wording
from dashboard.concerns import Concern
from dashboard.finding_filters import FILTERS, Filter
from dashboard.names import cut
from dashboard.view import View


def shown(view: View) -> list[Concern]:
    """Findings of the window that search and filters leave, worst first."""
    return finding_filters.narrowed(_in_window(view), _chosen())


def is_narrowed() -> bool:
    """Whether a filter is set."""
    return bool(_chosen())


def draw(view: View, rerun: Sequence[str]) -> None:
    """`rerun`: the fragments that show findings."""
    found, asked = _in_window(view), _chosen()
    with st.container(horizontal=True, key="finding-filters"):
        for one in FILTERS:
            _choice(one, finding_filters.options(one, found, asked.get(one.parameter, ())), asked, rerun)
    if asked:
        left = len(finding_filters.narrowed(found, asked))
        st.caption(f"{wording.count(left)} of {wording.plural(len(found), 'finding')} shown.")


def _in_window(view: View) -> list[Concern]:
    return concerns.in_view(answers.found(view), view)


def _chosen() -> dict[str, list[str]]:
    return finding_filters.chosen(st.query_params.to_dict())


def _choice(one: Filter, options: Sequence[str], asked: finding_filters.Chosen, rerun: Sequence[str]) -> None:
    """The URL is the truth, also after Back: the widget is set from it before every drawing."""
    key = f"filter-{one.parameter}"
    st.session_state[key] = list(asked.get(one.parameter, ()))
    st.multiselect(
        one.label,
        options,
        key=key,
        format_func=lambda value: one.words.get(value) or cut(value),
        placeholder="all",
        width=140,
        on_change=partial(_write, one.parameter, key, rerun),
    )


def _write(parameter: str, key: str, rerun: Sequence[str]) -> None:
    if chosen := st.session_state[key]:
        st.query_params[parameter] = finding_filters.in_url(chosen)
    elif parameter in st.query_params:
        del st.query_params[parameter]
    st.rerun(list(rerun))
