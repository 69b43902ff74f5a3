"""What was done to the samples before they were unmixed, with a few of them before and after."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gmcr.reporting.charts import Plane, Series
from gmcr.reporting.contents import Contents
from gmcr.reporting.section import SECTIONS, Block, Points, Row, Section
from gmcr.reporting.words import several
from gmcr.text import POINTS, thinned
from gmcr.validation import FloatArray


def build(contents: Contents) -> Iterator[Block | None]:
    if not contents.steps:
        yield f"None that this report knows of: the {contents.row}s were unmixed as they came."
        return
    yield (
        f"Before they were unmixed, all {contents.row}s went through these steps, in this order; what is told "
        f"below of profiles, concentrations and noise is after them. New {contents.row}s go through them too."
    )
    yield Points(contents.steps)
    charts = steps_charts(contents)
    if charts:
        yield Row(charts, "steps")


def steps_charts(contents: Contents, most: int = POINTS) -> list[Plane]:
    """A few samples as measured, and after the steps; most : points of a line."""
    if contents.before is None or contents.after is None or contents.before_rows is None:
        return []
    sides = (
        ("steps-before", "As measured", contents.before, contents.before_axis),
        ("steps-after", "After the steps", contents.after, contents.after_axis),
    )
    rows = contents.before_rows.tolist()
    return [_chart(contents, *side, rows, most) for side in sides]


def _chart(
    contents: Contents,
    name: str,
    title: str,
    samples: FloatArray,
    axis: FloatArray | None,
    rows: list[int],
    most: int,
) -> Plane:
    at = np.arange(float(samples.shape[1])) if axis is None else axis
    _, label, falls = contents.axis
    series = []
    for place, (row, values) in enumerate(zip(rows, samples)):
        there = np.flatnonzero(~np.isnan(values))
        chosen = there[thinned(values[there], most)]
        series.append(Series(f"{contents.row} {row}", at[chosen], values[chosen], place=place))
    gaps = int(np.isnan(samples).sum())
    missing = f" {gaps:,} of their entries are missing and left out." if gaps else ""
    note = f"Thinned for display: at most {most:,} of {len(at):,} channels a line." if len(at) > most else ""
    return Plane(
        name=name,
        title=title,
        alt=f"{title}: {several(len(rows), contents.row)}, from {np.nanmin(samples):.3g} to "
        f"{np.nanmax(samples):.3g}.{missing}",
        x_label=label,
        y_label="signal",
        series=tuple(series),
        reverse=falls,
        note=note,
    )


SECTIONS.add("steps", Section("Steps before unmixing", 15, build, "Steps", figures=("steps",)))
