"""Checks on what comes in: a table that cannot be used is refused with row, column and remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from gmcr.errors import InputError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

LARGEST, SMALLEST = 1e60, 1e-60  # of the largest values of a table: their fourth powers are numbers


def is_lazy(table: Any) -> bool:
    """Whether a table is in blocks that are not loaded yet: dask's, or an xarray.DataArray with such inside."""
    return hasattr(table, "__dask_graph__") and table.__dask_graph__() is not None


def as_numbers(table: Any, name: str, *, copy: bool = True) -> FloatArray:
    """`table` as a float64 array of any shape; text, complex, sparse and lazy input are refused.

    Without `copy`, a float64 array comes back as it is; the caller must not write to it.
    """
    if is_lazy(table):
        raise InputError(
            f"{name} is a dask array, which would be loaded whole here; fit, decode and transform of GMCR "
            f"take it in blocks, anything else takes {name}.compute()."
        )
    if scipy.sparse.issparse(table):
        raise InputError(f"{name} is a sparse matrix; pass a dense array, e.g. {name}.toarray().")
    try:
        array = np.asarray(table)
    except ValueError:
        raise InputError(
            f"{name} has rows of different lengths; give every row the same number of entries."
        ) from None
    if np.iscomplexobj(array):
        raise InputError(
            f"Complex data not supported: {name} is complex; take its real part or its magnitude first."
        )
    if array.dtype.kind in "mM":
        raise InputError(f"{name} holds dates or times; convert them to numbers first.")
    try:
        return (np.array if copy else np.asarray)(array, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(_text_message(array, name)) from None


def as_counted(name: str) -> list[str | int]:
    """A key by which scan2 comes before scan10."""
    parts = re.split(r"([0-9]+)", name + "\0")
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def as_labels(labels: Any, n_samples: int, name: str) -> NDArray[Any]:
    """Labels that can be written as text, NaN not yet being one: (samples,)."""
    try:
        array = np.asarray(labels)
        array = np.asarray(labels, dtype=object) if array.dtype.kind in "SU" else array
        array.astype(str)
    except ValueError:
        raise InputError(f"{name} must be a list of labels, texts or numbers, one per sample.") from None
    if array.shape != (n_samples,):
        raise InputError(f"{name} must have {n_samples} labels, one per sample, but has shape {array.shape}.")
    return array


def check_samples(D: Any, name: str = "D", *, allow_constant: bool = True, copy: bool = True) -> FloatArray:
    """The samples as a float64 table; NaN means missing.

    Parameters
    ----------
    D : (samples, channels) array-like or DataFrame
    allow_constant : whether a table whose entries are all the same passes (yes for decoding, no for a fit)
    copy : whether the table must be the caller's own, to write to
    """
    array = as_numbers(D, name, copy=copy)
    if array.ndim != 2:
        reshape = f". Reshape your data: {name}.reshape(1, -1) is a single sample" if array.ndim == 1 else ""
        raise InputError(
            f"{name} must be a 2D array, samples x channels, but has shape {array.shape} "
            f"(Expected 2D array, got {array.ndim}D array instead){reshape}."
        )
    n_samples, n_channels = array.shape
    if n_samples == 0 or n_channels == 0:
        what = "sample(s)" if n_samples == 0 else "feature(s)"
        raise InputError(f"{name} is empty: 0 {what} (shape={array.shape}) while a minimum of 1 is required.")
    squares = squared_norms(array)
    if not np.isfinite(squares).all():
        check_finite(array, name)
        _refuse_missing_line(np.isnan(array).all(axis=1), name, "row", "sample")
    if not SMALLEST**2 <= squares.max() <= LARGEST**2:  # or it is not a number
        _check_scale(array, name, allow_small=allow_constant)
    if not allow_constant:
        _refuse_missing_line(np.isnan(array).all(axis=0), name, "column", "channel")
        low, high = np.nanmin(array), np.nanmax(array)
        if low == high == 0:
            raise InputError(f"{name} is zero in every row and column; check that the right data were read.")
        if low == high:
            raise InputError(
                f"{name} is constant: every row and column is {low:g}; check that the right data were read."
            )
    return array


def _check_scale(array: FloatArray, name: str, *, allow_small: bool) -> None:
    """Refuse values whose squares, and the squares of these, would be no numbers."""
    largest = float(np.nanmax(np.abs(array)))
    if largest > LARGEST or (0 < largest < SMALLEST and not allow_small):
        unit = f"1e{int(np.floor(np.log10(largest))):+d}"
        size = "large" if largest > LARGEST else "small"
        raise InputError(
            f"the largest value of {name} is {largest:.3g}, too {size} to be squared; divide {name} by {unit}."
        )


def squared_norms(D: FloatArray) -> FloatArray:
    """Squared norm of each row, NaN where an entry is missing: (samples,); one fast look at every entry."""
    with np.errstate(over="ignore"):
        return np.einsum("ml,ml->m", D, D)


def check_pool(S: Any, n_channels: int | None = None, name: str = "S") -> FloatArray:
    """A pool of profiles, (slots, channels), finite and without empty profiles."""
    pool = as_numbers(S, name)
    if pool.ndim != 2 or 0 in pool.shape:
        raise InputError(
            f"{name} must be a 2D array, slots x channels, with at least one of each, "
            f"but has shape {pool.shape}."
        )
    if n_channels is not None and pool.shape[1] != n_channels:
        raise InputError(
            f"{name} has {pool.shape[1]} channels and the samples have {n_channels}; "
            "put both on the same channel axis."
        )
    check_complete(pool, name, "profiles must be complete")
    empty = np.flatnonzero(~pool.any(axis=1))
    if empty.size:
        raise InputError(f"{name} row {empty[0]} is zero in every column; remove that profile.")
    return pool


def check_finite(array: FloatArray, name: str) -> None:
    """Refuse infinite entries; NaN passes."""
    if where := _first(np.isinf(array)):
        raise InputError(
            f"{name} is infinite at {where} (infinity found); mark it as missing with NaN or remove it."
        )


def check_complete(array: FloatArray, name: str, remedy: str) -> None:
    """Refuse infinite and missing entries."""
    check_finite(array, name)
    if where := _first(np.isnan(array)):
        raise InputError(f"{name} is missing a value at {where}; {remedy}.")


def check_not_negative(array: FloatArray, name: str) -> None:
    """Refuse negative entries of what is not signed."""
    if where := _first(array < 0):
        raise InputError(f"{name} is negative at {where}; pass signed=True if that is meant.")


def check_axis(axis: Any, n_channels: int, name: str = "axis") -> FloatArray:
    """Positions of channels, finite: (channels,)."""
    array = as_numbers(axis, name)
    if array.shape != (n_channels,):
        raise InputError(
            f"{name} must have {n_channels} values, one per channel, but has shape {array.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InputError(f"{name} must be finite, but is {array[bad[0]]} at channel {bad[0]}.")
    return array


def check_same_axis(axis: FloatArray | None, known: FloatArray | None, whose: str) -> None:
    """Refuse samples whose channels stand elsewhere than those of `whose`, where both tell."""
    if axis is None or known is None or len(axis) != len(known):
        return  # a different number of channels is for others to refuse
    off = np.flatnonzero(~np.isclose(axis, known, rtol=1e-6, atol=1e-6 * np.ptp(known)))
    if off.size:
        raise InputError(
            f"{whose} and the samples are on different axes (channel {off[0]} at {known[off[0]]:g} and at "
            f"{axis[off[0]]:g}); put both on the same channel axis."
        )


def channel_order(
    channels: Sequence[str] | None, known: Sequence[str] | None, whose: str
) -> NDArray[np.intp] | None:
    """Where each of the `known` channels stands among the samples' `channels`, or None to leave them as they are.

    That is so where one side has no names, or names that only number its channels, which say no more than their
    order does. Other names must be the same on both sides.
    """
    if channels is None or known is None or tuple(channels) == tuple(known):
        return None
    place = {name: number for number, name in enumerate(channels)}
    if len(place) == len(channels) == len(known) and place.keys() == set(known):
        return np.array([place[name] for name in known])
    if _only_number(channels) or _only_number(known):
        return None
    for one, other, holder in ((known, channels, whose), (channels, known, "the samples")):
        lone = sorted(set(one) - set(other), key=list(one).index)
        if lone:
            raise InputError(
                f"{whose} and the samples do not have the same channels: {len(lone)} are in {holder} alone, such "
                f"as {lone[0]!r:.40}; give both the same ones, in any order."
            )
    raise InputError(
        f"{whose} and the samples differ, and name a channel twice; give each a name of its own."
    )


def _only_number(names: Sequence[str]) -> bool:
    """Whether names only number what they stand for, such as V1, V2, V3."""
    found = [re.fullmatch(r"(\D*)\d+", name) for name in names]
    return all(found) and len({match[1] for match in found if match}) == 1


def check_per_sample(values: Any, n_samples: int, name: str) -> FloatArray:
    """A positive number, or one per sample, as an array of shape (samples,)."""
    array = as_numbers(values, name)
    if array.ndim > 1 or (array.ndim == 1 and array.size != n_samples):
        raise InputError(
            f"{name} must be one number or {n_samples}, one per sample, but has shape {array.shape}."
        )
    array = np.array(np.broadcast_to(array, n_samples))
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if bad.size:
        raise InputError(
            f"{name} must be finite and not negative, but is {array[bad[0]]} for sample {bad[0]}."
        )
    return array


def check_whole(value: Any, name: str, least: int = 1) -> int:
    """A whole number of at least `least`."""
    fine = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least
    require(fine, name, f"a whole number of at least {least}", value)
    return int(value)


def check_share(value: float | None, name: str) -> None:
    """Refuse a probability, or another share, that is all or nothing."""
    if value is None or not 0 < value < 1:
        raise InputError(f"{name} must lie between 0 and 1, not {value}.")


def require(fine: Any, name: str, what: str, value: Any) -> None:
    """Refuse a value that is not what it must be."""
    if not fine:
        raise InputError(f"{name} must be {what}, not {' '.join(repr(value).split())[:60]}.")


def check_number(value: Any, name: str) -> float:
    """One number, which may be infinite."""
    require(isinstance(value, Real) and value == value, name, "a number", value)
    return float(value)


def check_seed(random_state: Any) -> int:
    """The seed that a random state stands for: None is 0; a generator gives its next number."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return check_whole(random_state, "random_state", least=0)


def as_generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """A random generator from a seed, a generator or None."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state must be a non-negative integer, a Generator or None, but is {random_state!r}."
        ) from None


def _refuse_missing_line(all_missing: BoolArray | np.bool_, name: str, line: str, what: str) -> None:
    if all_missing.any():
        index = int(np.flatnonzero(all_missing)[0])
        raise InputError(f"{name} {line} {index} is missing in every entry (NaN); remove that {what}.")


def _first(found: BoolArray) -> str:
    """Where the first true entry stands, or an empty text."""
    return _place(np.argwhere(found)[0]) if found.any() else ""


def _place(position: Sequence[int] | NDArray[np.intp]) -> str:
    words = ("row", "column") if len(position) == 2 else ("entry",) * len(position)
    return ", ".join(f"{word} {index}" for word, index in zip(words, position))


def _text_message(array: NDArray[Any], name: str) -> str:
    for position, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError):
            shown = repr(value.item() if isinstance(value, np.generic) else value)
            shown = shown if len(shown) <= 40 else shown[:37] + "..."
            return (
                f"{name} holds {shown} at {_place(position) or 'its only entry'}, which is no number; "
                "remove headers and labels, or mark missing entries with NaN."
            )
    return f"{name} is not a table of numbers; give a 2D array of floats, samples x channels."


def evenly(n: int, most: int) -> NDArray[np.intp]:
    """At most `most` of n places, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))
