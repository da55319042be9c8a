"""Pictures of every page and state, in light and dark, for the documentation and for a look at all of it at once.

`python -m tests.dashboard.screenshots FOLDER` builds the stores of the page tests, opens each page in Chromium as a
person does, and writes one picture for each page, state and theme.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from guarantees.findings import Kind
from tests.dashboard import fixture_store, story_cut_log, story_handling
from tests.dashboard.conftest import now_ms, running_page
from tests.dashboard.test_journey import CHROMIUM, FLAGS, PAGES, Visit
from tests.dashboard.test_pages import break_table

MINUTE_MS = 60_000
COLOURS = 256  # enough for charts and text, and a third of the bytes
TALLEST_PX = 4_000
BROKEN = ("/", "/lag", "/rebalances", "/transactions", "/health")  # pages with a panel that `_broken` breaks


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: of a page over one of the stores, at a width in CSS pixels."""

    name: str
    store: str
    path: str
    width: int = 1280


def shots(story_ms: int) -> Iterator[Shot]:
    """Every page with data; then what it looks like without, behind, broken, narrow, and with something selected."""
    for path, title in PAGES.items():
        yield Shot(_file_name(title), "full", path)
    for path, title in PAGES.items():
        for store in ("empty", "stale", "broken") if path in BROKEN else ("empty", "stale"):
            yield Shot(f"{_file_name(title)}-{store}", store, path)
    for path in ("/", "/violations", "/replication"):
        yield Shot(f"{_file_name(PAGES[path])}-narrow", "full", path, 400)
    lost = next(one for one in fixture_store.findings(story_ms) if one.kind is Kind.LOST_WRITE)
    yield Shot("violations-evidence", "full", f"/violations?finding={lost.finding_id}")
    incident = f"/incident?finding={story_cut_log.truncated(story_ms).finding_id}"
    yield Shot("incident-story", "incident", incident)
    yield Shot("incident-story-narrow", "incident", incident, 400)
    yield Shot("lag-of-a-partition", "full", "/lag?group=order-service&partition=orders-2")


def write(folder: Path) -> None:
    """Take all pictures; the stores live in a temporary folder."""
    folder.mkdir(parents=True, exist_ok=True)
    story_ms = now_ms()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        addresses = {
            name: stack.enter_context(running_page(_store(home / name, build))) for name, build in STORES.items()
        }
        for shot in shots(story_ms):
            for scheme in ("light", "dark"):
                _take(browser, addresses[shot.store], shot, scheme, folder)
        browser.close()


def _take(browser: Browser, address: str, shot: Shot, scheme: str, folder: Path) -> None:
    path = folder / f"{shot.name}-{scheme}.png"
    with Visit(browser, address, width=shot.width, scheme=scheme) as visit:
        visit.open(shot.path)
        visit.page.wait_for_timeout(2_000)  # charts draw after the script has ended
        height = visit.page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        visit.page.set_viewport_size({"width": shot.width, "height": min(height + 40, TALLEST_PX)})
        visit.page.wait_for_timeout(1_000)
        visit.page.screenshot(path=path)
        print(path, "; ".join(visit.faults))
    with Image.open(path) as picture:
        # By where colours lie and not by how often they are: the few pixels of a verdict keep theirs.
        palette = picture.convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        palette.save(path, optimize=True)


def _store(folder: Path, build: Callable[[Path], None]) -> Path:
    folder.mkdir()
    settings = fixture_store.write_settings(folder)
    build(folder / "data")
    return settings


def _full(data_dir: Path) -> None:
    fixture_store.build(data_dir, now_ms(), quiet_minutes=30)


def _incident(data_dir: Path) -> None:
    story_ms = now_ms()
    fixture_store.build(data_dir, story_ms, quiet_minutes=30)
    story_handling.store(data_dir, story_cut_log.findings(story_ms))


def _stale(data_dir: Path) -> None:
    fixture_store.build(data_dir, now_ms() - 6 * MINUTE_MS)


def _broken(data_dir: Path) -> None:
    _full(data_dir)
    for table in ("rebalances", "open_producers", "part_events"):
        break_table(data_dir, table)


STORES: Mapping[str, Callable[[Path], None]] = {
    "full": _full,
    "incident": _incident,
    "stale": _stale,
    "broken": _broken,
    "empty": lambda _: None,
}


def _file_name(title: str) -> str:
    return title.lower().replace(" & ", "-and-").replace(" ", "-")


if __name__ == "__main__":
    began = time.monotonic()
    write(Path(sys.argv[1]))
    print(f"{time.monotonic() - began:.0f} s")
