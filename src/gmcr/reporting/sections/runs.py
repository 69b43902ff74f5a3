"""Runs of samples: concentrations over the order of each, and the areas under them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gmcr.constraints import Layout
from gmcr.reporting.charts import Plane, Series
from gmcr.reporting.contents import Contents, IntArray
from gmcr.reporting.listing import Cell, Listing, number_cell, numbers, texts
from gmcr.reporting.section import SECTIONS, Block, Row, Section, Text
from gmcr.reporting.words import several
from gmcr.text import POINTS, thinned

MOST_CHARTS = 24
MOST_LINES = 12  # components in a chart, those with the most signal


def build(contents: Contents) -> Iterator[Block | None]:
    if contents.runs is None and contents.order is None:
        return
    n_samples = contents.found.n_samples
    layout = Layout.of(contents.runs, contents.order, n_samples)
    names = layout.names or (f"all {contents.row}s",)
    so_many = several(len(names), "run")
    if layout.order is None:
        yield f"{so_many} of {contents.row}s. No order of them was given, so there is none to draw."
    else:
        yield f"How much of each component there is over the order of the {contents.row}s, in {so_many}."
        shown = list(zip(names, layout.series(n_samples)))[:MOST_CHARTS]
        yield Row([_over_order(contents, layout.order, *one, k) for k, one in enumerate(shown)], "runs")
        if len(names) > len(shown):
            yield Text(f"The first {len(shown)} of {len(names):,} runs are drawn.", "note")
    yield _areas(contents, layout, names)


def _over_order(contents: Contents, order: np.ndarray, name: str, rows: IntArray, k: int) -> Plane:
    drawn = contents.by_signal[:MOST_LINES].tolist()
    at, series = order[rows], []
    for place, j in enumerate(drawn):
        values = contents.found.concentrations[rows, j]
        chosen = thinned(values, POINTS)
        series.append(Series(contents.component_names[j], at[chosen], values[chosen], place=place))
    tops = [f"{one.name} at {one.x[one.y.argmax()]:.4g}" for one in series if one.y.any()]
    left = contents.found.n_components - len(drawn)
    return Plane(
        name=f"run-{k}",
        title=name,
        alt=f"Concentrations of {several(len(series), 'component')} in {several(len(rows), contents.row)}, in "
        f"order. Largest: {', '.join(tops) or 'none'}.",
        x_label=contents.row_label or "order",
        y_label="concentration",
        series=tuple(series),
        note=f"The {len(drawn)} components with the most signal; {left} are not drawn." if left else "",
    )


def _areas(contents: Contents, layout: Layout, names: tuple[str, ...]) -> Listing:
    areas = layout.areas(contents.found.concentrations)
    rows = [[Cell(name), *map(number_cell, row)] for name, row in zip(names, areas.tolist())]
    what = "Sums of concentrations" if layout.order is None else "Areas under concentrations over the order"
    columns = texts("run") + numbers(*contents.component_names)
    return Listing("areas", f"{what}, by run; areas.csv holds them too", columns, rows, tall=True)


SECTIONS.add("runs", Section("Runs", 32, build, figures=("runs",)))
