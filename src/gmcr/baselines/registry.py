"""The baselines by their short names."""

from __future__ import annotations

from gmcr.baselines.ard_nmf import ARDNMF
from gmcr.baselines.base import Baseline
from gmcr.baselines.bayes_nmf import BayesNMF
from gmcr.baselines.ica import ICA
from gmcr.baselines.mcr_als import MCRALS
from gmcr.baselines.nmf import NMF
from gmcr.baselines.rank_nmf import RankNMF
from gmcr.baselines.spa import SNPA, SPA
from gmcr.baselines.sparse_nmf import SparseNMF

# Those that must be told the count take it as their first argument.
NEEDS_COUNT: dict[str, type[Baseline]] = {
    "nmf": NMF,
    "sparse-nmf": SparseNMF,
    "bayes-nmf": BayesNMF,
    "ica": ICA,
    "mcr-als": MCRALS,
    "spa": SPA,
    "snpa": SNPA,
}
FINDS_COUNT: dict[str, type[Baseline]] = {"ard-nmf": ARDNMF, "rank-nmf": RankNMF}
BASELINES: dict[str, type[Baseline]] = NEEDS_COUNT | FINDS_COUNT
