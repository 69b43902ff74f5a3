"""Reactions as people write them, and the concentrations that they give over time.

"A > B > C" are two steps of first order; "A + B > C" and "2 A > B" are of second order; "A <> B" goes both ways.
Steps are separated by semicolons, and each has a rate constant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.integrate import solve_ivp

from gmcr.errors import InputError
from gmcr.validation import FloatArray

ARROW = re.compile(r"<-+>|<>|-*>")
TERM = re.compile(r"^(\d*)\s*([A-Za-z]\w*)$")
ILL = 1e8  # condition of eigenvectors from which they are not used
ACCURACY = 1e-10  # of an integration, relative


@dataclass(frozen=True)
class Step:
    """One elementary step: how many of each species go in and come out."""

    text: str
    taken: dict[str, int]
    made: dict[str, int]

    @property
    def order(self) -> int:
        return sum(self.taken.values())


def read_reactions(text: str) -> list[Step]:
    """The steps that a line such as "A > B > C; C <> D" tells, forward and back one each."""
    steps = list[Step]()
    for line in filter(str.strip, re.split(r"[;,\n]", text)):
        arrows = ARROW.findall(line)
        if not arrows:
            raise InputError(f'reactions must have arrows, as in "A > B", not {line.strip()!r:.40}.')
        sides = [_side(part, line) for part in ARROW.split(line)]
        for arrow, left, right in zip(arrows, sides[:-1], sides[1:]):
            steps.append(Step(f"{_written(left)} > {_written(right)}", left, right))
            if arrow.startswith("<"):
                steps.append(Step(f"{_written(right)} > {_written(left)}", right, left))
    if not steps:
        raise InputError('reactions must be a line such as "A > B > C", and it is empty.')
    if any(step.order > 2 for step in steps):
        raise InputError("reactions of third order or more are not known; write them as steps of two.")
    return steps


def species_of(steps: list[Step]) -> list[str]:
    """The species in the order they come up."""
    return list(dict.fromkeys(name for step in steps for side in (step.taken, step.made) for name in side))


def over_time(steps: list[Step], rates: FloatArray, initial: FloatArray, times: FloatArray) -> FloatArray:
    """Concentrations of all species (times, species) at times not before zero, from those at time zero."""
    names = species_of(steps)
    if all(step.order == 1 for step in steps):
        K = np.zeros((len(names), len(names)))
        for step, rate in zip(steps, rates):
            (source,) = (names.index(name) for name in step.taken)
            K[source, source] -= rate
            for name, number in step.made.items():
                K[names.index(name), source] += number * rate
        return _linear(K, initial, times)
    change = np.array(
        [[step.made.get(name, 0) - step.taken.get(name, 0) for name in names] for step in steps]
    )
    powers = np.array([[step.taken.get(name, 0) for name in names] for step in steps])

    def slope(_: float, c: FloatArray) -> FloatArray:
        speed = rates * np.prod(np.maximum(c, 0.0) ** powers, axis=1)
        return np.asarray(speed @ change)

    when, where = np.unique(times, return_inverse=True)
    span = (0.0, max(float(when[-1]), 1e-300))
    out = solve_ivp(slope, span, initial, "LSODA", when, rtol=ACCURACY, atol=ACCURACY * initial.max())
    if not out.success:
        raise InputError(f"the reactions cannot be followed over these times: {out.message}")
    return np.asarray(out.y.T[where])


def _linear(K: FloatArray, initial: FloatArray, times: FloatArray) -> FloatArray:
    """exp(K t) c₀ for all times: (times, species)."""
    values, vectors = np.linalg.eig(K)
    if np.linalg.cond(vectors) < ILL:
        parts = vectors * np.linalg.solve(vectors, initial.astype(vectors.dtype))
        return np.asarray((np.exp(np.outer(times, values)) @ parts.T).real)
    return np.asarray(scipy.linalg.expm(K * times[:, None, None]) @ initial)


def _side(part: str, line: str) -> dict[str, int]:
    found = dict[str, int]()
    for term in part.split("+"):
        match = TERM.match(term.strip())
        if match is None:
            raise InputError(
                f'reactions name species such as A or "2 B", not {term.strip()!r:.20} in {line.strip()!r:.40}.'
            )
        found[match[2]] = found.get(match[2], 0) + int(match[1] or 1)
    return found


def _written(side: dict[str, int]) -> str:
    return " + ".join(name if number == 1 else f"{number} {name}" for name, number in side.items())
