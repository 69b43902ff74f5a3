"""Results that a checkpoint keeps: a run that goes on takes them from there, and so goes the very same way.

A function that is `remembered` gives the same result for the same arguments. While a checkpoint is in use, its
results are kept there under a digest of what it was called with; without one it is called as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gmcr.noise import NoiseLaw, Sigma, law_of
from gmcr.threads import kept

F = TypeVar("F", bound=Callable[..., Any])

STORABLE: dict[str, type] = {"Sigma": Sigma}  # dataclasses that results may hold, by name


class Keeper(Protocol):
    def result(self, key: str, compute: Callable[[], Any], given: tuple[Any, ...]) -> Any:
        """What compute() gives, from what was kept where it is there; given : the arguments."""


current: ContextVar[Keeper | None] = ContextVar("current", default=None)


def remembered(function: F) -> F:
    """The function, with its results kept by the checkpoint that is in use."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        keeper = current.get()
        if keeper is None:
            return function(*given, **named)
        key = digest([name, given, named])
        return keeper.result(key, lambda: function(*given, **named), given)

    return call  # type: ignore[return-value]


def remember(compute: Callable[[], Any], *told: Any) -> Any:
    """What compute() gives, kept by the checkpoint that is in use; told : what it is the same for."""
    keeper = current.get()
    return compute() if keeper is None else keeper.result(digest(list(told)), compute, ())


def storable(kind: type) -> type:
    """A dataclass that results may hold."""
    STORABLE[kind.__name__] = kind
    return kind


# What tells one set of arguments from another


def digest(value: Any) -> str:
    """The same for values that are equal to the last bit, and for no others."""
    out = hashlib.sha256()
    for part in _bytes_of(value):
        out.update(part)
    return out.hexdigest()


def _bytes_of(value: Any) -> Iterable[Any]:
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        yield f"array {array.dtype.str} {array.shape};".encode()
        yield array.reshape(-1).view(np.uint8).data
    elif hasattr(value, "as_dict"):  # a law, a constraint
        yield f"{type(value).__name__};".encode()
        yield from _bytes_of(value.as_dict())
    elif is_dataclass(value) and not isinstance(value, type):
        once = getattr(value, "digest_once", False)
        yield (kept(value, "_digest", lambda: _of_fields(value)) if once else _of_fields(value)).encode()
    elif isinstance(value, dict):
        yield f"dict {len(value)};".encode()
        for item in sorted(value.items()):
            yield from _bytes_of(item)
    elif isinstance(value, list | tuple):
        yield f"list {len(value)};".encode()
        for item in value:
            yield from _bytes_of(item)
    elif value is None or isinstance(value, bool | int | float | str | np.generic):
        yield f"{type(value).__name__} {value!r};".encode()
    else:
        raise TypeError(f"no digest of a {type(value).__name__}")


def _of_fields(value: Any) -> str:
    parts = [getattr(value, field.name) for field in fields(value)]
    return f"{type(value).__name__} {digest(parts)};"


# Results as JSON and arrays

Arrays = dict[str, NDArray[Any]]


def pack(value: Any, given: tuple[Any, ...], arrays: Arrays) -> Any:
    """A result in JSON's types; its arrays go to `arrays` by their digests.

    What is one of the arguments, or a part of one, is named as such: it comes back as the same object.
    """
    return _Packing({id(part): place for place, part in _parts(given)}, arrays).pack(value)


def unpack(stored: Any, given: tuple[Any, ...], array: Callable[[str], NDArray[Any]]) -> Any:
    """The result that `pack` took apart; array : what finds one by its digest."""
    if not isinstance(stored, dict):
        return stored

    def each(parts: list[Any]) -> list[Any]:
        return [unpack(part, given, array) for part in parts]

    ((kind, value),) = stored.items()
    match kind:
        case "given":
            return next(part for place, part in _parts(given) if place == value)
        case "array":
            return array(value)
        case "law":
            return law_of(value)
        case "dict":
            return dict(each(pair) for pair in value)
        case "list" | "tuple":
            return each(value) if kind == "list" else tuple(each(value))
    return STORABLE[kind](**{name: unpack(part, given, array) for name, part in value.items()})


def _parts(given: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """The arguments and the objects that they hold, with their places."""
    waiting = [(str(number), one) for number, one in enumerate(given)]
    while waiting:
        place, value = waiting.pop()
        if is_dataclass(value):
            waiting += [(f"{place}.{field.name}", getattr(value, field.name)) for field in fields(value)]
        if is_dataclass(value) or isinstance(value, np.ndarray):
            yield place, value


class _Packing:
    """Of one result; places : by the id of what was given, where it stands."""

    def __init__(self, places: dict[int, str], arrays: Arrays) -> None:
        self.places, self.arrays = places, arrays

    def pack(self, value: Any) -> Any:
        if id(value) in self.places:
            return {"given": self.places[id(value)]}
        if isinstance(value, np.ndarray):
            self.arrays[name := digest(value)] = value
            return {"array": name}
        if isinstance(value, NoiseLaw):
            return {"law": value.as_dict()}
        if type(value) in STORABLE.values():
            parts = {field.name: self.pack(getattr(value, field.name)) for field in fields(value)}
            return {type(value).__name__: parts}
        if isinstance(value, dict):
            return {"dict": [[self.pack(part) for part in item] for item in value.items()]}
        if isinstance(value, list | tuple):
            return {type(value).__name__: [self.pack(part) for part in value]}
        if isinstance(value, np.generic):
            return value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise TypeError(f"a {type(value).__name__} cannot be kept")
