"""Whether a few samples, or a few channels, alone make a component: without them there would be one fewer.

Of an orthonormal basis U of the strongest k directions, the rows R leave I − U_R'U_R behind: what the largest
eigenvalue of U_R U_R' lacks to one is what other samples have of the direction that R has the most of. It does
not depend on how components are mixed into directions.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gmcr.counting.left_over import Parts
from gmcr.counting.ratios import digits
from gmcr.validation import FloatArray

A_FEW = 3
LOOKED_AT = 8  # samples with the most of the first k directions, among which the few are


def of_few(parts: Parts, most: int) -> dict[str, FloatArray]:
    """How nearly a few rows of either side have a direction among the first k for themselves, in digits.

    parts : the singular value decomposition of the samples
    """
    U, _, Vt = parts
    found = {}
    for side, vectors in (("samples", U), ("channels", Vt.T)):
        own = np.full(most, np.nan)
        weight = np.cumsum(np.square(vectors), axis=1)
        for k in range(1, min(most, vectors.shape[1], len(vectors) - A_FEW - 1) + 1):
            strongest = np.argsort(weight[:, k - 1], kind="stable")[-LOOKED_AT:]
            own[k - 1] = _own_direction(vectors[strongest, :k])
        found[f"few {side} for themselves"] = own
    return found


def _own_direction(rows: FloatArray) -> float:
    some = np.array(list(combinations(range(len(rows)), min(A_FEW, len(rows)))))
    grams = rows[some] @ rows[some].transpose(0, 2, 1)
    return float(digits(np.minimum(np.linalg.eigvalsh(grams)[:, -1].max(keepdims=True), 1.0))[0])
