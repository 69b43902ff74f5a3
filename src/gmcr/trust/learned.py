"""What was learned about answers from simulated tables: chances to be right and wrong, limits, and rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import scipy.special

from gmcr.counting.net import at_one_scale
from gmcr.counting.ratios import TINY
from gmcr.trust.numbers import Numbers
from gmcr.validation import FloatArray

STORED = "weights.npz"
RIGHT, BETWEEN, WRONG = range(3)


@dataclass(frozen=True, eq=False)
class Judge:
    """A small net from numbers, by name, to the chances to be right, in between, and wrong.

    names : (numbers,);  middle, half_range : (numbers,) over what it was learned from
    own, own_bias : (members, 2 numbers, seen), (members, seen); the second half tells what is missing
    last, last_bias : (members, seen, 3), (members, 3)
    sharpness : factor of the logarithms, such that chances are met as often as they say
    """

    names: np.ndarray
    middle: np.ndarray
    half_range: np.ndarray
    own: np.ndarray
    own_bias: np.ndarray
    last: np.ndarray
    last_bias: np.ndarray
    sharpness: np.ndarray

    def chances(self, numbers: Mapping[str, Any]) -> FloatArray:
        """Of rows whose numbers are these; one that is no array is the same for all rows: (rows, 3)."""
        n = max(np.size(value) for value in numbers.values())
        values = np.stack([np.broadcast_to(numbers[name], n) for name in self.names.tolist()], axis=1)
        return self.chances_of_rows(values.astype(float))

    def chances_of_rows(self, values: FloatArray) -> FloatArray:
        seen = np.concatenate(at_one_scale(values, self.middle, self.half_range), axis=1)
        hidden = np.maximum(seen @ self.own + self.own_bias[:, None], 0.0)
        logs = scipy.special.log_softmax(hidden @ self.last + self.last_bias[:, None], axis=2)
        return scipy.special.softmax(float(self.sharpness) * logs.mean(axis=0), axis=1)


@dataclass(frozen=True, eq=False)
class Learned:
    """Who judges, and what the words mean. Components are judged first, the answer by what is said of them, too.

    answer : right where the count and every profile (cosine 0.98) are; wrong where the count or a profile (below
        0.9) is
    component : right where its profile has a cosine of at least 0.98, wrong below 0.9
    limits : (checks, 2) numbers below which a check says "use with care" and "do not use"
    words : (2, 2) for answers and components: the chance to be right from which it is "use it", and that to be
        wrong from which it is "do not use"
    rates : (3, 3) of simulated answers with each word: the shares that were right, in between, and wrong
    """

    answer: Judge
    component: Judge
    limits: np.ndarray
    words: np.ndarray
    rates: np.ndarray

    def of_components(self, numbers: Numbers) -> FloatArray:
        """The chances of each component: (components, 3)."""
        return self.component.chances(numbers.table | numbers.components)

    def of_answer(self, numbers: Numbers) -> FloatArray:
        """The chances of the answer as a whole: (3,)."""
        return self.answer.chances(numbers.table | of_all(self.of_components(numbers)))[0]

    def as_arrays(self) -> dict[str, Any]:
        arrays = {
            f"{part} {field.name}": getattr(getattr(self, part), field.name)
            for part in ("answer", "component")
            for field in fields(Judge)
        }
        return arrays | {"limits": self.limits, "words": self.words, "rates": self.rates}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Learned:
        answer, component = (
            Judge(**{field.name: arrays[f"{part} {field.name}"] for field in fields(Judge)})
            for part in ("answer", "component")
        )
        return cls(answer, component, arrays["limits"], arrays["words"], arrays["rates"])


def of_all(chances: FloatArray) -> dict[str, float]:
    """What the chances of the components (components, 3) say of the answer: numbers beside those of its table."""
    right = np.log(np.maximum(chances[:, RIGHT], TINY))
    return {
        "components: all right": float(right.sum()),
        "components: least right": float(right.min()),
        "components: mean right": float(chances[:, RIGHT].mean()),
        "components: most wrong": float(chances[:, WRONG].max()),
    }


@cache
def stored() -> Learned:
    """What comes with gmcr, made by benchmarks/trust.py."""
    with (
        files("gmcr.trust").joinpath(STORED).open("rb") as file,
        np.load(file, allow_pickle=False) as arrays,
    ):
        return Learned.of_arrays(arrays)
