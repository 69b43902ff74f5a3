"""A report as files: the page, and its figures."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.reporting.charts import Chart, Heat, Maps, Plane
from gmcr.reporting.collect import SECONDS, collect
from gmcr.reporting.contents import Contents
from gmcr.reporting.page import write_report
from gmcr.reporting.png import as_png
from gmcr.reporting.section import SECTIONS, Row, make_sections
from gmcr.reporting.svg import as_svg
from gmcr.validation import require

TOGETHER = 6  # series to choose from that are drawn over each other; more get a panel each
PANELS = 64  # of those first in the palette

Layout = tuple[Sequence[Chart], int, tuple[int, int]]  # charts, columns, size of one


def report(
    D: Any,
    decomposition: Any,
    path: str | os.PathLike[str],
    *,
    model: object = None,
    source: str = "samples",
    seconds: float = SECONDS,
) -> None:
    """Write the report of a decomposition, whoever made it: one HTML file to read and to send on.

    Parameters
    ----------
    D : (samples, channels) the samples that were decomposed, NaN means missing; or what `gmcr.read` returned,
        which also tells the unit of the axis and the places of pixels
    decomposition : the solution to report, or the fitted estimator that found it
    path : the file to write, such as "report.html"
    model : the fitted estimator, to judge samples as it does; `model.report` passes itself
    source : what the report calls the data, such as the name of their file
    seconds : for the search for other solutions that fit as well; what takes longer is left out, and the report
        says so

    Examples
    --------
    >>> from gmcr import Decomposition, make_mixtures, report
    >>> mix = make_mixtures(n_components=3, n_samples=20, n_features=40, random_state=0)
    >>> report(mix.D, Decomposition.from_factors(mix.C, mix.S), "report.html")  # doctest: +SKIP
    """
    if hasattr(decomposition, "decomposition_"):
        decomposition, model = decomposition.decomposition_, decomposition
    if not isinstance(decomposition, Decomposition):
        raise InputError(
            f"decomposition must be a Decomposition or a fitted model, not a {type(decomposition).__name__}; "
            "Decomposition.from_factors(C, S) makes one of two arrays."
        )
    require(isinstance(path, str | os.PathLike), "path", "the name of a file", path)
    write_report(collect(decomposition, D, model=model, source=source, seconds=seconds), path)


def draw_figures(contents: Contents) -> dict[str, bytes]:
    """Every figure as SVG and, where matplotlib is installed, as PNG, by the names of the files."""
    figures: dict[str, bytes] = {}
    for row in (row for one in make_sections(contents) for row in one.rows):
        name = row.name or row.charts[0].name
        try:
            drawn = {".svg": as_svg(*_layout(row)).encode(), ".png": as_png(*_layout(row))}
        except Exception as error:  # of a stranger's chart; the others are drawn
            warnings.warn(f"the figure {name} could not be drawn: {error}", stacklevel=2)
            continue
        figures |= {f"{name}{suffix}": content for suffix, content in drawn.items() if content is not None}
    return figures


def figure_names() -> set[str]:
    """The files that figures of a report may have."""
    names = {name for section in SECTIONS.values() for name in section.figures}
    return {f"{name}{suffix}" for name in names for suffix in (".svg", ".png")}


def _layout(row: Row) -> Layout:
    if row.name:
        return row.charts, 2, (480, 300)
    chart = row.charts[0]
    if isinstance(chart, Plane) and chart.choose:
        return _to_choose(chart)
    return row.charts, 1, (720, 560 if isinstance(chart, Heat | Maps) else 360)


def _to_choose(chart: Plane) -> Layout:
    """Few series over each other, many in a panel each."""
    shown = [replace(one, shown=True) for one in chart.series]
    if len(shown) <= TOGETHER:
        return [replace(chart, series=tuple(shown))], 1, (900, 440)
    last = sorted(one.place for one in shown)[:PANELS][-1]
    panels = [
        replace(chart, title=one.name, series=(replace(one, place=0),)) for one in shown if one.place <= last
    ]
    return panels, 4, (330, 210)
