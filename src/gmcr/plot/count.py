"""What speaks for the count."""

from __future__ import annotations

from typing import Any, Literal

from matplotlib.axes import Axes

from gmcr.errors import InputError
from gmcr.plot.axes import one
from gmcr.plot.subject import contents_of
from gmcr.reporting.drawing import draw_plane
from gmcr.reporting.sections.count import chances_chart, costs_chart, halves_chart
from gmcr.validation import require

KINDS = {"probabilities": chances_chart, "costs": costs_chart, "halves": halves_chart}


def count(
    model: Any,
    *,
    kind: Literal["probabilities", "costs", "halves"] = "probabilities",
    ax: Axes | None = None,
) -> Axes:
    """Evidence for the number of components.

    Parameters
    ----------
    model : a fitted model; costs also of a `Decomposition` with a path
    kind : "probabilities" of each count given all evidence (`model.count_.probabilities`), the lowest "costs" met
        with each, or how well profiles come back from "halves" of the samples
    ax : where to draw; by default a new figure

    Returns
    -------
    Axes

    Examples
    --------
    >>> from gmcr import GMCR, make_mixtures, plot
    >>> mix = make_mixtures(n_components=3, n_samples=24, n_features=40, snr_db=25, random_state=0)
    >>> ax = plot.count(GMCR(random_state=0).fit(mix.D))
    >>> ax.get_ylabel()
    'probability'
    """
    require(kind in KINDS, "kind", " or ".join(f'"{name}"' for name in KINDS), kind)
    chart = KINDS[kind](contents_of(model))
    if chart is None:
        raise InputError(
            f"the solution has no {kind} by count: it was told its count, or came without its model; fit one "
            'with n_components="auto".'
        )
    ax = one(ax)
    draw_plane(chart, ax)
    return ax
