"""`python -m benchmarks.dashboard [DIRECTORY]`: how fast the page is at the size of a large cluster, in real Chromium.

Writes the store of `benchmarks.large_store`, or goes on with the one in DIRECTORY, lets it live on
(`benchmarks.live_store`), serves the page over it and an empty Streamlit page beside it, and prints one table. The
ratios to the empty page are the result: absolute times say as much about the machine. So does the server's CPU time of
each act, which a busy machine leaves alone.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from benchmarks import chromium, large_store, live_store, sessions
from benchmarks.chromium import Look
from benchmarks.large_cluster import LARGE, SMALL
from benchmarks.served import ROOT, Served, served

TRIES = 3
STILL = "/?refresh=Off"  # what is timed is not disturbed by refreshes; these are measured by themselves
REFRESH_S = 10
SESSIONS = (1, 10, 40)
LOAD_S = 40
HEADLINE, TABLE, CHART = (
    "text=/Delivery is|Nothing bad was seen/",
    '[data-testid="stDataFrame"] canvas',
    ".js-plotly-plot",
)
ONE, TWO = "h1:has-text('One')", "h1:has-text('Two')"
PAGES = (("Violations", TABLE), ("Health", TABLE), ("Lag", CHART), ("Replication", CHART), ("Transactions", TABLE))


@dataclass(frozen=True, slots=True)
class Line:
    """A measured quantity, that of the empty page beside it, and the goal; None where there is none."""

    what: str
    value: float | None
    empty: float | None
    unit: str
    goal: float | None = None
    cpu_s: float | None = None  # of the server, for the act

    def __str__(self) -> str:
        value = "not there" if self.value is None else f"{self.value:,.2f} {self.unit}"
        empty = "–" if self.empty is None else f"{self.empty:,.2f} {self.unit}"
        ratio = f"{self.value / self.empty:,.1f}" if self.value is not None and self.empty else "–"
        goal = "–" if self.goal is None else f"< {self.goal:g} {self.unit}"
        cpu = "–" if self.cpu_s is None else f"{self.cpu_s:,.2f} s"
        return f"| {self.what} | {value} | {empty} | {ratio} | {goal} | {cpu} |"


@dataclass(frozen=True, slots=True)
class Timed:
    """The middle one of some tries: how long it took, and what it cost the server (both s)."""

    wall_s: float | None
    cpu_s: float


def timed(
    server: Served, act: Callable[[], float | None], tries: int = TRIES, *, first: Callable[[], object] = lambda: None
) -> Timed:
    """`first` is done before each try and does not count."""
    found = []
    for _ in range(tries):
        first()
        before_s = server.cpu_s()
        found.append((act(), server.cpu_s() - before_s))
    walls = [wall_s for wall_s, _ in found if wall_s is not None]
    return Timed(median(walls) if walls else None, median(cpu_s for _, cpu_s in found))


def in_browser(page: Look, empty: Look, server: Served) -> Iterator[Line]:
    """First paint, page switches, filter, drag and refresh; both pages once before, so that both are warm."""
    cold = timed(server, lambda: page.opened_s(STILL, HEADLINE), 1)
    empty.opened_s("/", ONE)
    blank = chromium.middle(lambda: empty.opened_s("/", ONE), TRIES)
    yield Line("first paint with data, cold server", cold.wall_s, None, "s", None, cold.cpu_s)
    warm = timed(server, lambda: page.opened_s(STILL, HEADLINE))
    yield Line("first paint with data, warm", warm.wall_s, blank, "s", 1.5, warm.cpu_s)
    switched = chromium.middle(lambda: _there_and_back(empty), TRIES)

    def interaction(what: str, act: Callable[[], float | None], first: Callable[[], object]) -> Line:
        seen = timed(server, act, first=first)
        return Line(what, seen.wall_s, switched, "s", 0.5, seen.cpu_s)

    def overview() -> float:
        return page.switched_s("Overview", HEADLINE)

    for title, shown in PAGES:
        page.switched_s(title, shown)  # once for the charts' script
        yield interaction(f"switch to {title}", lambda t=title, s=shown: page.switched_s(t, s), overview)
    overview()
    words = iter(("ledger", "fraud", "clicks", "email", "search"))
    yield interaction("filter by a word", lambda: page.filtered_s(next(words), TABLE), page.settled)
    page.opened_s(STILL, HEADLINE)
    ends = iter((0.70, 0.72, 0.74))  # each try a window that nobody looked at before
    answers: list[float] = []

    def drag() -> float | None:
        seen = page.dragged_s(last=next(ends))
        answers.extend(seen[:1] if seen else ())
        return seen[1] if seen else None

    whole = interaction("drag a window, up to the last panel", drag, page.thawed)
    yield Line("drag a window, up to the answer", median(answers) if answers else None, switched, "s", 0.5)
    yield whole


def _there_and_back(empty: Look) -> float:
    empty.switched_s("Two", TWO)
    return empty.switched_s("One", ONE)


def refreshes(page: Look) -> Iterator[Line]:
    """What one refresh of each page costs the network and the browser's main thread."""
    for path, title, shown in (
        ("/", "Overview", HEADLINE),
        ("/lag", "Lag", CHART),
        ("/violations", "Violations", TABLE),
    ):
        page.listen()
        page.opened_s(path, shown)
        yield Line(f"{title}: payload of the first run", page.received / 1_000, None, "kB")
        page.page.wait_for_timeout(2_000)
        seen = page.refreshed(REFRESH_S)
        yield Line(f"{title}: payload of a refresh", seen.bytes / 1_000, None, "kB", 300)
        yield Line(f"{title}: long tasks in a refresh", seen.long_tasks_ms, None, "ms")


