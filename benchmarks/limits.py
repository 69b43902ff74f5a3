"""Theorem 3 as an experiment: as samples accumulate, the process is recovered and decoding them all is not.

    python benchmarks/limits.py --figure docs/figures/limits.svg

N = 16, 128 channels, 10 dB, M = 64 to 4,096 samples of one process: the count found, the largest distance of a
profile from the truth (one minus its cosine), the share of samples whose support is right, and how many were
decoded wrongly. The share decoded stays below one and the chance that all are right falls like its M-th power,
even over the true pool.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from common import Cell, Result, measure, parser, report, span
from fits import fit, matched_cosines, mixtures, share_exact
from gmcr import decode
from gmcr.scoring import compare

SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
SETTING = {"n_components": 16, "n_features": 128, "snr_db": 10}


def run(cell: Cell) -> Result:
    mix = mixtures(cell)
    model, _ = fit(mix.D)
    compared = compare(model, mix)
    over_truth = decode(mix.D, mix.S, noise=mix.sigma)
    return {
        "count": model.n_components_,
        "pool_error": float(1.0 - matched_cosines(model.components_, mix.S).min()),
        "exact": compared.exact,
        "true_exact": share_exact(over_truth.supports, mix.supports),
    }


def main() -> None:
    options = parser(__doc__, "limits")
    options.add_argument("--figure", type=Path, metavar="FILE", help="SVG to draw")
    given = options.parse_args()
    sizes = SIZES[:1] if given.smoke else SIZES
    seeds = given.seeds or (100, 101, 102)
    cells = [
        {"row": f"M={m}", **SETTING, "n_samples": m, "random_state": seed} for m in sizes for seed in seeds
    ]
    runs = measure(cells, run, given)
    means = runs.table.groupby("n_samples").agg(
        lowest=("count", "min"),
        highest=("count", "max"),
        pool_error=("pool_error", "mean"),
        exact=("exact", "mean"),
        true_exact=("true_exact", "mean"),
    )
    lines = [
        {
            "samples": m,
            "count": span((one.lowest, one.highest), "{}"),
            "1 − least cosine": f"{one.pool_error:.5f}",
            "supports right": f"{one.exact:.4f}",
            "over the true pool": f"{one.true_exact:.4f}",
            "wrong samples": f"{m * (1 - one.exact):.0f}",
            "chance that all are right": f"{one.true_exact**m:.1e}",
        }
        for m, one in zip(means.index, means.itertuples(index=False))
    ]
    report([lines], runs, given)
    if given.figure:
        given.figure.parent.mkdir(parents=True, exist_ok=True)
        given.figure.write_text(_drawn(means), encoding="utf-8")


def _drawn(means: pd.DataFrame) -> str:
    """Two curves against the number of samples, by hand: a figure that needs no package."""
    x = np.interp(np.log(means.index), np.log([means.index[0], means.index[-1]]), (60, 580))
    error = np.log10(means["pool_error"].to_numpy())
    right = means["exact"].to_numpy()
    curves = [
        ("pool error (log)", "#0072b2", error, (error.min(), error.max())),
        ("share decoded", "#d55e00", right, (0.0, 1.0)),
    ]
    parts = []
    for n, (name, colour, values, (low, high)) in enumerate(curves):
        y = np.interp(values, (low, high if high > low else low + 1), (250, 30))
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
        dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"/>' for a, b in zip(x, y))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}')
        label = f"{name}: {values[0]:.3g} to {values[-1]:.3g}"
        parts.append(f'<text x="70" y="{20 + 16 * n}" fill="{colour}" font-size="13">{label}</text>')
    ticks = "".join(
        f'<text x="{a:.0f}" y="275" font-size="12" text-anchor="middle">{m}</text>'
        for a, m in zip(x, means.index)
    )
    axis = '<line x1="60" y1="255" x2="580" y2="255" stroke="#444"/>'
    title = "As samples accumulate the pool gets better, the share of samples decoded does not reach one."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 300" role="img" aria-label="{title}" '
        f'font-family="sans-serif">{axis}{ticks}<text x="320" y="295" font-size="13" text-anchor="middle">samples'
        f"</text>{''.join(parts)}</svg>\n"
    )


if __name__ == "__main__":
    main()
