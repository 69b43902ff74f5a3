"""Confidence over a learned pool: what is kept of the training samples, and what is learned from them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.confidence.completion import completed_pool
from gmcr.confidence.recalibration import Recalibration
from gmcr.confidence.support_law import SupportLaw, first_law
from gmcr.confidence.supports import support_posterior
from gmcr.confidence.uncut import uncut_pool
from gmcr.confidence.weighing import Judged
from gmcr.noise import Sigma
from gmcr.threads import threads
from gmcr.validation import BoolArray, FloatArray, evenly
from gmcr.window.frozen_pool import FrozenPool
from gmcr.window.rehearsal import Stage, rehearse

MOST_KEPT = 20_000  # training samples kept to learn from
COMPLETIONS = 2  # times the pool is refitted with what its samples are expected to hold
REHEARSED = 1000  # samples on which confidences are tried out, at least; of training and of new ones
WORTH_WHILE = 1.0  # expected wrong supports among the training samples from which rehearsals are held
SAME = 1e-9  # relative difference up to which concentrations count as the same


@dataclass
class Judge:
    """What confidence needs beside the samples that it is asked about.

    frozen : the learned pool, as samples are decoded over it
    law : of supports and concentrations; None until it is first needed, since it takes a while to compile
    pool : (slots, channels) what samples are judged by: the learned pool without what cuts and missed components
        put in; None as long as the law
    honest : from stated to honest confidence, for new samples and for training samples
    kept : training samples, their concentrations and their noise, to learn the law from
    """

    frozen: FrozenPool
    law: SupportLaw | None = None
    pool: FloatArray | None = None
    honest: tuple[Recalibration, Recalibration] = (Recalibration(), Recalibration())
    kept: tuple[FloatArray, FloatArray, Sigma] | None = None

    def keep(self, samples: FloatArray, C: FloatArray, sigma: Sigma, rows: NDArray[np.intp]) -> None:
        """Keep some of the samples in `rows` to learn from."""
        some = rows[evenly(len(rows), MOST_KEPT)]
        self.kept = samples[some], C[some], sigma[some]

    def confidence(self, D: FloatArray, C: FloatArray, sigma: Sigma, trained: FloatArray) -> FloatArray:
        """Confidence in the supports of samples D decoded as C: (samples,); trained : C in training."""
        self.learn()
        learned = are_training_samples(C, trained)
        stated = self._stated(D, C, sigma, learned)
        return np.where(learned, self.honest[1](stated), self.honest[0](stated))

    def learn(self) -> None:
        """The law, the pool to judge by, and how far their confidences hold; once."""
        kept = self.kept
        if self.law is not None or kept is None:
            return
        pupil = replace(self, kept=kept)  # a copy, so that other threads never find half of it learned
        pupil._learn_law()
        samples, C, sigma = kept
        if not sigma.per_entry and C.any():
            doubt = 1.0 - pupil._stated(samples, C, sigma, np.ones(len(C), dtype=bool))
            if doubt.sum() >= WORTH_WHILE:
                pupil.honest = pupil._rehearsed()
        self.pool, self.honest = pupil.pool, pupil.honest
        self.law = pupil.law  # after these two, and before what it was learned from goes
        self.kept = None

    def _stated(self, D: FloatArray, C: FloatArray, sigma: Sigma, learned: BoolArray) -> FloatArray:
        """Posterior weights of supports as the law has them: (samples,)."""
        return support_posterior(
            D,
            self.pool,
            C,
            sigma,
            learned=learned,
            pool_covariance=self.frozen.covariance,
            law=self.law,
            signed=self.frozen.constraints.signed_amounts,
        ).confidence

    def _learn_law(self) -> None:
        """The law and the pool to judge by are learned in turn."""
        assert self.kept is not None
        samples, C, sigma = self.kept
        covariance = self.frozen.covariance
        constraints = self.frozen.constraints
        signed, n_fixed = constraints.signed_amounts, constraints.n_fixed
        plain = not (sigma.per_entry or constraints.signed)
        given = partial(Judged.of, samples, C=C, noise=sigma, learned=True, signed=signed)
        n_times = COMPLETIONS if plain and not np.isnan(samples).any() else 0
        pool = self.frozen.S
        with threads():
            for time in range(n_times + 1):
                pool = uncut_pool(samples, pool, C, sigma.values, covariance) if plain else pool
                judged = given(S=pool, pool_covariance=covariance)
                law = judged.law()
                if time == n_times:
                    break
                presence = np.zeros(C.shape)
                judged.weigh(law, presence)
                completed = completed_pool(samples, pool, C, sigma.values, presence, float(law.edges[0]))
                pool = np.vstack([pool[:n_fixed], completed[n_fixed:]])
        self.pool, self.law = pool, law

    def _rehearsed(self) -> tuple[Recalibration, Recalibration]:
        """How far confidences hold for new and for training samples, where the truth is known."""
        assert self.kept is not None
        assert self.pool is not None
        assert self.law is not None
        samples, C, sigma = self.kept
        norms = np.linalg.norm(self.pool, axis=1)
        signed = self.frozen.constraints.signed_amounts
        stage = Stage(self.pool / norms[:, None], self.law, samples, C @ self.frozen.S, sigma.values, signed)
        random = np.random.default_rng(0)
        seen: dict[bool, list[tuple[FloatArray, BoolArray]]] = {False: [], True: []}
        for _ in range(-(-REHEARSED // len(samples))):
            D, truth, noise = stage.draw(len(samples), random)
            again = rehearse(self.frozen, stage, D, noise)
            fresh = stage.draw(len(samples), random)
            judge = Judge(again.frozen)
            found = again.frozen.decode(D, Sigma(noise)).concentrations
            judge.keep(D, found, Sigma(noise), np.arange(len(D)))
            judge._learn_law()
            for trained, (one, held, level) in ((True, (D, truth, noise)), (False, fresh)):
                some = evenly(len(one), REHEARSED)
                one, held, level = one[some], held[some], level[some]
                decoded = found[some] if trained else again.frozen.decode(one, Sigma(level)).concentrations
                stated = judge._stated(one, decoded, Sigma(level), np.full(len(one), trained))
                seen[trained].append((stated, again.right(decoded, held)))
        new, trained_on = (
            Recalibration.fit(*(np.concatenate(part) for part in zip(*seen[kind]))) for kind in (False, True)
        )
        return new, trained_on

    def pack(self) -> dict[str, NDArray[Any]]:
        """Arrays for a model file: what was learned, or else the samples to learn it from."""
        if self.kept is not None:
            samples, C, sigma = self.kept
            return {"kept_samples": samples, "kept_concentrations": C, "kept_sigma": sigma.values}
        assert self.pool is not None
        honest = np.array([one.weights for one in self.honest])
        return {"uncut_pool": self.pool, "honest": honest} | {
            f"law_{name}": value for name, value in vars(self.law).items()
        }

    @classmethod
    def unpack(cls, arrays: dict[str, NDArray[Any]], frozen: FrozenPool, C: FloatArray) -> Judge:
        """From a model file with training concentrations C; older files hold no law or no recalibration."""
        if "kept_samples" in arrays:
            sigma = Sigma(arrays["kept_sigma"])
            return cls(frozen, kept=(arrays["kept_samples"], arrays["kept_concentrations"], sigma))
        if "law_edges" not in arrays:
            return cls(frozen, first_law(C, np.inf), frozen.S)
        law = SupportLaw(*(arrays[f"law_{field.name}"] for field in fields(SupportLaw)))
        judge = cls(frozen, law, arrays["uncut_pool"])
        if "honest" in arrays:
            new, trained_on = (Recalibration(tuple(weights)) for weights in arrays["honest"].tolist())
            judge.honest = new, trained_on
        return judge


def are_training_samples(C: FloatArray, trained: FloatArray) -> BoolArray:
    """Which samples, decoded as C, are training samples, by their concentrations: (samples,)."""
    totals = trained.sum(axis=1)
    order = np.argsort(totals)
    nearest = np.searchsorted(totals[order], C.sum(axis=1) * (1 - SAME))
    candidates = trained[order[np.minimum(nearest, len(order) - 1)]]
    # Products of another number of rows may round differently in the last digits.
    return (np.abs(candidates - C) <= SAME * np.abs(C)).all(axis=1) & C.any(axis=1)
