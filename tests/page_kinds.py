"""Runs of eight kinds, small and quick, whose report pages are read by `statements`."""

import warnings

import numpy as np

from gmcr import GMCR, make_measured, make_mixtures
from gmcr.io.cube import Pixels
from gmcr.io.table import Table
from gmcr.reporting.collect import collect
from gmcr.reporting.page import render

PATIENCE = 5.0  # seconds for other solutions
NO_TIME = 1e-9


def sparse(seed):
    return make_mixtures(3, 24, snr_db=25, n_features=30, active=(1, 2), random_state=seed).D


def dense(seed):
    return make_measured(2, 20, 30, random_state=seed, disturbed=False).D


def image(seed):
    D = make_measured(2, 42, 24, random_state=seed, profiles="peaks").D
    return Table(D, pixels=Pixels(np.ones((6, 7), dtype=bool)))


def signed(seed):
    mix = make_measured(2, 24, 31, random_state=seed, disturbed=False)
    return np.diff(mix.D, axis=1)


def missing(seed):
    D = sparse(seed)
    return np.where(np.random.default_rng(seed).random(D.shape) < 0.08, np.nan, D)


def unknown(seed):
    """With samples that hold what no other does."""
    rng, D = np.random.default_rng(seed), sparse(seed)
    size = np.abs(D).max()
    return np.vstack([D, size * rng.random((3, D.shape[1])) ** 4])


class Interruption:
    """Ends a fit when it has told of a few states, as Ctrl-C does."""

    def __init__(self, told=3):
        self.left = told

    def __call__(self, row):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


# What makes the samples, and what the solver is told: where it need not find the count, it is quick.
KINDS = {
    "sparse": (sparse, {}),
    "dense": (dense, {}),
    "image": (image, {"n_components": 2}),
    "signed": (signed, {"n_components": 2}),
    "missing": (missing, {"n_components": 3}),
    "unknown samples": (unknown, {"n_components": 3}),
    "interrupted": (sparse, {}),
    "timed out": (dense, {"n_components": 2}),
}


def page_of(kind, seed):
    """The report page of one run."""
    make, told = KINDS[kind]
    D, told = make(seed), dict(told)
    if kind == "interrupted":
        told["callback"] = Interruption()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model = GMCR(random_state=seed, **told).fit(D)
    seconds = NO_TIME if kind == "timed out" else PATIENCE
    said = [str(one.message) for one in caught]
    return render(collect(model.decomposition_, D, model=model, source=kind, warned=said, seconds=seconds))
