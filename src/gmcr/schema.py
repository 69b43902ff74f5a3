"""What a stored value must be: small checks that are put together, each an InputError that names the place.

A check is a function of a value and its name. Whoever writes a file says with them what it holds; whoever reads
one has it checked once, and need not look again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gmcr import validation
from gmcr.errors import InputError
from gmcr.validation import require

Check = Callable[[Any, str], None]

LARGEST = validation.LARGEST**2  # number in an array: the square of the largest that samples may have


def text(value: Any, name: str) -> None:
    require(isinstance(value, str), name, "a text", value)


def flag(value: Any, name: str) -> None:
    require(isinstance(value, bool), name, "true or false", value)


def number(least: float = -np.inf, most: float = np.inf, *, finite: bool = True) -> Check:
    """A number within bounds; infinite or NaN only where that is allowed."""

    def check(value: Any, name: str) -> None:
        fine = isinstance(value, int | float) and not isinstance(value, bool)
        fine = fine and (not finite or bool(np.isfinite(float(value) if abs(value) < 1e300 else np.inf)))
        fine = fine and (value != value or least <= value <= most)
        require(fine, name, _range("a number", least, most), value)

    return check


def whole(least: int = 0, most: int = 2**62) -> Check:
    """A whole number within bounds."""

    def check(value: Any, name: str) -> None:
        fine = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        require(fine, name, _range("a whole number", least, most), value)

    return check


def word(*allowed: str) -> Check:
    """One of a few texts."""

    def check(value: Any, name: str) -> None:
        require(isinstance(value, str) and value in allowed, name, f"one of {', '.join(allowed)}", value)

    return check


def maybe(check: Check) -> Check:
    """Nothing, or what another check lets pass."""
    return lambda value, name: None if value is None else check(value, name)


def either(*checks: Check) -> Check:
    """What one of them lets pass; the last one says what is wrong."""

    def check(value: Any, name: str) -> None:
        for one in checks[:-1]:
            try:
                return one(value, name)
            except InputError:
                continue
        return checks[-1](value, name)

    return check


def many(check: Check, length: int | None = None) -> Check:
    """A list, each entry of which passes; of a length where that is told."""

    def all_of(value: Any, name: str) -> None:
        require(isinstance(value, list | tuple), name, "a list", value)
        require(length is None or len(value) == length, name, f"a list of {length}", value)
        for place, entry in enumerate(value):
            check(entry, f"{name}[{place}]")

    return all_of


def pairs(first: Check, second: Check) -> Check:
    """A list of pairs."""

    def check(value: Any, name: str) -> None:
        many(lambda pair, place: many(anything, 2)(pair, place))(value, name)
        for place, (one, other) in enumerate(value):
            first(one, f"{name}[{place}]")
            second(other, f"{name}[{place}]")

    return check


def record(needed: Mapping[str, Check], more: Mapping[str, Check] | None = None) -> Check:
    """A mapping that has all of what is needed and, where it has more of what is told, that passes too.

    Entries that are not told are left alone: later versions may have more.
    """

    def check(value: Any, name: str) -> None:
        require(isinstance(value, dict), name, "a mapping", value)
        if lacking := [key for key in needed if key not in value]:
            raise InputError(f"{name} lacks {', '.join(lacking)}.")
        for key, one in {**needed, **(more or {})}.items():
            if key in value:
                one(value[key], f"{name}.{key}")

    return check


def mapping(check: Check) -> Check:
    """A mapping from texts to what passes."""

    def all_of(value: Any, name: str) -> None:
        require(isinstance(value, dict), name, "a mapping", value)
        for key, entry in value.items():
            check(entry, f"{name}.{key}"[:80])

    return all_of


def anything(value: Any, name: str) -> None:
    """For others to check."""


def array(
    *shape: int, kinds: str = "f", least: float = -LARGEST, most: float = LARGEST, missing: bool = False
) -> Check:
    """An array of finite numbers within bounds.

    shape : its length along each axis, −1 where any will do
    kinds : those of numpy's types; missing : whether entries may be NaN
    """

    def check(value: Any, name: str) -> None:
        fine = isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == len(shape)
        fine = fine and all(told in (-1, size) for told, size in zip(shape, value.shape))
        sizes = " x ".join("any" if size < 0 else str(size) for size in shape)
        came = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else value
        require(fine, name, f"an array of {sizes} numbers", came)
        if value.dtype.kind == "f":
            there = ~np.isnan(value) if missing else np.ones(value.shape, dtype=bool)
            require(np.isfinite(value[there]).all(), name, "made of finite numbers", came)
            within = bool((value[there] >= least).all() and (value[there] <= most).all())
            require(within, name, _range("made of numbers", least, most), came)

    return check


def _range(what: str, least: float, most: float) -> str:
    if np.isinf(least) and np.isinf(most):
        return what
    if abs(most) >= 2**62:
        return f"{what} of at least {least:g}"
    return f"{what} between {least:g} and {most:g}"
