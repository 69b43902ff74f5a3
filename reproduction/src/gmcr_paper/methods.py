"""The methods of the tables: their names, what the tables call them, and how each is run."""

from __future__ import annotations

from typing import Any

from gmcr.validation import FloatArray

METHODS = {
    "nmf": "NMF",
    "nmf-true": "NMF, told N",
    "sparse-nmf": "Sparse-NMF",
    "bayes-nmf": "Bayes-NMF",
    "ica": "ICA",
    "mcr-als": "MCR-ALS",
    "ard-oracle": "ARD-NMF, oracle φ",
    "ard-tuned": "ARD-NMF, φ = 0.03",
    "ard-default": "ARD-NMF, φ = 1",
    "ard": "ARD-NMF, best φ",
    "spa": "SPA",
    "rank-nmf": "rank rule + NMF",
    "eb": "EB-gMCR",
    "eb-refined": "EB-gMCR, refined",
    "window": "window solver",
}
SEARCHED = ("nmf", "sparse-nmf", "bayes-nmf", "ica", "mcr-als", "spa")  # take the count as input: Algorithm 3
ARD_PHI = {"ard-tuned": 0.03, "ard-default": 1.0}  # two of the paper's three settings
ABSENT = ("nmf-true", "spa", "rank-nmf", "eb-refined", "window")  # rows the paper lacks


def estimator(
    method: str, count: int | None, seed: int, *, phi: float | None = None, signed: bool = False
) -> Any:
    """A method, not fitted yet; once it is, it has components_ (K, channels) and concentrations_ (samples, K).

    Parameters
    ----------
    count : number of components, for the methods that take it; the window solver chooses when it is None
    phi : noise scale of ARD-NMF: a variance for "ard-oracle", and in units of the variance of D for the others
    signed : whether the samples have both signs
    """
    from gmcr.estimators.window import GMCR
    from gmcr_paper import baselines

    if method == "window":
        # Its random state is not the seed of the data: the same data give the same answer.
        return GMCR("auto" if count is None else count, signed=signed, random_state=0)
    if method == "rank-nmf":
        return baselines.RankNMF(signed=signed, random_state=seed)
    if method.startswith("ard"):
        # The paper's own φ are in units of the variance of D (see ARDNMF); the noise variance is one as it is.
        return baselines.ARDNMF(phi=phi, relative=method != "ard-oracle", signed=signed, random_state=seed)
    make: Any = baselines.NEEDS_COUNT["nmf" if method == "nmf-true" else method]
    if method in ("mcr-als", "spa"):
        return make(count, signed=signed)  # nothing random in it
    return make(count, signed=signed, random_state=seed)


def fitted(
    method: str,
    D: FloatArray,
    count: int | None,
    seed: int,
    *,
    phi: float | None = None,
    signed: bool = False,
) -> Any:
    """A method fitted to samples D (samples, channels); the other arguments are those of `estimator`."""
    model = estimator(method, count, seed, phi=phi, signed=signed).fit(D)
    if getattr(model, "interrupted_", False):
        raise KeyboardInterrupt  # the best found so far is no measurement
    return model
