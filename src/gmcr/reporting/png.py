"""Charts as PNG files, drawn by matplotlib where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np

from gmcr.errors import printable
from gmcr.reporting.charts import Chart, Heat, Maps, Plane, Series
from gmcr.reporting.colours import colour_of, dash_of, painted, shades
from gmcr.reporting.scales import limits
from gmcr.reporting.svg import LEGEND, MOST_NAMES, SOFT
from gmcr.reporting.words import number

INCHES = 1 / 100  # per unit of SVG files


def as_png(charts: Sequence[Chart], columns: int = 1, size: tuple[int, int] = (720, 400)) -> bytes | None:
    """Charts side by side, row by row, as the bytes of a PNG file; None where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    columns, (width, height) = min(columns, len(charts)), size
    rows = -(-len(charts) // columns)
    figure = Figure((columns * width * INCHES, rows * height * INCHES))
    total = np.array([columns * width, rows * height], dtype=float)

    def box(place: int, left: float, right: float, top: float, bottom: float) -> Any:
        """Axes of a chart, inside these margins, in the units of SVG files."""
        x, y = place % columns * width + left, (rows - place // columns) * height - top
        w, h = width - left - right, height - top - bottom
        return figure.add_axes((x / total[0], (y - h) / total[1], w / total[0], h / total[1]))

    for place, chart in enumerate(charts):
        if isinstance(chart, Maps):
            _maps(figure, chart)
            continue
        if isinstance(chart, Plane):
            _plane(axes := box(place, 66, 16, 30, 66 if 1 < len(chart.series) <= LEGEND else 46), chart)
        else:
            _heat(axes := box(place, 110, 20, 30, 84), chart)
        axes.set_title(_text(chart.title), fontsize=10, fontweight="bold")
    out = BytesIO()
    figure.savefig(out, format="png", dpi=150)
    return out.getvalue()


def _plane(axes: Any, chart: Plane) -> None:
    x, y = limits(chart)
    axes.set_xlim(*(x[::-1] if chart.reverse else x))
    if chart.log:
        axes.set_yscale("log")
    axes.set_ylim(*y)
    for one in chart.series:
        _series(axes, one)
    for rule in chart.rules:
        line, place, units = axes.axhline, (0.99, rule.at), ("axes fraction", "data")
        shift, (ha, va) = (0, 3), ("right", "bottom")
        if rule.upright:
            line, place, units = axes.axvline, (rule.at, 0.97), ("data", "axes fraction")
            shift, (ha, va) = (3, 0), ("left", "top")
        line(rule.at, color=SOFT, lw=0.8, ls="--")
        style = {"ha": ha, "va": va, "fontsize": 8, "color": SOFT}
        axes.annotate(_text(rule.label), place, shift, xycoords=units, textcoords="offset points", **style)
    axes.set_xlabel(_text(chart.x_label), fontsize=9)
    axes.set_ylabel(_text(chart.y_label), fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    if 1 < len(chart.series) <= LEGEND:
        below = (0.5, -31 / (axes.bbox.height * 72 / axes.figure.dpi))
        axes.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=below, ncols=4, borderpad=0)


def _series(axes: Any, one: Series) -> None:
    colour = colour_of(one.place)
    if one.style == "bars":
        axes.bar(one.x, one.y, 0.88 * (one.x[1] - one.x[0] if len(one.x) > 1 else 1.0), color=colour)
        return
    if one.band is not None:
        axes.fill_between(one.x, *one.band, color=colour, alpha=0.14, lw=0)
    if one.error is not None:
        error = 2 * np.nan_to_num(one.error)
        axes.fill_between(one.x, one.y - error, one.y + error, color=colour, alpha=0.3, lw=0)
    dash = tuple(float(part) for part in dash_of(one.place).split())
    style: Any = (0, dash) if dash else "-"
    style = "none" if one.style == "points" else style
    marker = "o" if "points" in one.style else None
    axes.plot(one.x, one.y, color=colour, ls=style, marker=marker, ms=3, lw=1.1, label=_text(one.name))


def _heat(axes: Any, chart: Heat) -> None:
    most = float(np.abs(chart.values).max()) or 1.0
    axes.imshow(shades(chart.values / most), aspect="auto", interpolation="nearest")
    for ticks, names, turn in ((axes.set_yticks, chart.rows, 0), (axes.set_xticks, chart.columns, 40)):
        some = range(0, len(names), max(1, -(-len(names) // MOST_NAMES)))
        ticks(list(some), [_text(names[k])[:16] for k in some], fontsize=7, rotation=turn, ha="right")
    axes.set_xlabel(_text(f"{chart.value_label}: white is none, darkest {number(most)}"), fontsize=8)


def _maps(figure: Any, chart: Maps) -> None:
    across = int(np.ceil(np.sqrt(len(chart.names))))
    panels = np.atleast_1d(figure.subplots(-(-len(chart.names) // across), across, squeeze=False)).ravel()
    for axes in panels:
        axes.axis("off")
    for axes, name, picture in zip(panels, chart.names, chart.values):
        colours, most = painted(picture)
        axes.imshow(colours, interpolation="nearest")
        axes.set_title(_text(f"{name[:20]}, to {number(most, 3)}"), fontsize=7)


def _text(text: str) -> str:
    """As it stands: matplotlib would take what is between two dollars for a formula."""
    return printable(text).replace("$", r"\$")
