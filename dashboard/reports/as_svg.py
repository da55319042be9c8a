"""A chart as SVG: inline in a page, with what it shows as its label."""

import html

from dashboard.reports.document import Chart
from dashboard.reports.geometry import INK, WIDTH, Label, Rect, Shape, Stroke, drawing


def svg(chart: Chart) -> str:
    drawn = drawing(chart)
    shapes = "".join(map(_shape, drawn.shapes))
    label = html.escape(chart.alt)
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {drawn.height:g}" role="img" aria-label="{label}" '
        f'xmlns="http://www.w3.org/2000/svg" font-size="11" font-family="inherit">{shapes}</svg>'
    )


def _shape(shape: Shape) -> str:
    match shape:
        case Rect(x, y, width, height, colour):
            return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}"/>'
        case Stroke(points, colour, width):
            listed = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
            return f'<polyline points="{listed}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>'
        case Label(x, y, text, anchor):
            return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{INK}">{html.escape(text)}</text>'
