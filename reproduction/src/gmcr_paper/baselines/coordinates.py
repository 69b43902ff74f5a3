"""One sweep of coordinate descent over a non-negative factor: what several factorisations have in common."""

from __future__ import annotations

import numpy as np

from gmcr.validation import FloatArray


def sweep(X: FloatArray, products: FloatArray, gram: FloatArray, shrinkage: float = 0.0) -> None:
    """Minimise ½‖D − Y X‖² + shrinkage · ΣX over each row of X ≥ 0 in turn, in place.

    X : (K, lines);  products : Y'D (K, lines);  gram : Y'Y (K, K). A row whose column in Y is zero becomes zero.
    """
    for k, diagonal in enumerate(np.diag(gram)):
        X[k] = np.maximum(optimum(X, k, products, gram, shrinkage), 0.0) if diagonal > 0 else 0.0


def optimum(
    X: FloatArray, k: int, products: FloatArray, gram: FloatArray, shrinkage: float = 0.0
) -> FloatArray:
    """The minimum over row k alone, of any sign: (lines,)."""
    return X[k] + (products[k] - gram[k] @ X - shrinkage) / gram[k, k]
