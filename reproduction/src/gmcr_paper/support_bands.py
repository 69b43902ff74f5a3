"""Supports per band: the runs of the support table decoded at every checkpoint they kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gmcr_paper import published
from gmcr_paper.bands import EDGES, WIDTH
from gmcr_paper.energy_cells import FULL_N, QUICK_N, band_of, energy_run, of_size, sizes
from gmcr_paper.experiment import Asked, Experiment, Found
from gmcr_paper.running import Run
from gmcr_paper.supports import RATIO, SNRS
from gmcr_paper.tables import Table, mean_sd
from gmcr_paper.truth import truth_note, truth_runs

LINES = "6690–6738"
COLUMNS = (
    "N",
    "dB",
    "band",
    "run",
    "n",
    "epoch",
    "usage ratio",
    "no-miss",
    "min cos",
    "exact",
    "exact, ĉ > 0.5",
    "spurious ĉ",
)
NOTE = (
    "n: runs that kept the band; epoch: where in the run its checkpoint was taken, as a share; spurious "
    "ĉ: median concentration on selected slots outside the true support. The other columns are those of "
    "the support table."
)


def runs(asked: Asked) -> list[Run]:
    if not asked.wants("eb"):
        return []
    seeds = asked.seeded(1, 5)
    cells = [(n, RATIO, snr) for n in asked.counts(QUICK_N, FULL_N) for snr in SNRS]
    return [*(energy_run(asked, *cell, seed) for cell in cells for seed in seeds), *truth_runs(cells, seeds)]


def shows(found: Found) -> Sequence[Table]:
    records = found.select("eb", ratio=RATIO, without="nothing")
    cells = sorted({(record["n"], record["snr"]) for record in records})
    rows = [row for n, snr in cells for low in EDGES for row in _rows(found, n, snr, low)]
    notes = (NOTE, truth_note(found, [(n, RATIO, snr) for n, snr in cells]))
    return [Table("support-bands", "Supports of EB-gMCR at every band it kept", COLUMNS, tuple(rows), notes)]


def _rows(found: Found, n: int, snr: int, low: float) -> list[tuple[str, ...]]:
    head = (str(n), str(snr), f"{low:g}–{low + WIDTH:g}")
    rows = []
    if (n, snr, low) in published.SUPPORT_BANDS:
        rows.append((*head, "paper (pool 1024)", *published.SUPPORT_BANDS[n, snr, low]))
    where = {"n": n, "ratio": RATIO, "snr": snr, "without": "nothing"}
    for size in sizes(found, **where):
        records = of_size(found, size, **where)
        kept = [band for record in records if (band := band_of(record, low)) is not None]
        if kept:
            rows.append((*head, str(size), str(len(kept)), *band_cells(kept)))
    return rows


def band_cells(kept: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The columns of one band over the runs that kept it."""
    names = ("epoch", "usage_ratio", "no_miss", "min_cos", "exact", "exact_above", "spurious")
    return tuple(mean_sd([band[name] for band in kept], "{:.2f}") for name in names)


EXPERIMENT = Experiment("support-bands", "Per-sample supports per checkpoint band", LINES, runs, shows)
