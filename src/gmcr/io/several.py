"""Several tables put together into one: the files of a folder, or the sheets of a workbook, each a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gmcr.io.formats import Asked
from gmcr.io.opening import FilePath
from gmcr.io.spectra import Spectrum, join
from gmcr.io.table import Table

MOST_NOTES = 5  # of single tables


def put_together(path: FilePath, tables: Mapping[str, Table], notes: Sequence[str], asked: Asked) -> Table:
    """All samples of tables, by label, on one axis; each table is a run where some hold several samples."""
    several = any(len(table.samples) > 1 for table in tables.values())
    channels = next(iter(tables.values())).channels
    named = {label: table.ordered_as(channels, "the first table") for label, table in tables.items()}
    spectra = [spectrum for label, table in named.items() for spectrum in _spectra(label, table)]
    told = [*notes, *(_notes(tables) if several else ())]
    joined = join(path, spectra, told, asked)
    columns = {
        name: [spectrum.metadata.get(name) for spectrum in spectra]
        for table in tables.values()
        for name, value in table.metadata.items()
        if isinstance(value, list)
    }
    return replace(
        joined,
        metadata=joined.metadata | columns,
        channels=channels if joined.axis is None else None,
        runs=tuple(label for label, table in tables.items() for _ in table.samples) if several else None,
    )


def own_name(name: str, run: str) -> str:
    """What a sample is called in its own table."""
    return name.removeprefix(f"{run} ")


def _spectra(label: str, table: Table) -> list[Spectrum]:
    own = table.sample_names or range(len(table.samples))
    names = [label] if len(table.samples) == 1 else [f"{label} {name}" for name in own]
    return [
        Spectrum(values, table.axis, name, table.axis_unit, _facts(table.metadata, m))
        for m, (name, values) in enumerate(zip(names, table.samples))
    ]


def _facts(metadata: dict[str, Any], m: int) -> dict[str, Any]:
    """What is said of one sample."""
    return {name: value[m] if isinstance(value, list) else value for name, value in metadata.items()}


def _notes(tables: Mapping[str, Table]) -> list[str]:
    """What was inferred of all tables, of some, and that they are runs."""
    often = Counter(note for table in tables.values() for note in set(table.notes))
    common = [note for note in next(iter(tables.values())).notes if often[note] == len(tables)]
    own = [
        f"{label}: {note}" for label, table in tables.items() for note in table.notes if note not in common
    ]
    sizes = [f"{label} ({len(table.samples)})" for label, table in tables.items()]
    more = ", …" if len(sizes) > MOST_NOTES else ""
    return [*common, *own[:MOST_NOTES], f"{len(sizes)} runs: {', '.join(sizes[:MOST_NOTES])}{more}."]
