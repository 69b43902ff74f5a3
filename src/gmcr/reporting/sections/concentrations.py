"""How much of each component a sample holds, over samples and over an image."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gmcr.constraints.layout import Layout
from gmcr.reporting.charts import Heat, Maps, Plane, Series
from gmcr.reporting.contents import Contents
from gmcr.reporting.listing import Cell, Column, Listing, count_cell, fixed_cell, number_cell, numbers, texts
from gmcr.reporting.section import SECTIONS, Block, Section
from gmcr.reporting.words import amount, holds, several, thinned_note
from gmcr.text import block_means
from gmcr.validation import FloatArray, evenly

HEAT_ROWS = 600
MAP_PIXELS = 40_000  # of one map
ALL_MAP_PIXELS = 1_000_000
MOST_ROWS = 1_000  # samples listed
OWN_COLUMNS = 6  # components up to which each has a column in the table of samples


def build(contents: Contents) -> Iterator[Block | None]:
    yield f"How much of each component a {contents.row} holds, in units of profiles of unit norm."
    yield heat_chart(contents)
    yield maps_chart(contents)
    yield _samples(contents)


def heat_chart(contents: Contents, most: int = HEAT_ROWS) -> Heat:
    """Samples by components; most : rows."""
    found, names = contents.found, contents.sample_names
    rows = evenly(found.n_samples, most)
    note = thinned_note(contents, rows, ", evenly spread")
    return Heat(
        name="concentrations",
        title="Concentrations",
        alt=f"Heat map of {several(len(rows), contents.row)} by {several(found.n_components, 'component')}: the "
        f"darker, the more of it. White means that the {contents.row} does not hold the component.",
        x_label="component",
        y_label=contents.row,
        value_label="concentration",
        rows=tuple(names[m] for m in rows),
        columns=contents.component_names,
        values=found.concentrations[rows],
        note=f"{note} concentrations.csv holds all." if note else "",
    )


def lines_chart(contents: Contents, layout: Layout, label: str = "order") -> Plane:
    """Concentrations against the order of the samples, run by run; against their numbers where there is none."""
    found = contents.found
    rows = layout.series(found.n_samples)
    at = np.arange(float(found.n_samples)) if layout.order is None else layout.order
    if not rows:
        rows = Layout(layout.runs, at).series(found.n_samples)
    # A place between runs that is no number: a line ends there.
    places = np.concatenate([part for run in rows for part in (run, [-1])][:-1]).astype(np.intp)
    between = places < 0

    def in_order(values: FloatArray) -> FloatArray:
        return np.where(between, np.nan, values[places])

    errors = contents.concentration_errors
    series = tuple(
        Series(
            contents.component_names[j],
            in_order(at),
            in_order(found.concentrations[:, j]),
            "line" if layout.order is not None else "line+points",
            error=None if errors is None else in_order(errors[:, j]),
            place=j,
        )
        for j in range(found.n_components)
    )
    runs = "" if len(rows) == 1 else f" of {len(rows)} runs"
    return Plane(
        name="lines",
        title="Concentrations",
        alt=f"Concentrations of {several(found.n_components, 'component')} in "
        f"{several(found.n_samples, contents.row)}{runs}.",
        x_label=contents.row if layout.order is None else label,
        y_label="concentration",
        series=series,
        whole=layout.order is None,
    )


def maps_chart(contents: Contents, most: int = MAP_PIXELS) -> Maps | None:
    """The image of each component; most : pixels of one."""
    if contents.shape is None or contents.pixels is None:
        return None
    found, (height, width) = contents.found, contents.shape
    most = max(min(most, ALL_MAP_PIXELS // found.n_components), 400) if most <= MAP_PIXELS else most
    full = np.full((found.n_components, height * width), np.nan)
    full[:, contents.pixels] = found.concentrations.T
    pictures = np.stack([block_means(picture.reshape(height, width), most) for picture in full])
    rows, columns = pictures.shape[1:]
    note = f"Thinned for display: means over squares, {rows} x {columns} of {height} x {width} pixels."
    return Maps(
        name="maps",
        title="Concentration maps",
        alt=f"Maps of {several(found.n_components, 'component')} over {height} x {width} pixels: the darker, "
        "the more of it. Grey means that there is no pixel.",
        value_label="concentration",
        names=contents.component_names,
        values=pictures,
        note=note if (rows, columns) != (height, width) else "",
    )


def _samples(contents: Contents) -> Listing:
    """Who holds what, and how sure that is; of many samples the least sure and others evenly spread."""
    found, names = contents.found, contents.component_names
    rows, note = np.arange(found.n_samples), ""
    if found.n_samples > MOST_ROWS:
        doubt = contents.confidence if contents.confidence is not None else np.ones(found.n_samples)
        first = np.argsort(doubt, kind="stable")[: MOST_ROWS // 2]
        rows = np.unique(np.concatenate([first, evenly(found.n_samples, MOST_ROWS // 2)]))
        note = (
            f"{len(rows):,} of {found.n_samples:,} {contents.row}s are listed: those whose supports are least "
            "sure, and others evenly spread. concentrations.csv holds all."
        )
    own = found.n_components <= OWN_COLUMNS
    columns = texts(contents.row)
    columns += numbers(*names) if own else [*numbers("components"), Column("holds", wordy=True)]
    facts: list[tuple[Column, Any, Callable[[Any], Cell]]] = [
        (Column("confidence", numeric=True), contents.confidence, fixed_cell),
        (Column("residual / noise", numeric=True), contents.ratio, _ratio_cell),
        (Column("explained"), contents.known, lambda value: Cell("yes" if value else "no")),
        (Column("noise", numeric=True), found.noise, lambda value: number_cell(value, 3)),
    ]
    told = [(column, values, tell) for column, values, tell in facts if values is not None]
    columns += [column for column, _, _ in told]
    listed = []
    for m in rows.tolist():
        row = [Cell(contents.sample_names[m])]
        if own:
            amounts = found.concentrations[m].tolist()
            row += [Cell(amount(contents, m, j), value) for j, value in enumerate(amounts)]
        else:
            row += [count_cell(np.count_nonzero(found.concentrations[m])), Cell(holds(contents, m))]
        listed.append(row + [tell(values[m]) for _, values, tell in told])
    what = f"{contents.row.capitalize()}s"
    caption = f"{what}: concentrations with standard errors, confidence in the list of components, and fit"
    return Listing("samples", caption, columns, listed, note, tall=True)


def _ratio_cell(value: float) -> Cell:
    cell = number_cell(value, 3)
    return replace(cell, text=f"{value:.2f}") if value < 100 else cell


SECTIONS.add("concentrations", Section("Concentrations", 30, build, figures=("concentrations", "maps")))
