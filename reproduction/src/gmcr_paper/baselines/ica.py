"""Independent component analysis (FastICA, Hyvärinen 1999), with the repair of sign and scale spectra need."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from gmcr.errors import InputError
from gmcr.validation import FloatArray
from gmcr_paper.baselines.base import (
    Baseline,
    Factors,
    as_seed,
    check_choice,
    check_count,
    check_positive,
    unit_rows,
)
from gmcr_paper.baselines.nnls import nnls

SOURCES = ("auto", "concentrations", "profiles")


class ICA(Baseline):
    """Independent component analysis at a given count.

    Parameters
    ----------
    n_components : the count, less than the number of samples and of channels
    sources : what is taken to be independent. "concentrations": the samples are the observations and the mixing
        matrix holds the profiles, right where every sample draws its components at random. "profiles": the
        channels are the observations and the sources are the profiles, right where spectra overlap little, and
        the only choice where concentrations sum to one, because centring then loses a component. "auto" tries
        both and keeps the better fit
    max_iter : most iterations
    tol : FastICA's tolerance
    signed : whether samples have both signs
    random_state : seed, or a generator of random numbers; None is the seed 0

    Attributes
    ----------
    sources_ : "concentrations" or "profiles", whichever was used

    Notes
    -----
    ICA leaves sign and scale open, and its centred sources are no concentrations. What a user does about it, and
    what is done here: each profile is turned so that its sum is positive, its negative entries are set to zero,
    it is scaled to unit norm, and concentrations are fitted to the samples by non-negative least squares. With
    `signed=True` nothing is cut off, concentrations are those of plain least squares, and each component is
    turned so that the sum of its concentrations is positive.
    """

    takes_any_sign = True

    def __init__(
        self,
        n_components: int,
        *,
        sources: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        signed: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.sources = sources
        self.max_iter = max_iter
        self.tol = tol
        self.signed = signed
        self.random_state = random_state

    def _factorise(self, D: FloatArray) -> Factors:
        check_choice(self.sources, "sources", SOURCES)
        count = check_count(self.n_components)
        if count >= min(D.shape):
            raise InputError(
                f"n_components is {count}, but D has {D.shape[0]} samples and {D.shape[1]} channels; ICA needs "
                "more of both than components."
            )
        names = SOURCES[1:] if self.sources == "auto" else (self.sources,)
        fits = {name: self._fit(D, count, name) for name in names}
        self.sources_ = min(fits, key=lambda name: float(np.square(D - fits[name].C @ fits[name].S).sum()))
        return fits[self.sources_]

    def _fit(self, D: FloatArray, count: int, sources: str) -> Factors:
        max_iter, tol = check_count(self.max_iter, "max_iter"), check_positive(self.tol, "tol")
        model = FastICA(count, max_iter=max_iter, tol=tol, random_state=as_seed(self.random_state))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # `converged_` says so
            S = mixed_profiles(model, D) if sources == "concentrations" else source_profiles(model, D)
        S = unit_rows(S)
        if self.signed:
            C = least_squares(D, S)
            signs = np.where(C.sum(axis=0) < 0, -1.0, 1.0)
            C, S = C * signs, S * signs[:, None]
        else:
            S = unit_rows(np.maximum(S * np.where(S.sum(axis=1) < 0, -1.0, 1.0)[:, None], 0.0))
            C = nnls(D, S)
        return Factors(C, S, int(model.n_iter_), model.n_iter_ < max_iter)

    def _decode(self, samples: FloatArray) -> FloatArray:
        return least_squares(samples, self.components_) if self.signed else super()._decode(samples)


def mixed_profiles(model: Any, D: FloatArray) -> FloatArray:
    """Profiles as what independent concentrations are mixed by: (K, channels)."""
    return model.fit(D).mixing_.T


def source_profiles(model: Any, D: FloatArray) -> FloatArray:
    """Profiles as independent sources over the channels, with the means that centring took: (K, channels)."""
    centred = model.fit_transform(D.T).T
    return centred + (model.components_ @ model.mean_)[:, None]


def least_squares(D: FloatArray, S: FloatArray) -> FloatArray:
    """Concentrations of any sign: (samples, K)."""
    return np.asarray(np.linalg.lstsq(S.T, D.T, rcond=None)[0].T, dtype=float)
