"""The count figure: estimated against true count (a, b) and R² against the true count (c, d), 4N samples."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from gmcr_paper import counts, published
from gmcr_paper.energy_cells import of_size, sizes
from gmcr_paper.experiment import Experiment, Found
from gmcr_paper.figures import Figure, count_axis, legend_below, looks
from gmcr_paper.methods import METHODS

LINES = "820–827"
LOWEST = 0.90  # of the R² axis; series below it are named in the panel
PAPER = "EB-gMCR, the paper's values"

Series = dict[str, list[tuple[int, float, float]]]  # label -> (N, R², count)


def shows(found: Found) -> Sequence[Figure]:
    series = {snr: _series(found, snr) for snr in counts.SNRS}
    if not any(series.values()):
        return []

    def draw(canvas: Any) -> None:
        axes = canvas.subplots(2, 2, sharex=True)
        styles = looks(list(dict.fromkeys(label for one in series.values() for label in one)))
        for column, snr in enumerate(counts.SNRS):
            _count_panel(axes[0, column], series[snr], styles, snr)
            _fit_panel(axes[1, column], series[snr], styles, found, snr)
        for letter, panel, snr in zip("abcd", axes.flat, 2 * counts.SNRS):
            panel.set_title(f"({letter}) {snr} dB", loc="left")
        legend_below(canvas, axes.flat, columns=3)

    title = "Synthetic mixtures, 4N samples: estimated over true count, and R² (EB-gMCR: pool × epochs)"
    return [Figure("count-figure", title, draw, (7.2, 6.4))]


def _series(found: Found, snr: int) -> Series:
    """Means over seeds of every method that was run."""
    out: Series = {}
    where = {"ratio": counts.RATIO, "snr": snr}
    for method in counts.ROWS:
        if not found.asked.wants(method) or (method == "ard-tuned" and snr == 20):
            continue
        if method in ("eb", "eb-refined"):
            for size in sizes(found, **where, without="nothing"):
                records = of_size(found, size, **where, without="nothing")
                lines = [(record["n"], counts.energy_line(record, method)) for record in records]
                _add(out, f"{METHODS[method]} ({size.short})", lines)
        else:
            records = found.select("synthetic", method=method, **where)
            _add(out, METHODS[method], [(record["n"], record.result) for record in records])
    return out


def _add(out: Series, label: str, lines: Sequence[tuple[int, dict[str, Any] | None]]) -> None:
    there = [(n, line) for n, line in lines if line is not None]
    points = []
    for n in sorted({n for n, _ in there}):
        here = [line for at, line in there if at == n]
        points.append((n, fmean(line["r2"] for line in here), fmean(line["count"] for line in here)))
    if points:
        out[label] = points


def _count_panel(panel: Any, series: Series, styles: dict[str, Any], snr: int) -> None:
    aside = _aside(styles)
    panel.axhline(1.0, color="0.4", linewidth=0.8, label="the truth")
    for label, points in series.items():
        places = [n * aside[label] for n, _, _ in points]
        panel.plot(places, [count / n for n, _, count in points], label=label, **styles[label])
    ns = sorted({n for points in series.values() for n, _, _ in points})
    paper = [
        (n, published.mean(published.COUNTS[n, snr, "eb"][2]))
        for n in ns
        if (n, snr, "eb") in published.COUNTS
    ]
    shares = [count / n for n, count in paper if count]
    panel.plot([n for n, _ in paper], shares, "_-", color="0.6", linewidth=3, markersize=12, label=PAPER)
    panel.set_ylabel("estimated / true count")
    count_axis(panel, ns)


def _fit_panel(panel: Any, series: Series, styles: dict[str, Any], found: Found, snr: int) -> None:
    truth = found.select("synthetic", method="truth", ratio=counts.RATIO, snr=snr)
    ns = sorted({record["n"] for record in truth})
    means = [fmean(record["r2"] for record in truth if record["n"] == n) for n in ns]
    panel.plot(ns, means, color="0.4", linewidth=0.8, label="the truth")
    aside, below = _aside(styles), []
    for label, points in series.items():
        places = [n * aside[label] for n, _, _ in points]
        panel.plot(places, [r2 for _, r2, _ in points], label=label, **styles[label])
        if max(r2 for _, r2, _ in points) < LOWEST:
            below.append(label)
    panel.set_ylim(LOWEST, 1.003)
    panel.set_ylabel("R²")
    text = "true count N" + (f"\nbelow the axis: {', '.join(below)}" if below else "")
    panel.set_xlabel(text)


def _aside(styles: dict[str, Any]) -> dict[str, float]:
    """A little to the left or right for each series, so that equal ones do not hide each other."""
    middle = (len(styles) - 1) / 2
    return {label: 1.012 ** (place - middle) for place, label in enumerate(styles)}


EXPERIMENT = Experiment(
    "count-figure", "Count and R² against the true count (figure)", LINES, counts.runs, shows
)
