"""What a rank rule is: from a table's singular values to a count, and what the rest has to know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from gmcr.registry import Registry
from gmcr.validation import FloatArray


@dataclass(frozen=True)
class Answer:
    """A rule's count, and the threshold above which it counts singular values (NaN for a rule without one)."""

    count: int
    threshold: float = np.nan


@dataclass(frozen=True, eq=False)
class Seen:
    """A scaled table as a rule sees it: its thin singular value decomposition, (U * values) @ Vt."""

    U: FloatArray
    values: FloatArray  # largest first, rounding errors all set to one value
    Vt: FloatArray
    rng: Generator  # for a rule that draws

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the table."""
        return len(self.U), self.Vt.shape[1]


@dataclass(frozen=True)
class Rule:
    """A rule for the count."""

    title: str  # for people
    ask: Callable[[Seen], Answer]  # its answer on a table; the count must leave a singular value over
    needs_white: bool = True  # whether it holds only where the noise is white
    slow: bool = False  # whether it is skipped where a table is large


RULES: Registry[Rule] = Registry("rank rule", Rule)
