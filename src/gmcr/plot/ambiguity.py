"""What could look different and fit as well."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from gmcr.errors import InputError
from gmcr.plot.axes import one
from gmcr.plot.subject import contents_of
from gmcr.reporting.collect import SECONDS
from gmcr.reporting.colours import MUTED, colour_of
from gmcr.reporting.drawing import cut
from gmcr.theory.feasible_bands import Ambiguity, Band
from gmcr.theory.feasible_plane import FeasibleArea, FeasiblePair


def bands(model: Any, D: Any = None, *, seconds: float = SECONDS, ax: Axes | None = None) -> Axes:
    """The share of the signal that each component has, and the least and largest it could have and fit as well.

    Parameters
    ----------
    model : a fitted model or a `Decomposition`, with D; or what `gmcr.theory.ambiguity.feasible_bands` returned
    D : (samples, channels) the samples that were unmixed
    seconds : for the search
    ax : where to draw; by default a new figure

    Returns
    -------
    Axes; a share that nothing bounds ends in an arrow, and one that was not followed to its ends is a point alone

    Examples
    --------
    >>> from gmcr import Decomposition, make_mixtures, plot
    >>> mix = make_mixtures(n_components=3, n_samples=20, n_features=40, random_state=0)
    >>> ax = plot.bands(Decomposition.from_factors(mix.C, mix.S, noise=mix.sigma), mix.D)
    >>> ax.get_xlabel()
    'share of the signal'
    """
    found = _ambiguity(model, D, seconds)
    ax = one(ax)
    for place, band in enumerate(found.bands):
        _draw_band(ax, place, band)
    ax.set_yticks(range(len(found.bands)), labels=[cut(band.name) for band in found.bands])
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel("share of the signal")
    ax.set_ylabel("component")
    return ax


def plane(
    model: Any, D: Any = None, *, which: int = 0, seconds: float = SECONDS, ax: Axes | None = None
) -> Axes:
    """Where the profiles of two or three components that always may occur together can lie.

    Three components: the plane of their profiles. A profile lies inside the outer polygon, where it is not
    negative, the samples inside the inner one, and each coloured region holds all profiles that would fit as well
    as the dot in it, the solution's. Two components: the rectangle of the two mixing coefficients, with the
    solution at zero.

    Parameters
    ----------
    model : a fitted model or a `Decomposition`, with D; or what `gmcr.theory.ambiguity.feasible_bands` returned
    D : (samples, channels) the samples that were unmixed
    which : number of the plane, where there are several groups of such components
    seconds : for the search
    ax : where to draw; by default a new figure

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from gmcr import Decomposition, plot
    >>> S = np.array([[4.0, 2.0, 1.0, 0.5], [0.5, 1.0, 2.0, 4.0]])
    >>> C = np.array([[3.0, 1.0], [1.0, 3.0], [2.0, 2.0]])
    >>> ax = plot.plane(Decomposition.from_factors(C, S, noise=1e-3), C @ S)
    >>> ax.get_xlabel()
    'a: component 0 + a component 1'
    """
    found = _ambiguity(model, D, seconds)
    if not found.planes:
        raise InputError(
            "there is no plane to draw: no two or three components trade with each other alone; "
            "plot.bands shows what could look different."
        )
    if not 0 <= which < len(found.planes):
        raise InputError(f"which must be from 0 to {len(found.planes) - 1}, not {which}.")
    shown = found.planes[which]
    names = [_own_name(found, j) for j in shown.components]
    ax = one(ax)
    if isinstance(shown, FeasiblePair):
        _draw_pair(ax, shown, names)
    else:
        _draw_area(ax, shown, names)
    return ax


def _ambiguity(model: Any, D: Any, seconds: float) -> Ambiguity:
    if isinstance(model, Ambiguity):
        return model
    if D is None:
        raise InputError("D is needed, the samples that were unmixed, to find what could look different.")
    contents = contents_of(model, D, "bands", seconds=seconds)
    if contents.ambiguity is None:
        why = contents.left_out["bands"].split(";")[0].rstrip(".")
        raise InputError(f"nothing can be drawn: the bands were {why}; seconds= gives more time.")
    return contents.ambiguity


def _own_name(found: Ambiguity, j: int) -> str:
    name = found.bands[j].name
    return cut(f"component {name}" if name == str(j) else name)


def _draw_band(ax: Axes, place: int, band: Band) -> None:
    colour = colour_of(place)
    ax.plot([band.share], [place], "o", color=colour, ms=5)
    if np.isnan(band.min):
        return
    if np.isfinite(band.max):
        ax.plot([band.min, band.max], [place, place], color=colour, lw=4, alpha=0.4, solid_capstyle="butt")
        return
    far = max(2 * band.share, 1.0)
    arrow = {"arrowstyle": "->", "color": colour, "lw": 2}
    ax.annotate("", (far, place), (band.min, place), arrowprops=arrow)
    ax.plot([band.min, far], [place, place], alpha=0)  # so that the axis reaches as far as the arrow


def _draw_pair(ax: Axes, pair: FeasiblePair, names: list[str]) -> None:
    (a_low, a_high), (b_low, b_high) = pair.a, pair.b
    ends = np.array([a_low, a_high, b_low, b_high])
    if not np.isfinite(ends).all():
        raise InputError(f"the plane of {' and '.join(names)} has no end: {pair.a} and {pair.b}.")
    corners = [a_low, a_high, a_high, a_low], [b_low, b_low, b_high, b_high]
    ax.fill(*corners, color=colour_of(0), alpha=0.3, label="fits as well")
    ax.plot([0.0], [0.0], "o", color=MUTED, label="the solution")
    ax.set_xlabel(f"a: {names[0]} + a {names[1]}")
    ax.set_ylabel(f"b: {names[1]} + b {names[0]}")
    ax.legend(fontsize="small")


def _draw_area(ax: Axes, area: FeasibleArea, names: list[str]) -> None:
    for corners, style, label in ((area.outer, "-", "profiles not negative"), (area.inner, "--", "samples")):
        ring = np.vstack([corners, corners[:1]])
        ax.plot(ring[:, 0], ring[:, 1], color=MUTED, ls=style, lw=1, label=label)
    for place, ((x, y), mask) in enumerate(zip(area.grids, area.masks)):
        if mask.any():
            ax.contourf(x, y, mask.astype(float), levels=[0.5, 1.5], colors=[colour_of(place)], alpha=0.4)
        ax.plot(*area.points[place][:, None], "o", color=colour_of(place), label=names[place])
    ax.set_xlabel("second singular vector / first")
    ax.set_ylabel("third singular vector / first")
    ax.legend(fontsize="small")
