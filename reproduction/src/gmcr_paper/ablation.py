"""Ablation: EB-gMCR with one term of its loss removed at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gmcr_paper import published
from gmcr_paper.baselines.search import SUCCESS_BANDS
from gmcr_paper.energy_cells import Size, energy_run, of_size, size_of, sizes, success_band
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
    for size in sorted({size for _, size in sections}):
        rows = [
            _row(found, ratio, snr, n, size, without)
            for (ratio, snr, n), own in sections
            if own == size
            for without in TERMS
        ]
        name = (
            f"ablation-{size.pool}-{size.epochs}" if len({size for _, size in sections}) > 1 else "ablation"
        )
        title = f"Ablation of EB-gMCR, {size}: one term removed at a time"
        tables.append(Table(name, title, COLUMNS, tuple(rows), (NOTE, note)))
    return tables or [Table("ablation", "Ablation of EB-gMCR", COLUMNS, ())]


def _sizes(found: Found, ratio: int, snr: int, n: int) -> list[Size]:
    """Sizes for which some term was removed."""
    whole = [
        sizes(found, ratio=ratio, snr=snr, n=n, without=without) for without in TERMS if without != "nothing"
    ]
    return sorted({size for one in whole for size in one})


def _row(found: Found, ratio: int, snr: int, n: int, size: Size, without: str) -> tuple[str, ...]:
    where = {"ratio": ratio, "snr": snr, "n": n, "without": without}
    records = of_size(found, size, **where)
    paper = published.ABLATION.get((ratio, snr, "full" if without == "nothing" else without), (NONE,) * 3)
    cells = ablation_cells(records) if records else _on_the_way(found, size, **where)
    return (f"{ratio}N", str(snr), TERMS[without], *paper, str(n), *cells)


def _on_the_way(found: Found, size: Size, **where: Any) -> tuple[str, ...]:
    """The same of longer runs, where they stood at that epoch."""
    longer = [r for r in found.select("eb", **where) if size_of(r)._replace(epochs=size.epochs) == size]
    looks = [look for r in longer for look in r["course"] or () if look["epoch"] == size.epochs]
    if not looks:
        return ablation_cells([])
    low = f"{SUCCESS_BANDS[where['ratio'], where['snr']][0]:g}"
    kept = [look["fewest"][low] for look in looks if low in look["fewest"]]
    fewest = [min(look["fewest"].values(), default=None) for look in looks]
    count = mean_sd(kept, "{:.1f}") if kept else NONE
    ways = f"{len(kept)} of {len(looks)}, on the way of longer runs"
    return (NONE, count, NONE, NONE, NONE, mean_sd(fewest, "{:.1f}"), ways)


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
