"""What is left over."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from gmcr.errors import InputError
from gmcr.noise import law_of
from gmcr.plot.axes import one
from gmcr.plot.subject import WHOLE, contents_of, prepared, required
from gmcr.reporting.charts import Heat
from gmcr.reporting.contents import Contents
from gmcr.reporting.drawing import draw_heat, draw_plane
from gmcr.reporting.sections.fit import ratios_chart, sample_chart
from gmcr.reporting.words import number
from gmcr.theory.facts import noise_of
from gmcr.validation import FloatArray, require


def residuals(
    model: Any, D: Any, *, kind: Literal["samples", "entries"] = "samples", ax: Axes | None = None
) -> Axes:
    """What is left of the samples, over their noise: 1 is noise alone.

    Parameters
    ----------
    model : a fitted model, or a `Decomposition`
    D : (samples, channels) the samples that were unmixed, as they were measured
    kind : "samples", one point each, those apart that leave more than noise; or "entries", a heat map of samples
        by channels in which structure shows that a sum would hide
    ax : where to draw; by default a new figure

    Returns
    -------
    Axes

    Examples
    --------
    >>> from gmcr import Decomposition, make_mixtures, plot
    >>> mix = make_mixtures(n_components=3, n_samples=20, n_features=40, random_state=0)
    >>> ax = plot.residuals(Decomposition.from_factors(mix.C, mix.S, noise=mix.sigma), mix.D)
    >>> ax.get_ylabel()
    'residual / noise'
    """
    require(kind in ("samples", "entries"), "kind", '"samples" or "entries"', kind)
    contents = contents_of(model, D, *(["fit"] if kind == "samples" else []))
    if kind == "entries":
        chart = _entries(contents, prepared(model, D))
        ax = one(ax)
        draw_heat(chart, ax)
        return ax
    required(contents, "fit")
    assert contents.ratio is not None
    assert contents.known is not None
    ax = one(ax)
    draw_plane(ratios_chart(contents, contents.ratio, contents.known, WHOLE), ax)
    return ax


def sample(model: Any, D: Any, which: int | str, *, ax: Axes | None = None) -> Axes:
    """One sample as measured, as fitted, and what is left.

    Parameters
    ----------
    model : a fitted model, or a `Decomposition`
    D : (samples, channels) the samples that were unmixed, as they were measured; what is drawn is after the steps
    which : the sample, by number or by name
    ax : where to draw; by default a new figure

    Returns
    -------
    Axes

    Examples
    --------
    >>> from gmcr import Decomposition, make_mixtures, plot
    >>> mix = make_mixtures(n_components=3, n_samples=20, n_features=40, random_state=0)
    >>> ax = plot.sample(Decomposition.from_factors(mix.C, mix.S), mix.D, 7)
    >>> [line.get_label() for line in ax.lines]
    ['measured', 'fit', 'residual']
    """
    contents = contents_of(model, D)
    m = _number(contents, which)
    ax = one(ax)
    draw_plane(sample_chart(contents, m, prepared(model, D)[m], "sample", WHOLE), ax)
    return ax


def _number(contents: Contents, which: int | str) -> int:
    names = contents.sample_names
    if isinstance(which, str) and names.count(which) == 1:
        return names.index(which)
    if isinstance(which, int | np.integer) and -len(names) <= which < len(names):
        return int(which) % len(names)
    raise InputError(f"which must be a sample's number, 0 to {len(names) - 1}, or its name, not {which!r}.")


def _entries(contents: Contents, samples: FloatArray) -> Heat:
    """What is left of every entry, over its noise."""
    found, (axis, label, _) = contents.found, contents.axis
    fit = found.reconstruct()
    law = found.noise_law
    if law is not None and law["kind"] != "given":
        sigma = law_of(law).sigma(samples, fit).entries
    else:
        sigma = noise_of(None, samples, found)[0][:, None]
    left = (samples - fit) / np.where(sigma > 0, sigma, 1.0)
    return Heat(
        name="entries",
        title="Residuals",
        alt=f"What is left of every entry, over its noise; the largest is {np.nanmax(np.abs(left)):.3g}.",
        x_label=label,
        y_label="sample",
        value_label="residual / noise",
        rows=contents.sample_names,
        columns=tuple(map(number, axis)) if found.channels is None else found.channels,
        values=left,
    )
