"""Samples, pool and supports as the kernel wants them: what confidence is computed from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product as product_of
from typing import Any

import numpy as np

from gmcr.confidence.neighbours import Part, weigh_supports
from gmcr.confidence.pool_errors import PoolErrors, least_squares_covariance, pool_errors, without_own_share
from gmcr.confidence.standard_errors import channels, spreads
from gmcr.confidence.support_law import SupportLaw, first_law, law_of_counts
from gmcr.confidence.uncut import uncut, uncut_pool
from gmcr.errors import InputError
from gmcr.noise import Sigma
from gmcr.threads import product
from gmcr.validation import BoolArray, FloatArray, as_numbers, check_pool, check_samples, evenly

CHUNK = 16_384  # samples weighed at a time: bounds the memory beside the input
LAW_SAMPLES = 500  # samples from which the law is estimated: enough for its own errors not to matter
LAW_ROUNDS = 8  # of expectation and maximisation
RAREST = 0.01  # share of samples that may hold a slot, below which its own count says too little
VISIBLE = 3.0  # standard errors from which a concentration shows in its sample

_NONE = np.zeros((0, 0))


@dataclass(frozen=True)
class Judged:
    """Samples whose supports are to be judged; profiles of unit norm.

    D : (samples, channels), NaN where missing;  S : (slots, channels);  C : (samples, slots)
    own : (samples,) which samples the pool was learned from
    pool : the errors of a learned pool; None for a known one
    allowed : (samples, slots) which slots a sample may hold; None for all
    """

    D: FloatArray
    S: FloatArray
    C: FloatArray
    sigma: Sigma
    own: BoolArray
    pool: PoolErrors | None
    signed: bool
    allowed: BoolArray | None = None

    @classmethod
    def of(
        cls,
        D: Any,
        S: Any,
        C: Any,
        noise: Any,
        learned: Any,
        pool_covariance: Any,
        signed: bool,
        allowed: Any = None,
    ) -> Judged:
        """From arguments as they come."""
        samples = check_samples(D, copy=False)
        profiles = check_pool(S, samples.shape[1])
        amounts = as_numbers(C, "C")
        if amounts.shape != (len(samples), len(profiles)):
            raise InputError(
                f"C must have shape (samples, slots) = {(len(samples), len(profiles))}, but has {amounts.shape}."
            )
        sigma = Sigma.given(noise, samples)
        own = np.array(np.broadcast_to(np.asarray(learned, dtype=bool), len(samples)))
        norms = np.linalg.norm(profiles, axis=1)
        may_hold = None if allowed is None else np.asarray(allowed, dtype=bool)
        judged = cls(samples, profiles / norms[:, None], amounts * norms, sigma, own, None, signed, may_hold)
        if may_hold is not None:
            if may_hold.shape != amounts.shape or (amounts[~may_hold] != 0).any():
                raise InputError("allowed must have the shape of C, and be true wherever C is not zero.")
            if own.any() or pool_covariance is not None:
                raise InputError(
                    "allowed cannot be told where the pool was learned; leave one of the two out."
                )
        if pool_covariance is not None:
            response = as_numbers(pool_covariance, "pool_covariance")
            if response.shape != (len(profiles),) * 2:
                raise InputError(
                    f"pool_covariance must have shape {(len(profiles),) * 2}, but has {response.shape}."
                )
            response = response / (norms[:, None] * norms)
        elif own.all():
            response = least_squares_covariance(judged.C, judged.level)
            if judged.can_be_cut:
                lower = uncut_pool(samples, judged.S, judged.C, sigma.values, response)
                norms = np.linalg.norm(lower, axis=1)
                judged = replace(judged, S=lower / norms[:, None], C=judged.C * norms)
                response = response / (norms[:, None] * norms)
        elif own.any():
            raise InputError("pool_covariance is needed where the pool was learned from some samples only.")
        else:
            return judged
        return replace(judged, pool=pool_errors(judged.S, response, signed=signed))

    @property
    def level(self) -> FloatArray:
        """Standard deviation of each sample over its present entries: (samples,)."""
        return self.sigma.per_sample(self.D)

    @property
    def can_be_cut(self) -> bool:
        """Whether a cut at zero would be a cut of Gaussian noise: counts have none."""
        return not (self.sigma.per_entry or self.signed)

    def rows(self, rows: np.ndarray) -> Judged:
        """The same on some of the samples."""
        allowed = None if self.allowed is None else self.allowed[rows]
        own, sigma = self.own[rows], self.sigma[rows]
        return replace(self, D=self.D[rows], C=self.C[rows], sigma=sigma, own=own, allowed=allowed)

    def over(self, slots: np.ndarray) -> Judged:
        """The same over some slots of a known pool, which are all that the samples may hold."""
        return replace(self, S=self.S[slots], C=self.C[:, slots], allowed=None)

    def parts(self) -> Iterator[tuple[np.ndarray, np.ndarray, Part]]:
        """All samples, by their rows, in parts over the same slots whose Gram matrices have one form."""
        form = np.isnan(self.D.sum(axis=1)) + 2 * self.own
        masks, which = np.ones((1, len(self.S)), dtype=bool), np.zeros(len(self.D), dtype=int)
        if self.allowed is not None:
            masks, which = np.unique(self.allowed, axis=0, return_inverse=True)
        for mask, one in product_of(range(len(masks)), np.unique(form)):
            rows, slots = np.flatnonzero((which.ravel() == mask) & (form == one)), np.flatnonzero(masks[mask])
            for first in range(0, len(rows), CHUNK):
                some = rows[first : first + CHUNK]
                judged = self.rows(some)
                yield some, slots, (judged if self.allowed is None else judged.over(slots))._part()

    def _part(self) -> Part:
        """All samples, which are of one form, ready for the kernel."""
        X, C, S, pool, variance = self.D, self.C, self.S, self.pool, self.level**2
        W = self.sigma.entry_weights(X)
        about_fit = np.ones(len(X)) if W.size else variance
        X, left = uncut(X, S, C, self.sigma.values) if self.can_be_cut else (X, np.ones(len(X)))
        X = np.nan_to_num(X) if W.size else X
        B = product(W * X if W.size else X, S, np.empty(C.shape))
        covariance, excess, own, own_r = _NONE, np.zeros(0), _NONE, _NONE
        if pool is not None:
            covariance, excess = pool.covariance, channels(W, S, len(X)) * left
            leverage = pool.leverage(C, variance)
            if self.own.any():
                leverage = without_own_share(leverage)
                own, own_r, along = pool.own_shares(X, S, C, W, variance)
                B -= own * along[:, None]
            about_fit = about_fit * (1.0 + leverage)
        largest = int(np.count_nonzero(C, axis=1).max(initial=0))
        about_fit = about_fit * left
        return Part(B, C != 0, largest, S @ S.T, S, W, about_fit, covariance, excess, own, own_r, self.signed)

    def law(self) -> SupportLaw:
        """The law behind these samples, estimated from some of them where they are many.

        From the supports at face value it goes on by expectation and maximisation over their neighbours.
        """
        some = self.rows(evenly(len(self.D), LAW_SAMPLES))
        spread = spreads(some.C, some.S, _NONE, some.level**2)
        if not (spread > 0).any():
            return first_law(self.C, 0.0)
        law = first_law(self.C, VISIBLE * float(np.quantile(spread[spread > 0], 0.25)))
        parts = list(some.parts())
        n_sizes = len(law.sizes)
        # Of samples that may hold a slot: what most may not hold is not rare for that.
        share = (
            np.ones(len(self.S)) if some.allowed is None else np.maximum(some.allowed.mean(axis=0), RAREST)
        )
        for _ in range(LAW_ROUNDS):
            sizes, held, bins = np.zeros(n_sizes), np.zeros(len(self.S)), np.zeros(len(law.heights))
            for _, slots, part in parts:
                in_sizes, in_slots, in_bins = weigh_supports(part, law.over(slots), True, _NONE)[2:]
                sizes[: len(in_sizes)] += in_sizes
                held[slots] += in_slots
                bins += in_bins
            law = law_of_counts(law.edges, bins, sizes, held / share)
        return law

    def weigh(self, law: SupportLaw, presence: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Posterior of each support and of the heaviest one, both (samples,); `presence` is filled if given."""
        confidence, highest = np.empty(len(self.D)), np.empty(len(self.D))
        for rows, slots, part in self.parts():
            inside = _NONE if presence is None else np.zeros(part.B.shape)
            confidence[rows], highest[rows], *_ = weigh_supports(part, law.over(slots), False, inside)
            if presence is not None:
                presence[np.ix_(rows, slots)] = inside
        return confidence, highest
