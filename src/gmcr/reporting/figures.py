"""Charts as figure files, drawn by the functions that `gmcr.plot` draws with: SVG for papers, PNG for slides."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from gmcr.errors import printable
from gmcr.reporting.charts import Chart, Heat, Maps, Plane
from gmcr.reporting.drawing import draw

SUFFIXES = (".svg", ".png")
INCHES = 1 / 100  # per unit of a chart's size
DPI = 150
MARGINS = {
    Plane: (66, 16, 46, 30),
    Heat: (150, 10, 125, 30),
    Maps: (10, 10, 10, 60),
}  # left, right, bottom, top
STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "gmcr",  # the same chart is the same file
}


def as_files(
    charts: Sequence[Chart], columns: int = 1, size: tuple[int, int] = (720, 400)
) -> Iterator[tuple[str, bytes]]:
    """Charts side by side, row by row, as the bytes of a file of each kind, by suffix."""
    alt = printable(" ".join(chart.alt for chart in charts[:4]))
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # an SVG's reader may have it
        figure = _figure(charts, min(columns, len(charts)), size)
        for suffix in SUFFIXES:
            said = {"Date": None, "Description": alt} if suffix == ".svg" else {"Description": alt}
            out = BytesIO()
            figure.savefig(out, format=suffix[1:], dpi=DPI, metadata=said)
            yield suffix, out.getvalue()


def _figure(charts: Sequence[Chart], columns: int, size: tuple[int, int]) -> Figure:
    """Axes inside margins of their own; matplotlib's ways of finding margins take longer than all the drawing."""
    rows, (width, height) = -(-len(charts) // columns), size
    left, right, bottom, top = next((of for kind, of in MARGINS.items() if isinstance(charts[0], kind)))
    figure = Figure((columns * width * INCHES, rows * height * INCHES))
    grid = figure.add_gridspec(
        rows,
        columns,
        left=left / (columns * width),
        right=1 - right / (columns * width),
        bottom=bottom / (rows * height),
        top=1 - top / (rows * height),
        wspace=(left + right) / (width - left - right),
        hspace=(bottom + top) / (height - bottom - top),
    )
    for k, chart in enumerate(charts):
        draw(chart, figure.add_subplot(grid[k // columns, k % columns]))
    return figure
