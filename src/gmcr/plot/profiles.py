"""What components look like."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes

from gmcr.plot.axes import one
from gmcr.plot.subject import WHOLE, contents_of, only_series
from gmcr.reporting.collect import SECONDS
from gmcr.reporting.drawing import draw_plane
from gmcr.reporting.sections.profiles import profiles_chart
from gmcr.theory.feasible_bands import Ambiguity


def profiles(
    model: Any,
    D: Any = None,
    *,
    bands: Ambiguity | None = None,
    components: Any = None,
    seconds: float = SECONDS,
    ax: Axes | None = None,
) -> Axes:
    """Profiles over the channels, with ±2 standard errors (narrow) and what would fit as well (wide and pale).

    Parameters
    ----------
    model : a fitted model, or a `Decomposition`
    D : (samples, channels) the samples that were unmixed, to find the bands; what `gmcr.read` gave also tells the
        unit of the axis. Without them no bands are drawn
    bands : the bands, where `gmcr.theory.ambiguity.feasible_bands` has found them already
    components : which, by number; by default all
    seconds : for the search for the bands; where it takes longer, profiles are drawn without, with a warning
    ax : where to draw; by default a new figure

    Returns
    -------
    Axes

    Examples
    --------
    >>> from gmcr import Decomposition, make_mixtures, plot
    >>> mix = make_mixtures(n_components=3, n_samples=20, n_features=40, random_state=0)
    >>> ax = plot.profiles(Decomposition.from_factors(mix.C, mix.S, noise=mix.sigma))
    >>> len(ax.lines)
    3
    """
    only = ("profiles",) if bands is not None else ("profiles", "bands")
    contents = contents_of(model, D, *only, seconds=seconds)
    if bands is not None:
        contents = replace(contents, ambiguity=bands)
    elif D is not None and "bands" in contents.left_out:
        why = contents.left_out["bands"].split(";")[0].rstrip(".")
        warnings.warn(f"profiles are drawn without bands: {why}; seconds= gives more time.", stacklevel=2)
    ax = one(ax)
    draw_plane(only_series(profiles_chart(contents, WHOLE), components), ax)
    return ax
