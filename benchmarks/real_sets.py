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


# Sets with reference profiles, as far as they are known: given, or the least-squares ones of D on known C.
REFERENCES = (
    "carbs",
    "als2004",
    "claus_eem",
    "simdata_uv_noisy",
    "dorrit_eem",
    "inorganic_uvvis_354_620",
    "hplc_pesticides_bdata",
    "gcms_osd_gcms2",
    "uvvis_kinetics_meting9_300_500",
    "mir_ethanol_glucose",
)
RATES = 0.311, 0.0262  # per minute, of A → B → C in uvvis_kinetics


def references(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
    """Samples, reference profiles, known concentrations (samples, components) where there are any, the count."""
    arrays = load(folder, name)
    D, S, C, count = arrays["D"].astype(float), arrays["S"], arrays["C"], int(arrays["n_components"])
    if name.startswith("uvvis_kinetics"):
        first, second = RATES
        minutes = arrays["x_time_s"] / 60
        A = np.exp(-first * minutes)
        B = first / (second - first) * (A - np.exp(-second * minutes))
        C, count = np.stack([A, B, 1 - A - B], axis=1), 3
    known = C if C.shape[:1] == D.shape[:1] and C.size else None
    if not S.size or name.startswith("uvvis_kinetics"):
        S = np.linalg.lstsq(C, D, rcond=None)[0]
    return D, S.astype(float), known, count
