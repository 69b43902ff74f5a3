"""Concentrations that follow reactions, with rate constants that are estimated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import FactorConstraint
from gmcr.constraints.layout import Layout
from gmcr.constraints.reactions import Step, over_time, read_reactions, species_of
from gmcr.errors import InputError
from gmcr.validation import FloatArray, as_numbers, check_complete, require

SPANS = (
    (200.0, 1.0),
    (20.0, 1.0),
    (5.0, 0.5),
    (1.0, 0.05),
)  # rates to start from, fastest and slowest, over 1 / time

STEP = 1e-5  # of a logarithm, for slopes


@dataclass(frozen=True, eq=False)
class Kinetic(FactorConstraint):
    """Concentrations are those of reactions over time; the components are the species, in the order they come up.

    reactions : such as "A > B > C", "A + B > C", "2 A > B", "A <> B"; several with semicolons
    times : (samples,) not before the reactions begin, at zero; None takes the order that `fit` is given
    initial : concentrations at time zero by species; by default one of each that no step makes, or of the first
    absorbing : the species that have a profile; None for all
    start : rate constants to start the search from, one a step, in the order of the steps; None to look for them
    rates : rate constants where they are known, else None
    """

    of: str = field(default="C", init=False)
    components: tuple[int, ...] | None = field(default=None, init=False)
    reactions: str = ""
    times: Any = None
    initial: Mapping[str, float] | None = None
    absorbing: tuple[str, ...] | None = None
    start: Any = None
    rates: Any = None

    kind = "kinetic"
    shapes = True

    def __post_init__(self) -> None:
        require(
            isinstance(self.reactions, str), "reactions of Kinetic", 'a line such as "A > B"', self.reactions
        )
        names = species_of(self.steps)
        for what in ("initial", "absorbing"):
            strange = [name for name in getattr(self, what) or () if name not in names]
            if strange:
                raise InputError(f"{what} of Kinetic names {strange[0]!r:.20}, which no reaction has.")
        if self.absorbing is not None:
            object.__setattr__(self, "absorbing", tuple(self.absorbing))
        if self.initial is not None:
            initial = {name: float(value) for name, value in self.initial.items()}
            fine = min(initial.values(), default=0) >= 0 and max(initial.values(), default=0) > 0
            require(
                fine,
                "initial of Kinetic",
                "amounts of which some are positive and none negative",
                self.initial,
            )
            object.__setattr__(self, "initial", initial)
        for what in ("start", "rates"):
            if getattr(self, what) is not None:
                given = as_numbers(getattr(self, what), f"{what} of Kinetic")
                numbers = given.shape == (len(self.steps),) and (given > 0).all() and np.isfinite(given).all()
                require(
                    numbers, f"{what} of Kinetic", f"{len(self.steps)} positive numbers, one a step", given
                )
                object.__setattr__(self, what, given)
        if self.times is not None:
            times = as_numbers(self.times, "times of Kinetic")
            check_complete(times, "times of Kinetic", "give every sample its time")
            object.__setattr__(self, "times", times)

    @property
    def name(self) -> str:
        return self.kind

    @property
    def by_run(self) -> bool:  # type: ignore[override]
        return True

    @property
    def steps(self) -> list[Step]:
        return read_reactions(self.reactions)

    @property
    def species(self) -> list[str]:
        """Those that are components."""
        return [name for name in species_of(self.steps) if self.absorbing is None or name in self.absorbing]

    @property
    def count(self) -> int:
        return len(self.species)

    def when(self, n_samples: int, layout: Layout | None) -> FloatArray:
        """(samples,) times since the reactions began."""
        times = self.times if self.times is not None else None if layout is None else layout.order
        if times is None:
            raise InputError("kinetic goes by time; give Kinetic times=, or fit order=.")
        if len(times) != n_samples:
            raise InputError(f"Kinetic has {len(times)} times, and there are {n_samples} samples.")
        if times.min() < 0 or times.max() <= 0:
            raise InputError(
                f"times of Kinetic begin at zero; they go from {times.min():g} to {times.max():g}."
            )
        return times

    def concentrations(self, rates: FloatArray, times: FloatArray) -> FloatArray:
        """(samples, components) at such rate constants."""
        steps = self.steps
        names = species_of(steps)
        made = {name for step in steps for name in step.made}
        default = {name: 1.0 for name in names if name not in made} or {names[0]: 1.0}
        initial = default if self.initial is None else self.initial
        begin = np.array([initial.get(name, 0.0) for name in names])
        found = over_time(steps, rates, begin, times)[:, [names.index(name) for name in self.species]]
        return np.maximum(found, 0.0)  # negative by rounding alone

    def starts(self, times: FloatArray) -> list[FloatArray]:
        """Rate constants to start from."""
        return self._usual_starts(times) if self.start is None else [self.start]

    def _usual_starts(self, times: FloatArray) -> list[FloatArray]:
        n, span = len(self.steps), float(times.max())
        found = [np.geomspace(*ends, n) / span if n > 1 else np.array([ends[0] / span]) for ends in SPANS]
        return found + ([one[::-1].copy() for one in found] if n > 1 else [])

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        """How far concentrations, each species in a unit of its own, are from any that the reactions give."""
        times = self.when(len(C), layout)
        if C.shape[1] != self.count:
            return np.inf
        return self._nearest(C, times)[0]

    def columns_near(self, C: FloatArray, layout: Layout | None = None) -> list[FloatArray]:
        """By component, what rate constants close to the nearest ones make of it: (samples, 1 + constants).

        The concentration itself, in any unit, and how it changes with the logarithm of each constant that is not
        known.
        """
        times = self.when(len(C), layout)
        logs = self._nearest(C, times)[1]
        steps = np.zeros((0, len(logs))) if self.rates is not None else STEP * np.eye(len(logs))
        here, *changed = (self.concentrations(np.exp(logs + step), times) for step in [0.0, *steps, *-steps])
        up, down = changed[: len(steps)], changed[len(steps) :]
        slopes = [(above - below) / (2 * STEP) for above, below in zip(up, down)]
        return [np.column_stack([one[:, j] for one in (here, *slopes)]) for j in range(self.count)]

    def _nearest(self, C: FloatArray, times: FloatArray) -> tuple[float, FloatArray]:
        """How far C is from what reactions give, relative to its size, and the logarithms of their constants."""
        sizes = np.maximum(np.abs(C).max(axis=0), 1e-300)

        def off(logs: FloatArray) -> FloatArray:
            told = self.concentrations(np.exp(logs), times)
            squares = np.maximum((told * told).sum(axis=0), 1e-300)
            return np.asarray((C - told * ((told * C).sum(axis=0) / squares)) / sizes)

        known = self.rates is not None
        found = (
            [np.log(self.rates)]
            if known
            else [_fitted(off, np.log(one)) for one in self._usual_starts(times)]
        )
        return min(((float(np.abs(off(logs)).max()), logs) for logs in found), key=lambda one: one[0])

    @classmethod
    def of_words(cls, words: list[str]) -> Kinetic:
        return cls(" ".join(words))

    def sentence(self) -> str:
        return f"concentrations follow {self.reactions}"


def _fitted(off: Any, start: FloatArray) -> FloatArray:
    return np.asarray(
        least_squares(lambda logs: off(logs).ravel(), start, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    )


CONSTRAINTS.add(Kinetic.kind, Kinetic)
