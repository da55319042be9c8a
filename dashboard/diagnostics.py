"""How the page's own process is, from what Streamlit counts about itself."""

from collections.abc import Mapping

from dashboard import wording

# Streamlit's families of figures, as /_stcore/metrics names them too.
SESSIONS, EVENTS = "active_sessions", "session_events"
Figures = Mapping[tuple[str, str], int]


def rows(figures: Figures | None, peak_bytes: int, versions: Mapping[str, str]) -> list[dict[str, str]]:
    """`figures` by family and event; None where Streamlit does not say. `peak_bytes`: the most memory ever held."""
    sessions, connected, again = (
        _figure(figures, *which) for which in ((SESSIONS, ""), (EVENTS, "connect"), (EVENTS, "reconnect"))
    )
    return [
        {"What": "Sessions open now", "Value": sessions},
        {"What": "Sessions opened since the page started", "Value": connected},
        {"What": "Sessions that came back after a lost connection", "Value": again},
        {"What": "Most memory held by the page so far", "Value": f"{wording.compact(peak_bytes)}B"},
        *({"What": f"Version of {name}", "Value": version} for name, version in versions.items()),
    ]


def _figure(figures: Figures | None, family: str, event: str) -> str:
    """A figure that Streamlit does not give is unknown, not nobody."""
    value = None if figures is None else figures.get((family, event))
    return "unknown: Streamlit does not say" if value is None else wording.count(value)
