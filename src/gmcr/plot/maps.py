"""How much of each component the pixels of an image hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.io.cube import Pixels
from gmcr.io.table import Table
from gmcr.plot.axes import Panels, several
from gmcr.plot.subject import WHOLE, chosen, contents_of
from gmcr.reporting.drawing import draw_maps
from gmcr.reporting.sections.concentrations import maps_chart


def maps(model: Any, image: Any, *, components: Any = None, ax: Any = None) -> Panels:
    """A map of each component's concentrations, from white (none) to its own most; grey where there is no pixel.

    Parameters
    ----------
    model : a fitted model, or a `Decomposition`
    image : where the samples stand: what `gmcr.read` gave for a cube, the `Pixels` of `gmcr.unfold`, or the shape
        (rows, columns) of an image all of whose pixels are samples
    components : which, by number; by default all
    ax : an array of Axes, one a map, or one whose place is divided; by default a new figure

    Returns
    -------
    array of Axes

    Examples
    --------
    >>> from gmcr import Decomposition, make_mixtures, plot
    >>> mix = make_mixtures(n_components=3, n_samples=20, n_features=40, random_state=0)
    >>> panels = plot.maps(Decomposition.from_factors(mix.C, mix.S), (4, 5))
    >>> panels[0].images[0].get_array().shape
    (4, 5)
    """
    contents = contents_of(model)
    kept = _kept(image)
    count = int(kept.sum())
    if kept.ndim != 2 or count != contents.found.n_samples:
        shape = " x ".join(map(str, kept.shape))
        raise InputError(
            f"image has {shape} pixels, {count} of them samples, and the solution {contents.found.n_samples} "
            "samples; give the image, of two dimensions, that was unmixed."
        )
    placed = replace(contents, shape=kept.shape, pixels=np.flatnonzero(kept))
    chart = maps_chart(placed, WHOLE)
    assert chart is not None
    picked = chosen(components, contents.found.n_components)
    panels = several(len(picked), ax)
    names = tuple(chart.names[j] for j in picked)
    draw_maps(replace(chart, names=names, values=chart.values[picked]), panels.tolist())
    return panels


def _kept(image: Any) -> np.ndarray:
    """Which pixels are samples: bool, of the image's shape."""
    pixels = image.pixels if isinstance(image, Table) else image
    if isinstance(pixels, Pixels):
        return pixels.kept
    if pixels is None:
        raise InputError("image must hold pixels, but the table was not read from an image; give its shape.")
    if not isinstance(pixels, tuple) or not all(isinstance(n, int | np.integer) and n > 0 for n in pixels):
        raise InputError(f"image must be a table of pixels, Pixels, or (rows, columns), not {image!r:.60}.")
    return np.ones(pixels, dtype=bool)
