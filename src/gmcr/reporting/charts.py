"""What a chart is, apart from how it is drawn: data, labels and an alternative text.

The page draws charts with the scripts in assets/, `drawing.py` draws them onto matplotlib's Axes, for files and
for `gmcr.plot`; both start from the same objects.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np

from gmcr.validation import FloatArray


@dataclass(frozen=True, eq=False)
class Series:
    """Points of a plane.

    style : "line", "points" or "bars"
    error : standard error of y, one number or one per point
    band : lowest and highest y that would fit as well
    labels : what each point is, where that is not told by x
    place : in the palette, −1 for grey
    shown : whether it is drawn before anybody asks for it
    """

    name: str
    x: FloatArray
    y: FloatArray
    style: str = "line"
    error: Any = None
    band: tuple[FloatArray, FloatArray] | None = None
    labels: tuple[str, ...] = ()
    place: int = 0
    shown: bool = True


@dataclass(frozen=True)
class Rule:
    """A line across a plane, at a value of y (or of x), with its meaning."""

    at: float
    label: str
    upright: bool = False


@dataclass(frozen=True, eq=False)
class Plane:
    """Series over common axes.

    choose : whether a reader can choose which series to see
    reverse : whether x falls from left to right, as on the axes of infrared and Raman spectra
    log : whether y is logarithmic
    whole : whether x counts things
    """

    name: str
    title: str
    alt: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    rules: tuple[Rule, ...] = ()
    choose: bool = False
    reverse: bool = False
    log: bool = False
    whole: bool = False
    note: str = ""


@dataclass(frozen=True, eq=False)
class Heat:
    """A table of amounts as a picture: values (rows, columns), zero for absent."""

    name: str
    title: str
    alt: str
    x_label: str
    y_label: str
    value_label: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: FloatArray
    note: str = ""


@dataclass(frozen=True, eq=False)
class Maps:
    """Pictures of one scene: values (pictures, rows, columns), NaN where there is no pixel."""

    name: str
    title: str
    alt: str
    value_label: str
    names: tuple[str, ...]
    values: FloatArray
    note: str = ""


Chart = Plane | Heat | Maps


def as_data(chart: Chart) -> dict[str, Any]:
    """The chart in JSON's types, for the page's scripts."""
    plain = {"kind": type(chart).__name__.lower(), "title": chart.title, "alt": chart.alt}
    if isinstance(chart, Plane):
        options = ("x_label", "y_label", "choose", "reverse", "log", "whole")
        rules = [{"at": rule.at, "label": rule.label, "upright": rule.upright} for rule in chart.rules]
        common = chart.series[0].x if chart.series else np.zeros(0)  # written once where series share it
        series = [_series(one, one.x is common) for one in chart.series]
        told = {"x": numbers(common, 7), "rules": rules, "series": series}
        return plain | {name: getattr(chart, name) for name in options} | told
    if isinstance(chart, Heat):
        labels = {name: getattr(chart, name) for name in ("x_label", "y_label", "value_label")}
        held = np.flatnonzero(chart.values)
        cells = {"at": held.tolist(), "values": numbers(chart.values.ravel()[held])}
        return plain | labels | {"rows": list(chart.rows), "columns": list(chart.columns)} | cells
    levels, least, most = as_levels(chart.values)
    pictures = [b64encode(picture.tobytes()).decode() for picture in levels]
    size = {"height": levels.shape[1], "width": levels.shape[2], "value_label": chart.value_label}
    return plain | size | {"names": list(chart.names), "least": least, "most": most, "pictures": pictures}


def as_levels(values: FloatArray) -> tuple[np.ndarray, list[float], list[float]]:
    """Pictures (pictures, rows, columns) as bytes: 0 for no pixel, 1 for zero, else the span from least to most.

    The span is each picture's own and always holds zero, which is level 1 unless values are negative.
    """
    least = np.minimum(np.nanmin(values, axis=(1, 2), initial=0.0), 0.0)
    most = np.nanmax(values, axis=(1, 2), initial=0.0)
    span = np.where(most > least, most - least, 1.0)
    share = (values - least[:, None, None]) / span[:, None, None]
    levels = np.where(np.isnan(share), 0, 1 + np.round(254 * np.nan_to_num(share))).astype(np.uint8)
    return levels, numbers(least), numbers(most)


def numbers(values: Any, digits: int = 4) -> list[Any]:
    """Numbers as short as they can be shown; None for what is no number."""
    values = np.asarray(values).tolist()
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in values]


def _series(one: Series, common: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"name": one.name, "style": one.style, "place": one.place, "shown": one.shown}
    told |= {"y": numbers(one.y)} | ({} if common else {"x": numbers(one.x, 7)})
    if one.error is not None:
        told["error"] = numbers(one.error, 3) if np.ndim(one.error) else float(f"{one.error:.3g}")
    if one.band is not None:
        told["band"] = [numbers(end) for end in one.band]
    if one.labels:
        told["labels"] = list(one.labels)
    return told