def under_load(page: Served, empty: Served) -> Iterator[Line]:
    """CPU, memory and how long a refresh takes with many people on the Overview."""
    for number in SESSIONS:
        cpu_s, began = page.cpu_s(), time.monotonic()
        seen = sessions.look(page.address, number, LOAD_S)
        spent_s = page.cpu_s() - cpu_s
        share = 100 * spent_s / (time.monotonic() - began)
        who = f"{number} session{'s' if number > 1 else ''}"
        blank = median(one.first_s for one in sessions.look(empty.address, number, 1))
        yield Line(f"{who}: first run, median", median(one.first_s for one in seen), blank, "s")
        yield Line(f"{who}: server CPU", share, None, "% of a core")
        yield Line(f"{who}: server memory", page.resident_mib(), empty.resident_mib(), "MiB")
        times = [one for session in seen for one in session.refreshes_s]
        yield Line(f"{who}: refresh of all panels, median", median(times), None, "s", None, spent_s / len(times))
        yield Line(f"{who}: refresh of all panels, 95th percentile", quantiles(times, n=20)[-1], None, "s")


def measured(settings: Path, directory: Path) -> Iterator[Line]:
    with (
        live_store.living(directory),
        served(ROOT / "app.py", directory / "page.log", TIDEMARK_SETTINGS=str(settings)) as page,
        served(Path(__file__).with_name("empty_page.py"), directory / "empty.log") as empty,
    ):
        with chromium.looking(page.address, empty.address) as (look, empty_look):
            yield from in_browser(look, empty_look, page)
            yield from refreshes(look)
        yield from under_load(page, empty)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dashboard", description=__doc__)
    parser.add_argument("directory", type=Path, nargs="?")
    parser.add_argument("--small", action="store_true", help="2,000 partitions x 100 groups and two hours")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        directory = given.directory or Path(temporary)
        settings = large_store.build(directory, *((SMALL, 2) if given.small else (LARGE, 24)))
        print("| what | Tidemark | empty page | ratio | goal | server CPU |\n|---|---|---|---|---|---|")
        for line in measured(settings, directory):
            print(line, flush=True)


if __name__ == "__main__":
    main()
