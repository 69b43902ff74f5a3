"""What is left of each sample against its noise, and the samples that fit worst."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gmcr.reporting.charts import Plane, Rule, Series
from gmcr.reporting.contents import Contents
from gmcr.reporting.section import SECTIONS, Block, Row, Section, Text, missing
from gmcr.reporting.words import DOTS, several, thinned_note, with_lowest
from gmcr.text import POINTS, thinned
from gmcr.validation import BoolArray, FloatArray


def build(contents: Contents) -> Iterator[Block | None]:
    row = contents.row
    if contents.ratio is not None and contents.known is not None:
        yield (
            f"What is left of each {row}, against its noise: 1 is noise alone. A {row} that leaves more may "
            "hold something else."
        )
        yield ratios_chart(contents, contents.ratio, contents.known)
        worst = _worst(contents)
        if worst:
            yield Text(f"The {row}s that fit worst", "heading")
            yield Row(worst, "worst")
    yield missing(contents, "fit", f"Fit of each {row}")


def ratios_chart(contents: Contents, ratio: FloatArray, known: BoolArray, most: int = DOTS) -> Plane:
    """Residual over noise of each sample, those apart that leave more than noise; most : samples."""
    names, row, rows = contents.sample_names, contents.row, with_lowest(-ratio, most)
    parts = [("explained", rows[known[rows]], 0), ("more than noise left", rows[~known[rows]], 1)]
    series = []
    for name, part, place in parts:
        labels = tuple(names[m] for m in part)
        if labels:
            series.append(Series(name, part.astype(float), ratio[part], "points", labels=labels, place=place))
    return Plane(
        name="fit",
        title=f"Residual of each {row}",
        alt=f"Residual over noise of each {row}, median {np.median(ratio):.2f}, largest {ratio.max():.3g}; "
        f"{several(int((~known).sum()), row)} of {len(ratio)} leave more than noise.",
        x_label=row,
        y_label="residual / noise",
        series=tuple(series),
        rules=(Rule(1.0, "noise alone"),),
        log=bool(ratio.max() > 20 * max(np.median(ratio), 1e-12) and ratio.min() > 0),
        whole=True,
        note=thinned_note(contents, rows, ", the worst among them"),
    )


def _worst(contents: Contents) -> list[Plane]:
    """The samples that fit worst: measured, fitted, and what is left."""
    if contents.worst is None or contents.worst_data is None:
        return []
    return [
        sample_chart(contents, m, measured, f"worst-{place}")
        for place, (m, measured) in enumerate(zip(contents.worst.tolist(), contents.worst_data))
    ]


def sample_chart(contents: Contents, m: int, measured: FloatArray, chart: str, most: int = POINTS) -> Plane:
    """A sample as measured (channels,), as fitted, and what is left; most : points of a line."""
    axis, label, falls = contents.axis
    fit = contents.found.concentrations[m] @ contents.found.components
    name = f"{contents.row.capitalize()} {contents.sample_names[m]}"
    kinds, series = [("measured", measured, -1), ("fit", fit, 0), ("residual", measured - fit, 1)], []
    for kind, values, colour in kinds:
        rows = thinned(values, most)
        series.append(Series(kind, axis[rows], values[rows], place=colour))
    ratio = "" if contents.ratio is None else f"; its residual is {contents.ratio[m]:.3g} times the noise"
    note = f"Thinned for display: at most {most:,} of {len(axis):,} channels a line."
    return Plane(
        name=chart,
        title=name,
        alt=f"{name}, measured and fitted, and the difference{ratio}.",
        x_label=label,
        y_label="signal",
        series=tuple(series),
        reverse=falls,
        note=note if len(axis) > most else "",
    )


SECTIONS.add("fit", Section("Fit", 50, build, figures=("fit", "worst")))
