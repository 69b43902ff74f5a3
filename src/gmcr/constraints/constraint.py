"""What a constraint can be asked, and all constraints by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self

import numpy as np

from gmcr.constraints.layout import Layout
from gmcr.errors import InputError
from gmcr.registry import Registry, rebuilt
from gmcr.validation import FloatArray

Stage = Literal["solver", "pool", "answer", "fit"]


@dataclass(frozen=True, eq=False)
class Constraint(ABC):
    """Something that an answer C (samples, components), S (components, channels) must obey.

    A constraint is a frozen dataclass; its fields are what a file stores of it.

    kind : its name, in files and messages
    stages : where it is honoured. "solver": the compiled code keeps it by itself. "pool": after every refit of
        the profiles, by `apply` with S alone (C is None). "answer": once, by `apply` on the finished answer,
        whose concentrations it may change. "fit": a fit at the count that was found obeys it (constrained/)
    couples : whether one sample's concentrations bind another's, so that new samples are decoded without it
    by_run : whether it goes by the runs of samples or by their order in them, the `layout`
    parameter : the estimator's parameter that stands for one
    several : whether others of its kind may stand beside it
    """

    kind: ClassVar[str]
    stages: ClassVar[frozenset[Stage]]
    couples: ClassVar[bool] = False
    by_run: ClassVar[bool] = False
    parameter: ClassVar[str] = ""
    several: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """What messages call it; those of one name are told together."""
        return self.kind

    @property
    def least_count(self) -> int:
        """The least number of components that it can speak of."""
        return 0

    @property
    def count(self) -> int | None:
        """The number of components where it tells that, else None."""
        return None

    def apply(
        self, C: FloatArray | None, S: FloatArray, layout: Layout
    ) -> tuple[FloatArray | None, FloatArray]:
        """C and S changed as little as makes them obey; what came in is left as it is."""
        return C, S

    @abstractmethod
    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        """How far C and S are from obeying, relative to their size: 0 where they do."""

    def sentence(self) -> str:
        """The constraint for people."""
        return self.kind

    @classmethod
    def of_words(cls, words: list[str]) -> Self:
        """The constraint that words after its name tell, as the shell's --constraint has them."""
        raise InputError(f"the constraint {cls.kind} takes a table; give it in Python.")

    def as_dict(self) -> dict[str, Any]:
        """What a file stores of it."""
        return {"kind": self.kind} | {
            one.name: _plain(getattr(self, one.name)) for one in fields(self) if one.init
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraint) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(self.kind)


def _plain(value: Any) -> Any:
    """A value as a file has it; NaN is None there."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return None if isinstance(value, float) and np.isnan(value) else value


CONSTRAINTS: Registry[type[Constraint]] = Registry("constraint", Constraint)


def constraint_of_words(text: str) -> Constraint:
    """The constraint that a line such as "unimodal C", "closure 1" or "zero S 400:450" tells."""
    line = " ".join(text.split())
    kinds = sorted((kind for kind in CONSTRAINTS if f"{line} ".startswith(f"{kind} ")), key=len)
    if not kinds:
        raise InputError(f"{line!r:.60} is no constraint; they begin with {', '.join(CONSTRAINTS)}.")
    try:
        return CONSTRAINTS[kinds[-1]].of_words(line[len(kinds[-1]) :].split())
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{line!r:.60} cannot be read; see the page on constraints for its words.") from None


def constraint_of(stored: Mapping[str, Any]) -> Constraint:
    """The constraint that `as_dict` stored."""
    if stored["kind"] == "closure" and "when" not in stored:  # older files had it of the answer alone
        stored = {**stored, "when": "answer"}
    return rebuilt(CONSTRAINTS, stored)
