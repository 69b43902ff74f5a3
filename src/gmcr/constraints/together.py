"""All that an answer must obey, as the solver and the decoder need it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from gmcr.constraints.at_most import AtMost
from gmcr.constraints.constraint import Constraint, Stage
from gmcr.constraints.layout import Layout
from gmcr.constraints.nonnegative import NonNegative
from gmcr.constraints.reference import ReferenceProfile
from gmcr.errors import InputError
from gmcr.validation import FloatArray, as_numbers, check_number, check_whole, require

K = TypeVar("K", bound=Constraint)


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints that hold together, none twice.

    What the compiled code honours by itself it takes from here: `signed`, `signed_amounts`, `most`, `fixed`.
    """

    given: tuple[Constraint, ...] = (NonNegative(),)

    @classmethod
    def of(
        cls, given: Iterable[Constraint] = (), *, signed: bool | str = False, k_max: int | None = None
    ) -> Constraints:
        """Those given and those that parameters stand for; `signed` is False, "profiles" or True."""
        all_of_them: list[Constraint] = [] if signed is True else [NonNegative(profiles=signed != "profiles")]
        all_of_them += [] if k_max is None else [AtMost(check_whole(k_max, "k_max"))]
        return cls(()).also(*all_of_them, *given)

    def also(self, *more: Constraint) -> Constraints:
        """These and more, each kind once."""
        found = list(self.given)
        for one in more:
            require(isinstance(one, Constraint), "constraints", "objects of gmcr.constraints", one)
            if one in found:
                continue
            if not one.several and any(other.kind == one.kind for other in found):
                stands = f" ({one.parameter} stands for one too)" if one.parameter else ""
                raise InputError(f"the constraint {one.kind} is given twice{stands}; give it once.")
            found.append(one)
        return Constraints(tuple(found))

    def find(self, kind: type[K]) -> K | None:
        """The constraint of this kind, if it is one of them."""
        return next((one for one in self.given if isinstance(one, kind)), None)

    @property
    def signed(self) -> bool:
        """Whether profiles may be negative."""
        bound = self.find(NonNegative)
        return bound is None or not bound.profiles

    @property
    def signed_amounts(self) -> bool:
        """Whether concentrations may be negative."""
        return self.find(NonNegative) is None

    @property
    def fixed(self) -> FloatArray | None:
        """(known, channels) the profiles known beforehand and exactly, of unit norm."""
        reference = self.find(ReferenceProfile)
        return None if reference is None or reference.weight is not None else reference.profiles

    @property
    def n_named(self) -> int:
        """How many components, the first ones, are named by a profile, exact or near."""
        reference = self.find(ReferenceProfile)
        return 0 if reference is None else len(reference.profiles)

    @property
    def n_fixed(self) -> int:
        return 0 if self.fixed is None else len(self.fixed)

    @property
    def k_max(self) -> int | None:
        """Most components in a sample, where that was told."""
        most = self.find(AtMost)
        return None if most is None else most.k

    @property
    def count(self) -> int | None:
        """The number of components, where constraints tell it."""
        told = {one.name: one.count for one in self.given if one.count is not None}
        if len(set(told.values())) > 1:
            said = ", ".join(f"{name} {count}" for name, count in told.items())
            raise InputError(f"constraints speak of different numbers of components: {said}.")
        return next(iter(told.values()), None)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of those that hold for the samples of the fit alone: new samples are decoded one by one."""
        # Closure holds for fractions of any sample.
        own = [one for one in self.at("fit") if getattr(one, "of", "") == "C"] + [
            one for one in self.given if one.couples
        ]
        return tuple(dict.fromkeys(one.name for one in own))

    def most(self, n_slots: int, n_channels: int) -> int:
        """Most components that a sample can hold over so many slots and channels."""
        return min(n_slots, n_channels) if self.k_max is None else min(self.k_max, n_slots, n_channels)

    def positive(self, values: FloatArray) -> FloatArray:
        """Values as profiles may be: without their negative part, unless that is allowed."""
        return values if self.signed else np.maximum(values, 0.0)

    def at(self, stage: Stage) -> list[Constraint]:
        return [one for one in self.given if stage in one.stages]

    def on_pool(self, S: FloatArray, sizes: FloatArray, free: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Refitted profiles (slots, channels) of unit norm that obey, and their sizes; all but `free` stay."""
        for one in self.at("pool"):
            changed = _made_by(one, one.apply(None, S, Layout())[1], S)
            norms = np.linalg.norm(changed, axis=1)
            kept = (norms > 0) & np.isin(np.arange(len(S)), free)  # a profile that would vanish stays
            S = np.where(kept[:, None], changed / np.where(kept, norms, 1.0)[:, None], S)
            sizes = np.where(kept, sizes * norms, sizes)
        return S, sizes

    def on_answer(self, C: FloatArray, S: FloatArray, layout: Layout) -> FloatArray:
        """Concentrations (samples, components) of the finished answer that obey; its profiles stay."""
        for one in self.at("answer"):
            changed = one.apply(C, S, layout)[0]
            C = C if changed is None else _made_by(one, changed, C)
        return C

    def violations(self, C: FloatArray, S: FloatArray, layout: Layout) -> dict[str, float]:
        """How far an answer is from obeying each: 0 where it does."""
        told = dict[str, float]()
        for one in self.given:
            value = check_number(one.violation(C, S, layout), f"the violation of {one.name}") + 0.0
            told[one.name] = max(value, told.get(one.name, 0.0))
        return told


def _made_by(one: Constraint, values: Any, like: FloatArray) -> FloatArray:
    """What a constraint has made of an array, if it can stand for it."""
    name = f"what the constraint {one.kind} gives"
    made = as_numbers(values, name, copy=False)
    fine = made.shape == like.shape and np.isfinite(made).all()
    require(fine, name, f"finite numbers of shape {like.shape}", made)
    return made
