"""Charts as shapes, in points from the upper left corner: what HTML and PDF draw alike, without a browser."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dashboard import wording
from dashboard.names import cut
from dashboard.reports.document import Chart, Lanes, Line, position

WIDTH, LEFT, RIGHT, TOP, AXIS = 760.0, 170.0, 12.0, 10.0, 26.0
LANE, BAR, PLOT = 20.0, 12.0, 150.0
MOST_LANES = 40
INK, FAINT, PLAIN = "#0B1218", "#D9DFE5", "#0072B2"
COLOURS: Mapping[str, str] = {look.text: look.colour for look in wording.LOOKS.values()}
STEPS_S = (1, 5, 15, 60, 300, 900, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600, 86_400, 2 * 86_400, 5 * 86_400, 10 * 86_400)
MOST_TICKS = 8


@dataclass(frozen=True, slots=True)
class Rect:
    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True)
class Stroke:
    points: tuple[tuple[float, float], ...]
    colour: str
    width: float


@dataclass(frozen=True, slots=True)
class Label:
    """`anchor` as SVG says it: start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "start"


Shape = Rect | Stroke | Label


@dataclass(frozen=True, slots=True)
class Drawing:
    height: float
    shapes: tuple[Shape, ...]
    left_out: int = 0  # lanes that the table has and the chart has not


def drawing(chart: Chart) -> Drawing:
    return _lanes(chart) if isinstance(chart, Lanes) else _line(chart)


def ticks(from_ms: int, to_ms: int) -> list[tuple[int, str]]:
    """Moments on whole steps of a clock, few enough to read, each in the words its step needs."""
    fits = (step for step in STEPS_S if (to_ms - from_ms) // (1000 * step) < MOST_TICKS)
    step_ms = 1000 * next(fits, STEPS_S[-1] * max(1, (to_ms - from_ms) // (1000 * STEPS_S[-1] * MOST_TICKS)))
    form = "%H:%M:%S" if step_ms < 60_000 else "%H:%M" if to_ms - from_ms <= 86_400_000 else "%d %b %H:%M"
    first = -(-from_ms // step_ms) * step_ms
    return [(at, f"{datetime.fromtimestamp(at / 1000, UTC):{form}}") for at in range(first, to_ms + 1, step_ms)]


def _lanes(chart: Lanes) -> Drawing:
    places = [position(chart.table, name) for name in (chart.lane, chart.since, chart.until, chart.word)]
    rows = [[row[place] for place in places] for row in chart.table.rows]
    names = list(dict.fromkeys(str(row[0]) for row in rows))
    shown = {name: TOP + LANE * number for number, name in enumerate(names[:MOST_LANES])}
    bottom = TOP + LANE * len(shown)
    shapes = [*_time_axis(chart.from_ms, chart.to_ms, bottom)]
    for name, y in shown.items():
        shapes.append(Label(LEFT - 8, y + 13, cut(name, 28), "end"))
    for name, since, until, word in rows:
        if name in shown and isinstance(since, int) and isinstance(until, int):
            shapes += _bar(chart, shown[str(name)], since, until, str(word))
    shapes += _legend(list(dict.fromkeys(str(row[3]) for row in rows)), bottom + AXIS + 12)
    return Drawing(bottom + AXIS + 22, tuple(shapes), len(names) - len(shown))


def _bar(chart: Lanes, y: float, since: int, until: int, word: str) -> Iterator[Shape]:
    """At least as wide as a reader can see; the sign of its word beside it, so that colour is never alone."""
    start, end = _x(chart, max(since, chart.from_ms)), _x(chart, min(max(until, since), chart.to_ms))
    yield Rect(start, y + 4, max(2.0, end - start), BAR, COLOURS.get(word, PLAIN))
    if word in COLOURS and end - start > 10:
        yield Label(start + 2, y + 14, word.partition(" ")[0])


def _legend(words: Sequence[str], y: float) -> Iterator[Shape]:
    x = LEFT
    for word in words:
        yield Rect(x, y - 8, 10, 10, COLOURS.get(word, PLAIN))
        yield Label(x + 14, y + 1, cut(word, 24))
        x += 30 + 6 * len(cut(word, 24))


def _line(chart: Line) -> Drawing:
    at, value = position(chart.table, chart.at), position(chart.table, chart.value)
    rows = [(row[at], row[value]) for row in chart.table.rows]
    top = _round_up(max((known for _, known in rows if isinstance(known, int | float)), default=1))
    bottom = TOP + PLOT
    shapes: list[Shape] = [*_time_axis(chart.from_ms, chart.to_ms, bottom)]
    for share in (0.0, 0.5, 1.0):
        y = bottom - PLOT * share
        shapes.append(Stroke(((LEFT, y), (WIDTH - RIGHT, y)), FAINT, 0.5))
        shapes.append(Label(LEFT - 8, y + 4, wording.count(round(top * share)), "end"))
    for run in _runs(rows):
        points = tuple((_x(chart, when), bottom - PLOT * known / top) for when, known in run)
        shapes.append(Stroke(points, PLAIN, 1.5) if len(points) > 1 else _dot(points[0]))
    return Drawing(bottom + AXIS, tuple(shapes))


def _runs(rows: Sequence[tuple[object, object]]) -> Iterator[list[tuple[int, float]]]:
    """Stretches without a gap: what is unknown is not zero and not joined over."""
    run: list[tuple[int, float]] = []
    for at, value in rows:
        if isinstance(at, int) and isinstance(value, int | float):
            run.append((at, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _dot(point: tuple[float, float]) -> Rect:
    return Rect(point[0] - 1.5, point[1] - 1.5, 3, 3, PLAIN)


def _time_axis(from_ms: int, to_ms: int, y: float) -> Iterator[Shape]:
    yield Stroke(((LEFT, y), (WIDTH - RIGHT, y)), INK, 0.75)
    for at, text in ticks(from_ms, to_ms):
        x = _at(at, from_ms, to_ms)
        yield Stroke(((x, TOP), (x, y + 4)), FAINT, 0.5)
        anchor = "end" if x > WIDTH - 40 else "middle"
        yield Label(x, y + 15, text, anchor)


def _x(chart: Chart, at_ms: int) -> float:
    return _at(at_ms, chart.from_ms, chart.to_ms)


def _at(at_ms: int, from_ms: int, to_ms: int) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * (at_ms - from_ms) / max(1, to_ms - from_ms), 2)


def _round_up(value: float) -> int:
    """The end of a scale: one, two or five times a power of ten."""
    size = 1
    while True:
        for part in (1, 2, 5):
            if part * size >= value:
                return part * size
        size *= 10
