"""The table before any rule sees it: of a size that can be decomposed, without gaps, and scaled."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.random import Generator

from gmcr.errors import InputError
from gmcr.noise import whitenings
from gmcr.rank.indicator import malinowski
from gmcr.rank.white_noise import SMALLEST_TAIL
from gmcr.validation import BoolArray, FloatArray

MOST_TO_DECOMPOSE = 10_000_000  # entries; beyond that, samples or channels are drawn at random


def prepare(table: FloatArray, rng: Generator) -> tuple[FloatArray, list[str]]:
    """The table complete, without empty lines and of a size that can be decomposed; and what was done."""
    table, notes = _draw(table, rng)
    # Lines of zeros hold no noise either, and would mislead every rule about the size of the table.
    holds = ~np.isnan(table) & (table != 0)
    rows, columns = holds.any(axis=1), holds.any(axis=0)
    if not (rows.all() and columns.all()):
        table = table[rows][:, columns]
    if min(table.shape) <= SMALLEST_TAIL:
        raise InputError(
            f"D has {table.shape[0]} samples and {table.shape[1]} channels that are not all zero; "
            f"the rank rules need more than {SMALLEST_TAIL} of each."
        )
    missing = np.isnan(table)
    if missing.any():
        table = _fill(table, missing)
        notes.append(f"{missing.mean():.1%} of the entries are missing and were filled from the others.")
    return table, notes


def scalings(table: FloatArray) -> dict[str, FloatArray]:
    """The table under each scaling that whitens a usual kind of noise."""
    return {law.scaling: scaled for law, scaled in whitenings(table).items()}


def _draw(table: FloatArray, rng: Generator) -> tuple[FloatArray, list[str]]:
    """As many lines of the longer side as can be decomposed in reasonable time."""
    axis = int(np.argmax(table.shape))
    long, short = max(table.shape), min(table.shape)
    keep = max(MOST_TO_DECOMPOSE // short, short)
    if keep >= long:
        return table, []
    chosen = np.sort(rng.choice(long, keep, replace=False))
    what = ("samples", "channels")[axis]
    note = f"{keep:,} of {long:,} {what} were drawn at random; rare components may be lost."
    return np.take(table, chosen, axis=axis), [note]


def _fill(table: FloatArray, missing: BoolArray, rounds: int = 60, tolerance: float = 1e-3) -> FloatArray:
    """Missing entries replaced by what the singular vectors of the others say, until they stay.

    The count comes from Malinowski's indicator, which holds whatever the noise. The kept singular values are
    shrunk by what noise adds to them: a component that stands on filled entries alone then dies out in a few
    rounds, where plain truncation would keep it for ever.
    """
    present = ~missing
    known = np.where(missing, 0.0, table)
    scale = np.sqrt((known**2).sum(axis=1, keepdims=True) / present.sum(axis=1, keepdims=True))
    known /= scale
    positive = known.min() >= 0
    guess = np.zeros_like(known)
    if positive:  # a start from row and column means; where signs mix, means say nothing
        row, column = known.sum(axis=1) / present.sum(axis=1), known.sum(axis=0) / present.sum(axis=0)
        guess = np.outer(row, column) * (present.sum() / known.sum())
    filled = np.where(missing, guess, known)
    for _ in range(rounds):
        U, values, Vt = scipy.linalg.svd(filled, full_matrices=False, check_finite=False)
        count = malinowski(values, filled.shape).count
        shrunk = values[:count] - values[count] ** 2 / np.maximum(values[:count], np.finfo(float).tiny)
        guess = (U[:, :count] * shrunk) @ Vt[:count]
        change = np.linalg.norm((guess - filled)[missing])
        filled = np.where(missing, guess, known)
        if change <= tolerance * np.linalg.norm(filled[missing]):
            break
    return scale * (np.maximum(filled, 0.0) if positive else filled)
