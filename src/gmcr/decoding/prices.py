"""What a selection costs: the window's lower end (Theorem 1)."""

from __future__ import annotations

import numpy as np

from gmcr.validation import check_share

ALPHA = 0.05  # probability that the window's noise event fails anywhere in the data set (Theorem 1)


def usage_price(n_components: int, n_samples: int, alpha: float = ALPHA) -> float:
    """The price λ of a selection in noise units: L_α² = 2 log(6NM/α), the window's lower end (Theorem 1)."""
    check_share(alpha, "alpha")
    return 2.0 * np.log(6.0 * n_components * n_samples / alpha)


def lone_price(n_components: int, alpha: float = ALPHA) -> float:
    """The price of a selection in a sample that is looked at by itself.

    A component that the price for a whole data set makes the decoder leave out stays in the residual, and would
    make a stranger of a sample that the pool explains. Whether it is one is asked of each sample alone.
    """
    return usage_price(n_components, 1, alpha)
