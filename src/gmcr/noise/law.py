"""What a noise law can be asked, and all laws by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from gmcr.noise.sigma import Sigma
from gmcr.registry import Registry, rebuilt
from gmcr.validation import FloatArray, check_number, require

LARGEST = 1e150  # its square is still a number


@dataclass(frozen=True)
class NoiseLaw(ABC):
    """A law of the noise with its level, one number that says how loud it is.

    A law is a frozen dataclass whose fields, `level` the first of them, are what a file stores of it.

    kind : its name, in files, options and messages
    per_entry : whether the variance differs between the channels of one sample
    automatic : whether it is among those that noise="auto" chooses from
    signed : whether it can hold where the fit is negative
    relative : whether the noise of a sample goes with the sample's size
    scaling : name of the scaling that makes it white; empty where there is none
    """

    level: float

    kind: ClassVar[str]
    per_entry: ClassVar[bool] = False
    automatic: ClassVar[bool] = False
    signed: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    scaling: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for part in fields(self):
            name, value = f"the noise {part.name}", getattr(self, part.name)
            if isinstance(part.default, tuple):  # which files store as a list
                value = value.tolist() if isinstance(value, np.ndarray) else value
                require(isinstance(value, list | tuple), name, "a list of numbers", value)
                object.__setattr__(self, part.name, value := tuple(value))
            for number in value if isinstance(part.default, tuple) else [value]:
                fine = 0 <= check_number(number, name) < LARGEST
                require(fine, name, "finite and not negative, below 1e150", number)

    @abstractmethod
    def sigma(self, D: FloatArray, fit: FloatArray | None = None) -> Sigma:
        """Standard deviations for samples D (NaN where missing) that are explained by `fit`, where that is known.

        Both (samples, channels). They are never below `rounding_floor(D)`.
        """

    @classmethod
    @abstractmethod
    def estimate(cls, D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray) -> Self:
        """The law at the level that residuals (samples, channels), NaN where they do not count, speak for.

        dof : (samples,) degrees of freedom that the fit has left in each residual
        """

    @abstractmethod
    def draw(self, mean: FloatArray, random: Generator) -> FloatArray:
        """Samples with these means and this noise: (samples, channels)."""

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """The law with all standard deviations times a factor."""

    @classmethod
    def whitened(cls, table: FloatArray) -> FloatArray | None:
        """A complete table scaled so that this noise is white in it; None where no scaling does that."""
        return None

    @classmethod
    def of_white(cls, sigma: float) -> Self:
        """The law whose noise has standard deviation `sigma` in a whitened table."""
        return cls(sigma)

    @property
    def common(self) -> NoiseLaw:
        """The law without what each sample says of its own noise: that may be a component not found yet."""
        return self

    def sentence(self) -> str:
        """The law for people: "constant, level 0.01"."""
        return f"{self.kind}, level {self.level:.4g}"

    def as_dict(self) -> dict[str, Any]:
        """What a file stores of it."""
        return {"kind": self.kind, **asdict(self)}


LAWS: Registry[type[NoiseLaw]] = Registry("noise law", NoiseLaw)


def whitenings(table: FloatArray) -> dict[type[NoiseLaw], FloatArray]:
    """The complete table under the scaling of each law that could be chosen and has one."""
    laws = [law for law in LAWS.values() if law.automatic and law.scaling]
    return {law: scaled for law in laws if (scaled := law.whitened(table)) is not None}


def law_of(stored: Mapping[str, Any]) -> NoiseLaw:
    """The law that `as_dict` stored."""
    return rebuilt(LAWS, stored)
