"""An image of 200 x 200 pixels and 256 channels through the commands: peak memory, time, and the maps found.

    python benchmarks/cube.py

Five components, 30 dB, written as NPY; then `gmcr fit` and `gmcr decode`, each in a process of its own, which is
told nothing. `regions`: components in places of their own that overlap. `mixed`: all of them in every pixel.
`grains`: as `regions`, and a sixth one in 24 pixels of the 40,000, here and there. The memory is the largest
resident size of the process, Python and its packages included. Maps are compared with the truth pixel by pixel.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from scipy.ndimage import gaussian_filter
from scipy.optimize import linear_sum_assignment

from common import SEEDS, Cell, Result, check, measure, parser, report
from fits import right_counts
from gmcr import GMCR

CHANNELS, COMPONENTS, SNR_DB = 256, 5, 30.0
GRAINS = 24
ALLOWED_MB = 1000.0  # beside the array itself


def picture(kind: str, size: int, random: np.random.Generator) -> np.ndarray:
    """How much of each component each pixel holds: (size, size, components)."""
    fields = np.stack(
        [gaussian_filter(random.normal(size=(size, size)), size / 16) for _ in range(COMPONENTS)], -1
    )
    fields /= fields.std(axis=(0, 1))
    if kind == "mixed":
        return np.exp(0.7 * fields)
    maps = 2.0 * np.maximum(fields - 0.3, 0.0)
    if kind == "grains":
        grains = np.zeros((size * size, 1))
        grains[random.choice(size * size, GRAINS, replace=False)] = 2.0
        maps = np.concatenate([maps, grains.reshape(size, size, 1)], axis=-1)
    return maps


def profiles(n: int, random: np.random.Generator) -> np.ndarray:
    """Five peaks each: (n, channels)."""
    channel = np.arange(CHANNELS)
    centre, width, height = (random.uniform(*ends, (n, 5, 1)) for ends in ((0, CHANNELS), (4, 14), (0.3, 1)))
    return np.sum(height * np.exp(-0.5 * ((channel - centre) / width) ** 2), axis=1)


def cells(seeds: Sequence[int]) -> list[Cell]:
    return [
        {"row": kind, "size": 200, "seed": seed} for kind in ("regions", "mixed", "grains") for seed in seeds
    ]


def run(cell: Cell) -> Result:
    random = np.random.default_rng(cell["seed"])
    maps = picture(cell["row"], cell["size"], random)
    pure = profiles(maps.shape[-1], random)
    clean = maps @ pure
    sigma = np.sqrt(np.square(clean).mean()) * 10 ** (-SNR_DB / 20)
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "cube.npy"), Path(folder, "run")
        np.save(data, clean + random.normal(0.0, sigma, clean.shape))
        fit_mb, fit_seconds = command("fit", data, "-o", out)
        decode_mb, decode_seconds = command("decode", out, data, "-o", Path(folder, "decoded.csv"))
        model = GMCR.load(out / "model.gmcr")
        found = np.load(out / "maps.npz")["concentrations"]
        decoded = pd.read_csv(
            Path(folder, "decoded.csv"), usecols=range(1, 1 + model.n_components_)
        ).to_numpy()
    sizes = np.linalg.norm(pure, axis=1)
    cosines = model.components_ @ (pure / sizes[:, None]).T
    slots, components = linear_sum_assignment(-cosines)
    truth = (maps * sizes)[..., components]
    error = np.sqrt(np.square(found[..., slots] - truth).mean()) / sigma
    return {
        "count": model.n_components_,
        "true_count": len(pure),
        "min_cos": cosines[slots, components].min(),
        "map_error": error,
        "same": bool(np.allclose(decoded, found.reshape(decoded.shape), rtol=1e-3, atol=1e-3 * sigma)),
        "array_mb": clean.nbytes / 1e6,
        "fit_mb": fit_mb,
        "decode_mb": decode_mb,
        "fit_seconds": fit_seconds,
        "decode_seconds": decode_seconds,
    }


def command(*arguments: Any) -> tuple[float, float]:
    """Peak memory in MB and seconds of one gmcr command; an error if it fails."""
    start = perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "gmcr", *map(str, arguments)], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"gmcr {arguments[0]} failed")
    return usage.ru_maxrss / 1e3 * 1.024, perf_counter() - start  # the system counts in KiB


def line_of(runs: pd.DataFrame) -> dict[str, Any]:
    return {
        "counts exact": right_counts(runs),
        "min cos": f"{runs['min_cos'].min():.4f}",
        "map error / noise": f"{runs['map_error'].median():.2f}",
        "fit, MB beside the array": f"{(runs['fit_mb'] - runs['array_mb']).max():.0f}",
        "decode, MB": f"{(runs['decode_mb'] - runs['array_mb']).max():.0f}",
        "fit, s": f"{runs['fit_seconds'].median():.0f}",
        "decode, s": f"{runs['decode_seconds'].median():.1f}",
    }


def checks(runs: pd.DataFrame) -> list[dict[str, Any]]:
    beside = (runs[["fit_mb", "decode_mb"]].max(axis=1) - runs["array_mb"]).max()
    return [
        check("memory beside the array, MB", beside, "<=", ALLOWED_MB),
        check("counts exact", (runs["count"] == runs["true_count"]).mean(), ">=", 1.0),
        check("decoded as fitted", runs["same"].mean(), ">=", 1.0),
    ]


def main() -> None:
    given = parser(__doc__, "cube").parse_args()
    chosen = (
        [{"row": "regions", "size": 24, "seed": SEEDS[0]}] if given.smoke else cells(given.seeds or SEEDS[:2])
    )
    runs = measure(chosen, run, given)
    lines = [{"image": row} | line_of(group) for row, group in runs.table.groupby("row", sort=False)]
    report([lines, checks(runs.table)], runs, given)


if __name__ == "__main__":
    main()
