"""Amounts in units: how well predicted amounts agree with known ones, and the calibration's errors and limits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gmcr.calibration import Calibration
from gmcr.reporting.charts import Plane, Series
from gmcr.reporting.contents import Contents
from gmcr.reporting.listing import Listing
from gmcr.reporting.section import SECTIONS, Block, Points, Row, Section
from gmcr.reporting.words import several

MOST_CHARTS = 12


def build(contents: Contents) -> Iterator[Block | None]:
    found = contents.calibration
    if found is None:
        return
    yield (
        f"Amounts in units, learned from {contents.row}s whose amounts are known. Intervals hold the error "
        f"of the {contents.row} and of the calibration; amounts.csv lists them."
    )
    yield Points(found.notes())
    charts = [_against_known(found, a, contents) for a in range(min(len(found.names), MOST_CHARTS))]
    yield Row(charts, "known")
    caption = "Calibration: errors (RMSEC fitted, RMSEP of mixtures left out), and limits"
    yield Listing.of("calibration", caption, found.table())


def _against_known(found: Calibration, a: int, contents: Contents) -> Plane:
    known = found.known[:, a]
    rows = np.flatnonzero(~np.isnan(known))
    assert found.predicted is not None
    own = len(found.known) == contents.found.n_samples
    labels = tuple(contents.sample_names[m] if own else str(m) for m in rows)
    top = float(max(known[rows].max(), found.predicted[rows, a].max()))
    series = [
        Series("equal", np.array([0.0, top]), np.array([0.0, top]), place=-1),
        Series("fitted", known[rows], found.predicted[rows, a], "points", labels=labels, place=0),
    ]
    left_out = found.left_out[rows, a]
    if not np.isnan(left_out).all():
        series.append(Series("mixture left out", known[rows], left_out, "points", labels=labels, place=1))
    unit = f" ({found.units[a]})" if found.units[a] else ""
    return Plane(
        name=f"known-{a}",
        title=found.names[a],
        alt=f"Predicted against known amounts of {several(len(rows), contents.row)}: on the line if they agree.",
        x_label=f"known{unit}",
        y_label=f"predicted{unit}",
        series=tuple(series),
    )


SECTIONS.add("amounts", Section("Amounts", 35, build, figures=("known",)))
