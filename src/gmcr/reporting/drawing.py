"""Charts drawn by matplotlib onto Axes: what `gmcr.plot` gives, and what the files beside a report are.

Sizes, fonts and frames are the reader's own settings of matplotlib; here are data, colours and words. matplotlib
is the extra `plot`, so this module is imported where something is drawn and nowhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from gmcr.errors import InputError, printable
from gmcr.reporting.charts import Chart, Heat, Maps, Plane, Rule, Series
from gmcr.reporting.colours import MUTED, NO_PIXEL, colour_of, dash_of, shades
from gmcr.reporting.words import number
from gmcr.validation import FloatArray

LEGEND = 12  # series named beside a plane, at most
SHORT = 6  # of them in one column
MOST_NAMES = 30  # rows or columns of a picture that are named
LONGEST = 20  # letters of a name beside an axis
SHADES = 256  # from nothing to the most
BEST = 20_000  # points up to which the place for a legend is looked for


def draw(chart: Chart, ax: Axes, *, title: bool = True) -> None:
    """Draw a chart onto Axes; maps divide the place of theirs."""
    if isinstance(chart, Plane):
        draw_plane(chart, ax)
    elif isinstance(chart, Heat):
        draw_heat(chart, ax)
    else:
        draw_maps(chart, divided(ax, len(chart.names)))
    if title:  # of maps, above their own
        ax.set_title(as_it_stands(chart.title), pad=24 if isinstance(chart, Maps) else None)


def draw_plane(chart: Plane, ax: Axes) -> None:
    """Series, rules and labels."""
    for one in chart.series:
        _draw_series(one, ax)
    for rule in chart.rules:
        _draw_rule(rule, ax)
    ax.set_xlabel(as_it_stands(chart.x_label))
    ax.set_ylabel(as_it_stands(chart.y_label))
    if chart.log:
        ax.set_yscale("log")
    if all(one.style == "line" for one in chart.series):
        ax.margins(x=0)
    if chart.reverse and not ax.xaxis_inverted():
        ax.invert_xaxis()
    if chart.whole:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if 1 < len(chart.series) <= LEGEND:
        points = sum(len(one.x) for one in chart.series)
        columns = 1 if len(chart.series) <= SHORT else 2
        ax.legend(loc="best" if points <= BEST else "upper right", ncols=columns, fontsize="small")


def draw_heat(chart: Heat, ax: Axes) -> AxesImage:
    """A picture with its scale of shades."""
    picture = _shaded(ax, chart.values)
    ax.set_aspect("auto")
    for axis, names, turn in ((ax.yaxis, chart.rows, 0), (ax.xaxis, chart.columns, 40)):
        some = range(0, len(names), max(1, -(-len(names) // MOST_NAMES)))
        labels = [cut(names[k]) for k in some]
        turned: dict[str, Any] = {"rotation": turn, "ha": "right", "rotation_mode": "anchor"} if turn else {}
        axis.set_ticks(list(some), labels=labels, fontsize="small", **turned)
    ax.set_xlabel(as_it_stands(chart.x_label))
    ax.set_ylabel(as_it_stands(chart.y_label))
    ax.figure.colorbar(picture, ax=ax, label=as_it_stands(chart.value_label))
    return picture


def draw_maps(chart: Maps, axes: list[Axes]) -> None:
    """A picture on each of the Axes, from nothing to its own most; grey where there is no pixel."""
    for ax, name, values in zip(axes, chart.names, chart.values):
        picture = _shaded(ax, values)
        most = float(np.nanmax(np.abs(values), initial=0.0))
        picture.set_gid(printable(name))
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(True)
        ax.set_title(f"{cut(name)}, to {number(most, 3)}", fontsize="medium", fontweight="normal")


def divided(ax: Axes, count: int) -> list[Axes]:
    """Axes side by side, row by row, in the place of one, which keeps nothing but its title."""
    place = ax.get_subplotspec()
    if place is None:
        raise InputError("ax must be one of a grid, as plt.subplots() makes them, to hold several pictures.")
    ax.set_axis_off()
    across = int(np.ceil(np.sqrt(count)))
    grid = place.subgridspec(-(-count // across), across)
    return [ax.figure.add_subplot(grid[k // across, k % across]) for k in range(count)]


def as_it_stands(text: str) -> str:
    """matplotlib would take what is between two dollars for a formula."""
    return printable(text).replace("$", r"\$")


def cut(name: str) -> str:
    """A name, not too long for its place."""
    return as_it_stands(name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…")


def _draw_series(one: Series, ax: Axes) -> None:
    colour = colour_of(one.place)
    if one.style == "bars":
        ax.bar(one.x, one.y, 0.88 * (one.x[1] - one.x[0] if len(one.x) > 1 else 1.0), color=colour)
        return
    if one.band is not None:
        ax.fill_between(one.x, *one.band, color=colour, alpha=0.14, lw=0)
    if one.error is not None:
        error = 2 * np.nan_to_num(one.error)
        ax.fill_between(one.x, one.y - error, one.y + error, color=colour, alpha=0.3, lw=0)
    dash = tuple(float(part) for part in dash_of(one.place).split())
    style: Any = "none" if one.style == "points" else (0, dash) if dash else "-"
    marker = "o" if "points" in one.style else None
    ax.plot(one.x, one.y, color=colour, ls=style, marker=marker, ms=3.5, lw=1.2, label=as_it_stands(one.name))


def _draw_rule(rule: Rule, ax: Axes) -> None:
    """A dashed line with its meaning."""
    place: tuple[float, float] = (0.99, rule.at)
    units, shift, sides = ("axes fraction", "data"), (0, 3), {"ha": "right", "va": "bottom"}
    if rule.upright:
        place, units, shift = (rule.at, 0.97), ("data", "axes fraction"), (3, 0)
        sides = {"ha": "left", "va": "top"}
    (ax.axvline if rule.upright else ax.axhline)(rule.at, color=MUTED, lw=0.8, ls="--")
    words: dict[str, Any] = {"fontsize": "small", "color": MUTED, "textcoords": "offset points"} | sides
    ax.annotate(as_it_stands(rule.label), place, shift, xycoords=units, **words)


def _shaded(ax: Axes, values: FloatArray) -> AxesImage:
    """Values (rows, columns) as shades: white is none, and NaN is no pixel."""
    most = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    colours, least = _colours(signed=bool((values < 0).any())), -most
    if not (values < 0).any():
        least = np.finfo(float).tiny  # below it is only nothing
    # Colours before sizes: else matplotlib rounds what is next to nothing to nothing.
    return ax.imshow(
        values,
        cmap=colours,
        norm=Normalize(least, most),
        interpolation="nearest",
        interpolation_stage="rgba",
    )


def _colours(signed: bool) -> Colormap:
    shares = np.linspace(-1, 1, 2 * SHADES + 1) if signed else np.linspace(0, 1, SHADES + 1)[1:]
    made = ListedColormap(shades(shares) / 255)
    return made.with_extremes(under="white", bad=NO_PIXEL)
