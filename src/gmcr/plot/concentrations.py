"""How much of each component samples hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from gmcr.constraints.layout import Layout
from gmcr.plot.axes import one
from gmcr.plot.subject import WHOLE, chosen, contents_of, only_series
from gmcr.reporting.drawing import draw_heat, draw_plane
from gmcr.reporting.sections.concentrations import heat_chart, lines_chart
from gmcr.validation import require

KINDS = (None, "lines", "heat")


def concentrations(
    model: Any,
    order: ArrayLike | None = None,
    *,
    runs: ArrayLike | None = None,
    label: str = "order",
    kind: Literal["lines", "heat"] | None = None,
    components: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Concentrations: lines with ±2 standard errors against an order of the samples, or a heat map.

    Parameters
    ----------
    model : a fitted model, or a `Decomposition`
    order : (samples,) place of each sample, such as its time; by default that of the fit, where it was given one
    runs : (samples,) label of the run that each sample belongs to, by default as fitted; lines end with their run
    label : what the order is, such as "time (min)"
    kind : "lines" or "heat"; by default lines where there is an order. Lines without one go by the samples'
        numbers
    components : which, by number; by default all
    ax : where to draw; by default a new figure

    Returns
    -------
    Axes

    Examples
    --------
    >>> from gmcr import Decomposition, make_mixtures, plot
    >>> mix = make_mixtures(n_components=3, n_samples=20, n_features=40, random_state=0)
    >>> found = Decomposition.from_factors(mix.C, mix.S)
    >>> ax = plot.concentrations(found)  # a heat map: white is none
    >>> ax.images[0].get_array().shape
    (20, 3)
    >>> ax = plot.concentrations(found, order=range(20), label="time (min)")
    >>> ax.get_xlabel()
    'time (min)'
    """
    require(kind in KINDS, "kind", '"lines" or "heat"', kind)
    contents = contents_of(model, None, "profiles")
    order, runs = (contents.order if order is None else order), (contents.runs if runs is None else runs)
    kind = kind or ("heat" if order is None else "lines")
    layout = Layout.of(runs, order, contents.found.n_samples)
    ax = one(ax)
    if kind == "lines":
        draw_plane(only_series(lines_chart(contents, layout, label), components), ax)
        return ax
    chart = heat_chart(contents, WHOLE)
    picked = chosen(components, contents.found.n_components)
    names = tuple(chart.columns[j] for j in picked)
    draw_heat(replace(chart, columns=names, values=chart.values[:, picked]), ax)
    return ax
