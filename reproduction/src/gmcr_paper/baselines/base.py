"""What all baselines share: checks on what comes in, signs, and the learned attributes."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.estimators.base import Unmixer
from gmcr.metrics import r_squared
from gmcr.validation import FloatArray
from gmcr.window.signs import refuse_negative, seen_signs
from gmcr_paper.baselines.nnls import nnls


@dataclass(frozen=True, eq=False)
class Factors:
    """What a method returns: D ≈ C S, of any scale.

    C : (samples, K) concentrations;  S : (K, channels) profiles
    n_iter : number of iterations, None if the method does not iterate
    converged : whether it stopped because nothing changed any more
    """

    C: FloatArray
    S: FloatArray
    n_iter: int | None = None
    converged: bool = True


class Baseline(Unmixer, ABC):
    """A method to compare with, as a scikit-learn transformer.

    A subclass stores its parameters, checks them and factorises in `_factorise`; everything else is here.

    Negative values: where a method needs data without them and `signed` is false, small ones pass for noise and
    are set to zero, and larger ones are refused. With `signed=True` such a method is given the positive and the
    negative part of every sample side by side, [max(D, 0), max(−D, 0)], and the halves of its profiles are
    subtracted from each other afterwards (sign-splitting): profiles of both signs, concentrations of one.

    Attributes
    ----------
    n_components_ : the count
    components_ : (n_components_, channels) profiles of unit norm
    concentrations_ : (samples, n_components_) of the training samples, as the method left them
    supports_ : (samples, n_components_) bool, where concentrations_ are not zero
    noise_ : (samples,) standard deviation of what is left of each training sample
    decomposition_ : Decomposition, all of this in one object
    n_iter_ : number of iterations, None if the method does not iterate
    converged_ : whether it stopped because nothing changed any more
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    `transform` finds concentrations over the frozen profiles by non-negative least squares. For methods whose own
    concentrations are something else (a posterior mean, a sparse or a shrunk one) it differs from
    `concentrations_`.
    """

    takes_any_sign: ClassVar[bool] = False  # whether the method itself can be given data of both signs
    takes_missing = False

    decomposition_: Decomposition

    def fit(self, D: Any, y: Any = None) -> Any:
        """Factorise the samples D (samples, channels); y is ignored."""
        samples = self._samples(D, reset=True)
        if len(samples) < 2:
            raise InputError(f"D has {len(samples)} sample(s) to learn from; give at least 2.")
        if not self.signed:
            refuse_negative(seen_signs(samples))
        if self.takes_any_sign:
            factors = self._factorise(samples)
        elif self.signed:
            factors = join_signs(self._factorise(split_signs(samples)))
        else:
            factors = self._factorise(np.maximum(samples, 0.0))
        self._store(samples, factors)
        return self

    @abstractmethod
    def _factorise(self, D: FloatArray) -> Factors:
        """The work, on checked samples (samples, channels)."""

    def transform(self, D: Any) -> FloatArray:
        """Concentrations of samples over the learned profiles: (samples, n_components_)."""
        check_is_fitted(self)
        return self._decode(self._samples(D, reset=False))

    def _decode(self, samples: FloatArray) -> FloatArray:
        return nnls(samples, self.components_)

    def _store(self, samples: FloatArray, factors: Factors) -> None:
        # A profile that is zero, or that no sample holds, is no component.
        alive = factors.C.any(axis=0) & factors.S.any(axis=1)
        if not alive.any():
            raise InputError(
                f"{type(self).__name__} finds no component in D; check its scale against the parameters."
            )
        C, S = factors.C[:, alive], factors.S[alive]
        residual = np.square(samples - C @ S).sum(axis=1)
        # Each concentration fitted takes one of a sample's degrees of freedom.
        free = np.maximum(samples.shape[1] - np.count_nonzero(C, axis=1), 1)
        found = Decomposition.from_factors(
            C,
            S,
            noise=np.sqrt(residual / free),
            settings={"estimator": type(self).__name__} | self._storable_parameters(),
            fit={"r2": r_squared(samples, C @ S)},
            signed=bool(self.signed),
        )
        self._keep(found)
        self.n_iter_ = factors.n_iter
        self.converged_ = factors.converged
        asked = getattr(self, "n_components", self.n_components_)
        if self.n_components_ < asked:
            warnings.warn(
                f"{asked} components were asked for, but only {self.n_components_} were found.", stacklevel=3
            )

    def _storable_parameters(self) -> dict[str, Any]:
        plain = (bool, int, float, str, type(None))
        return {name: value for name, value in self.get_params().items() if isinstance(value, plain)}


def split_signs(D: FloatArray) -> FloatArray:
    """Positive and negative part side by side: (samples, 2 channels)."""
    return np.hstack([np.maximum(D, 0.0), np.maximum(-D, 0.0)])


def join_signs(factors: Factors) -> Factors:
    """Profiles of both signs from those of split samples."""
    positive, negative = np.hsplit(factors.S, 2)
    return Factors(factors.C, positive - negative, factors.n_iter, factors.converged)


def unit_rows(S: FloatArray) -> FloatArray:
    """Rows scaled to unit norm; a row of zeros stays."""
    norms = np.linalg.norm(S, axis=1, keepdims=True)
    return S / np.where(norms > 0, norms, 1.0)


# Parameters


def check_count(value: Any, name: str = "n_components") -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, not {value!r}.")
    return int(value)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}.")


def check_positive(value: Any, name: str) -> float:
    good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not (good and 0 < value < np.inf):
        raise InputError(f"{name} must be a positive number, not {value!r}.")
    return float(value)


def as_seed(random_state: Any) -> int:
    """A seed from a seed, a generator or None, which is 0, so that the same data give the same answer."""
    if random_state is None:
        return 0
    if (
        isinstance(random_state, int | np.integer)
        and not isinstance(random_state, bool)
        and random_state >= 0
    ):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise InputError(
            f"random_state must be a non-negative integer, a generator or None, not {random_state!r}."
        ) from None
