"""What the tables of EB-gMCR share: which runs there are, what they are called, and their checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gmcr_paper.baselines.search import SUCCESS_BANDS
from gmcr_paper.experiment import Asked, Found
from gmcr_paper.results import Record
from gmcr_paper.running import Run

QUICK_N, FULL_N = (16, 32), (16, 32, 64)
SECONDS_PER_STEP = 0.008  # of one minibatch at pool 64 and 512 channels, roughly
BATCH = 64


def energy_run(asked: Asked, n: int, ratio: int, snr: int, seed: int, without: str = "nothing") -> Run:
    """A run of EB-gMCR on synthetic mixtures, and roughly how long it takes."""
    settings = {"study": "eb", "method": "eb", "n": n, "ratio": ratio, "snr": snr, "seed": seed}
    size = asked.pooled()
    steps = size["epochs"] * -(-ratio * n // BATCH)
    cost = SECONDS_PER_STEP * steps * max(1.0, size["pool"] / 64)
    return Run(settings | size | {"without": without}, cost)


def sizes(found: Found, **where: Any) -> list[tuple[int, int]]:
    """The pools and epochs that such runs had."""
    return sorted({(record["pool"], record["epochs"]) for record in found.select("eb", **where)})


def largest(found: Found, **where: Any) -> list[Record]:
    """Of each cell the runs with the largest pool and, of these, the most epochs: what a statement is held to."""
    records = found.select("eb", **where)

    def cell(record: Record) -> tuple[Any, ...]:
        return tuple(record[name] for name in ("n", "ratio", "snr", "without"))

    best: dict[tuple[Any, ...], tuple[int, int]] = {}
    for record in records:
        size = record["pool"], record["epochs"]
        best[cell(record)] = max(size, best.get(cell(record), size))
    return [record for record in records if (record["pool"], record["epochs"]) == best[cell(record)]]


def told_sizes(records: Sequence[Record]) -> str:
    """The sizes of these runs, for the end of a sentence."""
    names = dict.fromkeys(size_name(record["pool"], record["epochs"]) for record in records)
    return f" ({'; '.join(names)})" if names else ""


def size_name(pool: int, epochs: int) -> str:
    return f"pool {pool}, {epochs:,} epochs"


def short_name(pool: int, epochs: int) -> str:
    """The same for legends: pool × epochs."""
    return f"{pool} × {epochs / 1000:g}k"


def band_of(record: Record, low: float) -> dict[str, Any] | None:
    """The checkpoint a run kept in the band with this lower edge."""
    return next((band for band in record["bands"] if abs(band["low"] - low) < 1e-9), None)


def success_band(record: Record) -> dict[str, Any] | None:
    """The checkpoint of the band in which the search for a count succeeds."""
    return band_of(record, SUCCESS_BANDS[record["ratio"], record["snr"]][0])
