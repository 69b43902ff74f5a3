"""Libraries of known spectra among decoys; for the tests and for benchmarks/match.py."""

import numpy as np
from scipy.ndimage import gaussian_filter1d

from gmcr.naming import Library


def decoy_library(data, seed, left_out=None, *, nearest=10, size=50):
    """Fifty spectra: the pure ones of a real set, and decoys: noise, smooth noise, or pure ones shifted.

    data : arrays S (pure spectra), labels and axis
    left_out : label of a pure spectrum that is not put in
    nearest : channels, at least, by which a pure spectrum is shifted to make a decoy
    """
    rng = np.random.default_rng(seed)
    pure = dict(zip(map(str, data["labels"]), data["S"]))
    spectra = {name: row for name, row in pure.items() if name != left_out}
    n_channels = data["S"].shape[1]
    while len(spectra) < size:
        kind, number = rng.integers(3), len(spectra)
        if kind == 0:
            spectra[f"noise {number}"] = rng.uniform(1, 50) * rng.random(n_channels)
        elif kind == 1:
            smooth = gaussian_filter1d(rng.standard_normal(n_channels), rng.uniform(2, 20))
            spectra[f"smooth {number}"] = np.abs(smooth) + rng.uniform(0, 1)
        else:
            name, far = rng.choice(list(pure)), rng.integers(nearest, 60) * rng.choice([-1, 1])
            noise = rng.normal(0, 0.3, n_channels)
            spectra[f"{name} shifted {number}"] = np.roll(pure[str(name)], far) + noise
    order = rng.permutation(size)
    rows = np.array(list(spectra.values()))[order]
    return Library.of(rows, [list(spectra)[k] for k in order], data["axis"])
