"""Profiles that are known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS, Constraint, Stage
from gmcr.constraints.layout import Layout
from gmcr.validation import FloatArray, as_numbers, check_pool

ROUNDING = 1e-12  # of a norm that is one


@dataclass(frozen=True, eq=False)
class ReferenceProfile(Constraint):
    """The first components have these profiles, up to their norm: (known, channels), or one of (channels,).

    The solver starts from them and its refits leave them alone.
    """

    profiles: FloatArray

    kind = "reference profile"
    parameter = "fixed_components"
    stages: ClassVar[frozenset[Stage]] = frozenset({"solver"})

    def __post_init__(self) -> None:
        name = "profiles of ReferenceProfile"
        given = check_pool(np.atleast_2d(as_numbers(self.profiles, name)), name=name)
        # By a power of two first, which loses no digit, so that squares are numbers for any unit.
        size = np.frexp(np.abs(given).max(axis=1, keepdims=True))[1]
        scaled = np.ldexp(given, -size)
        norms = np.linalg.norm(scaled, axis=1, keepdims=True)
        is_unit = np.abs(np.ldexp(norms, size) - 1.0) < ROUNDING  # as from a file: to come back the same
        profiles = np.where(is_unit, given, scaled / norms)
        profiles.setflags(write=False)
        object.__setattr__(self, "profiles", profiles)

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        first = S[: len(self.profiles)]
        return float(np.abs(first - self.profiles).max()) if first.shape == self.profiles.shape else np.inf

    def sentence(self) -> str:
        return f"{len(self.profiles)} profile(s) known beforehand"


CONSTRAINTS.add(ReferenceProfile.kind, ReferenceProfile)
