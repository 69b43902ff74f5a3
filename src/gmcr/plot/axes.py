"""The Axes to draw on: those that came, or new ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import InputError

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
except ImportError as error:
    raise ImportError("gmcr.plot needs matplotlib; install it with: pip install 'gmcr[plot]'") from error

from gmcr.reporting.drawing import divided

ACROSS = 4  # panels in a row of a new figure
WIDTH, HEIGHT = 3.2, 2.6  # inches of a panel

Panels = NDArray[np.object_]  # of Axes


def one(ax: Any = None) -> Axes:
    """The Axes that came, or those of a new figure."""
    if ax is None:
        return plt.subplots(layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise InputError(f"ax must be one matplotlib Axes, not a {type(ax).__name__}.")
    return ax


def several(count: int, ax: Any = None) -> Panels:
    """As many Axes: of a new figure, in the place of the one that came, or the first of those that came."""
    if ax is None:
        across = min(count, ACROSS)
        rows = -(-count // across)
        size = (across * WIDTH, rows * HEIGHT)
        panels = plt.subplots(rows, across, figsize=size, layout="constrained", squeeze=False)[1].ravel()
        for empty in panels[count:]:
            empty.remove()
        return panels[:count]
    if isinstance(ax, Axes):
        return np.array(divided(ax, count), dtype=object)
    panels = np.array(ax, dtype=object).ravel()
    if not all(isinstance(panel, Axes) for panel in panels):
        raise InputError(f"ax must be matplotlib Axes or an array of them, not a {type(ax).__name__}.")
    if len(panels) < count:
        raise InputError(f"ax has {len(panels)} Axes where {count} are needed, one for each picture.")
    return panels[:count]
