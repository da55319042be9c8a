"""The least a Streamlit app can be, with two pages: what everything else is measured against."""

import streamlit as st


def one() -> None:
    st.title("One")


def two() -> None:
    st.title("Two")


st.set_page_config(layout="wide")
st.navigation([st.Page(one, title="One", default=True), st.Page(two, title="Two")]).run()
