"""Every column of the support tables: what `gmcr.scoring.compare` says, and what only the paper asks."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from gmcr.decomposition import Decomposition
from gmcr.scoring import compare, supports_by_slot
from gmcr.validation import BoolArray

FLOOR = 0.5  # the paper's level, fixed in advance below its smallest true concentration of one
BLOCK = 1024  # supports compared with all others at a time: bounds the memory


def support_columns(found: Decomposition, truth: Decomposition, floor: float = FLOOR) -> dict[str, Any]:
    """The numbers of `Match`, one column each, and besides

    isolating_pairs : matched slots that admit an isolating pair among the found supports
    isolating_pairs_ceiling : components that do so on the true supports
    floor : concentration above which a selection counts in the next two
    usage_ratio_above, exact_above : usage ratio and exact after selections up to `floor` are dropped
    spurious : median concentration on selected slots outside the true support, NaN if there are none
    """
    result = compare(found, truth)
    slots = result.assignment[result.assignment >= 0]
    sizes = np.abs(found.concentrations)
    target = supports_by_slot(result.assignment, truth.supports, found.n_components)
    lost = truth.supports[:, result.assignment < 0].any(axis=1)
    outside = sizes[found.supports & ~target]
    above = found.supports & (sizes > floor)
    return result.as_row() | {
        "isolating_pairs": int(has_isolating_pair(found.supports)[slots].sum()),
        "isolating_pairs_ceiling": int(has_isolating_pair(truth.supports).sum()),
        "floor": floor,
        "usage_ratio_above": int(above.sum()) / truth.usage,
        "exact_above": float(np.mean((above == target).all(axis=1) & ~lost)),
        "spurious": float(np.median(outside)) if outside.size else nan,
    }


def has_isolating_pair(supports: BoolArray) -> BoolArray:
    """Which components admit an isolating pair, in the spanned reading of Conjecture R.

    A component counts when two samples meet in it alone and the support of each occurs at least as often
    as it has members: only then can the concentrations on that support span it.

    Parameters
    ----------
    supports : (samples, components) bool

    Returns
    -------
    (components,) bool
    """
    supports = np.asarray(supports, dtype=bool)
    packed, occurs = np.unique(np.packbits(supports, axis=1), axis=0, return_counts=True)
    members = np.unpackbits(packed, axis=1, count=supports.shape[1]).astype(np.float32)
    size = members.sum(axis=1)
    spanned = (size > 0) & (occurs >= size)
    members, size, occurs = members[spanned], size[spanned], occurs[spanned]

    admits = np.zeros(supports.shape[1], dtype=bool)
    # Two samples of the same pure component meet in it alone; it takes two of them.
    admits |= (members[(size == 1) & (occurs >= 2)] > 0).any(axis=0)
    for start in range(0, len(members), BLOCK):
        block = members[start : start + BLOCK]
        meets_in_one = block @ members.T == 1
        rows = np.arange(len(block))
        meets_in_one[rows, start + rows] = False  # a support with itself: dealt with above
        partners = meets_in_one.astype(np.float32) @ members
        admits |= ((block > 0) & (partners > 0)).any(axis=0)
    return admits
