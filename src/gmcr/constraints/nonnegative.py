"""Profiles and concentrations that cannot be negative: the rule, unless data are signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS, Constraint, Stage
from gmcr.constraints.layout import Layout
from gmcr.errors import InputError
from gmcr.validation import FloatArray


@dataclass(frozen=True, eq=False)
class NonNegative(Constraint):
    """C ≥ 0 and S ≥ 0; the decoder and the pool's update keep it by themselves.

    profiles : whether it binds profiles too; those of derivative or difference spectra are of both signs, and
        amounts are not
    """

    profiles: bool = True

    kind = "non-negative"
    stages: ClassVar[frozenset[Stage]] = frozenset({"solver"})

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        return max(_negative_share(C), _negative_share(S) if self.profiles else 0.0)

    @classmethod
    def of_words(cls, words: list[str]) -> NonNegative:
        return cls(cls._binds_profiles(words))

    @staticmethod
    def _binds_profiles(words: list[str]) -> bool:
        if words not in ([], ["C"]):
            raise InputError('non-negative stands alone, or before "C" for concentrations alone.')
        return not words

    def sentence(self) -> str:
        return f"no negative concentrations{' or profiles' if self.profiles else ''}"


def _negative_share(values: FloatArray) -> float:
    """The most negative value over the largest."""
    return float(np.max(-values, initial=0.0)) / max(float(np.abs(values).max(initial=0.0)), 1e-300)


CONSTRAINTS.add(NonNegative.kind, NonNegative)
