"""The figures of a report as files beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gmcr.reporting.charts import Chart, Heat, Plane
from gmcr.reporting.contents import Contents, by_signal
from gmcr.reporting.figures import charts_of
from gmcr.reporting.png import as_png
from gmcr.reporting.svg import as_svg
from gmcr.storage import write_whole

TOGETHER = 6  # profiles drawn over each other; more get a panel each
PANELS = 64  # of those with the most signal
PLACES = ("values", "costs", "halves", "profiles", "concentrations", "maps", "confidence", "confidences")
NAMES = (*PLACES, "fit", "worst", "noise")

Layout = tuple[list[Chart], int, tuple[int, int]]  # charts, columns, size of one


def write_figures(contents: Contents, folder: Path) -> list[str]:
    """Write every figure as SVG and, where matplotlib is installed, as PNG; returns the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:  # none of another run stays
        for suffix in (".svg", ".png"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)
    written = []
    for name, (charts, columns, size) in _layouts(contents).items():
        write_whole(folder / f"{name}.svg", as_svg(charts, columns, size).encode())
        written.append(f"{name}.svg")
        pixels = as_png(charts, columns, size)
        if pixels is not None:
            write_whole(folder / f"{name}.png", pixels)
            written.append(f"{name}.png")
    return written


def _layouts(contents: Contents) -> dict[str, Layout]:
    charts = charts_of(contents)
    worst = [chart for name, chart in charts.items() if name.startswith("worst-")]
    layouts: dict[str, Layout] = {}
    for name, chart in charts.items():
        if name == "profiles" and isinstance(chart, Plane):
            layouts[name] = _profiles(chart, contents)
        elif isinstance(chart, Heat):
            layouts[name] = [chart], 1, (720, 560)
        elif chart not in worst:
            layouts[name] = [chart], 1, (720, 560 if name == "maps" else 360)
    if worst:
        layouts["worst"] = worst, 2, (480, 300)
    return layouts


def _profiles(chart: Plane, contents: Contents) -> Layout:
    """Few profiles over each other, many in a panel each."""
    shown = [replace(one, shown=True) for one in chart.series]
    if len(shown) <= TOGETHER:
        return [replace(chart, series=tuple(shown))], 1, (900, 440)
    chosen = sorted(by_signal(contents)[:PANELS].tolist())
    panels: list[Chart] = [
        replace(chart, title=shown[j].name, series=(replace(shown[j], place=0),), alt=chart.alt)
        for j in chosen
    ]
    return panels, 4, (330, 210)
