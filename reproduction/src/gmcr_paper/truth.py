"""The truth's own R², below every table on synthetic mixtures: what an exact solver would score."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gmcr_paper.experiment import Found
from gmcr_paper.running import Run
from gmcr_paper.tables import NOT_RUN, span

Cell = tuple[int, int, int]  # N, samples per component, dB


def synthetic(method: str, n: int, snr: int, seed: int, ratio: int = 4) -> dict[str, Any]:
    """Settings of one method on one draw of Algorithm 2."""
    return {"study": "synthetic", "method": method, "n": n, "ratio": ratio, "snr": snr, "seed": seed}


def truth_runs(cells: Iterable[Cell], seeds: Iterable[int]) -> list[Run]:
    """The truth scored on these draws."""
    seeds = list(seeds)
    return [Run(synthetic("truth", n, snr, seed, ratio), n / 8) for n, ratio, snr in cells for seed in seeds]


def truth_note(found: Found, cells: Iterable[Cell]) -> str:
    """R² of the truth, and of the truth refitted on its own supports, in each cell."""
    texts = []
    for n, ratio, snr in sorted(set(cells)):
        records = found.select("synthetic", method="truth", n=n, ratio=ratio, snr=snr)
        bare, refitted = ([record[name] for record in records] for name in ("r2", "refitted_r2"))
        value = f"{span(bare, '{:.4f}')} and {span(refitted, '{:.4f}')}" if records else NOT_RUN
        texts.append(f"{value} (N = {n}, {ratio}N, {snr} dB)")
    return f"R² of the truth, and refitted on its supports: {'; '.join(texts)}." if texts else ""
