"""Which sample holds what, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gmcr.reporting.charts import Plane, Rule, Series
from gmcr.reporting.contents import Contents
from gmcr.reporting.listing import Cell, Column, Listing, fixed_cell, numbers, texts
from gmcr.reporting.section import SECTIONS, Block, Row, Section, missing
from gmcr.reporting.words import SURE, holds, several, thinned_note, with_lowest
from gmcr.validation import FloatArray

BINS = 10
DOUBTFUL = 10  # samples listed as least sure


def build(contents: Contents) -> Iterator[Block | None]:
    confidence = contents.confidence
    if confidence is None:
        yield f"{contents.found.usage:,} selections in all."
        yield missing(contents, "fit", "Confidence") or missing(contents, "confidence", "Confidence")
        return
    wrong = float(np.sum(1 - confidence))
    yield (
        f"Confidence is the probability that a {contents.row}'s list of components is right, given the profiles. "
        f"Of {several(len(confidence), 'list')}, {f'{wrong:.1f}' if wrong >= 0.05 else 'fewer than 0.1'} "
        "should be wrong on average."
    )
    yield Row([_histogram(contents, confidence), _each(contents, confidence)])
    yield _doubtful(contents, confidence)


def _histogram(contents: Contents, confidence: FloatArray) -> Plane:
    heights, edges = np.histogram(confidence, BINS, (0.0, 1.0))
    low, high = (int(heights[:5].sum()), int(heights[-1]))
    return Plane(
        name="confidence",
        title="How sure the supports are",
        alt=f"Histogram of confidence: {several(high, contents.row)} above 0.9, {low} below 0.5.",
        x_label=f"probability that the {contents.row}'s list of components is right",
        y_label=f"{contents.row}s",
        series=(Series(f"{contents.row}s", (edges[:-1] + edges[1:]) / 2, heights.astype(float), "bars"),),
    )


def _each(contents: Contents, confidence: FloatArray) -> Plane:
    """Which samples are doubtful."""
    rows = with_lowest(confidence)
    names = tuple(contents.sample_names[m] for m in rows)
    least = int(confidence.argmin())
    return Plane(
        name="confidences",
        title=f"Confidence of each {contents.row}",
        alt=f"Confidence of each {contents.row}; the least is {confidence[least]:.3f}, of "
        f"{contents.sample_names[least]}.",
        x_label=contents.row,
        y_label="confidence",
        series=(Series("confidence", rows.astype(float), confidence[rows], "points", labels=names),),
        rules=(Rule(SURE, "sure"),),
        whole=True,
        note=thinned_note(contents, rows, ", the least sure among them"),
    )


def _doubtful(contents: Contents, confidence: FloatArray) -> Listing | None:
    """The samples whose lists of components are least sure."""
    unsure = np.flatnonzero(confidence < SURE)
    if not unsure.size:
        return None
    first = unsure[np.argsort(confidence[unsure], kind="stable")][:DOUBTFUL].tolist()
    names = contents.sample_names
    rows = [[Cell(names[m]), fixed_cell(confidence[m]), Cell(holds(contents, m) or "nothing")] for m in first]
    columns = [*texts(contents.row), *numbers("confidence"), Column("holds", wordy=True)]
    more = f"{len(first)} of {len(unsure):,}; the table of {contents.row}s sorts by confidence."
    note = more if len(unsure) > len(first) else ""
    return Listing("doubtful", f"The least sure {contents.row}s", columns, rows, note)


TITLE = "Supports: which sample holds what"
SECTIONS.add("supports", Section(TITLE, 40, build, "Supports", ("confidence", "confidences")))
