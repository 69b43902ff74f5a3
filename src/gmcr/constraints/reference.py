"""Profiles that are known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS, Constraint, Stage
from gmcr.constraints.layout import Layout
from gmcr.validation import FloatArray, check_pool


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
        profiles = check_pool(np.atleast_2d(self.profiles), name="profiles of ReferenceProfile")
        norms = np.linalg.norm(profiles, axis=1, keepdims=True)
        object.__setattr__(self, "profiles", profiles / norms)

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        first = S[: len(self.profiles)]
        return float(np.abs(first - self.profiles).max()) if first.shape == self.profiles.shape else np.inf

    def sentence(self) -> str:
        return f"{len(self.profiles)} profile(s) known beforehand"


CONSTRAINTS.add(ReferenceProfile.kind, ReferenceProfile)
