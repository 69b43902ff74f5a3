"""Every table and figure of the paper, in the order in which the document shows them."""

from __future__ import annotations

from collections.abc import Callable

from gmcr.errors import InputError
from gmcr_paper import (
    ablation,
    ard,
    bands,
    count_figure,
    counts,
    gate,
    phi,
    real_figure,
    real_table,
    reuse,
    runtime,
    solver,
    support_bands,
    supports,
)
from gmcr_paper.claims_counts import counts_claims
from gmcr_paper.claims_real import phi_claims, real_claims, reuse_claims
from gmcr_paper.claims_solver import solver_claims
from gmcr_paper.claims_solver_real import real_solver_claims
from gmcr_paper.claims_synthetic import ard_claims, runtime_claims, support_claims
from gmcr_paper.experiment import Claim, Experiment, Found

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        solver,
        counts,
        count_figure,
        bands,
        ard,
        runtime,
        supports,
        support_bands,
        ablation,
        real_table,
        real_figure,
        phi,
        reuse,
        gate,
    )
}

# Statements of the paper that runs check, in the order of the document.
CLAIMS: tuple[Callable[[Found], list[Claim]], ...] = (
    solver_claims,
    real_solver_claims,
    counts_claims,
    ard_claims,
    runtime_claims,
    support_claims,
    real_claims,
    phi_claims,
    reuse_claims,
    gate.gate_claims,
)


def chosen(name: str) -> list[Experiment]:
    """The experiment of this name, or all of them."""
    if name == "all":
        return list(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise InputError(f"the paper has no {name!r} here; there are: all, {', '.join(EXPERIMENTS)}.")
    return [EXPERIMENTS[name]]
