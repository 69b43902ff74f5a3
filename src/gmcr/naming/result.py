"""What a search in a library found: a table that prints."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from gmcr.errors import printable
from gmcr.text import aligned, cell, table_html

NAMED = "named"
SEVERAL = "one of several"
NONE = "none of these"
WIDTH = 32  # characters of a name


@dataclass(frozen=True, eq=False, repr=False)
class Matches:
    """Names of profiles from a library.

    Attributes
    ----------
    table : DataFrame, one row per profile: component (its number), name (empty for none), verdict ("named",
        "one of several" where more than one spectrum reaches the level, "none of these"), hit (the spectrum
        taken, or else the nearest), its hqi, hqi_derivative, cosine and shift along the axis, the level that its
        HQI had to reach, and the next best spectrum of another name with its HQI
    hits : DataFrame, the best spectra for each profile: component, rank, hit, hqi, hqi_derivative, cosine, shift
    shift : largest shift along the axis that was tried, either way
    derivative : whether the derivative decided; the level is then one of hqi_derivative
    notes : what was inferred or left out, a sentence each
    """

    table: pd.DataFrame
    hits: pd.DataFrame
    shift: float
    derivative: bool
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str | None, ...]:
        """The name of each profile, None where no spectrum is alike enough."""
        return tuple(name or None for name in self.table["name"])

    @property
    def how(self) -> str:
        """How the verdicts came about, in a sentence or two."""
        form = "first derivatives (Savitzky-Golay)" if self.derivative else "spectra"
        return (
            f"HQI = 100 r² of {form}, whatever their offset and scale, shifted by up to {self.shift:g} along the "
            "axis. A name needs the level beside it: more alike than different substances of this library are, "
            "less what the profile's noise takes, and more than chance reaches."
        )

    def as_dict(self) -> dict[str, Any]:
        """All of it in JSON's types, but for NaN."""
        rows = self.table.to_dict("records")
        for row in rows:
            own = self.hits[self.hits["component"] == row["component"]]
            row["hits"] = own.drop(columns="component").to_dict("records")
            row["name"] = row["name"] or None
        return {
            "components": rows,
            "shift": self.shift,
            "derivative": self.derivative,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        named = sum(name is not None for name in self.names)
        return f"<Matches: {named} of {len(self.table)} profiles named>"

    def __str__(self) -> str:
        header, rows = self._cells()
        lines = aligned([header, *rows], left=(0, 1, 7))
        return "\n".join([*lines, "", self.how, *map(printable, self.notes)])

    def _repr_html_(self) -> str:
        header, rows = self._cells()
        notes = "".join(f"<p>{escape(printable(text))}</p>" for text in (self.how, *self.notes))
        return f"<div>{table_html(header, [[*map(escape, row)] for row in rows])}{notes}</div>"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        header = ["component", "name", "HQI", "level", "HQI'", "cosine", "shift", "next best", "its HQI"]
        rows = []
        for row in self.table.itertuples():
            name = (
                f"{NONE} ({cell(row.hit, WIDTH)} is nearest)"
                if row.verdict == NONE
                else cell(row.name, WIDTH)
            )
            name += f" ({SEVERAL})" if row.verdict == SEVERAL else ""
            numbers = [f"{row.hqi:.1f}", f"{row.level:.1f}", f"{row.hqi_derivative:.1f}"]
            numbers += [f"{row.cosine:.4f}", f"{row.shift:g}"]
            rival = f"{row.next_hqi:.1f}" if row.next else "–"
            rows.append([cell(row.component, WIDTH), name, *numbers, cell(row.next, WIDTH), rival])
        return header, rows
