"""Ablation: EB-gMCR with one term of its loss removed at a time."""

from __future__ import annotations

from collections.abc import Sequence

from gmcr_paper import published
from gmcr_paper.energy_cells import energy_run, size_name, sizes, success_band
from gmcr_paper.experiment import Asked, Experiment, Found
from gmcr_paper.results import Record
from gmcr_paper.running import Run
from gmcr_paper.tables import NONE, NOT_RUN, Table, mean_sd
from gmcr_paper.truth import truth_note, truth_runs

LINES = "876–931"
TERMS = {
    "nothing": "EB-gMCR",
    "exploration": "without exploration noise",
    "usage": "without usage penalty",
    "energy": "without energy regulariser",
    "ambiguity": "without ambiguity term",
}
SNRS = (20, 30)
COLUMNS = (
    "samples",
    "dB",
    "solver",
    "paper (N = 256): R²",
    "paper: count",
    "paper: hours",
    "N",
    "R²",
    "count",
    "hours",
    "ended by the rule",
    "energy ratio",
    "fewest",
    "runs",
)
NOTE = (
    "R² and count at the success band of the count table; fewest: the smallest count of any band; energy "
    "ratio: mean energy at the end over that at entry, of which the termination rule asks 0.25."
)


def runs(asked: Asked) -> list[Run]:
    if not asked.wants("eb"):
        return []
    seeds, ratios = asked.seeded(1, 5), (4, 8) if asked.full else (4,)
    cells = [(n, ratio, snr) for n in asked.counts((16,), (256,)) for ratio in ratios for snr in SNRS]
    found = [energy_run(asked, *cell, seed, without) for cell in cells for without in TERMS for seed in seeds]
    return [*found, *truth_runs(cells, seeds)]


def shows(found: Found) -> Sequence[Table]:
    removed = [record for record in found.select("eb") if record["without"] != "nothing"]
    cells = sorted({(record["ratio"], record["snr"], record["n"]) for record in removed})
    sections = [(cell, size) for cell in cells for size in _sizes(found, *cell)]
    tables = []
    note = truth_note(found, [(n, ratio, snr) for ratio, snr, n in cells])
    for pool, epochs in sorted({size for _, size in sections}):
        rows = [
            _row(found, ratio, snr, n, pool, epochs, without)
            for (ratio, snr, n), size in sections
            if size == (pool, epochs)
            for without in TERMS
        ]
        name = f"ablation-{pool}-{epochs}" if len({size for _, size in sections}) > 1 else "ablation"
        title = f"Ablation of EB-gMCR, {size_name(pool, epochs)}: one term removed at a time"
        tables.append(Table(name, title, COLUMNS, tuple(rows), (NOTE, note)))
    return tables or [Table("ablation", "Ablation of EB-gMCR", COLUMNS, ())]


def _sizes(found: Found, ratio: int, snr: int, n: int) -> list[tuple[int, int]]:
    """Pools and epochs for which some term was removed."""
    whole = [
        sizes(found, ratio=ratio, snr=snr, n=n, without=without) for without in TERMS if without != "nothing"
    ]
    return sorted({size for one in whole for size in one})


def _row(found: Found, ratio: int, snr: int, n: int, pool: int, epochs: int, without: str) -> tuple[str, ...]:
    records = found.select("eb", ratio=ratio, snr=snr, n=n, pool=pool, epochs=epochs, without=without)
    paper = published.ABLATION.get((ratio, snr, "full" if without == "nothing" else without), (NONE,) * 3)
    return (f"{ratio}N", str(snr), TERMS[without], *paper, str(n), *ablation_cells(records))


def ablation_cells(records: Sequence[Record]) -> tuple[str, ...]:
    """R², count, hours, whether the rule ended it, energy ratio, fewest and number of runs."""
    if not records:
        return (NOT_RUN, *(NONE,) * 5, "0")
    kept = [band for record in records if (band := success_band(record)) is not None]
    fewest = [min((band["count"] for band in record["bands"]), default=None) for record in records]
    ended = sum(bool(record["terminated"]) for record in records)
    return (
        mean_sd([band["r2"] for band in kept], "{:.4f}") if kept else "no checkpoint in the band",
        mean_sd([band["count"] for band in kept], "{:.1f}") if kept else NONE,
        mean_sd([record["fit_seconds"] / 3600 for record in records], "{:.3f}"),
        f"{ended} of {len(records)}",
        mean_sd([record["energy_ratio"] for record in records], "{:.2f}"),
        mean_sd(fewest, "{:.1f}"),
        f"{len(kept)} of {len(records)}",
    )


EXPERIMENT = Experiment("ablation", "Ablation: one term of the loss removed at a time", LINES, runs, shows)
