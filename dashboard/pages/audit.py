"""What was stored twice, what never arrived, what proves it, and what the figures cannot see."""

import streamlit as st

from dashboard.audit_answers import read_age
from dashboard.components import audit, audit_proof, exact_audit, header_accounts, message_panel, panel
from dashboard.components.panel import Panel
from dashboard.record_evidence import jobs_age

st.title("Duplicates & loss", anchor=False)
panel.show(Panel("Per topic", audit.topics, age_of=read_age))
panel.show(Panel("Source → sink", audit.pipelines, age_of=read_age))
panel.show(Panel("Exact audit of this window", exact_audit.draw, shows_age=False, pace_s=exact_audit.pace_s))
panel.show(Panel("Causes", audit_proof.causes, age_of=read_age))
panel.show(Panel("Examples by id", audit_proof.examples, age_of=read_age))
panel.show(Panel("What was read", audit_proof.coverage, age_of=read_age))
panel.show(Panel("Producers and transactions", header_accounts.draw, age_of=jobs_age))
panel.show(Panel("Find a message", message_panel.draw, age_of=read_age))
