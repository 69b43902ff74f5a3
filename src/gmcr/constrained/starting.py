"""From what the search has found to a fit that obeys."""

from __future__ import annotations

import warnings

import numpy as np

from gmcr.constrained.alternating import Fit, left_over
from gmcr.constrained.finish import Table, finish
from gmcr.constrained.kinetics import kinetic_fit
from gmcr.constraints import Constraints, Kinetic
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray
from gmcr.window.evidence import SPARSE
from gmcr.window.frozen_pool import FrozenPool
from gmcr.window.solver import Solution

MISSES = 4.0  # times the squares left without constraints, twice the deviations: then samples do not obey


def constrained_fit(table: Table, constraints: Constraints, solution: Solution) -> Fit | None:
    """The fit of all samples that obeys the constraints; None where none of them holds during a fit."""
    asked = constraints.at("fit")
    if not asked:
        return None
    coupling = next((one for one in asked if one.couples), None)
    if coupling is not None and (table.weight != 1).any():
        raise InputError(f"{coupling.name} binds samples to each other; fit without sample_weight.")
    C, held = _decoded(table.D, constraints, solution)
    kinetic = constraints.find(Kinetic)
    if kinetic is None:
        fit = finish(table, constraints, solution.state.S, held)
    else:
        fit = kinetic_fit(table.D, table.layout, constraints, kinetic)
    empty = np.flatnonzero(~fit.S.any(axis=1))
    if empty.size:
        raise InputError(
            f"nothing is left of component {empty[0]} under the constraints; fit fewer components, or leave "
            "one of them out."
        )
    plain = left_over(table.D, table.weight, C, solution.state.S)
    if fit.left > MISSES * plain:
        told = ", ".join(dict.fromkeys(one.name for one in asked))
        warnings.warn(
            f"the constraints ({told}) leave {fit.left / plain:.1f} times the squares of the fit without them; "
            "these samples may not obey them.",
            stacklevel=3,
        )
    return fit


def _decoded(
    D: FloatArray, constraints: Constraints, solution: Solution
) -> tuple[FloatArray, BoolArray | None]:
    """Concentrations without constraints, and supports where samples hold few of many components."""
    state = solution.state
    covariance = np.zeros((state.count, state.count))
    pool = FrozenPool(state.S, covariance, solution.usage_price, constraints, solution.correlation)
    C = pool.decode_plain(D, solution.law).concentrations
    few = state.usage <= SPARSE * state.C.size
    return C, (C != 0) if few else None
