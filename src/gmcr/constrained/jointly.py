"""Concentrations that sum to a total in every sample while every column keeps a shape.

A sum binds the components of a sample and a shape the samples of a component, so that neither samples nor columns
can be taken in turn. Each alone can be met exactly. So there are two copies of the concentrations, one that sums
and one that is shaped, and multipliers that draw them together (alternating directions, Boyd et al. 2011; within
alternating least squares, Huang, Sidiropoulos & Liavas 2016). What is returned is brought to obey both (Dykstra
1983); where a shape is one of many, such as a maximum somewhere, from near such a point.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from gmcr.constrained.closed import Closed
from gmcr.constraints import Trilinear
from gmcr.errors import InputError
from gmcr.validation import FloatArray

ROUNDS = 5  # of both copies before the profiles' turn; the multipliers go on from turn to turn
APART = 1e-8  # of both copies, over their size: then they are one
PROJECTIONS = 20_000
MET = 1e-11  # the same, in what is returned


@dataclass(frozen=True)
class Jointly(Closed):
    """Columns with shapes, samples with sums.

    multipliers : (samples, components) as the last call left them, from which the next goes on
    """

    multipliers: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def shaped(self, values: FloatArray) -> FloatArray:
        """All columns (samples, components), each the nearest of its shape."""
        return np.column_stack([self.nearest(column, j) for j, column in enumerate(values.T)])

    def improved(self, values: FloatArray, B: FloatArray, G: FloatArray) -> FloatArray:
        together = float(np.trace(G)) / len(G)  # what drawing the copies together weighs
        C, U = values, self.multipliers
        Z = self.shaped(C + U)
        for _ in range(ROUNDS):
            C = self.best_sums(C, B + together * (Z - U), G + together * np.eye(len(G)))
            Z = self.shaped(C + U)
            U += C - Z
            if np.linalg.norm(C - Z) <= APART * np.linalg.norm(Z):
                break
        return C

    def obeying(self, values: FloatArray) -> FloatArray:
        self.multipliers[:] = 0.0  # a fit begins, or ends
        C, P, Q = self.summed(values), np.zeros_like(values), np.zeros_like(values)
        for _ in range(PROJECTIONS):
            Z = self.shaped(C + P)
            P += C - Z
            C = self.summed(Z + Q)
            Q += Z - C
            if np.linalg.norm(C - Z) <= MET * np.linalg.norm(Z):
                break
        return C


def jointly(factor: Closed) -> Jointly:
    """The same factor, for columns that have shapes too."""
    if any(isinstance(one, Trilinear) for one in factor.shaped_by):
        raise InputError("closure and trilinear cannot hold together; give one of them.")
    same = {one.name: getattr(factor, one.name) for one in fields(factor)}
    return Jointly(**same, multipliers=np.zeros_like(factor.lower))
