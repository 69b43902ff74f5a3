"""Confidence over a learned pool: what is kept of the training samples, and what is learned from them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.theory.completion import completed_pool
from gmcr.theory.confidence import support_confidence
from gmcr.theory.support_law import SupportLaw, first_law
from gmcr.theory.uncut import uncut_pool
from gmcr.theory.weighing import Judged, spread_rows
from gmcr.threads import threads
from gmcr.validation import BoolArray, FloatArray

MOST_KEPT = 20_000  # training samples kept to learn from
COMPLETIONS = 2  # times the pool is refitted with what its samples are expected to hold
SAME = 1e-9  # relative difference up to which concentrations count as the same


@dataclass
class Judge:
    """What confidence needs beside the samples that it is asked about.

    pool : (slots, channels) as learned; once the law is there, without what cuts and missed components put in
    covariance : (slots, slots) of the profiles' errors in one channel
    law : of supports and concentrations; None until it is first needed, since it takes a while to compile
    kept : training samples, their concentrations and their noise, to learn the law from
    """

    pool: FloatArray
    covariance: FloatArray
    signed: bool
    law: SupportLaw | None = None
    kept: tuple[FloatArray, FloatArray, FloatArray] | None = None

    def keep(self, samples: FloatArray, C: FloatArray, sigma: FloatArray) -> None:
        some = spread_rows(len(samples), MOST_KEPT)
        self.kept = samples[some], C[some], sigma[some]

    def confidence(self, D: FloatArray, C: FloatArray, sigma: FloatArray, trained: FloatArray) -> FloatArray:
        """Confidence in the supports of samples D decoded as C: (samples,); trained : C in training."""
        law = self.learned()
        return support_confidence(
            D,
            self.pool,
            C,
            sigma,
            learned=learned_from(C, trained),
            pool_covariance=self.covariance,
            law=law,
            signed=self.signed,
        )

    def learned(self) -> SupportLaw:
        """The law; the first time, it and the pool to judge by are learned, in turn."""
        if self.law is not None:
            return self.law
        assert self.kept is not None  # a judge has a law, or samples to learn it from
        samples, C, sigma = self.kept
        plain = sigma.ndim == 1 and not self.signed
        given = partial(Judged.of, samples, C=C, noise=sigma, learned=True, signed=self.signed)
        n_times = COMPLETIONS if plain and not np.isnan(samples).any() else 0
        pool = self.pool
        with threads():
            for time in range(n_times + 1):
                pool = uncut_pool(samples, pool, C, sigma, self.covariance) if plain else pool
                judged = given(S=pool, pool_covariance=self.covariance)
                law = judged.law()
                if time == n_times:
                    break
                presence = np.zeros(C.shape)
                judged.weigh(law, presence)
                pool = completed_pool(samples, pool, C, sigma, presence, float(law.edges[0]))
        self.pool, self.law, self.kept = pool, law, None
        return law

    def pack(self) -> dict[str, NDArray[Any]]:
        """Arrays for a model file."""
        law = self.learned()
        return {"uncut_pool": self.pool} | {f"law_{name}": value for name, value in vars(law).items()}

    @classmethod
    def unpack(cls, arrays: dict[str, NDArray[Any]], S: FloatArray, C: FloatArray, signed: bool) -> Judge:
        """From a model file of pool S and training concentrations C; older files hold no law."""
        if "law_edges" not in arrays:
            return cls(S, arrays["pool_covariance"], signed, first_law(C, np.inf))
        law = SupportLaw(*(arrays[f"law_{field.name}"] for field in fields(SupportLaw)))
        return cls(arrays["uncut_pool"], arrays["pool_covariance"], signed, law)


def learned_from(C: FloatArray, trained: FloatArray) -> BoolArray:
    """Which samples, decoded as C, are training samples, by their concentrations: (samples,)."""
    totals = trained.sum(axis=1)
    order = np.argsort(totals)
    nearest = np.searchsorted(totals[order], C.sum(axis=1) * (1 - SAME))
    candidates = trained[order[np.minimum(nearest, len(order) - 1)]]
    # Products of another number of rows may round differently in the last digits.
    return (np.abs(candidates - C) <= SAME * np.abs(C)).all(axis=1) & C.any(axis=1)
