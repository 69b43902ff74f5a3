"""Checkpoint bands: the count EB-gMCR keeps in every band of R², 4N and 8N samples (table and figure)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from gmcr_paper import published
from gmcr_paper.energy_cells import QUICK_N, band_of, energy_run, of_size, sizes
from gmcr_paper.experiment import Asked, Experiment, Found
from gmcr_paper.figures import Figure, count_axis, legend_below, looks
from gmcr_paper.running import Run
from gmcr_paper.tables import NONE, Table, mean_sd
from gmcr_paper.truth import truth_note, truth_runs

LINES = "6422–6482"
RATIOS, SNRS = (4, 8), (20, 30)
EDGES = (0.97, 0.975, 0.98, 0.985, 0.99, 0.995)
WIDTH = 0.005
NOTE = "runs: those that kept a checkpoint in the band, of those run. A band nobody entered has no row."


def runs(asked: Asked) -> list[Run]:
    if not asked.wants("eb"):
        return []
    seeds = asked.seeded(1, 5)
    ns = asked.counts(QUICK_N, published.COUNTED)
    cells = [(n, ratio, snr) for n in ns for ratio in RATIOS for snr in SNRS]
    return [*(energy_run(asked, *cell, seed) for cell in cells for seed in seeds), *truth_runs(cells, seeds)]


def shows(found: Found) -> Sequence[Table | Figure]:
    rows = [row for ratio in RATIOS for snr in SNRS for row in _rows(found, ratio, snr)]
    table = Table(
        "bands",
        "Count of EB-gMCR in every band of R² it entered",
        ("samples", "dB", "N", "run", "band", "paper: count", "count", "R²", "usage / true", "runs"),
        tuple(rows),
        (
            NOTE,
            truth_note(
                found, [(r["n"], r["ratio"], r["snr"]) for r in found.select("eb", without="nothing")]
            ),
        ),
    )
    figure = _figure(found)
    return [table] if figure is None else [table, figure]


def _rows(found: Found, ratio: int, snr: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    where = {"ratio": ratio, "snr": snr, "without": "nothing"}
    for n in found.values("n", "eb", **where):
        for size in sizes(found, **where, n=n):
            records = of_size(found, size, **where, n=n)
            for low in EDGES:
                kept = [band for record in records if (band := band_of(record, low)) is not None]
                paper = published.BANDS.get((ratio, snr, low, n), NONE)
                if not kept and paper == NONE:
                    continue
                rows.append(
                    (
                        f"{ratio}N",
                        str(snr),
                        str(n),
                        str(size),
                        f"{low:g}–{low + WIDTH:g}",
                        paper,
                        mean_sd([band["count"] for band in kept], "{:.1f}") if kept else "not entered",
                        mean_sd([band["r2"] for band in kept], "{:.4f}") if kept else NONE,
                        mean_sd([band["usage_ratio"] for band in kept], "{:.2f}") if kept else NONE,
                        f"{len(kept)} of {len(records)}",
                    )
                )
    return rows


def _figure(found: Found) -> Figure | None:
    """Estimated over true count against the true count, one line per band; in each panel the largest pool run."""
    panels = [(ratio, snr) for ratio in RATIOS for snr in SNRS]
    if not sizes(found, without="nothing"):
        return None

    def draw(canvas: Any) -> None:
        axes = canvas.subplots(2, 2, sharex=True)
        styles = looks([f"{low:g}–{low + WIDTH:g}" for low in EDGES])
        ns: set[int] = set()
        for letter, panel, (ratio, snr) in zip("abcd", axes.flat, panels):
            where: dict[str, Any] = {"ratio": ratio, "snr": snr, "without": "nothing"}
            run = sizes(found, **where)[-1:]
            records = [record for size in run for record in of_size(found, size, **where)]
            size = run[0].short if run else "not run"
            panel.set_title(f"({letter}) {ratio}N samples, {snr} dB, {size}", loc="left")
            panel.axhline(1.0, color="0.4", linewidth=0.8)
            for place, low in enumerate(EDGES):
                name = f"{low:g}–{low + WIDTH:g}"
                points = _points(records, low)
                aside = 1.02 ** (place - 2.5)  # so that equal counts do not hide each other
                ns |= {n for n, _, _ in points}
                panel.errorbar(
                    [n * aside for n, _, _ in points],
                    [mean for _, mean, _ in points],
                    [spread for _, _, spread in points],
                    label=name,
                    capsize=2,
                    **styles[name],
                )
        for panel in axes.flat:
            count_axis(panel, ns)
            panel.set_xlim(min(ns, default=16) / 1.3, max(ns, default=32) * 1.3)
        for panel in axes[:, 0]:
            panel.set_ylabel("estimated / true count")
        for panel in axes[1]:
            panel.set_xlabel("true count N")
        legend_below(canvas, axes.flat, columns=6)

    title = "EB-gMCR (pool × epochs): estimated over true count per R² band"
    return Figure("bands-figure", title, draw, (7.2, 5.6))


def _points(records: Sequence[Any], low: float) -> list[tuple[int, float, float]]:
    """(N, mean of count / N, one standard deviation) of the checkpoints kept in a band."""
    points = []
    for n in sorted({record["n"] for record in records}):
        kept = [band for record in records if record["n"] == n and (band := band_of(record, low)) is not None]
        shares = [band["count"] / n for band in kept]
        if shares:
            points.append((n, fmean(shares), stdev(shares) if len(shares) > 1 else 0.0))
    return points


EXPERIMENT = Experiment(
    "bands", "Count of EB-gMCR per checkpoint band, 4N and 8N samples", LINES, runs, shows
)
