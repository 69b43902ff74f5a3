"""Speed against scikit-learn's NMF told the true count, as a ratio measured in one run.

    python benchmarks/speed.py
    python benchmarks/speed.py --profile

N = 256, 4N samples at 20 dB. Both run on the same number of threads, in turn, so that both see the same machine;
the best of three counts. NMF is NMF(256, init="nndsvda", max_iter=200); `matched` is the number of true
components that have a profile of their own with a cosine of at least 0.95. With --profile, one more fit shows
which functions the time goes to.
"""

from __future__ import annotations

import cProfile
import pstats
import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from common import SEEDS, Cell, Result, check, measure, parser, report, timed
from fits import SMOKE, fit, matched_cosines, mixtures, score, setting

MATCHED = 0.95


def nmf(D: np.ndarray, count: int) -> tuple[NMF, float]:
    """NMF as the acceptance table names it, and the seconds it took."""
    model = NMF(count, init="nndsvda", max_iter=200, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 200 sweeps are what was asked for
        return timed(lambda: model.fit(D))


def run(cell: Cell) -> Result:
    """Both in turn; the shortest time of each."""
    mix = mixtures(cell)
    times = []
    with threadpool_limits(cell["threads"]):
        for _ in range(cell["repeats"]):
            model, ours = fit(mix.D, n_jobs=cell["threads"])
            rival, theirs = nmf(mix.D, cell["n_components"])
            times.append((ours, theirs))
    ours, theirs = np.min(times, axis=0)
    matched = [
        int((matched_cosines(pool, mix.S) >= MATCHED).sum())
        for pool in (model.components_, rival.components_)
    ]
    return {
        "seconds": ours,
        "nmf_seconds": theirs,
        "ratio": ours / theirs,
        "matched": matched[0],
        "nmf_matched": matched[1],
    } | score(mix, model)


def show_profile(cell: Cell, n_lines: int = 20) -> None:
    """The functions that take the most time themselves, in one fit."""
    D = mixtures(cell).D
    fit(D)
    profile = cProfile.Profile()
    profile.runcall(fit, D)
    pstats.Stats(profile).strip_dirs().sort_stats("tottime").print_stats(n_lines)


def line_of(result: dict[str, Any]) -> dict[str, Any]:
    n = result["n_components"]
    return {
        "samples": result["row"],
        "threads": result["threads"],
        "GMCR, s": f"{result['seconds']:.2f}",
        "NMF, s": f"{result['nmf_seconds']:.2f}",
        "ratio": f"{result['ratio']:.3f}",
        "GMCR: count": result["count"],
        "supports exact": f"{result['exact']:.4f}",
        "matched": f"{result['matched']}/{n}",
        "NMF: matched": f"{result['nmf_matched']}/{n}",
    }


def main() -> None:
    options = parser(__doc__, "speed")
    options.add_argument("--repeats", type=int, default=3, help="the best of so many timings counts")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--profile", action="store_true", help="also show where the time goes")
    given = options.parse_args()
    size = SMOKE if given.smoke else setting(256, 1024, 20)
    setup = {"repeats": given.repeats, "threads": given.threads}
    row = "smoke" if given.smoke else "256-4N-20dB"
    cells = [{"row": row, **size, **setup, "random_state": seed} for seed in given.seeds or SEEDS[:1]]
    runs = measure(cells, run, given)
    worst = runs.table["ratio"].max()
    by_run = [line_of(result) for result in runs.table.to_dict("records")]
    report([by_run, [check("time over NMF's, worst run", worst, "<=", 1.0, "{:.3f}")]], runs, given)
    if given.profile:
        show_profile(cells[0])


if __name__ == "__main__":
    main()
