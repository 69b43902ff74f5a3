"""What was learned about counts: a small net as plain arrays, how it is stored and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import scipy.special

from gmcr.validation import FloatArray

STORED = "weights.npz"
REGIMES = "a few", "many", "counts"  # components that may be in any table, more, and tables of counts
MANY = 25  # the largest count that may be in any table, whatever the solver found
FARTHEST = 3.0  # half ranges from the middle, beyond which values of a column are all as far off


@dataclass(frozen=True, eq=False)
class Net:
    """Members that each look at the evidence on every candidate count, then at that of its neighbours.

    A member's score of a count is w · [z, c]: z what it sees in the count's own evidence, c what it sees in the
    z of the counts about it, twice over. The logarithms of the members' distributions are averaged.

    Attributes
    ----------
    names : (columns,) of the table it is asked about
    middle, half_range : (columns,) of each column over the tables it was learned from
    own, own_bias : (members, 2 columns, seen), (members, seen); the second half tells what is missing
    about, about_bias : (members, twice, counts about, seen, seen), (members, twice, seen)
    last : (members, 2 seen)
    sharpness : (regimes,) factor of the logarithms, such that chances are met as often as they say
    """

    names: np.ndarray
    middle: np.ndarray
    half_range: np.ndarray
    own: np.ndarray
    own_bias: np.ndarray
    about: np.ndarray
    about_bias: np.ndarray
    last: np.ndarray
    sharpness: np.ndarray

    def chances(self, values: FloatArray) -> FloatArray:
        """Of each candidate, from the evidence on all of them in ascending order: (candidates,), in all one."""
        seen = inputs(values, self.middle, self.half_range)
        members = zip(self.own, self.own_bias, self.about, self.about_bias, self.last)
        logs = [scipy.special.log_softmax(_scores(seen, *member)) for member in members]
        sharpness = self.sharpness[regime(self.names, values)]
        return scipy.special.softmax(float(sharpness) * np.mean(logs, axis=0))

    def as_arrays(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Net:
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})


def regime(names: np.ndarray, values: FloatArray) -> int:
    """Which of the regimes the evidence (candidates, columns) is of: chances are not as sharp in all of them."""
    columns = dict(zip(names.tolist(), np.nan_to_num(values).T))
    if np.any(columns.get("whole numbers", 0.0)):
        return REGIMES.index("counts")
    return REGIMES.index("many" if np.max(columns.get("count", 0.0)) > MANY else "a few")


def inputs(values: FloatArray, middle: np.ndarray, half_range: np.ndarray) -> FloatArray:
    """(candidates, 2 columns): columns at one scale, 0 where missing; then whether they are, and others not."""
    scaled, missing = at_one_scale(values, middle, half_range)
    return np.concatenate([scaled, missing & ~missing.all(axis=0)], axis=1)


def at_one_scale(
    values: FloatArray, middle: np.ndarray, half_range: np.ndarray
) -> tuple[FloatArray, np.ndarray]:
    """Columns in half ranges from their middles, 0 where missing; and where they are."""
    missing = np.isnan(values)
    reach = FARTHEST * half_range
    scaled = (np.clip(values, middle - reach, middle + reach) - middle) / half_range
    return np.where(missing, 0.0, scaled), missing


def _scores(
    seen: FloatArray,
    own: np.ndarray,
    own_bias: np.ndarray,
    about: np.ndarray,
    about_bias: np.ndarray,
    last: np.ndarray,
) -> FloatArray:
    z = np.maximum(seen @ own + own_bias, 0.0)
    c = _about(z, about[0], about_bias[0])
    c = c + _about(c, about[1], about_bias[1])
    return np.concatenate([z, c], axis=1) @ last


def _about(z: FloatArray, weights: np.ndarray, bias: np.ndarray) -> FloatArray:
    """What is seen in the z of each candidate and of those about it."""
    reach = len(weights) // 2
    padded = np.pad(z, ((reach, reach), (0, 0)))
    found = sum(padded[n : n + len(z)] @ step for n, step in enumerate(weights))
    return np.maximum(found + bias, 0.0)


@cache
def stored() -> Net:
    """What comes with gmcr, made by benchmarks/counting.py."""
    with (
        files("gmcr.counting").joinpath(STORED).open("rb") as file,
        np.load(file, allow_pickle=False) as arrays,
    ):
        return Net.of_arrays(arrays)
