"""Profiles that are known beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS, Constraint, Stage
from gmcr.constraints.layout import Layout
from gmcr.validation import FloatArray, as_numbers, check_number, check_pool, require

ROUNDING = 1e-12  # of a norm that is one


@dataclass(frozen=True, eq=False)
class ReferenceProfile(Constraint):
    """The first components have these profiles, up to their norm: (known, channels), or one of (channels,).

    The solver starts from them and its refits leave them alone.

    weight : None where the profiles are exact. Else they are near: a deviation counts this many times as much as
        the samples' own word on the profile, so that at 1 it ends half way, and nothing violates it
    """

    profiles: FloatArray
    weight: float | None = None

    kind = "reference profile"
    parameter = "fixed_components"

    @property
    def stages(self) -> frozenset[Stage]:  # type: ignore[override]
        return frozenset({"solver" if self.weight is None else "fit"})

    @property
    def least_count(self) -> int:
        return 0 if self.weight is None else len(self.profiles)

    def __post_init__(self) -> None:
        if self.weight is not None:
            fine = 0 < check_number(self.weight, "weight of ReferenceProfile") < np.inf
            require(fine, "weight of ReferenceProfile", "a positive number, or None", self.weight)
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
        if self.weight is not None:
            return 0.0
        first = S[: len(self.profiles)]
        return float(np.abs(first - self.profiles).max()) if first.shape == self.profiles.shape else np.inf

    def sentence(self) -> str:
        about = "" if self.weight is None else f", with the weight {self.weight:g}"
        return f"{len(self.profiles)} profile(s) known beforehand{about}"


CONSTRAINTS.add(ReferenceProfile.kind, ReferenceProfile)
