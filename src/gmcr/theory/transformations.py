"""Which transformations T leave the fit C S = (C T)(T⁻¹ S) and the supports as they are, up to noise.

Column i of T makes the new concentrations of component i. They must vanish in every sample that does not hold i:
C[off(i)] T[:, i] = 0, so the column lies in the null space of those samples' concentrations. That null space
always holds e_i, the component itself; where it holds nothing else the column is pinned.

Everything here is in balanced units: every column of C has unit norm and profiles carry the size of their
component's signal, so that the coefficients of T compare signals.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gmcr.theory.limits import Limit, limits_of
from gmcr.validation import BoolArray, FloatArray

LOOSE = 0.1  # a column that noise lets move by less than this share of its own norm counts as pinned
TINY = 1e-6  # coefficients of a unit direction below this are rounding
RIDGE = 1e-10  # keeps CᵀC definite where two components always come in the same proportion


@dataclass(frozen=True, eq=False, kw_only=True)
class Bound:
    """Components of a solution in balanced units, and what their transformations have to respect.

    Attributes
    ----------
    C : (samples, B) concentrations, columns of unit norm; S : (B, channels) profiles times those norms
    held : (samples, B) bool, which components a sample may hold
    spread : (channels,) by how much the standard error of a channel exceeds that of a complete one
    closure : (B,) scales with which concentrations sum to one, or None
    z : standard errors by which a value may be negative
    c_min : smallest concentration held, profiles of unit norm
    signed : whether values may be negative anyway: then the supports alone bind
    deadline : on the clock of time.monotonic, when a search gives up
    limits : of columns that must obey, by the position of their component here
    counted : (samples,) bool, those of whose signal shares are; None for all
    """

    C: FloatArray
    S: FloatArray
    held: BoolArray
    spread: FloatArray
    closure: FloatArray | None
    z: float
    c_min: float | None
    signed: bool
    deadline: float = np.inf
    limits: tuple[Limit, ...] = ()
    counted: BoolArray | None = None

    @property
    def C_counted(self) -> FloatArray:
        """(samples, B) concentrations of the samples of whose signal shares are."""
        return self.C if self.counted is None else self.C[self.counted]


@dataclass(frozen=True, eq=False, kw_only=True)
class Block(Bound):
    """Components that the samples let trade signal with each other.

    Attributes
    ----------
    members : (B,) numbers of the components
    directions : per component (B, n_i): in what directions its column of T may leave e_i
    misfits : per component (rows, B): R_i with ‖R_i t‖ ‖s_i‖ the misfit, in noise units, of leaving i out of the
        samples that do not hold it; None where the directions cause none
    C_cov : (samples, B, B) covariance of a sample's concentrations; S_cov : (B, B) of a channel's profile values
    """

    members: NDArray[np.intp]
    directions: tuple[FloatArray, ...]
    misfits: tuple[FloatArray | None, ...]
    C_cov: FloatArray
    S_cov: FloatArray

    @property
    def n_variables(self) -> int:
        return sum(Q.shape[1] for Q in self.directions)

    @property
    def fully_free(self) -> bool:
        """Whether every column may go anywhere: each sample with one of the components may hold them all."""
        free = all(Q.shape[1] == len(self.members) - 1 for Q in self.directions)
        return free and all(R is None for R in self.misfits)

    def transformation(self, x: FloatArray) -> FloatArray:
        """T (B, B) at the coordinates x (n_variables,); zero is the solution itself."""
        T = np.eye(len(self.members))
        start = 0
        for i, Q in enumerate(self.directions):
            T[:, i] += Q @ x[start : start + Q.shape[1]]
            start += Q.shape[1]
        return T


@dataclass(frozen=True, eq=False)
class Errors:
    """Covariances of what least squares makes of noise: of profiles given C, of concentrations given S.

    Attributes
    ----------
    of_profiles : (K, K) of the values of one channel
    supports : (n, K) the different supports; inverses : their inverse Gram matrices
    which : (samples,) each sample's support; sigma : (samples,)
    """

    of_profiles: FloatArray
    supports: BoolArray
    inverses: tuple[FloatArray, ...]
    which: NDArray[np.intp]
    sigma: FloatArray

    def of_concentrations(self, members: NDArray[np.intp]) -> FloatArray:
        """(samples, B, B) for some components; zero for those a sample does not hold."""
        parts = np.zeros((len(self.supports), len(members), len(members)))
        place = np.cumsum(self.supports, axis=1) - 1
        for k, (support, inverse) in enumerate(zip(self.supports, self.inverses)):
            inside = np.flatnonzero(support[members])
            chosen = place[k, members[inside]]
            parts[k][np.ix_(inside, inside)] = inverse[np.ix_(chosen, chosen)]
        return self.sigma[:, None, None] ** 2 * parts[self.which]


def find_errors(
    C: FloatArray, S: FloatArray, held: BoolArray, sigma: FloatArray, weights: FloatArray
) -> Errors:
    """The errors that noise sigma (samples,), zero where there is none, leaves in C and S."""
    # Without noise there is nothing to forgive, whatever stands in for the weights.
    of_profiles = scipy.linalg.pinvh((C * weights[:, None] ** 2).T @ C) * float(sigma.any())
    supports, which = np.unique(held, axis=0, return_inverse=True)
    inverses = tuple(scipy.linalg.pinvh(S[s] @ S[s].T) if s.any() else np.zeros((0, 0)) for s in supports)
    return Errors(of_profiles, supports, inverses, which.ravel(), sigma)


def find_directions(
    C: FloatArray,
    held: BoolArray,
    sizes: FloatArray,
    sigma: FloatArray,
    z: float,
    known: BoolArray | None = None,
) -> list[FloatArray]:
    """Per component (K, n_i): the directions, itself apart, in which noise lets its column of T move.

    C : (samples, K) columns of unit norm; sizes : (K,) norm of each component's signal; sigma : (samples,) > 0
    known : (K,) whose profile is given. Its row of T⁻¹ is that of the identity, and so is its row of T: no other
        column has any of it

    A direction v with ‖C v‖ = 1 moves concentrations by as much as the component has; leaving its part in the
    samples that do not hold the component out costs ‖C_off v‖ ‖s_i‖ noise units, and z of them go unnoticed.
    """
    K = C.shape[1]
    weighted = C / sigma[:, None]
    whole = weighted.T @ weighted
    gram = C.T @ C + RIDGE * np.eye(K)
    directions = []
    for i in range(K):
        others = np.flatnonzero((np.arange(K) != i) if known is None else (np.arange(K) != i) & ~known)
        on = weighted[held[:, i]][:, others]
        off = whole[np.ix_(others, others)] - on.T @ on
        if 2 * held[:, i].sum() > len(C):  # subtract only where it is the shorter way: it rounds
            rows = weighted[~held[:, i]][:, others]
            off = rows.T @ rows
        directions.append(np.zeros((K, 0)))
        cost = (z / (LOOSE * sizes[i])) ** 2
        metric = gram[np.ix_(others, others)]
        if not others.size or _is_definite(off - cost * metric):
            continue
        values, vectors = scipy.linalg.eigh(off, metric)
        loose = vectors[:, values <= cost]
        Q = np.zeros((K, loose.shape[1]))
        Q[others] = scipy.linalg.orth(loose) if loose.shape[1] else loose
        Q[np.abs(Q) < TINY] = 0.0
        directions[i] = Q
    return directions


def group(directions: list[FloatArray]) -> list[NDArray[np.intp]]:
    """Components that a transformation can mix, directly or by way of others.

    A lone one, of itself a group, is pinned: nothing enters its column of T, and as it enters no other column,
    row i of T and with it row i of T⁻¹, which makes its profile, is e_i.
    """
    reach = np.stack([np.abs(Q).sum(axis=1) > 0 for Q in directions], axis=1)
    n_groups, labels = connected_components(reach, directed=False)
    return [np.flatnonzero(labels == label) for label in range(n_groups)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Balanced(Bound):
    """A whole solution in balanced units.

    weights : (samples,) 1/σ, never infinite; directions : per component (K, n_i), as `find_directions` has them
    """

    weights: FloatArray
    directions: list[FloatArray]
    errors: Errors

    def block(self, members: NDArray[np.intp]) -> Block:
        """The block of some of the components, which trade with no others."""
        directions = tuple(self.directions[i][members] for i in members)
        common = {item.name: getattr(self, item.name) for item in fields(Bound)}
        common |= {"C": self.C[:, members], "S": self.S[members], "held": self.held[:, members]}
        common["closure"] = None if self.closure is None else self.closure[members]
        common["limits"] = limits_of(self.limits, members)
        return Block(
            **common,
            members=members,
            directions=directions,
            misfits=tuple(self._misfit(i, members, Q) for i, Q in zip(members, directions)),
            C_cov=self.errors.of_concentrations(members),
            S_cov=self.errors.of_profiles[np.ix_(members, members)],
        )

    def _misfit(self, i: int, members: NDArray[np.intp], Q: FloatArray) -> FloatArray | None:
        rows = ~self.held[:, i]
        R = (self.C[rows] * self.weights[rows, None])[:, members]
        # A hundredth of what would be noticed is rounding of the directions, not a misfit.
        noticed = Q.shape[1] > 0 and np.linalg.norm(R @ Q) * np.linalg.norm(self.S[i]) > 0.01 * self.z
        return scipy.linalg.qr(R, mode="r")[0] if noticed else None


def _is_definite(matrix: FloatArray) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
