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
from gmcr.constrained.rates import Rates, log_errors
from gmcr.constraints import Constraints, Kinetic, Layout, NonNegative
from gmcr.errors import InputError
from gmcr.validation import FloatArray
from gmcr.window.dense_fit import filled

MOST_DIRECTIONS = 50  # of the channels, that rate constants are fitted to
MOST_ORDERS = 24  # of rate constants that are tried
STEP = 1e-5  # of a logarithm, for slopes
ALIKE = 1e-8  # singular value over the first, from which concentrations are no longer independent
FARTHEST = 25.0  # of a logarithm from where it starts


def kinetic_fit(D: FloatArray, layout: Layout, constraints: Constraints, kinetic: Kinetic) -> Fit:
    """Concentrations that follow the reactions, the profiles that go with them, and the rate constants."""
    beside = [one.name for one in constraints.given if not isinstance(one, Kinetic | NonNegative)]
    if beside:
        raise InputError(f"kinetic and {beside[0]} cannot hold together; give one of them.")
    X = filled(D, kinetic.count)
    times, signed = kinetic.when(len(D), layout), constraints.signed
    logs = _rates(X, times, kinetic, signed) if kinetic.rates is None else np.log(kinetic.rates)
    C = kinetic.concentrations(np.exp(logs), times)
    S = profiles(C, X, signed)
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


def profiles(C: FloatArray, X: FloatArray, signed: bool) -> FloatArray:
    """The least-squares profiles (components, channels), without negative entries unless they may be `signed`."""
    S: FloatArray = scipy.linalg.lstsq(C, X)[0]
    if signed or (S >= 0).all():
        return S
    for channel in np.flatnonzero((S < 0).any(axis=0)):
        S[:, channel] = nnls(C, X[:, channel])[0]
    return S


def _rates(X: FloatArray, times: FloatArray, kinetic: Kinetic, signed: bool) -> FloatArray:
    """Logarithms of the rate constants that leave least: (constants,)."""
    U, values, _ = scipy.linalg.svd(X, full_matrices=False)
    scores = (U * values)[:, :MOST_DIRECTIONS]

    def outside(logs: FloatArray) -> FloatArray:
        Q = np.linalg.qr(_at(kinetic, logs, times))[0]
        return np.asarray(scores - Q @ (Q.T @ scores)).ravel()

    def left(logs: FloatArray) -> FloatArray:
        C = _at(kinetic, logs, times)
        return np.asarray(X - C @ profiles(C, X, signed)).ravel()

    found = [_least(outside, np.log(start)) for start in kinetic.starts(times)]
    best = min(found, key=lambda logs: float((outside(logs) ** 2).sum()))
    _check_independent(_at(kinetic, best, times), kinetic)
    orders = [np.array(order) for order in islice(permutations(best), MOST_ORDERS)]
    again = [_least(outside, order) for order in orders] if len(best) > 1 else [best]
    best = min(again, key=lambda logs: float((left(logs) ** 2).sum()))
    C = _at(kinetic, best, times)
    bound = not signed and (scipy.linalg.lstsq(C, X)[0] < 0).any()
    return _least(left, best) if bound else best


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
