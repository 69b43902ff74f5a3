"""Rate constants with errors that know how residuals hang together.

What a fit of reactions leaves is not white: baselines move from one spectrum to the next, lamps drift. The error
of a rate constant is that of least squares, (J'J)⁻¹ J'ΩJ (J'J)⁻¹, under noise Ω in which every direction of the
channels has a memory of its own: noise that is forgotten over a time τ, and white noise beside it. How much of
either is told by what the reactions leave where they could not have followed it (restricted likelihood, Patterson
& Thompson 1971), averaged over times τ and shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.special import logsumexp, stdtrit

from gmcr.validation import BoolArray, FloatArray, check_share, evenly

FARTHEST = 100.0  # that a logarithm is off by, at most
MEMORIES = 10  # times τ that are tried, from the usual step to all of the time
SHARES = np.array(
    [0.0, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 1.0]
)  # of the noise that has a memory
UNTOLD = 1e-8  # of the information on combinations of constants: then they only change together
WHITE = 0.8  # probability that a direction's noise is white, before it is seen; with 0.5 errors grow by 3 %
PRIOR = np.log(np.where(SHARES == 0, WHITE, (1.0 - WHITE) / np.count_nonzero(SHARES)) / MEMORIES)
MOST_TIMES = 1000  # that tell the noise's memory; more are thinned


@dataclass(frozen=True, eq=False)
class Rates:
    """Rate constants of reactions.

    steps : what each is of, such as "A > B"
    values : rate constants, per unit of time (and of concentration, for two reactants)
    log_errors : standard errors of their logarithms; infinite for a constant that samples cannot tell
    freedom : degrees of freedom that those are known with
    """

    steps: tuple[str, ...]
    values: FloatArray
    log_errors: FloatArray
    freedom: FloatArray

    @property
    def errors(self) -> FloatArray:
        """Standard errors of the rate constants; infinite for one that samples cannot tell."""
        return self.values * self.log_errors

    def intervals(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of intervals that hold the true constants with this probability."""
        check_share(level, "level")
        wide = stdtrit(self.freedom, 0.5 + level / 2) * np.minimum(self.log_errors, FARTHEST)
        return self.values * np.exp(-wide), self.values * np.exp(wide)

    def __str__(self) -> str:
        width = max(len(step) for step in self.steps)
        return "\n".join(
            f"{step:{width}}  {value:.6g} ± {error:.2g}"
            for step, value, error in zip(self.steps, self.values, self.errors)
        )

    def as_dict(self) -> dict[str, Any]:
        """What a file stores of it."""
        numbers = {"values": self.values, "log_errors": self.log_errors, "freedom": self.freedom}
        return {"steps": list(self.steps)} | {name: one.tolist() for name, one in numbers.items()}

    @classmethod
    def of_dict(cls, stored: dict[str, Any]) -> Rates:
        """The rates that `as_dict` stored."""
        numbers = (np.array(stored[name], dtype=float) for name in ("values", "log_errors", "freedom"))
        return cls(tuple(stored["steps"]), *numbers)


def log_errors(
    R: FloatArray, C: FloatArray, slopes: FloatArray, S: FloatArray, times: FloatArray, runs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Standard errors of the rate constants' logarithms, and how many degrees of freedom they are known with.

    R : (samples, channels) what the fit leaves;  C, S : its concentrations and profiles
    slopes : (constants, samples, components) of C by the logarithms;  times, runs : (samples,)
    """
    Q = np.linalg.qr(C)[0]
    E = slopes - Q @ (Q.T @ slopes)  # what of a change no profiles make up for
    bread, told = _inverse(np.einsum("pnk,qnl,kl->pq", E, E, S @ S.T))
    rows = evenly(len(R), MOST_TIMES)
    own = np.einsum("pq,qnk->pnk", bread, E)[:, rows] * (len(R) / len(rows))  # what an entry's noise does
    variance, freedom = _variances(R[rows], C[rows], own, S, times[rows], runs[rows])
    return np.where(told, np.sqrt(variance), np.inf), freedom


def _inverse(information: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The inverse of J'J, and (constants,) whether the samples tell each of them."""
    sizes = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(information / np.outer(sizes, sizes))
    open_ = values <= UNTOLD * values[-1]
    told = ~(np.abs(vectors[:, open_]) > UNTOLD**0.5).any(axis=1) & (np.diag(information) > 0)
    kept = vectors[:, ~open_]
    return (kept / values[~open_]) @ kept.T / np.outer(sizes, sizes), np.asarray(told)


def _variances(
    R: FloatArray, C: FloatArray, E: FloatArray, S: FloatArray, times: FloatArray, runs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Variances of the sums of noise times E S, and their degrees of freedom: (constants,) each.

    E : (constants, samples, components)
    """
    A = scipy.linalg.null_space(C.T)  # contrasts of samples that no concentrations make
    V = scipy.linalg.svd(R, full_matrices=False)[2]
    Z, B = A.T @ R @ V.T, S @ V.T  # each direction of the channels by itself
    n, apart = len(Z), np.abs(times[:, None] - times)
    together = runs[:, None] == runs
    step = float(np.median(np.diff(np.unique(times))))
    logs, parts = [], []
    for memory in np.geomspace(step, max(float(apart.max()), step), MEMORIES):
        values, W = scipy.linalg.eigh(A.T @ (np.exp(-apart / memory) * together) @ A, driver="evd")
        y2, M = (W.T @ Z) ** 2, W.T @ (A.T @ E)
        spread = SHARES[:, None] * np.maximum(values, 1e-12) + (1.0 - SHARES[:, None])  # (shares, contrasts)
        size = np.maximum((1.0 / spread) @ y2 / n, np.finfo(float).tiny)  # (shares, directions)
        logs.append(-0.5 * (n * np.log(size) + np.log(spread).sum(axis=1)[:, None]) + PRIOR[:, None])
        forms = np.einsum("gi,pik,pil->gpkl", spread, M, M, optimize=True)
        parts.append(np.einsum("ga,ka,la,gpkl->gap", size, B, B, forms, optimize=True))
    weight = np.exp(np.concatenate(logs) - logsumexp(np.concatenate(logs), axis=0))
    part = np.concatenate(parts)
    mean = np.einsum("ga,gap->ap", weight, part)
    doubt = np.einsum("ga,gap->ap", weight, part**2) * (1.0 + 2.0 / n) - mean**2
    total = mean.sum(axis=0)
    return total, 2.0 * total**2 / np.maximum(doubt.sum(axis=0), np.finfo(float).tiny)
