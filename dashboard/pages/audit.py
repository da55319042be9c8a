"""What was stored twice, what never arrived, what proves it, and what the figures cannot see."""

import streamlit as st

from dashboard.audit_answers import jobs_age
from dashboard.components import audit, panel
from dashboard.components.panel import Panel

st.title("Duplicates & loss", anchor=False)
panel.show(Panel("Per topic", audit.topics, age_of=jobs_age))
panel.show(Panel("Source → sink", audit.pipelines, age_of=jobs_age))
panel.show(Panel("Causes", audit.causes, age_of=jobs_age))
panel.show(Panel("Examples by id", audit.examples, age_of=jobs_age))
panel.show(Panel("What was read", audit.coverage, age_of=jobs_age))
