"""Figures as PNG and PDF. matplotlib is imported when a figure is drawn, and draws without a display.

Lines and marks are told apart by shape and dash as well as by shade, so that they read in grey.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

DPI = 150
LABEL_RATIO = 1.3  # of counts whose labels can stand side by side
STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "figure.constrained_layout.use": True,
    "pdf.fonttype": 42,
}
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "p", "d", "8", "H", "$+$")
DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
SHADES = ("#000000", "#c1440e", "#1f5a99", "#5b8c2a", "#7a4fa0", "#8a6d1b", "#3f8f8c", "#777777")


@dataclass(frozen=True)
class Figure:
    """A figure of one or more panels.

    name : what its files are called
    title : one line that says what it shows
    draw : draws onto the matplotlib figure it is given
    size : width and height in inches
    """

    name: str
    title: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (7.0, 3.2)

    def save(self, folder: Path, suffixes: tuple[str, ...] = (".png", ".pdf")) -> list[Path]:
        """Write the figure; the same results give the same bytes."""
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas

        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{self.name}{suffix}" for suffix in suffixes]
        with matplotlib.rc_context(STYLE):
            canvas = Canvas(figsize=self.size, layout="constrained")
            FigureCanvasAgg(canvas)
            self.draw(canvas)
            for path in paths:
                dates = {"CreationDate": None} if path.suffix == ".pdf" else {"Software": None}
                canvas.savefig(path, dpi=DPI, metadata=dates)
        return paths


def looks(names: list[str]) -> dict[str, dict[str, Any]]:
    """A mark, a dash and a shade for each name, none twice over as many as there are marks."""
    styles = zip(cycle(MARKS), cycle(DASHES), cycle(SHADES))
    return {
        name: {"marker": mark, "linestyle": dash, "color": shade, "markerfacecolor": "white"}
        for name, (mark, dash, shade) in zip(names, styles)
    }


def count_axis(panel: Any, counts: Iterable[int]) -> None:
    """True counts along the axis, doubling in equal steps; a label that would meet another is left out."""
    ticks = sorted(set(counts))
    labels, last = [], 0
    for tick in ticks:
        labels.append(str(tick) if tick >= LABEL_RATIO * last else "")
        last = tick if labels[-1] else last
    panel.set_xscale("log", base=2)
    panel.set_xticks(ticks, labels)
    panel.minorticks_off()


def legend_below(canvas: Any, axes: Any, columns: int = 4) -> None:
    """One legend for all panels, below them and off the data."""
    found: dict[str, Any] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels()):
            found.setdefault(label, handle)
    if found:
        canvas.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns)
