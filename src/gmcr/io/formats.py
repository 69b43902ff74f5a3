"""What a file format says about itself, the registry of formats, and which of them a file has or is to have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gmcr.errors import InputError
from gmcr.io.opening import FilePath, need, read_bytes
from gmcr.registry import Registry

if TYPE_CHECKING:
    from gmcr.io.table import Table

# Names under which a file of named arrays may hold samples, or a pool.
SAMPLES = ("D", "X", "samples", "data", "spectra", "intensity", "intensities", "absorbance", "cube", "image")
POOL = ("S", "components", "pool", "profiles", "spectra", "library")
MARKED = 64  # bytes in which a format marks itself


@dataclass(frozen=True)
class Asked:
    """What the caller says about a file.

    What the array with the samples may be `called`, the likeliest first; whether the cells are `marks`, yes or no
    for the row's and the column's name (`gmcr.io.marks`); the bytes of `memory` that reading may take, None for
    what `gmcr.io.limits` allows; the rest as `gmcr.read` takes it.
    """

    samples_in: str = "auto"
    called: tuple[str, ...] = SAMPLES
    name: str | None = None
    channel_axis: int | None = None
    marks: bool = False
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.samples_in not in ("auto", "rows", "columns"):
            raise InputError(f'samples_in must be "auto", "rows" or "columns", not {self.samples_in!r}.')


NOTHING = Asked()


@dataclass(frozen=True, eq=False)
class Format:
    """A file format, registered under the name it has in messages and in docs/formats.md."""

    suffixes: tuple[str, ...]  # in lower case; .0 stands for any number
    read: Callable[[FilePath, Asked], Table]
    takes: tuple[str, ...] = ()  # what of `Asked` it heeds: "samples_in", "name"
    mark: bytes | None = None  # pattern that a file's first bytes match, where the format marks them
    is_one: Callable[[FilePath], bool] | None = None  # a closer look, where several formats begin alike
    package: str = ""  # what parses it, if gmcr does not
    extra: str = ""  # of gmcr, which installs the package
    apart: bool = True  # read in a process of its own: yes, unless it was written for damaged files
    # Writes a header and rows to a file that ends in the first of the suffixes.
    write: Callable[[FilePath, Sequence[Any], Iterable[Sequence[Any]]], None] | None = None

    def __post_init__(self) -> None:
        if not self.suffixes or not all(re.fullmatch(r"\.[^.A-Z]+", suffix) for suffix in self.suffixes):
            raise InputError(f"suffixes must be a tuple such as ('.csv',), not {self.suffixes!r:.60}.")
        re.match(self.mark or b"", b"")  # a pattern that is none must fail here, and not at everybody's files


FORMATS: Registry[Format] = Registry("file format", Format)


def format_of(path: FilePath) -> str | None:
    """The name of a file's format: by its first bytes where a format marks them, else by its extension."""
    start = read_bytes(path, MARKED)
    suffix = re.sub(r"^\.\d+$", ".0", Path(path).suffix.lower())
    suited = [name for name, form in FORMATS.items() if suffix in form.suffixes]
    marked = {name: f for name, f in FORMATS.items() if f.mark and re.match(f.mark, start, re.DOTALL)}
    # Of formats that begin alike: the one of this extension, one that a closer look tells, one without one.
    likely = [name for name in marked if name in suited]
    likely += [name for name, form in marked.items() if not likely and form.is_one and form.is_one(path)]
    likely += [name for name, form in marked.items() if form.is_one is None]
    return next(iter(likely + suited), None)


def write_rows(path: FilePath, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a header and rows to a file whose extension is that of a format that writes: .csv or .xlsx."""
    writers = {form.suffixes[0]: form for form in FORMATS.values() if form.write is not None}
    form = writers.get(Path(path).suffix.lower())
    if form is None or form.write is None:
        raise InputError(f"{path} must end in {' or '.join(writers)}.")
    need(form.package, form.extra, path, "written")
    form.write(path, header, rows)
