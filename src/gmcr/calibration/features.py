"""What an amount is told by: the coordinate of its component, those of the others, a blank, slopes of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.calibration.pooling import Blocks
from gmcr.validation import FloatArray


def blocks_of(n_components: int, n_runs: int) -> Blocks:
    """Features of an amount: its own coordinate, the others (shrunk), a blank (perhaps), a slope per run."""
    of = [-1] + [0] * (n_components - 1)
    blank = max(of) + 1
    return Blocks((*of, blank, *([blank + 1] * (n_runs + 1 if n_runs else 0))), (blank,))


def features(
    F: FloatArray, j: int, labels: NDArray[Any] | None = None, run_names: Sequence[str] = ()
) -> FloatArray:
    """(samples, features) of scaled coordinates F; a run that was not seen has a column of its own, the last."""
    others = [k for k in range(F.shape[1]) if k != j]
    parts = [F[:, [j]], F[:, others], np.ones((len(F), 1))]
    if run_names:
        place = {name: r for r, name in enumerate(run_names)}
        which = np.full(len(F), len(run_names))
        if labels is not None:
            which = np.array([place.get(str(label), len(run_names)) for label in labels])
        parts.append(F[:, [j]] * (which[:, None] == np.arange(len(run_names) + 1)))
    return np.hstack(parts)
