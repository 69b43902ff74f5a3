"""Tables that are half measured: profiles and what is left over come from measured sets, put together anew.

What instruments leave over is known in part only, and a model that has seen simulated disturbances alone is less
sure of measured tables than it needs to be. Here samples are a measured set's own, with some of its components
taken out; or profiles of several sets are mixed by simulated amounts, and what the samples of one set left over
is put upon them. Each table names the sets that it is made of, so that a set can be judged by what others taught.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from gmcr import GMCR
from gmcr.mixtures.amounts import CONCENTRATIONS
from real_sets import REFERENCES, load

WITHOUT = "mir_ethanol_glucose"  # whose count is open
OWN = 0.4  # how often samples are a set's own
FEWEST_CHANNELS, MOST_CHANNELS = 20, 200
FEWEST_SAMPLES = 6
MOST = 8  # components
NARROWEST = 0.4  # of a set's channels
STRONGER = 1.0  # what is left over, in logarithms, to either side of as it was


@dataclass(frozen=True, eq=False)
class Source:
    """A measured set at its known count: concentrations, profiles and what they leave over."""

    name: str
    C: np.ndarray
    S: np.ndarray
    left: np.ndarray


@cache
def sources(folder: Path) -> list[Source]:
    found = []
    for name in (name for name in REFERENCES if name != WITHOUT):
        arrays = load(folder, name)
        D = arrays["D"].astype(float)
        model = GMCR(n_components=int(arrays["n_components"]), random_state=0, n_jobs=1).fit(D)
        C, S = model.concentrations_, model.components_
        found.append(Source(name, C, S, D - C @ S))
    return found


def remixed(folder: Path, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...]]:
    """Samples, concentrations, profiles, and the sets that they were made of."""
    rng = np.random.default_rng([seed, 25])
    every = sources(folder)
    source = every[rng.integers(len(every))]
    d = int(np.exp(rng.uniform(np.log(FEWEST_CHANNELS), np.log(min(MOST_CHANNELS, source.S.shape[1])))))
    m = int(np.exp(rng.uniform(np.log(FEWEST_SAMPLES), np.log(len(source.C)))))
    rows = np.sort(rng.choice(len(source.C), m, replace=False))
    view = _view(rng, source.S.shape[1], d)
    left = source.left[rows] @ view
    if rng.random() < OWN:
        k = len(source.S) - int(rng.integers(len(source.S)))
        kept = rng.choice(len(source.S), k, replace=False)
        C, S = source.C[rows][:, kept], source.S[kept] @ view
        return C @ S + left, C, S, (source.name,)
    k = int(rng.choice(np.arange(1, MOST + 1), p=_weights()))
    chosen = [(n, j) for n, one in enumerate(every) for j in range(len(one.S))]
    picked = [chosen[n] for n in rng.choice(len(chosen), min(k, m - 3), replace=False)]
    S = np.stack([every[n].S[j] @ _view(rng, every[n].S.shape[1], d) for n, j in picked])
    S /= np.maximum(np.linalg.norm(S, axis=1, keepdims=True), 1e-300)
    kinds = list(CONCENTRATIONS)
    C = np.maximum(CONCENTRATIONS[kinds[rng.integers(len(kinds))]](rng, m, len(S)), 0.0)
    before, after = (np.linalg.norm(c @ s, axis=1) for c, s in ((source.C[rows], source.S @ view), (C, S)))
    size = (
        after / np.maximum(before, 1e-3 * before.max())
        if rng.random() < 0.5
        else after.mean() / before.mean()
    )
    left = left * np.broadcast_to(size, m)[:, None] * np.exp(rng.uniform(-STRONGER, STRONGER))
    return C @ S + left, C, S, tuple(dict.fromkeys([source.name, *(every[n].name for n, _ in picked)]))


def _view(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """A stretch of n channels seen through d: single ones, or means of those between, (n, d)."""
    width = int(np.clip(rng.uniform(NARROWEST, 1.0) * n, min(d, n), n))
    first = int(rng.integers(n - width + 1))
    edges = np.linspace(first, first + width, d + 1)
    view = np.zeros((n, d))
    for j, (low, high) in enumerate(zip(edges[:-1].astype(int), np.ceil(edges[1:]).astype(int))):
        low = min(low, n - 1)
        view[low : max(high, low + 1), j] = 1.0
    if rng.random() < 0.5:
        places = np.clip(edges[:-1].astype(int), 0, n - 1)
        view = np.eye(n)[:, places]
    return view / view.sum(axis=0)


def _weights() -> np.ndarray:
    weights = 1.0 / (1.0 + np.abs(np.arange(1, MOST + 1) - 3.0)) ** 1.2
    return weights / weights.sum()
