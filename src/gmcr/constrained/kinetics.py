"""Least squares over rate constants: concentrations follow reactions, profiles are the best for them.

Profiles are eliminated (variable projection, Golub & Pereyra 1973). Rate constants that change places may span
the same concentrations and fit equally well; then only profiles that cannot be negative tell them apart.
"""

from __future__ import annotations

import warnings
from itertools import islice, permutations

import numpy as np
import scipy.linalg
from scipy.optimize import least_squares, nnls

from gmcr.constrained.alternating import Fit, left_over
from gmcr.constrained.factors import factor_of
from gmcr.constrained.rates import Rates, log_errors
from gmcr.constraints import Constraints, Kinetic, Layout, NonNegative, ReferenceProfile
from gmcr.errors import InputError
from gmcr.validation import FloatArray
from gmcr.window.dense_fit import filled

MOST_DIRECTIONS = 50  # of the channels, that rate constants are fitted to
MOST_ORDERS = 24  # of rate constants that are tried
STEP = 1e-5  # of a logarithm, for slopes
ALIKE = 1e-8  # singular value over the first, from which concentrations are no longer independent
FARTHEST = 25.0  # of a logarithm from where it starts
SWEEPS = 2000  # over profiles that must obey more than a sign
STILL = 1e-11  # change of profiles, over their size


def kinetic_fit(D: FloatArray, layout: Layout, constraints: Constraints, kinetic: Kinetic) -> Fit:
    """Concentrations that follow the reactions, the profiles that go with them, and the rate constants."""
    X = filled(D, kinetic.count)
    best, times = _Profiles(X, constraints, kinetic, layout), kinetic.when(len(D), layout)
    logs = _rates(X, times, kinetic, best) if kinetic.rates is None else np.log(kinetic.rates)
    C = kinetic.concentrations(np.exp(logs), times)
    S = best.of(C)
    left = left_over(D, np.ones(len(D)), C, S)
    steps = tuple(step.text for step in kinetic.steps)
    if kinetic.rates is not None:
        return Fit(C, S, left, Rates(steps, np.exp(logs), np.zeros(len(logs)), np.full(len(logs), np.inf)))
    slopes = np.array(
        [
            (_at(kinetic, logs + h, times) - _at(kinetic, logs - h, times)) / (2 * STEP)
            for h in STEP * np.eye(len(logs))
        ]
    )
    runs = np.zeros(len(D)) if layout.runs is None else layout.runs.astype(float)
    errors, freedom = log_errors(X - C @ S, C, slopes, S, times, runs)
    untold = [step for step, error in zip(steps, errors) if not np.isfinite(error)]
    if untold:
        warnings.warn(
            f"these samples cannot tell the rate constants of {', '.join(untold)} by themselves: others fit as "
            "well; give rates= where they are known.",
            stacklevel=4,
        )
    return Fit(C, S, left, Rates(steps, np.exp(logs), errors, freedom))


class _Profiles:
    """The least-squares profiles for concentrations of samples X, under all that profiles must obey."""

    def __init__(self, X: FloatArray, constraints: Constraints, kinetic: Kinetic, layout: Layout) -> None:
        told = [one for one in constraints.given if not isinstance(one, Kinetic | NonNegative)]
        beside = [
            one.name for one in told if getattr(one, "of", "C") == "C" and one.kind != ReferenceProfile.kind
        ]
        if beside:
            raise InputError(
                f"kinetic settles all concentrations, and {beside[0]} speaks of them too; give one of them."
            )
        self.X, self.signed = X, constraints.signed
        shape = X.shape[1], kinetic.count
        self.factor = factor_of("S", constraints, layout, shape, self.signed) if told else None

    def free(self, C: FloatArray) -> FloatArray:
        """(components, channels) whatever they must obey."""
        S: FloatArray = scipy.linalg.lstsq(C, self.X)[0]
        return S

    def of(self, C: FloatArray) -> FloatArray:
        """(components, channels) that obey."""
        S = self.free(C)
        if self.factor is not None:
            return self._shaped(C, S)
        if self.signed or (S >= 0).all():
            return S
        for channel in np.flatnonzero((S < 0).any(axis=0)):
            S[:, channel] = nnls(C, self.X[:, channel])[0]
        return S

    def _shaped(self, C: FloatArray, S: FloatArray) -> FloatArray:
        assert self.factor is not None
        B, G, S = self.X.T @ C, C.T @ C, self.factor.obeying(S.T).T
        for _ in range(SWEEPS):
            before, S = S, self.factor.improved(S.T, B, G).T
            if np.linalg.norm(S - before) <= STILL * np.linalg.norm(S):
                break
        return S


def _rates(X: FloatArray, times: FloatArray, kinetic: Kinetic, best: _Profiles) -> FloatArray:
    """Logarithms of the rate constants that leave least: (constants,)."""
    U, values, _ = scipy.linalg.svd(X, full_matrices=False)
    scores = (U * values)[:, :MOST_DIRECTIONS]

    def outside(logs: FloatArray) -> FloatArray:
        Q = np.linalg.qr(_at(kinetic, logs, times))[0]
        return np.asarray(scores - Q @ (Q.T @ scores)).ravel()

    def left(logs: FloatArray) -> FloatArray:
        C = _at(kinetic, logs, times)
        return np.asarray(X - C @ best.of(C)).ravel()

    found = [_least(outside, np.log(start)) for start in kinetic.starts(times)]
    nearest = min(found, key=lambda logs: float((outside(logs) ** 2).sum()))
    _check_independent(_at(kinetic, nearest, times), kinetic)
    orders = [np.array(order) for order in islice(permutations(nearest), MOST_ORDERS)]
    again = [_least(outside, order) for order in orders] if len(nearest) > 1 else [nearest]
    nearest = min(again, key=lambda logs: float((left(logs) ** 2).sum()))
    negative = not best.signed and (best.free(_at(kinetic, nearest, times)) < 0).any()
    return _least(left, nearest) if negative or best.factor is not None else nearest


def _least(residual: object, start: FloatArray) -> FloatArray:
    """Where the squares of `residual` are least, not too far from the start."""
    bounds = start - FARTHEST, start + FARTHEST
    return np.asarray(least_squares(residual, start, bounds=bounds, xtol=1e-10, ftol=1e-12, gtol=1e-12).x)


def _at(kinetic: Kinetic, logs: FloatArray, times: FloatArray) -> FloatArray:
    return kinetic.concentrations(np.exp(logs), times)


def _check_independent(C: FloatArray, kinetic: Kinetic) -> None:
    values = scipy.linalg.svdvals(C / np.maximum(np.linalg.norm(C, axis=0), 1e-300))
    if values[-1] <= ALIKE * values[0]:
        raise InputError(
            f"the concentrations of {', '.join(kinetic.species)} are not independent of each other in these "
            "reactions; say with absorbing= which of them have a profile."
        )
