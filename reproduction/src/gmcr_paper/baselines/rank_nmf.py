"""The simplest way to a count and factors: a rule on singular values, then NMF at that count."""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.rank import RULES, estimate_rank
from gmcr.validation import FloatArray
from gmcr_paper.baselines.base import Factors, check_choice, join_signs, split_signs
from gmcr_paper.baselines.nmf import NMF

CONSENSUS = "consensus"


class RankNMF(NMF):
    """NMF at the count that a rule of `gmcr.rank` gives.

    Parameters
    ----------
    rule : "consensus", what `gmcr.rank` recommends; or one rule under the scaling it recommends:
        "marchenko-pastur", "gavish-donoho", "eigengap", "malinowski" or "parallel"
    solver, init, max_iter, tol, signed, random_state : as for `NMF`

    Attributes
    ----------
    rank_ : RankReport, what every rule says
    """

    takes_any_sign = True  # so that the rule sees the samples as they are

    def __init__(
        self,
        rule: str = CONSENSUS,
        *,
        solver: str = "cd",
        init: str = "nndsvda",
        max_iter: int = 5000,
        tol: float | None = None,
        signed: bool = False,
        random_state: Any = None,
    ) -> None:
        self.rule = rule
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.signed = signed
        self.random_state = random_state

    def _factorise(self, D: FloatArray) -> Factors:
        check_choice(self.rule, "rule", (CONSENSUS, *RULES))
        self.rank_ = estimate_rank(D)
        count = (
            self.rank_.count if self.rule == CONSENSUS else self.rank_.counts[self.rule, self.rank_.scaling]
        )
        count = max(count, 1)
        if self.signed:
            return join_signs(self._factorise_at(split_signs(D), count))
        return self._factorise_at(np.maximum(D, 0.0), count)
