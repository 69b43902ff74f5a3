"""The doors: what can be added to gmcr, by a file of its own here or by an installed package.

A noise law, a constraint, a reader, a rank rule and a report section are each registered by name in a `Registry`.
What is built in comes through the same door as what a stranger adds. A package adds its things by an entry point
of the group `gmcr` that names a module; importing the module registers them:

    [project.entry-points.gmcr]
    my-lab = "my_lab.gmcr_things"

The module says which interface it was written for, `GMCR_INTERFACE = 1`, and is left out, with a warning, where
that is not this one. Files name a kind, never a place to import from.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from gmcr.errors import InputError

INTERFACE = 1  # of laws, constraints, readers, rank rules and report sections
GROUP = "gmcr"

T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one sort by name, in the order they came: the built-in ones, then those of installed packages."""

    def __init__(self, sort: str) -> None:
        self.sort = sort  # "noise law": for messages
        self._things: dict[str, T] = {}
        self._sources: dict[str, str] = {}
        _registries.append(self)

    def add(self, name: str, thing: T) -> T:
        """Register a thing under a name that is not taken."""
        if not (isinstance(name, str) and name.strip()):
            raise InputError(f"a {self.sort} needs a name, not {name!r}.")
        if name in self._things:
            raise InputError(
                f"the {self.sort} {name!r} of {_source} is there already, from {self._sources[name]}; "
                "give it another name."
            )
        self._things[name] = thing
        self._sources[name] = _source
        return thing

    def __getitem__(self, name: str) -> T:
        if name not in self._things:
            load_plugins()
        if name not in self._things:
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

    def values(self) -> list[T]:
        """The things themselves."""
        return [self._things[name] for name in self]

    def _forget(self, source: str) -> None:
        for name in [name for name, origin in self._sources.items() if origin == source]:
            del self._things[name], self._sources[name]


_registries: list[Registry] = []
_source = "gmcr"  # who is registering
_loaded = False


def load_plugins() -> None:
    """Import what installed packages add, once; one that cannot be used is told and left out whole."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    for entry in entry_points(group=GROUP):
        _load(entry)


def _load(entry: EntryPoint) -> None:
    global _source
    _source = f"the package {entry.dist.name}" if entry.dist is not None else f"the entry point {entry.name}"
    try:
        wanted = getattr(entry.load(), "GMCR_INTERFACE", None)
        if wanted != INTERFACE:
            raise InputError(f"it is written for interface {wanted} of gmcr, and this is {INTERFACE}")
    except Exception as error:  # whatever a stranger's module does, gmcr goes on without it
        for registry in _registries:
            registry._forget(_source)
        warnings.warn(f"{_source} adds nothing to gmcr: {error}", stacklevel=4)
    finally:
        _source = "gmcr"
