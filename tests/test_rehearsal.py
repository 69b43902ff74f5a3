"""Rehearsals: drawing from a law, learning again, and the map from stated to honest confidence."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import expit, logit

from gmcr import GMCR, make_mixtures
from gmcr.confidence.recalibration import Recalibration
from gmcr.confidence.support_law import SupportLaw
from gmcr.constraints import Constraints
from gmcr.noise import Sigma
from gmcr.scoring import compare
from gmcr.window.frozen_pool import FrozenPool
from gmcr.window.rehearsal import Rehearsed, Stage, rehearse
from reliability import expected_calibration_error

LAW = SupportLaw(
    np.array([1.0, 2.0, 5.0]), np.array([0.4, 0.2]), np.array([0.1, 0.4, 0.5]), np.array([0.2, 0.5, 1.0, 2.0])
)


class TestDraw:
    def test_supports_are_as_likely_as_the_law_says(self):
        C = LAW.draw(40_000, np.random.default_rng(0))
        held = C != 0
        for size in (1, 2):
            supports = list(itertools.combinations(range(4), size))
            odds = np.array([np.prod(LAW.odds[list(one)]) for one in supports])
            expected = LAW.sizes[size] * odds / odds.sum()
            seen = [np.mean(held[:, list(one)].all(axis=1) & (held.sum(axis=1) == size)) for one in supports]
            spread = np.sqrt(expected * (1 - expected) / len(C))
            assert (np.abs(seen - expected) < 4.5 * spread).all()

    def test_concentrations_follow_the_density(self):
        amounts = LAW.draw(20_000, np.random.default_rng(1))
        amounts = amounts[amounts != 0]
        assert amounts.min() >= 1.0
        assert amounts.max() <= 5.0
        assert np.mean(amounts < 2.0) == pytest.approx(0.4, abs=0.015)
        assert np.mean(amounts < 3.5) == pytest.approx(0.7, abs=0.015)


class TestRecalibration:
    def test_the_identity_changes_nothing(self):
        stated = np.array([1e-6, 0.2, 0.5, 0.99])
        assert Recalibration()(stated) == pytest.approx(stated)

    def test_honest_confidences_are_left_alone(self):
        random = np.random.default_rng(0)
        stated = random.random(20_000)
        fitted = Recalibration.fit(stated, random.random(20_000) < stated)
        assert np.abs(fitted(stated) - stated).max() < 0.03

    def test_a_known_distortion_is_undone(self):
        random = np.random.default_rng(1)
        truth = random.beta(3, 1, 20_000)
        stated = expit((logit(truth) + 0.8) / 0.6)  # too sure
        fitted = Recalibration.fit(stated, random.random(20_000) < truth)
        assert expected_calibration_error(stated, random.random(20_000) < truth) > 0.1
        assert np.abs(fitted(stated) - truth).max() < 0.03

    def test_it_is_monotone_even_where_the_data_are_not(self):
        random = np.random.default_rng(2)
        stated = random.random(500)
        fitted = Recalibration.fit(stated, random.random(500) > stated)
        assert (np.diff(fitted(np.linspace(0, 1, 200))) >= -1e-12).all()

    def test_the_less_there_is_to_learn_from_the_nearer_it_stays_to_the_identity(self):
        stated, right = np.array([0.9, 0.8]), np.array([True, False])
        once, often, always = (
            float(Recalibration.fit(np.tile(stated, n), np.tile(right, n))(stated)[1]) for n in (1, 10, 1000)
        )
        assert 0.8 > once > 0.6 > often > 0.4  # where nothing held it back, it would be zero at once
        assert always < 0.1


def stage_of(mix):
    sizes = np.array([0.0, 0.3, 0.4, 0.3])
    law = SupportLaw(np.array([1.0, 10.0]), np.array([1 / 9]), sizes, np.ones(len(mix.S)))
    return Stage(mix.S, law, mix.D, mix.C @ mix.S, mix.sigma, signed=False)


class TestStage:
    def test_noise_goes_with_the_strength_of_the_signal(self):
        mix = make_mixtures(n_components=6, n_samples=400, snr_db=15, n_features=50, random_state=0)
        D, _, sigma = stage_of(mix).draw(400, np.random.default_rng(0))
        strength = np.sqrt(np.square(D).mean(axis=1) - sigma**2)
        assert np.corrcoef(strength, sigma)[0, 1] > 0.95  # proportional noise

    def test_cuts_and_gaps_are_those_of_the_training_samples(self):
        mix = make_mixtures(n_components=6, n_samples=100, snr_db=5, n_features=50, random_state=0)
        mix.D[:] = np.maximum(mix.D, 0.0)
        mix.D[:, :2] = 0.0  # a sample with fewer than two entries at its lowest value is not taken for cut
        mix.D[:, 7] = np.nan
        D, _, _ = stage_of(mix).draw(50, np.random.default_rng(0))
        assert np.isnan(D[:, 7]).all()
        assert np.isfinite(np.delete(D, 7, axis=1)).all()
        assert np.nanmin(D) == 0.0


def test_a_rehearsal_starts_from_the_true_pool_and_counts_lost_slots_as_wrong():
    mix = make_mixtures(n_components=6, n_samples=120, snr_db=30, n_features=60, random_state=3)
    frozen = FrozenPool(mix.S, np.zeros((6, 6)), 25.0, Constraints())
    stage = stage_of(mix)
    D, truth, sigma = stage.draw(120, np.random.default_rng(4))
    again = rehearse(frozen, stage, D, sigma)
    found = again.frozen.decode(D, Sigma(sigma)).concentrations
    assert np.array_equal(again.slots, np.arange(6))
    assert again.right(found, truth).mean() > 0.98
    cosines = (again.frozen.S * mix.S).sum(axis=1)
    assert cosines.min() > 0.999
    without = Rehearsed(again.frozen, again.slots[:-1])
    assert not without.right(found[:, :-1], truth)[truth[:, -1]].any()


def test_confidences_over_a_learned_pool_hold_at_low_snr():
    """Without rehearsals the expected number of wrong supports is far too small here (tuning seeds)."""
    stated, raw, right = [], [], []
    for seed in (0, 1, 3):
        settings = {"n_components": 16, "snr_db": 8, "n_features": 512}
        mix = make_mixtures(n_samples=64, random_state=seed, **settings)
        fresh = make_mixtures(n_samples=400, profiles=mix.S, random_state=1000 + seed, **settings)
        model = GMCR().fit(mix.D)
        slots = compare(model, mix).assignment
        assert (slots >= 0).all()
        out = model.decode(fresh.D)
        right.append((out.supports[:, slots] == fresh.supports).all(axis=1))
        stated.append(out.confidence)
        raw.append(model._judge._stated(fresh.D, out.concentrations, out.noise, np.zeros(400, dtype=bool)))
    wrong = np.sum(~np.concatenate(right))
    assert np.sum(1 - np.concatenate(raw)) < 0.85 * wrong
    assert np.sum(1 - np.concatenate(stated)) == pytest.approx(wrong, rel=0.15)
