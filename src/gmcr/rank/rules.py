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
    """A scaled table as a rule sees it: its thin singular value decomposition.

    Attributes
    ----------
    U, values, Vt : the table is (U * values) @ Vt; values largest first, rounding errors all set to one value
    rng : for a rule that draws
    """

    U: FloatArray
    values: FloatArray
    Vt: FloatArray
    rng: Generator

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the table."""
        return len(self.U), self.Vt.shape[1]


@dataclass(frozen=True)
class Rule:
    """A rule for the count.

    Attributes
    ----------
    title : for people
    ask : its answer on a table; the count must leave a singular value over
    needs_white : whether it holds only where the noise is white
    slow : whether it is skipped where a table is large
    """

    title: str
    ask: Callable[[Seen], Answer]
    needs_white: bool = True
    slow: bool = False


RULES: Registry[Rule] = Registry("rank rule")
