"""Whether confidences hold: stated against observed; for the tests and for benchmarks/confidence.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import beta


def calibration(confidence: Any, right: Any, bins: int = 10, level: float = 0.99) -> pd.DataFrame:
    """Stated against observed: one row per bin of equal width that holds any sample.

    Parameters
    ----------
    confidence : (samples,) stated probabilities
    right : (samples,) bool, whether the support was right
    bins : number of bins between zero and one
    level : of the binomial interval (Clopper and Pearson)

    Returns
    -------
    DataFrame with bin, n, stated, observed, low, high
    """
    stated, hits = np.asarray(confidence, dtype=float), np.asarray(right, dtype=bool)
    place = np.minimum((stated * bins).astype(int), bins - 1)
    rows = []
    for one in np.unique(place):
        inside = place == one
        n, k = int(inside.sum()), int(hits[inside].sum())
        low = beta.ppf((1 - level) / 2, k, n - k + 1) if k else 0.0
        high = beta.ppf((1 + level) / 2, k + 1, n - k) if k < n else 1.0
        rows.append((int(one), n, float(stated[inside].mean()), k / n, float(low), float(high)))
    return pd.DataFrame(rows, columns=["bin", "n", "stated", "observed", "low", "high"])


def expected_calibration_error(confidence: Any, right: Any, bins: int = 10) -> float:
    """Mean distance between stated and observed over the bins, each weighted by its samples."""
    table = calibration(confidence, right, bins)
    return float(np.average((table["stated"] - table["observed"]).abs(), weights=table["n"]))
