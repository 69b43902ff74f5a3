"""The real sets that benchmarks read: their files, and what is known of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

COUNTS = {"carbs": 3, "als2004": 4, "claus_eem": 3, "simdata_uv_noisy": 3}  # the sets with a known count
SIGNED = "nir"  # derivative spectra
# The samples hold the mean of their noise, which profiles absorb since concentrations sum to one; the known
# profiles were given without it.
OFFSETS = {"carbs": 0.957}


def load(folder: Path, name: str, step: int = 1) -> dict[str, np.ndarray]:
    """The arrays of a set (D, axis, labels, and C and S where they are known), every `step`-th channel."""
    with np.load(folder / f"{name}.npz") as file:
        arrays = dict(file)
    return arrays | {key: arrays[key][..., ::step] for key in ("D", "S", "axis")}
