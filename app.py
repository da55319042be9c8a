"""The page list. Run with `streamlit run app.py` and TIDEMARK_SETTINGS, or TIDEMARK_BOOTSTRAP and TIDEMARK_DATA_DIR."""

from pathlib import Path

import streamlit as st

from dashboard import cached, memory
from dashboard.components import brush, panel, toolbar
from settings import SettingsError

st.set_page_config(page_title="Tidemark", page_icon="🌊", layout="wide")

try:
    settings = cached.settings()
except SettingsError as exc:
    st.title("Tidemark has no settings")
    st.code(str(exc), language=None, wrap_lines=True)
    st.stop()

pages = "dashboard/pages"
navigation = st.navigation(
    {
        "Now": [st.Page(f"{pages}/overview.py", title="Overview", icon=":material/monitoring:", default=True)],
        "Investigate": [
            st.Page(f"{pages}/lag.py", title="Lag", icon=":material/stacked_line_chart:"),
            st.Page(f"{pages}/rebalances.py", title="Rebalances", icon=":material/swap_horiz:"),
            st.Page(f"{pages}/violations.py", title="Violations", icon=":material/gavel:"),
            st.Page(f"{pages}/replication.py", title="Replication", icon=":material/account_tree:"),
            st.Page(f"{pages}/transactions.py", title="Transactions", icon=":material/receipt_long:"),
            st.Page(f"{pages}/audit.py", title="Duplicates & loss", icon=":material/difference:"),
            st.Page(f"{pages}/changes.py", title="What changed", icon=":material/history:"),
            st.Page(f"{pages}/sql.py", title="SQL", icon=":material/database_search:"),
            st.Page(f"{pages}/incident.py", title="Incident", icon=":material/timeline:"),
        ],
        "Share": [st.Page(f"{pages}/reports.py", title="Reports", icon=":material/description:")],
        "Tidemark": [
            st.Page(f"{pages}/health.py", title="Health", icon=":material/health_and_safety:"),
            st.Page(f"{pages}/settings.py", title="Settings", icon=":material/tune:"),
            *(st.Page(path, title=Path(path).parent.name.title()) for path in settings.page.extra_pages),
        ],
    }
)
st.html(panel.STYLE)
toolbar.draw(navigation.url_path)
with toolbar.one_moment():
    brush.draw(navigation.url_path)
    navigation.run()
memory.settle()
