"""Known amounts as they come, checked, and which samples are replicates of one mixture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gmcr.errors import InputError
from gmcr.validation import FloatArray, as_labels, as_numbers

LEAST = 2  # mixtures of known amount that a calibration needs


def check_known(known: Any, n_samples: int, n_components: int) -> tuple[tuple[str, ...], FloatArray]:
    """Names of the known components and their amounts, (samples, known), NaN where not known."""
    if isinstance(known, Mapping):
        known = pd.DataFrame(dict(known))
    elif isinstance(known, pd.Series):
        known = known.to_frame("known" if known.name is None else known.name)
    amounts = as_numbers(known, "known")
    amounts = amounts[:, None] if amounts.ndim == 1 else amounts
    if amounts.ndim != 2 or len(amounts) != n_samples or not 1 <= amounts.shape[1] <= n_components:
        raise InputError(
            f"known must have shape ({n_samples}, 1 to {n_components}), a row per sample and a column per "
            f"component of known amounts, but has shape {amounts.shape}."
        )
    columns = getattr(known, "columns", None)
    names = (
        tuple(f"known {a}" for a in range(amounts.shape[1])) if columns is None else tuple(map(str, columns))
    )
    if len(set(names)) < len(names):
        raise InputError(f"known must name each component once, but has columns {', '.join(names)}.")
    for name, column in zip(names, amounts.T):
        given = column[~np.isnan(column)]
        if not (np.isfinite(given) & (given >= 0)).all():
            raise InputError(
                f"known holds {given[~(np.isfinite(given) & (given >= 0))][0]:g} for {name!r}; amounts are "
                "finite and not negative, and NaN where they are not known."
            )
        if not given.any():
            raise InputError(f"known has no amount above zero for {name!r}; give some, or leave it out.")
    return names, amounts


def check_units(units: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """A unit for each of the names: one for all, or by name; empty for none."""
    if units is None or isinstance(units, str):
        return (units or "",) * len(names)
    if not isinstance(units, Mapping) or not set(units) <= set(names):
        raise InputError(f"units must be a text, or texts by name for {', '.join(names)}, not {units!r:.60}.")
    return tuple(str(units.get(name, "")) for name in names)


def mixtures_of(known: FloatArray, replicates: Any, runs: NDArray[np.str_] | None) -> NDArray[np.intp]:
    """(samples,) number of the mixture that each sample is of.

    With labels, samples of the same label are one mixture; without, samples of a run with the same known amounts
    are: standards are measured anew in each run.
    """
    keys: list[Any]
    if replicates is None:
        own = [""] * len(known) if runs is None else runs.tolist()
        keys = [
            None if np.isnan(row).all() else (run, *np.where(np.isnan(row), -1.0, row))
            for row, run in zip(known, own)
        ]
    else:
        labels = as_labels(replicates, len(known), "replicates")
        keys = [None if label is None or label != label else str(label) for label in labels.tolist()]
    numbers: dict[Any, int] = {}
    return np.array(
        [numbers.setdefault(m if key is None else (key,), len(numbers)) for m, key in enumerate(keys)],
        dtype=np.intp,
    )


def amounts_of(known: FloatArray, mixture: NDArray[np.intp], names: tuple[str, ...]) -> FloatArray:
    """(mixtures, known) the amounts of each mixture, NaN where none of its samples has a known one."""
    out = np.full((int(mixture.max()) + 1, known.shape[1]), np.nan)
    for a, name in enumerate(names):
        rows = np.flatnonzero(~np.isnan(known[:, a]))
        out[mixture[rows], a] = known[rows, a]
        other = np.flatnonzero(out[mixture[rows], a] != known[rows, a])
        if other.size:
            raise InputError(
                f"known differs between replicates: sample {rows[other[0]]} has {known[rows[other[0]], a]:g} of "
                f"{name!r} and another of its mixture {out[mixture[rows[other[0]]], a]:g}."
            )
        n = int((~np.isnan(out[:, a])).sum())
        if n < LEAST:
            raise InputError(
                f"known tells the amount of {name!r} in {n} mixture(s), replicates counted once; at least "
                f"{LEAST} are needed."
            )
    return out
