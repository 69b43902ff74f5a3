"""The pictures of docs/how.md, drawn from a small run.

python docs/figures/how.py      writes how.svg and price.svg beside this file
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gmcr import GMCR, decode, make_mixtures
from gmcr.mixtures import Mixtures
from gmcr.reporting.charts import Chart, Heat, Plane, Rule, Series
from gmcr.reporting.figures import as_files
from gmcr.scoring import compare

FOLDER = Path(__file__).parent


def pictures() -> dict[str, str]:
    """The text of each SVG file, by name."""
    mix = make_mixtures(
        n_components=5,
        n_samples=40,
        snr_db=20,
        n_features=120,
        active=(1, 3),
        profiles="peaks",
        random_state=3,
    )
    model = GMCR(random_state=0).fit(mix.D)
    charts = [_samples(mix), _costs(model), _profiles(mix, model), _supports(model)]
    return {"how.svg": _svg(charts, 2, (480, 320)), "price.svg": _svg([_price(mix)])}


def _svg(charts: list[Chart], columns: int = 1, size: tuple[int, int] = (720, 400)) -> str:
    return dict(as_files(charts, columns, size))[".svg"].decode()


def _samples(mix: Mixtures) -> Plane:
    channels = np.arange(120.0)
    series = tuple(Series(f"sample {m}", channels, mix.D[m], place=m % 5) for m in (0, 1, 4, 12))
    alt = "Four noisy samples, each a sum of a few peaks."
    return Plane("samples", "1. Samples go in", alt, "channel", "signal", series)


def _costs(model: GMCR) -> Plane:
    costs = model.path_.groupby("count")["cost"].min()
    series = Series("cost", costs.index.to_numpy(float), costs.to_numpy(float), "points")
    alt = f"The lowest cost met for each count; it is least at {model.n_components_}."
    rule = Rule(float(model.n_components_), "chosen", upright=True)
    title = "2. Many counts are tried; the cheapest is kept"
    return Plane("costs", title, alt, "components", "cost", (series,), (rule,), log=True, whole=True)


def _profiles(mix: Mixtures, model: GMCR) -> Plane:
    channels, pairs = np.arange(120.0), compare(model, mix)
    series = tuple(Series(str(j), channels, profile, place=j) for j, profile in enumerate(model.components_))
    alt = f"The profiles found; each has a cosine of at least {pairs.min_cos:.3f} with a true one."
    return Plane("profiles", "3. Profiles come out", alt, "channel", "profile", series)


def _supports(model: GMCR) -> Heat:
    rows, columns = model.concentrations_.shape
    alt = "Concentrations by sample and component; most are zero."
    return Heat(
        "concentrations",
        "4. And which sample holds which",
        alt,
        "component",
        "sample",
        "concentration",
        tuple(map(str, range(rows))),
        tuple(map(str, range(columns))),
        model.concentrations_,
    )


def _price(mix: Mixtures) -> Plane:
    """For one sample and k components, k from 1 to 5: its best misfit, the price of k, and their sum."""
    m = int(np.flatnonzero(mix.supports.sum(axis=1) == 3)[0])
    price = 12.0  # in noise variances; any price in a wide interval gives the same answer
    sample, noise = mix.D[m : m + 1], mix.sigma[m]
    k = np.arange(1.0, 6.0)
    misfit = np.array([_best_misfit(sample, mix.S, noise, int(most)) for most in k])
    series = (
        Series("misfit", k, misfit, place=0),
        Series("price of the components", k, price * k, place=1),
        Series("both", k, misfit + price * k, place=2),
    )
    best = k[np.argmin(misfit + price * k)]
    alt = f"Misfit falls with every component, their price rises; the sum is least at {best:.0f}."
    rule = Rule(float(best), "the sum is least", upright=True)
    title = "One sample: every component must pay for itself"
    labels = ("components in the sample", "noise variances")
    return Plane("price", title, alt, *labels, series, (rule,), log=True, whole=True)


def _best_misfit(sample: np.ndarray, S: np.ndarray, noise: float, k: int) -> float:
    """‖x − c S‖² / σ² of the best k components at most; a price near zero, so that all k are taken."""
    return float(decode(sample, S, noise=noise, price=1e-6, k_max=k).misfit[0])


if __name__ == "__main__":
    for name, text in pictures().items():
        (FOLDER / name).write_text(text)
