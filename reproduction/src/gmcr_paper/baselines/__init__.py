"""The methods to compare with, one file each, and the search for their component count (Algorithm 3).

Here live NMF and its sparse, Bayesian and automatic-relevance forms, ICA, MCR-ALS, successive projection and
the rank rules followed by NMF, all with the estimator interface of `base.Baseline` and at their best settings.
No solver of gmcr may import from here, and no baseline may use a solver of gmcr: a comparison needs both sides
independent. What baselines may use of gmcr are its errors, validation, metrics and `Decomposition`, and the
rank rules of `gmcr.rank`, which are no solver.

    NMF(n_components, *, solver="cd" | "mu", init="nndsvda", max_iter=5000, tol=None, signed=False,
        random_state=None)
    SparseNMF(n_components, *, sparseness_c=None, sparseness_s=None, max_iter=500, tol=1e-5, signed=False,
        random_state=None)
    BayesNMF(n_components, *, method="gibbs" | "icm", n_draws=200, n_burn=200, max_iter=2000, tol=1e-7,
        rate_c=None, rate_s=None, signed=False, random_state=None)
    ICA(n_components, *, sources="auto" | "concentrations" | "profiles", max_iter=1000, tol=1e-4, signed=False,
        random_state=None)
    MCRALS(n_components, *, init="purest_samples" | "purest_channels", max_iter=200, tol=1e-6, signed=False)
    ARDNMF(max_components=None, *, prior="l2" | "l1", phi=None, relative=False, a=None, b=None,
        solver="mm" | "cd", max_iter=3000, tol=1e-6, signed=False, random_state=None)
        the paper's φ = 1 and φ = 0.03 are in units of D's variance: relative=True; its oracle is mean(σ²) as is
    SPA(n_components, *, signed=False)
    SNPA(n_components, *, signed=False)
    RankNMF(rule="consensus", *, and NMF's own)

    search_count(D, make, counts, band) -> CountSearch       make(count) returns an unfitted estimator
    counts_near(true_count): the counts of Algorithm 3
    counts_up_to(largest, interval): the counts of the runtime table
    search_seconds(fits): the runtime table from one search at its finest interval
    SUCCESS_BANDS[samples per component, snr_db]: (low, high)
    BASELINES[name]: the class, for nmf, sparse-nmf, bayes-nmf, ica, mcr-als, spa, snpa (NEEDS_COUNT) and ard-nmf,
        rank-nmf (FINDS_COUNT)

Each has fit, transform, inverse_transform, and after fit components_, concentrations_, supports_, n_components_,
noise_, n_iter_ (None where the method does not iterate), converged_, decomposition_ and n_features_in_.
"""

from gmcr_paper.baselines.registry import (
    ARDNMF,
    BASELINES,
    FINDS_COUNT,
    ICA,
    MCRALS,
    NEEDS_COUNT,
    NMF,
    SNPA,
    SPA,
    Baseline,
    BayesNMF,
    RankNMF,
    SparseNMF,
)
from gmcr_paper.baselines.search import (
    SEARCH_INTERVALS,
    SEARCH_RATIOS,
    SEARCH_UP_TO,
    SUCCESS_BANDS,
    CountSearch,
    Fit,
    choose,
    counts_near,
    counts_up_to,
    search_count,
    search_seconds,
    timed_fit,
)

__all__ = [
    "ARDNMF",
    "BASELINES",
    "FINDS_COUNT",
    "ICA",
    "MCRALS",
    "NEEDS_COUNT",
    "NMF",
    "SEARCH_INTERVALS",
    "SEARCH_RATIOS",
    "SEARCH_UP_TO",
    "SNPA",
    "SPA",
    "SUCCESS_BANDS",
    "Baseline",
    "BayesNMF",
    "CountSearch",
    "Fit",
    "RankNMF",
    "SparseNMF",
    "choose",
    "counts_near",
    "counts_up_to",
    "search_count",
    "search_seconds",
    "timed_fit",
]
