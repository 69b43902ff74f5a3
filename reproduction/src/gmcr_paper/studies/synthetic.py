"""A method on the paper's synthetic mixtures (Algorithm 2), scored against the truth."""

from __future__ import annotations

from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import nnls

from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.metrics import r_squared
from gmcr.mixtures import Mixtures, make_mixtures
from gmcr.validation import FloatArray
from gmcr_paper.baselines import SUCCESS_BANDS, counts_near, search_count
from gmcr_paper.methods import ARD_PHI, SEARCHED, estimator, fitted
from gmcr_paper.results import Settings
from gmcr_paper.running import Outcome
from gmcr_paper.support_columns import support_columns

REFITS = 20  # rounds of refitting on the true supports
NOTHING = {"count": 0, "r2": None, "min_cos": None, "exact": None}  # a method that found no component


def mixtures(settings: Settings) -> Mixtures:
    """The samples of a cell."""
    n, ratio = settings["n"], settings["ratio"]
    return make_mixtures(n, ratio * n, snr_db=settings["snr"], random_state=settings["seed"])


def measure_synthetic(settings: Settings) -> Outcome:
    """One method on one draw; settings: method, n, ratio, snr, seed."""
    mix, method = mixtures(settings), settings["method"]
    if method == "truth":
        return Outcome(
            {
                "r2": r_squared(mix.D, mix.C @ mix.S),
                "refitted_r2": r_squared(mix.D, refitted(mix)),
                "count": int(mix.supports.any(axis=0).sum()),
            }
        )
    warm_up(method)
    start = perf_counter()
    model, extra = _model(settings, mix)
    seconds = perf_counter() - start
    if model is None:
        return Outcome(NOTHING | extra | {"fit_seconds": seconds})
    return Outcome(scored(mix, model) | extra | {"fit_seconds": seconds})


def measure_time(settings: Settings) -> Outcome:
    """Seconds of one fit at one count, for the runtime table; settings: method, n, ratio, snr, seed, count."""
    mix = mixtures(settings)
    warm_up(settings["method"])
    start = perf_counter()
    model = fitted(settings["method"], mix.D, settings["count"], settings["seed"])
    seconds = perf_counter() - start
    return Outcome(
        {"fit_seconds": seconds, "r2": r_squared(mix.D, model.concentrations_ @ model.components_)}
    )


def _model(settings: Settings, mix: Mixtures) -> tuple[Any, dict[str, Any]]:
    """The fitted model, and what it was found with."""
    method, seed, n = settings["method"], settings["seed"], settings["n"]
    if method in SEARCHED:
        models: dict[int, Any] = {}

        def make(count: int) -> Any:
            models[count] = estimator(method, count, seed)
            return models[count]

        band = SUCCESS_BANDS[settings["ratio"], settings["snr"]]
        search = search_count(mix.D, make, counts_near(n), band)
        return models[search.count], {"in_band": search.hit}
    if method.startswith("ard"):
        phi = float(np.mean(mix.sigma**2)) if method == "ard-oracle" else ARD_PHI[method]
        model = pruned(method, mix.D, seed, phi)
        return model, {"phi": phi} | (ended(model) if model is not None else {})
    # The window solver and the rank rule choose the count themselves.
    return fitted(method, mix.D, n if method == "nmf-true" else None, seed), {}


def pruned(method: str, D: FloatArray, seed: int, phi: float, *, signed: bool = False) -> Any:
    """ARD-NMF at a noise scale; None where it prunes every component, which is an answer too."""
    try:
        return fitted(method, D, None, seed, phi=phi, signed=signed)
    except InputError as error:
        if "finds no component" in str(error):
            return None
        raise


def ended(model: Any) -> dict[str, Any]:
    """Whether an iteration ended by itself."""
    return {"converged": bool(model.converged_), "iterations": model.n_iter_}


def scored(mix: Mixtures, model: Any) -> dict[str, Any]:
    """A decomposition against the truth: every column of the support tables, and R²."""
    concentrations = model.concentrations_ if hasattr(model, "concentrations_") else model.concentrations
    components = model.components_ if hasattr(model, "components_") else model.components
    found = Decomposition.from_factors(concentrations, components, signed=True)
    return support_columns(found, truth_of(mix)) | {"r2": r_squared(mix.D, concentrations @ components)}


def truth_of(mix: Mixtures) -> Decomposition:
    return Decomposition.from_factors(mix.C, mix.S, signed=True)


def refitted(mix: Mixtures) -> FloatArray:
    """The best the model can do when it is told every support: (samples, channels).

    Profiles and concentrations by non-negative least squares in turn, from the truth, supports held.
    """
    from gmcr.window.pool_update import update_pool

    S, C = mix.S, mix.C
    weights = np.ones((len(mix.D), 1))
    for _ in range(REFITS):
        S, _ = update_pool(S, mix.D, C, weights, n_sweeps=20)
        C = np.zeros_like(mix.C)
        for m, support in enumerate(mix.supports):
            C[m, support] = nnls(S[support].T, mix.D[m])[0]
    return C @ S


@cache
def warm_up(method: str) -> None:
    """Compile, or load, what a method needs, so that no time has to pay for it."""
    fitted(method, make_mixtures(2, 24, n_features=32, random_state=0).D, 2, 0, phi=ARD_PHI.get(method, 0.01))
