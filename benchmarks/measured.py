"""Tables that behave like measured ones: a handful of components in every sample, and more than white noise.

    python benchmarks/measured.py
    python benchmarks/measured.py --only 'eem*' --seeds 100

Two to five components each: elution (chromatograms with a spectrum per time point), kinetics (consecutive
reactions), designs (mixtures of Raman-like spectra, scattered, with noise correlated along channels) and eem
(fluorescence landscapes unfolded). The `*-bent` families have what the bilinear model has not: a saturating
detector and correlated noise, inner filters and a scatter ridge, shifts and drifting offsets. These were made
to test the choice of the count, and its constants were chosen on seeds 0 to 22; nothing here replaces real
data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import expm
from scipy.ndimage import gaussian_filter1d

from common import Cell, Result, measure, parser, report, shown
from fits import fit, matched_cosines

Table = tuple[np.ndarray, np.ndarray]  # samples and true profiles
Rng = np.random.Generator


def bands(rng: Rng, n: int, d: int, widths: tuple[float, float], most: int, fewest: int = 1) -> np.ndarray:
    """(n, d) profiles: sums of Gaussian bands, the highest point at one."""
    x = np.linspace(0, 1, d)
    S = np.zeros((n, d))
    for profile in S:
        for _ in range(rng.integers(fewest, most + 1)):
            profile += rng.uniform(0.2, 1) * np.exp(-0.5 * ((x - rng.uniform()) / rng.uniform(*widths)) ** 2)
        profile /= profile.max()
    return S


def noise(rng: Rng, D: np.ndarray, low: float = -3.0, high: float = -2.0) -> np.ndarray:
    """White noise at a level drawn between 10^low and 10^high of the maximum."""
    return 10 ** rng.uniform(low, high) * D.max() * rng.normal(size=D.shape)


def smooth(rng: Rng, shape: tuple[int, ...], width: float) -> np.ndarray:
    """Noise of variance one, correlated along channels."""
    values = gaussian_filter1d(rng.normal(size=shape), width, axis=1, mode="reflect")
    return values / values.std()


def elution(rng: Rng, n: int, bent: bool) -> Table:
    n_times, d = rng.integers(40, 80), rng.integers(60, 150)
    t = np.linspace(0, 1, n_times)[:, None]
    S = bands(rng, n, d, (0.06, 0.2), 4)
    centres = 0.5 + (np.arange(n) - (n - 1) / 2) * rng.uniform(0.06, 0.12) + 0.01 * rng.normal(size=n)
    runs = []
    for _ in range(rng.integers(1, 5)):
        widths = rng.uniform(0.04, 0.09, n)
        widths = np.where(t > centres, widths * rng.uniform(1, 1.4), widths)
        runs.append(rng.uniform(0.2, 1, n) * np.exp(-0.5 * ((t - centres) / widths) ** 2))
    D = np.vstack(runs) @ S
    if bent:
        D = D / (1 + rng.uniform(0.02, 0.15) * D / D.max())
        D = D + rng.uniform(0, 0.004) * D.max() * smooth(rng, D.shape, 4)
    return D + noise(rng, D), S


def kinetics(rng: Rng, n: int, bent: bool) -> Table:
    n_times, d = rng.integers(40, 150), rng.integers(80, 200)
    rates = np.sort(np.exp(rng.uniform(np.log(2), np.log(25), n - 1)))[::-1]
    K = np.zeros((n, n))
    for i, rate in enumerate(rates):
        K[i, i] -= rate
        K[i + 1, i] += rate
    C = np.array([expm(K * time)[:, 0] for time in np.linspace(0, 1, n_times)])
    S = bands(rng, n, d, (0.05, 0.18), 4)
    D = C @ S
    if bent:
        lamp = np.cumsum(rng.normal(size=n_times)) / np.sqrt(n_times)
        D = D + 0.003 * D.max() * lamp[:, None]
    return D + noise(rng, D, -3.0, -2.2), S


def designs(rng: Rng, n: int, bent: bool) -> Table:
    d = rng.integers(200, 800)
    C = rng.dirichlet(np.ones(n), rng.integers(18, 50))
    C = np.vstack([np.eye(n), C]) if rng.random() < 0.5 else C
    S = bands(rng, n, d, (0.006, 0.035), 10, 4) + 0.3 * bands(rng, n, d, (0.1, 0.3), 2)
    D = (C @ S) * (1 + rng.uniform(0, 0.03) * rng.normal(size=(len(C), 1)))
    if bent:
        x = np.arange(d)
        D = np.array([np.interp(x + rng.uniform(0.02, 0.3) * rng.normal(), x, row) for row in D])
        offset = 10 ** rng.uniform(-3, -2) * rng.normal(size=(len(C), 1))
        D = D + offset * (1 + 0.5 * rng.normal(size=(len(C), 1)) * x / d)
    correlated = smooth(rng, D.shape, rng.uniform(3, 30))
    return D + noise(rng, D) + 10 ** rng.uniform(-3.5, -2) * rng.uniform() * D.max() * correlated, S


def eem(rng: Rng, n: int, bent: bool) -> Table:
    d, n_excitations = rng.integers(80, 200), rng.integers(20, 50)
    S = bands(rng, n, d, (0.06, 0.12), 1)
    E = bands(rng, n, n_excitations, (0.1, 0.2), 2).T
    amounts = rng.uniform(0, 1, (rng.integers(3, 8), n))
    filters = rng.uniform(0.02, 0.15) if bent else 0.0
    D = np.vstack(
        [
            (E * c) @ S * np.exp(-filters * (E @ c))[:, None] * np.exp(-0.5 * filters * (c @ S))
            for c in amounts
        ]
    )
    if bent:
        place = 0.1 + 0.5 * np.arange(n_excitations)[:, None] / n_excitations
        ridge = np.exp(-0.5 * ((np.linspace(0, 1, d) - place) / 0.01) ** 2)
        D = D + rng.uniform(0, 0.01) * D.max() * np.tile(ridge, (len(amounts), 1))
    return D + noise(rng, D, -3.0, -2.2), S


FAMILIES: dict[str, Callable[[Rng, int, bool], Table]] = {
    "elution": elution,
    "kinetics": kinetics,
    "designs": designs,
    "eem": eem,
}


def run(cell: Cell) -> Result:
    family, _, bent = cell["row"].partition("-")
    rng = np.random.default_rng([cell["random_state"], cell["n_components"], *map(ord, cell["row"])])
    D, S = FAMILIES[family](rng, cell["n_components"], bool(bent))
    model, seconds = fit(D)
    evidence = model.count_
    return {
        "count": model.n_components_,
        "by_cost": evidence.by_cost,
        "by_rank": evidence.by_rank,
        "by_reproducibility": evidence.by_reproducibility,
        "low": evidence.low,
        "high": evidence.high,
        "min_cos": float(matched_cosines(model.components_, S).min()),
        "seconds": seconds,
    }


def line_of(name: str, runs: Any) -> dict[str, Any]:
    true = runs["n_components"]
    return {
        "family": name,
        "count right": f"{(runs['count'] == true).sum()}/{len(runs)}",
        "off by one": int(((runs["count"] - true).abs() == 1).sum()),
        "in the range given": f"{((runs['low'] <= true) & (true <= runs['high'])).sum()}/{len(runs)}",
        "cost alone": int((runs["by_cost"] == true).sum()),
        "singular values alone": int((runs["by_rank"] == true).sum()),
        "halves alone": int((runs["by_reproducibility"] == true).sum()),
        "smallest cosine where right": shown(
            runs.loc[runs["count"] == true, "min_cos"].median(), "median {:.3f}"
        ),
        "seconds": f"{runs['seconds'].median():.1f}",
    }


def main() -> None:
    given = parser(__doc__, "measured").parse_args()
    rows = [name + end for name in FAMILIES for end in ("", "-bent")]
    cells = [
        {"row": row, "n_components": n, "random_state": seed}
        for row in rows
        for n in (2, 3, 4, 5)
        for seed in given.seeds or (100, 101, 102)
    ]
    runs = measure(cells[:1] if given.smoke else cells, run, given)
    report(
        [[line_of(str(name), group) for name, group in runs.table.groupby("row", sort=False)]], runs, given
    )


if __name__ == "__main__":
    main()
