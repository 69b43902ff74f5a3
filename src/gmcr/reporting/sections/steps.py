"""What was done to the samples before they were unmixed, with a few of them before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    _, label, falls = contents.axis
    names = [f"{contents.row} {row}" for row in contents.before_rows.tolist()]
    return [samples_chart(*side, names, label, falls, contents.row, most) for side in sides]


def samples_chart(
    name: str,
    title: str,
    samples: FloatArray,
    axis: FloatArray | None,
    names: Sequence[str],
    label: str,
    falls: bool,
    row: str = "sample",
    most: int = POINTS,
) -> Plane:
    """Samples over their channels.

    samples : (shown, channels); names : of those shown; label : of the axis; row : what a sample is called
    """
    at = np.arange(float(samples.shape[1])) if axis is None else axis
    series = []
    for place, (named, values) in enumerate(zip(names, samples)):
        there = np.flatnonzero(~np.isnan(values))
        chosen = there[thinned(values[there], most)]
        series.append(Series(named, at[chosen], values[chosen], place=place))
    gaps = int(np.isnan(samples).sum())
    missing = f" {gaps:,} of their entries are missing and left out." if gaps else ""
    note = f"Thinned for display: at most {most:,} of {len(at):,} channels a line." if len(at) > most else ""
    return Plane(
        name=name,
        title=title,
        alt=f"{title}: {several(len(series), row)}, from {np.nanmin(samples):.3g} to "
        f"{np.nanmax(samples):.3g}.{missing}",
        x_label=label,
        y_label="signal",
        series=tuple(series),
        reverse=falls,
        note=note,
    )


SECTIONS.add("steps", Section("Steps before unmixing", 15, build, "Steps", figures=("steps",)))
