"""Non-negative matrix factorisation (Lee & Seung 1999), as scikit-learn has it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import sklearn.decomposition
from sklearn.exceptions import ConvergenceWarning

from gmcr.validation import FloatArray
from gmcr_paper.baselines.base import Baseline, Factors, as_seed, check_choice, check_count, check_positive

TOLERANCES = {"cd": 1e-5, "mu": 1e-7}
STARTS = ("nndsvda", "nndsvdar", "random")


class NMF(Baseline):
    """Non-negative matrix factorisation at a given count.

    Parameters
    ----------
    n_components : the count
    solver : "cd", coordinate descent, or "mu", multiplicative updates, which leave no exact zeros
    init : "nndsvda" (from the singular vectors), "nndsvdar" or "random"; with more components than samples or
        channels there are not enough singular vectors, and the start is random
    max_iter : most iterations
    tol : scikit-learn's tolerance; None is 1e-5 for "cd" and 1e-7 for "mu", which moves in far smaller steps
    signed : whether samples have both signs; they are then split, see `Baseline`
    random_state : seed, or a generator of random numbers; None is the seed 0

    Examples
    --------
    >>> from gmcr import make_mixtures
    >>> from gmcr_paper.baselines import NMF
    >>> mix = make_mixtures(n_components=4, n_samples=32, snr_db=30, n_features=64, random_state=0)
    >>> NMF(4).fit(mix.D).components_.shape
    (4, 64)
    """

    def __init__(
        self,
        n_components: int,
        *,
        solver: str = "cd",
        init: str = "nndsvda",
        max_iter: int = 5000,
        tol: float | None = None,
        signed: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.signed = signed
        self.random_state = random_state

    def _factorise(self, D: FloatArray) -> Factors:
        return self._factorise_at(D, check_count(self.n_components))

    def _factorise_at(self, D: FloatArray, count: int) -> Factors:
        check_choice(self.solver, "solver", tuple(TOLERANCES))
        check_choice(self.init, "init", STARTS)
        return nmf(
            D,
            count,
            solver=self.solver,
            init=self.init,
            max_iter=check_count(self.max_iter, "max_iter"),
            tol=TOLERANCES[self.solver] if self.tol is None else check_positive(self.tol, "tol"),
            seed=as_seed(self.random_state),
        )


def nmf(
    D: FloatArray, count: int, *, solver: str, init: str, max_iter: int, tol: float, seed: int
) -> Factors:
    """scikit-learn's NMF of non-negative samples D (samples, channels)."""
    model = sklearn.decomposition.NMF(
        n_components=count,
        solver=solver,
        init=init if count <= min(D.shape) else "random",
        max_iter=max_iter,
        tol=tol,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # `converged_` says so
        C = model.fit_transform(D)
    return Factors(C, np.asarray(model.components_), int(model.n_iter_), model.n_iter_ < max_iter)
