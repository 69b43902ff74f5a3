"""Runs of samples: where a fit gets them from, and the areas of what it found."""

from __future__ import annotations

from typing import Any

import pandas as pd

from gmcr.constraints import Layout
from gmcr.io.reading import numbered
from gmcr.io.table import Table
from gmcr.preprocessing import Chain
from gmcr.validation import FloatArray


def layout_of(chain: Chain, D: Any, runs: Any, order: Any, n_samples: int) -> Layout:
    """Runs and order of the samples as given, or the runs that a table D from files brings along."""
    if runs is None and isinstance(D, Table) and chain.averaging is None:
        runs = D.runs
    runs, order = chain.averaged(runs, "runs"), chain.averaged(order, "order")
    return Layout.of(runs, order, n_samples, chain.axis_after)


def areas_of(layout: Layout, C: FloatArray, names: tuple[str, ...] | None) -> pd.DataFrame | None:
    """Runs × components: the area under concentrations C (samples, components) in each run."""
    if layout.is_open:
        return None
    index = pd.Index(layout.names or ("all",), name="run")
    return pd.DataFrame(layout.areas(C), index, names or numbered(C.shape[1]))
