"""Tables for tests of what is larger than memory: small ones, with bounds as low as makes them large."""

from contextlib import contextmanager

import numpy as np

from gmcr import make_mixtures
from gmcr.preprocessing import SNV, Crop, SavitzkyGolay
from gmcr.window import by_passes

DRAWN = 150
WHOLE = by_passes.WHOLE


@contextmanager
def low_bounds(drawn=DRAWN):
    """Within this, so many samples are drawn of any table that has more."""
    before = by_passes.WHOLE, by_passes.FEWEST
    by_passes.WHOLE, by_passes.FEWEST = 1000, drawn
    try:
        yield
    finally:
        by_passes.WHOLE, by_passes.FEWEST = before


def mixed(seed, n_samples=600, n_channels=24, snr_db=25.0, count=3):
    return make_mixtures(
        count, n_samples, n_features=n_channels, snr_db=snr_db, active=(1, 2), random_state=seed
    )


def with_rare(seed, holders=5, **sizes):
    """Mixtures, of which a few hold one component more: the table, its profile, and who holds it."""
    mix, random = mixed(seed, **sizes), np.random.default_rng(seed)
    profile = np.abs(np.sin(np.arange(mix.D.shape[1]) / 2.0)) * np.linspace(0.2, 1.0, mix.D.shape[1])
    profile /= np.linalg.norm(profile)
    rows = np.sort(random.choice(len(mix.D), holders, replace=False))
    D = mix.D.copy()
    D[rows] += 8.0 * profile
    return D, profile, rows


def dense(seed, n_samples=600, n_channels=24):
    """All of three components in every sample."""
    random, channels = np.random.default_rng(seed), np.arange(n_channels)
    centre, width = random.uniform(0, n_channels, (3, 3, 1)), random.uniform(1.5, 3, (3, 3, 1))
    S = np.exp(-0.5 * ((channels - centre) / width) ** 2).sum(axis=1)
    return np.exp(0.7 * random.normal(size=(n_samples, 3))) @ S + random.normal(
        0, 0.02, (n_samples, n_channels)
    )


def tables():
    """By name, a table and what GMCR is told of it: twenty, of every kind that blocks may hold."""
    D = {seed: mixed(seed).D for seed in range(5)}
    gaps, empty, copies = D[0].copy(), D[1].copy(), D[2].copy()
    gaps[np.random.default_rng(0).random(gaps.shape) < 0.03] = np.nan
    empty[100:180] = 0.0
    copies[300:] = copies[:300]
    signed = mixed(3).D - 0.6 * mixed(3).D.mean(axis=0)
    counts = np.random.default_rng(1).poisson(20.0 * np.maximum(mixed(4).D, 0.0)).astype(float)
    weak, known = mixed(6, snr_db=15.0).D, mixed(7)
    three = {"n_components": 3}
    return {
        "plain": (D[0], {}),
        "told": (D[1], three),
        "constant": (D[2], three | {"noise": "constant"}),
        "proportional": (D[3], three | {"noise": "proportional"}),
        "poisson": (np.maximum(D[4], 0.0), three | {"noise": "poisson"}),
        "level": (D[0], three | {"noise": 0.1}),
        "counts": (counts, three),
        "gaps": (gaps, three),
        "gaps by entry": (np.maximum(gaps, 0.0), three | {"noise": "poisson"}),
        "empty samples": (empty, three),
        "copies": (copies, three),
        "rare": (with_rare(8)[0], {"max_components": 6}),
        "dense": (dense(0), three),
        "dense, by entry": (np.maximum(dense(1), 0.0), three | {"noise": "poisson"}),
        "signed": (signed, three | {"signed": "profiles"}),
        "steps": (D[4], three | {"steps": [Crop(2, 20), SavitzkyGolay(5, 2), SNV()], "signed": "profiles"}),
        "background": (D[0] + 0.5, three | {"background": 1}),
        "at most one": (weak, three | {"k_max": 1}),
        "one known": (known.D, three | {"fixed_components": known.S[:1]}),
        "single precision": (D[3].astype(np.float32), three),
    }
