"""At most k components in a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS, Constraint, Stage
from gmcr.constraints.layout import Layout
from gmcr.validation import FloatArray, check_whole


@dataclass(frozen=True, eq=False)
class AtMost(Constraint):
    """No sample holds more than k components."""

    k: int

    kind = "at most"
    parameter = "k_max"
    stages: ClassVar[frozenset[Stage]] = frozenset({"solver"})

    def __post_init__(self) -> None:
        check_whole(self.k, "k of AtMost")

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        return float(max(int(np.count_nonzero(C, axis=1).max(initial=0)) - self.k, 0))

    @classmethod
    def of_words(cls, words: list[str]) -> AtMost:
        return cls(*map(int, words))

    def sentence(self) -> str:
        return f"at most {self.k} components in a sample"


CONSTRAINTS.add(AtMost.kind, AtMost)
