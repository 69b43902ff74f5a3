"""ARD-NMF on the synthetic grid: three settings of its noise scale φ (table and figure)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from gmcr_paper import published
from gmcr_paper.counts import FULL, QUICK, RATIO, SNRS
from gmcr_paper.energy_cells import of_size, sizes, success_band
from gmcr_paper.experiment import Asked, Experiment, Found
from gmcr_paper.figures import Figure, count_axis, legend_below, looks
from gmcr_paper.methods import METHODS
from gmcr_paper.running import Run
from gmcr_paper.tables import NONE, NOT_RUN, Table, mean_sd
from gmcr_paper.truth import synthetic, truth_note, truth_runs

LINES = "6484–6513"
SETTINGS = ("ard-default", "ard-oracle", "ard-tuned")
COLUMNS = (
    "N",
    "dB",
    "φ",
    "paper: count",
    "paper: R²",
    "count",
    "count / N",
    "R²",
    "min cos",
    "φ used",
    "ended",
    "runs",
)
NOTE = (
    "ended: runs whose weights had settled within the most iterations; pruning slows down as φ falls, so "
    "that a count well above N can be that of a run that has not ended. 0: every component was pruned. "
    "The paper's counts at φ = 1 are in its text alone."
)


def runs(asked: Asked) -> list[Run]:
    cells = [(n, RATIO, snr) for n in asked.counts(QUICK, FULL) for snr in SNRS]
    found = [
        Run(synthetic(method, n, snr, seed), (n / 16) ** 2)
        for n, _, snr in cells
        for method in SETTINGS
        if asked.wants(method)
        for seed in asked.seeded(2, 100)
    ]
    return [*found, *truth_runs(cells, asked.seeded(2, 100))]


def shows(found: Found) -> Sequence[Table | Figure]:
    cells = sorted(
        {
            (record["n"], record["snr"])
            for method in SETTINGS
            for record in found.select("synthetic", method=method, ratio=RATIO)
        }
    )
    rows = [
        _row(found, n, snr, method) for n, snr in cells for method in SETTINGS if found.asked.wants(method)
    ]
    table = Table(
        "ard",
        "ARD-NMF on 4N synthetic samples: the default φ, the true noise variance, and the φ chosen by "
        "hand at 30 dB",
        COLUMNS,
        tuple(rows),
        (NOTE, truth_note(found, [(n, RATIO, snr) for n, snr in cells])),
    )
    return [table, _figure(found)] if rows else [table]


def _row(found: Found, n: int, snr: int, method: str) -> tuple[str, ...]:
    records = found.select("synthetic", method=method, n=n, ratio=RATIO, snr=snr)
    _, r2, count = published.COUNTS.get((n, snr, method), ("-", "-", "-"))
    paper = tuple(NONE if text == "-" else text for text in (count, r2))
    head = (str(n), str(snr), METHODS[method].removeprefix("ARD-NMF, "), *paper)
    if not records:
        return (*head, NOT_RUN, *(NONE,) * 5, "0")
    return (
        *head,
        mean_sd([record["count"] for record in records], "{:.1f}"),
        mean_sd([record["count"] / n for record in records], "{:.2f}"),
        mean_sd([record["r2"] for record in records]),
        mean_sd([record["min_cos"] for record in records]),
        mean_sd([record["phi"] for record in records], "{:.2g}"),
        f"{sum(record['converged'] is not False for record in records)} of {len(records)}",
        str(len(records)),
    )


def _figure(found: Found) -> Figure:
    def draw(canvas: Any) -> None:
        axes = canvas.subplots(1, 2, sharey=True)
        series = {snr: _series(found, snr) for snr in SNRS}
        styles = looks(list(dict.fromkeys(label for one in series.values() for label in one)))
        for letter, panel, snr in zip("ab", axes, SNRS):
            panel.axhline(1.0, color="0.4", linewidth=0.8, label="the truth")
            ns: set[int] = set()
            for label, points in series[snr].items():
                panel.plot(*zip(*points), label=label, **styles[label])
                ns |= {n for n, _ in points}
            panel.set_title(f"({letter}) {snr} dB", loc="left")
            panel.set_xlabel("true count N")
            count_axis(panel, ns)
        axes[0].set_ylabel("estimated / true count")
        legend_below(canvas, axes, columns=3)

    return Figure("ard-figure", "ARD-NMF on the synthetic grid: estimated over true count", draw, (7.2, 3.6))


def _series(found: Found, snr: int) -> dict[str, list[tuple[int, float]]]:
    """label -> (N, count / N), means over seeds."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for method in SETTINGS:
        for record in found.select("synthetic", method=method, ratio=RATIO, snr=snr):
            lines.setdefault(METHODS[method], []).append((record["n"], record["count"]))
    where = {"ratio": RATIO, "snr": snr, "without": "nothing"}
    for size in sizes(found, **where):
        for record in of_size(found, size, **where):
            band = success_band(record)
            if band is not None:
                label = f"{METHODS['eb']} ({size.short})"
                lines.setdefault(label, []).append((record["n"], band["count"]))
    return {
        label: [
            (n, fmean(count for at, count in found if at == n) / n) for n in sorted({n for n, _ in found})
        ]
        for label, found in lines.items()
    }


EXPERIMENT = Experiment("ard", "ARD-NMF on the synthetic grid, three settings of φ", LINES, runs, shows)
