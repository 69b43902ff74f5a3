"""The named checks of an answer: a number each, what it must reach, and what to do where it does not.

A number is taken so that more is better. Below its first limit a check says "use with care", below its second "do
not use"; the limits come from simulated tables (learned.py), but for the count, of which 80 % is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gmcr.trust.numbers import Numbers

COUNT = "count"
SUPPORTS = "supports sure"
NOT_THERE = "not there"  # instead of a number
USE, CARE, DONT = WORDS = "use it", "use with care", "do not use"


@dataclass(frozen=True)
class Check:
    """One check.

    name : for people;  of : from the numbers of an answer to its own, NaN where there is none
    shown : the number for people;  todo : what to do where it is not met
    """

    name: str
    of: Callable[[Numbers], float]
    shown: Callable[[float], str]
    todo: str


def _negative(name: str) -> Callable[[Numbers], float]:
    return lambda numbers: -numbers.table[name]


def _of(name: str) -> Callable[[Numbers], float]:
    return lambda numbers: numbers.table[name]


def _cosine(digits: float) -> str:
    return f"cosine {1.0 - 10.0**-digits:.{int(np.clip(np.ceil(digits) + 1, 2, 6))}f}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


CHECKS = (
    Check(
        COUNT,
        _of("probability of the count"),
        percent,
        "compare the answers at the counts that are about as likely, with model.at(n)",
    ),
    Check(
        "fit",
        _negative("left over rank"),
        lambda value: f"{np.exp(-value):.2f} times what the best of so many directions leaves",
        "look at what is left over; a background, a step before unmixing or signed=True may be missing",
    ),
    Check(
        "samples explained",
        lambda numbers: 1.0 - numbers.table["unexplained"],
        percent,
        "look at the samples that are not explained: foreign ones are better left out",
    ),
    Check(
        "supports",
        _of(SUPPORTS),
        percent,
        "do not rely on which samples hold what; amounts near zero may be zero",
    ),
    Check(
        "uniqueness",
        _of("least: range"),
        _cosine,
        "say what you know: constraints, pure spectra, or a sample in which the component is nearly alone",
    ),
    Check(
        "stability",
        _of("least: halves"),
        _cosine,
        "measure more samples that differ in what they hold, or ask for one component fewer",
    ),
    Check(
        "starts",
        _of("least: other starts"),
        _cosine,
        "other starts end elsewhere: say what you know, or ask for one component fewer",
    ),
)


def word(value: float, limits: np.ndarray) -> str:
    """What a number says; one that is not there says nothing against."""
    if np.isnan(value):
        return USE
    return DONT if value < limits[1] else CARE if value < limits[0] else USE


def weakest(words: list[str]) -> str:
    return max(words, key=WORDS.index, default=USE)
