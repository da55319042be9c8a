"""The parts `tidemark up` runs, and what becomes of one that dies: decisions only, nothing is started here."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from settings import PageSettings

ROOT = Path(__file__).resolve().parents[1]
FIRST_DELAY_S, LONGEST_DELAY_S = 1.0, 30.0
# A part that lived this long was healthy: its next death starts again at the first delay.
HEALTHY_AFTER_S = 60.0


@dataclass(frozen=True, slots=True)
class Part:
    """A process of its own: its name on the page, and how it is started."""

    name: str
    command: tuple[str, ...]


def parts(page: PageSettings) -> tuple[Part, ...]:
    """Collectors first, so that there is something to show when the page opens."""
    tidemark = (sys.executable, "-m", "cli")
    return (
        Part("collect", (*tidemark, "collect")),
        Part("maintain", (*tidemark, "maintain")),
        Part("jobs", (*tidemark, "jobs", "live")),
        Part("page", page_command(page)),
    )


def page_command(page: PageSettings) -> tuple[str, ...]:
    """Streamlit on the settings' address, without opening a browser or calling home."""
    options = {
        "server.address": page.address,
        "server.port": str(page.port),
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
    }
    flags = tuple(f"--{name}={value}" for name, value in options.items())
    return (sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), *flags)


def part_environment(inherited: Mapping[str, str], chosen: Mapping[str, str]) -> dict[str, str]:
    """What a part needs to find Tidemark's folders (Spark's workers too) and the settings `up` was given."""
    path = ":".join([str(ROOT), *filter(None, [inherited.get("PYTHONPATH")])])
    return {**inherited, **chosen, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def restart_delay_s(deaths_in_a_row: int) -> float:
    """Doubling from one second to thirty."""
    return float(min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** max(0, deaths_in_a_row - 1)))


def deaths_in_a_row(before: int, lived_s: float) -> int:
    """How many times the part has died without having been healthy in between, this death included."""
    return 1 if lived_s >= HEALTHY_AFTER_S else before + 1
