"""The baselines by their short names."""

from __future__ import annotations

from gmcr_paper.baselines.ard_nmf import ARDNMF
from gmcr_paper.baselines.base import Baseline
from gmcr_paper.baselines.bayes_nmf import BayesNMF
from gmcr_paper.baselines.ica import ICA
from gmcr_paper.baselines.mcr_als import MCRALS
from gmcr_paper.baselines.nmf import NMF
from gmcr_paper.baselines.rank_nmf import RankNMF
from gmcr_paper.baselines.spa import SNPA, SPA
from gmcr_paper.baselines.sparse_nmf import SparseNMF

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
