"""Rehearsals: samples drawn from what was learned, learned from again, and judged where the truth is known.

A component that the decoder misses goes into the profiles of its companions, which then explain the samples
without it: a posterior over a learned pool cannot see that, and is too sure. How much too sure depends on the
noise, the samples and the law behind them. It need not be derived: mixtures simulated from the learned pool and
law, unmixed in the same way, suffer from it as much, and show it (a parametric bootstrap).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from gmcr.confidence.support_law import SupportLaw
from gmcr.confidence.uncut import is_cut
from gmcr.noise import Sigma
from gmcr.validation import BoolArray, FloatArray
from gmcr.window.descent import ROUNDS, STEP
from gmcr.window.frozen_pool import FrozenPool
from gmcr.window.moves import deaths
from gmcr.window.problem import Problem

LEVELS = 3  # of noise, from coarse to fine: what is missed at a coarse level can stay missed


@dataclass(frozen=True)
class Stage:
    """What rehearsals are drawn from.

    pool : (slots, channels) unit-norm profiles;  law : of supports and concentrations
    samples, fits, sigma : training samples, what was fitted to them, and their noise, (samples,)
    """

    pool: FloatArray
    law: SupportLaw
    samples: FloatArray
    fits: FloatArray
    sigma: FloatArray
    signed: bool

    def draw(self, n_samples: int, random: np.random.Generator) -> tuple[FloatArray, BoolArray, FloatArray]:
        """Samples, their true supports and their noise.

        Noise, cut and gaps of each are those of the training sample whose signal is as strong.
        """
        C = self.law.draw(n_samples, random)
        if self.signed:
            C *= random.choice([-1.0, 1.0], C.shape)
        clean = C @ self.pool
        strengths = np.square(self.fits).sum(axis=1)
        order = np.argsort(strengths)
        place = np.searchsorted(strengths[order], np.square(clean).sum(axis=1))
        twin = order[np.minimum(place, len(order) - 1)]
        D = clean + self.sigma[twin, None] * random.standard_normal(clean.shape)
        lowest = np.where(is_cut(self.samples), np.fmin.reduce(self.samples, axis=1), -np.inf)
        D = np.maximum(D, lowest[twin, None])
        D[np.isnan(self.samples[twin])] = np.nan
        return D, C != 0, self.sigma[twin]


@dataclass(frozen=True)
class Rehearsed:
    """A pool learned again: `slots` says which true slot each of its own stands for, (slots,)."""

    frozen: FrozenPool
    slots: np.ndarray

    def right(self, C: FloatArray, truth: BoolArray) -> BoolArray:
        """Which supports of concentrations C are the true ones: (samples,)."""
        lost = np.ones(truth.shape[1], dtype=bool)
        lost[self.slots] = False
        return ((C != 0) == truth[:, self.slots]).all(axis=1) & ~truth[:, lost].any(axis=1)


def rehearse(frozen: FrozenPool, stage: Stage, D: FloatArray, sigma: FloatArray) -> Rehearsed:
    """Learn the pool again from samples D drawn on the stage, coarse to fine as the solver does.

    The true pool is where it starts, so that what goes wrong is what no better search could help.
    """
    X = np.nan_to_num(D) if np.isnan(D).any() else D
    problem = Problem(D, X, np.ones(len(D)), frozen.price, frozen.constraints)
    S, noise = stage.pool, Sigma(sigma)
    for level in reversed(range(LEVELS)):
        state = problem.rounds(S, noise * STEP**level, ROUNDS)
        S = state.S
    state = problem.rounds(deaths(problem, state).S, noise, ROUNDS)
    S = state.S
    bare = replace(frozen, S=S, covariance=np.zeros((len(S), len(S))))
    again = bare.learned_from(bare.decode(D, noise).concentrations, sigma)
    cosines = np.abs(S @ stage.pool.T)
    return Rehearsed(again, linear_sum_assignment(-cosines)[1])
