"""The doors: what can be added to gmcr, by a file of its own here or by an installed package.

A noise law, a constraint, a step, a file format, a rank rule and a report section are each registered by name
in a `Registry`. What is built in comes through the same door as what a stranger adds. A package adds its things
by an entry point of the group `gmcr` that names a module; importing the module registers them:

    [project.entry-points.gmcr]
    my-lab = "my_lab.gmcr_things"

The module says which interface it was written for, `GMCR_INTERFACE = 1`, and is left out, with a warning, where
that is not this one. Files name a kind, never a place to import from.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract
from types import FrameType
from typing import Any, Generic, TypeVar

from gmcr.errors import InputError, NotInstalled

INTERFACE = 1  # of laws, constraints, steps, file formats, rank rules and report sections
GROUP = "gmcr"

T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one sort by name, in the order they came: the built-in ones, then those of installed packages."""

    def __init__(self, sort: str, base: type | None = None) -> None:
        self.sort = sort  # "noise law": for messages
        self.base = base  # what its things are or, where that is abstract, are subclasses of, by their `kind`
        self._things: dict[str, T] = {}
        self._sources: dict[str, str] = {}
        _registries.append(self)

    def add(self, name: str, thing: T) -> T:
        """Register a thing under a name that is not taken."""
        # Loading a package may import files of gmcr, whose things are not that package's.
        module = str(sys._getframe(1).f_globals.get("__name__"))
        source = "gmcr" if module.split(".")[0] == "gmcr" else _loading or f"the module {module}"
        if not (isinstance(name, str) and name.strip()):
            raise InputError(f"a {self.sort} needs a name, not {name!r}.")
        if name in self._things:
            raise InputError(
                f"the {self.sort} {name!r} of {source} is there already, from {self._sources[name]}; "
                "give it another name."
            )
        self._check(name, thing)
        self._things[name] = thing
        self._sources[name] = source
        return thing

    def _check(self, name: str, thing: Any) -> None:
        base, must = self.base, f"the {self.sort} {name!r} must be a"
        if base is None or (not isabstract(base) and isinstance(thing, base)):
            return
        if not isabstract(base):
            raise InputError(f"{must} {base.__name__}, not {thing!r:.60}.")
        if not (isinstance(thing, type) and issubclass(thing, base)):
            raise InputError(f"{must} subclass of {base.__name__}, not {thing!r:.60}.")
        if lacking := ", ".join(sorted(getattr(thing, "__abstractmethods__", ()))):
            raise InputError(f"{must} class that can be used; it lacks {lacking}.")
        if (kind := getattr(thing, "kind", None)) != name:
            raise InputError(f"{must} class with kind = {name!r}, not {kind!r}.")

    def __getitem__(self, name: str) -> T:
        if name not in self:
            raise InputError(
                f"the {self.sort} {name!r:.60} is not known here; install the package that adds it, or choose "
                f"{', '.join(self._things)}."
            )
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._things:
            load_plugins()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter(tuple(self._things))

    def items(self) -> list[tuple[str, T]]:
        """Names and things."""
        return [(name, self._things[name]) for name in self]

    def values(self) -> list[T]:
        """The things themselves."""
        return [self._things[name] for name in self]

    def _forget(self, source: str) -> None:
        for name in [name for name, origin in self._sources.items() if origin == source]:
            del self._things[name], self._sources[name]


def rebuilt(registry: Registry[type[T]], stored: Mapping[str, Any]) -> T:
    """The law or constraint that its `as_dict` stored: its kind, and its fields."""
    fields = dict(stored)
    if (name := fields.pop("kind")) not in registry:
        raise NotInstalled(
            f"the {registry.sort} {name!r:.60} is not known here; install the package that adds it."
        )
    try:
        return registry[name](**fields)
    except TypeError:
        given = ", ".join(map(str, fields)) or "none"
        raise InputError(f"a {name} {registry.sort} is not made of these fields: {given}.") from None


_registries: list[Registry] = []
_lock = threading.RLock()  # one thread loads, the others wait for all of it, and so do forks
_loading: str | None = None  # the entry point whose module is being imported
_loaded = False


def load_plugins() -> None:
    """Import what installed packages add, once; one that cannot be used is told and left out whole."""
    global _loaded
    if _loaded or not _alone():
        return
    try:
        if _loaded or _loading is not None:  # a package that looks into a registry while it is loaded
            return
        if hasattr(os, "register_at_fork"):  # only now, to be taken before the locks of `threads`
            os.register_at_fork(before=_alone, after_in_parent=_after_fork, after_in_child=_after_fork)
        for entry in entry_points(group=GROUP):
            _load(entry)
        _loaded = True
    finally:
        _lock.release()


def _alone() -> bool:
    """Wait until nobody else loads; but not within an import, for which the other may be waiting in turn."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return _lock.acquire(blocking=frame is None)


def _after_fork() -> None:
    with suppress(RuntimeError):  # somebody else's, where this thread could not wait
        _lock.release()


def _load(entry: EntryPoint) -> None:
    global _loading
    _loading = f"{entry.name} of the package {entry.dist.name if entry.dist else 'unknown'}"
    try:
        wanted = getattr(entry.load(), "GMCR_INTERFACE", None)
        if wanted != INTERFACE:
            raise InputError(f"it is written for interface {wanted} of gmcr, and this is {INTERFACE}.")
    except (Exception, SystemExit) as error:  # whatever a stranger's module does, gmcr goes on without it
        for registry in _registries:
            registry._forget(_loading)
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        warnings.warn(f"{_loading} adds nothing to gmcr: {reason}.", stacklevel=4)
    finally:
        _loading = None
