"""Samples before and after the steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.io.table import Table
from gmcr.plot.axes import Panels, several
from gmcr.plot.subject import WHOLE
from gmcr.reporting.collect import Prepares, before_and_after, labels_of
from gmcr.reporting.contents import Contents
from gmcr.reporting.drawing import draw_plane
from gmcr.reporting.files import taken_apart
from gmcr.reporting.sections.steps import steps_charts
from gmcr.validation import check_samples


def steps(model: Any, D: Any, *, samples: Any = None, ax: Any = None) -> Panels:
    """A few samples as they were measured, and the same after the model's steps.

    Parameters
    ----------
    model : a fitted model with steps
    D : (samples, channels) samples as they were measured, the ones that were unmixed or others
    samples : which, by number; by default four, evenly spread
    ax : an array of two Axes, or one whose place is divided; by default a new figure

    Returns
    -------
    array of two Axes

    Examples
    --------
    >>> from gmcr import GMCR, make_mixtures, plot
    >>> from gmcr.preprocessing import Crop
    >>> mix = make_mixtures(n_components=3, n_samples=24, n_features=40, snr_db=25, random_state=0)
    >>> model = GMCR(3, steps=[Crop(0, 29)], random_state=0).fit(mix.D)
    >>> before, after = plot.steps(model, mix.D, samples=[0, 5])
    >>> [len(panel.lines[0].get_xdata()) for panel in (before, after)]
    [40, 30]
    """
    found, own = taken_apart(model)
    if not (isinstance(own, Prepares) and own.chain_):
        raise InputError("model has no steps before unmixing; there is nothing before and after.")
    raw = D if isinstance(D, Table) else Table(check_samples(D, copy=False))
    rows = None
    if samples is not None:
        try:
            rows = np.atleast_1d(np.arange(len(raw.samples))[samples])
        except IndexError as error:
            raise InputError(f"samples must pick from {len(raw.samples)}, from 0: {error}.") from None
    contents = Contents(found, **labels_of(raw) | before_and_after(own.chain_, raw, rows))
    panels = several(2, ax)
    for panel, chart in zip(panels, steps_charts(replace(contents, shape=None, pixels=None), WHOLE)):
        draw_plane(chart, panel)
        panel.set_title(chart.title)
    return panels
