"""What is in force: clusters, pipelines, thresholds, store, rights, jobs, and the page itself."""

import streamlit as st

from dashboard.components import panel, settings_tables
from dashboard.components.panel import Panel

st.title("Settings", anchor=False)
settings_tables.origin()
for one in (
    Panel("Clusters", settings_tables.clusters, shows_age=False, of_cluster=False),
    Panel("Pipelines and promises", settings_tables.pipelines, shows_age=False, of_cluster=False),
    Panel("Thresholds", settings_tables.thresholds, shows_age=False, of_cluster=False),
    Panel("Rights missing", settings_tables.rights),
    Panel("Record jobs", settings_tables.jobs, shows_age=False, of_cluster=False),
    Panel("Store", settings_tables.store, shows_age=False, of_cluster=False),
    Panel("This page", settings_tables.this_page, shows_age=False, of_cluster=False),
):
    panel.show(one)
