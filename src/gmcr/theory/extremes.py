"""The least and the largest share of signal a component can have: MCR-BANDS within a block of components.

Minimise and maximise f_i = ‖c_i s_i‖ / ‖C S‖ over C T and T⁻¹ S (Tauler 2001; Gemperline and Cash 2003), here
with the supports built into T, analytic gradients, and non-negativity up to the noise of each value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise, repeat
from time import monotonic
from typing import Any

import numpy as np
from scipy.optimize import minimize

from gmcr.theory.limits import Limit
from gmcr.theory.transformations import Block
from gmcr.validation import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
End = tuple[float, FloatArray | None]
Rows = Any  # indices of constraints, or all of them

WORKING = 15  # constraints of each kind that a round starts from, and adds at most
ROUNDS = 30
PASSES = 3  # over all ends, each from what the pass before met
BOX = 0.3  # first bound on the change of a coefficient of T, where 1 is the component itself
GAIN = 1e-7  # in log share, from which another round is worth it
FEASIBLE = 1e-6  # violation, relative to a typical value, that counts as none
N_STARTS = 3  # random starts, and then as many of the best points met for other components
FEW = 12  # variables up to which that is affordable; with more, one each
UNBOUNDED = 10.0  # gain in log share, a factor of 20,000, from which it counts as unbounded
SAME_COMPONENT = 0.5  # T⁻¹[i, i]: what remains of the old component in the new; beyond it they change names
SMALLEST = 1e-300  # divides zeros by something


class Problem:
    """Objective and constraints of a block as functions of the coordinates x of T, with derivatives."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.G, self.H = block.C.T @ block.C, block.S @ block.S.T
        self.samples = [np.flatnonzero(block.held[:, i]) for i in range(len(block.members))]
        self.limits = [[one for one in block.limits if one.component == i] for i in range(len(block.members))]
        self.mean_C_cov = block.C_cov.mean(axis=0)
        self.directions = np.hstack(block.directions)
        self.column_of = np.repeat(np.arange(len(block.members)), [Q.shape[1] for Q in block.directions])
        self.own = _slices(block)
        # Two components cannot change places without T becoming singular on the way; three can.
        self.same = 0.0 if len(block.members) == 2 else SAME_COMPONENT

    def log_share(self, x: FloatArray, i: int, sign: float = 1.0) -> tuple[float, FloatArray]:
        """± log ‖c_i‖ ‖s_i‖ and its gradient (n_variables,)."""
        T, A = self._pair(x)
        t = T[:, i]
        square = max(float(t @ self.G @ t), SMALLEST)
        n = self._norm(A, i)
        gradient = self._norm_slope(A, i, n, self._row_derivative(A, i)) / n
        gradient[self.own[i]] += self.block.directions[i].T @ (self.G @ t) / square
        return sign * float(0.5 * np.log(square) + np.log(n)), sign * gradient

    def values(self, x: FloatArray, working: Sequence[Rows] | None = None) -> list[FloatArray]:
        """Each kind of constraint: not negative where it is met, in units of typical values.

        working : of each kind, which constraints are wanted; by default all
        """
        block, z = self.block, self.block.z
        if monotonic() > block.deadline:
            raise TimeoutError("the search for other solutions that fit has run out of its time")
        T, A = self._pair(x)
        rows: Iterator[Rows] = repeat(slice(None)) if working is None else iter(working)
        kinds = []
        for i, (t, w) in enumerate(zip(T.T, A)):
            n = self._norm(A, i)
            R = block.misfits[i]
            kinds.append(np.array([w[i] - self.same])[next(rows)])
            if R is not None:
                kinds.append(np.array([1.0 - (np.linalg.norm(R @ t) * n / z) ** 2])[next(rows)])
            for limit in self.limits[i]:
                kinds.append(np.array([1.0 - self._excess(limit, t, w)[0]])[next(rows)])
            if block.signed:
                continue
            m, l = self.samples[i][next(rows)], next(rows)
            floor = 0.0 if block.c_min is None else block.c_min / n
            kinds.append((block.C[m] @ t + z * _root(block.C_cov[m], t) - floor) * np.sqrt(len(block.C)))
            forgiven = z * np.sqrt(w @ block.S_cov @ w) * block.spread[l]
            kinds.append((w @ block.S[:, l] + forgiven) * np.sqrt(block.S.shape[1]) / n)
            if block.closure is not None:
                kinds.append(np.array([w @ block.closure])[next(rows)])
        return kinds

    def derivatives(self, x: FloatArray, working: Sequence[Rows]) -> list[FloatArray]:
        """The derivatives of `values`, each (constraints, n_variables)."""
        block, z = self.block, self.block.z
        T, A = self._pair(x)
        rows = iter(working)
        kinds = []
        for i, (t, w) in enumerate(zip(T.T, A)):
            n, dw = self._norm(A, i), self._row_derivative(A, i)
            dn = self._norm_slope(A, i, n, dw)
            own, Q, R = self.own[i], block.directions[i], block.misfits[i]
            kinds.append(dw[i][None][next(rows)])
            if R is not None:
                r = R @ t
                slope = -2 * (r @ r) * n * dn
                slope[own] -= 2 * n**2 * (Q.T @ (R.T @ r))
                kinds.append(slope[None][next(rows)] / z**2)
            for limit in self.limits[i]:
                _, by_t, by_w = self._excess(limit, t, w)
                slope = -by_w @ dw
                slope[own] -= by_t @ Q
                kinds.append(slope[None][next(rows)])
            if block.signed:
                continue
            m, l = self.samples[i][next(rows)], next(rows)
            jacobian = np.zeros((len(m), len(x)))
            roots = np.maximum(_root(block.C_cov[m], t), SMALLEST)
            jacobian[:, own] = block.C[m] @ Q + z * (block.C_cov[m] @ t) @ Q / roots[:, None]
            if block.c_min is not None:
                jacobian += block.c_min / n**2 * dn
            kinds.append(jacobian * np.sqrt(len(block.C)))
            root = np.sqrt(w @ block.S_cov @ w)
            d_forgiven = z * (block.S_cov @ w) @ dw / max(root, SMALLEST)
            slopes = block.S[:, l].T @ dw + block.spread[l, None] * d_forgiven
            slopes -= np.outer((w @ block.S[:, l] + z * root * block.spread[l]) / n, dn)
            kinds.append(slopes * np.sqrt(block.S.shape[1]) / n)
            if block.closure is not None:
                kinds.append((block.closure @ dw)[None][next(rows)])
        return kinds

    def is_feasible(self, x: FloatArray) -> bool:
        return all(kind.min(initial=0.0) >= -FEASIBLE for kind in self.values(x))

    def _excess(self, limit: Limit, t: FloatArray, w: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """How much of what a limit allows is used up, and its derivatives by column of T and row of T⁻¹."""
        block, nothing = self.block, np.zeros(len(t))
        if limit.of == "C":
            V, columns, own = self.mean_C_cov, block.C, t
        else:
            V, columns, own = block.S_cov * float(np.mean(block.spread**2)), block.S.T, w
        ratio, slope, by_variance = limit.excess(columns @ own, float(own @ V @ own))
        gradient = slope @ columns + 2.0 * by_variance * (V @ own)
        return (ratio, gradient, nothing) if limit.of == "C" else (ratio, nothing, gradient)

    def _pair(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T and its inverse."""
        T = self.block.transformation(x)
        inverse: Any = np.linalg.pinv(T) if np.linalg.det(T) == 0 else np.linalg.inv(T)
        return T, inverse

    def _row_derivative(self, A: FloatArray, i: int) -> FloatArray:
        """Derivative of row i of A = T⁻¹, from dA = −A dT A: (B, n_variables)."""
        return -A[self.column_of].T * (A[i] @ self.directions)

    def _norm(self, A: FloatArray, i: int) -> float:
        """Norm of profile i."""
        return float(np.sqrt(max(A[i] @ self.H @ A[i], SMALLEST)))

    def _norm_slope(self, A: FloatArray, i: int, n: float, dw: FloatArray) -> FloatArray:
        """Derivative of that norm, n, from that of row i of A."""
        return (self.H @ A[i]) @ dw / n


def _slices(block: Block) -> list[slice]:
    """The coordinates of each column of T."""
    ends = np.cumsum([0, *(Q.shape[1] for Q in block.directions)])
    return [slice(a, b) for a, b in pairwise(ends)]


def extremes(block: Block) -> list[tuple[End, End]]:
    """For each component of the block, its least and its largest share, as log ‖c_i‖ ‖s_i‖, and T there.

    Without T, the value is infinite where nothing bounds it and NaN where nothing met the constraints. Every
    solution found is a start for those that follow, beside the solution itself and a few random points.
    """
    problem = Problem(block)
    objectives = [
        partial(problem.log_share, i=i, sign=s) for i in range(len(block.members)) for s in (1.0, -1.0)
    ]
    starts = _starts(problem)
    found = [best(problem, objective, starts) for objective in objectives]
    tried: list[FloatArray] = []
    for _ in range(PASSES):
        met = _distinct([*tried, *(x for _, x in found if x is not None)])[len(tried) :]
        tried += met
        for k, objective in enumerate(objectives):
            promising = sorted(met, key=lambda x: objective(x)[0])[: _n_starts(problem)]
            again = best(problem, objective, promising)
            if again[0] < found[k][0] - GAIN:
                found[k] = again
    ends = [(value, None if x is None else block.transformation(x)) for value, x in found]
    return [(low, (-value, T)) for low, (value, T) in zip(ends[::2], ends[1::2])]


def ends_of(block: Block, i: int) -> tuple[End, End]:
    """Both ends of one member's share, from the solution and each other's place: quicker, for comparisons."""
    problem = Problem(block)
    lowest = partial(problem.log_share, i=i, sign=1.0)
    highest = partial(problem.log_share, i=i, sign=-1.0)
    starts = _starts(problem)[:2]
    low, high = best(problem, lowest, starts), best(problem, highest, starts)
    T = [None if x is None else block.transformation(x) for _, x in (low, high)]
    return (low[0], T[0]), (-high[0], T[1])


def coefficient_range(block: Block, row: int, column: int) -> tuple[float, float]:
    """The least and the largest value of one coefficient of T."""
    problem = Problem(block)
    zero = np.zeros(block.n_variables)
    at_zero = block.transformation(zero)[row, column]
    slope = np.array([block.transformation(e)[row, column] - at_zero for e in np.eye(block.n_variables)])
    if not slope.any():
        return at_zero, at_zero
    starts = _starts(problem)
    low, _ = best(problem, lambda x: (float(slope @ x), slope), starts)
    high, _ = best(problem, lambda x: (float(-slope @ x), -slope), starts)
    return low, -high


def best(problem: Problem, objective: Objective, starts: Sequence[FloatArray]) -> End:
    """The lowest feasible value found from the starts and its place.

    Without a place: −inf where nothing bounds the value, NaN where no feasible point was found.
    """
    lowest: End = (np.nan, None)
    for start in starts:
        x = _descend(problem, objective, start)
        if x is None:
            continue
        value = objective(x)[0]
        if value < objective(start)[0] - UNBOUNDED:
            return -np.inf, None
        if not value >= lowest[0]:
            lowest = value, x
    return lowest


def _descend(problem: Problem, objective: Objective, x: FloatArray) -> FloatArray | None:
    """Sequential quadratic programming in a box that keeps it from leaping over where T is singular.

    It runs on a working set of constraints, which grows by those violated. Returns the best feasible point, None
    where there was none.
    """
    working = [np.argsort(kind)[:WORKING] for kind in problem.values(x)]
    met, size = problem.is_feasible(x), BOX
    for _ in range(ROUNDS):
        y = _programme(problem, objective, x, working, size)
        values = problem.values(y)
        # Of each kind, those violated the most that are not in the working set yet.
        worst = [np.argsort(kind)[:WORKING] for kind in values]
        broken = [rows[kind[rows] < -FEASIBLE] for kind, rows in zip(values, worst)]
        violated = [np.setdiff1d(new, rows) for new, rows in zip(broken, working)]
        working = [np.union1d(rows, new) for rows, new in zip(working, violated)]
        if all(kind.min(initial=0.0) >= -FEASIBLE for kind in values):
            gain = objective(x)[0] - objective(y)[0]
            if met and gain <= 0:
                break
            edge = np.abs(y - x).max() > 0.99 * size
            x, met = y, True
            if not edge and gain < GAIN:
                break
            size *= 2 if edge else 1
        elif not any(new.size for new in violated):
            size /= 4
    return x if met else None


def _programme(
    problem: Problem, objective: Objective, x: FloatArray, working: Sequence[Rows], size: float
) -> FloatArray:
    """One run of SLSQP under the constraints of the working set, within a box around x."""
    inside = {
        "type": "ineq",
        "fun": lambda y: np.concatenate(problem.values(y, working)),
        "jac": lambda y: np.concatenate(problem.derivatives(y, working)),
    }
    if x.size == 0:
        return x
    with np.errstate(all="ignore"):  # a trial step may make T singular
        try:
            out = minimize(
                objective,
                x,
                jac=True,
                method="SLSQP",
                bounds=[(value - size, value + size) for value in x],
                constraints=[inside],
                options={"ftol": 1e-10, "maxiter": 100},
            )
        except ValueError:  # scipy's, where a step led to what are no numbers
            return x
    return np.where(np.isfinite(out.x), out.x, x)


def _starts(problem: Problem) -> list[FloatArray]:
    """The solution, and feasible points in random directions from it, part of the way to where they leave."""
    points, rng = [np.zeros(problem.block.n_variables)], np.random.default_rng(0)
    if not problem.is_feasible(points[0]):
        return points
    for _ in range(_n_starts(problem)):
        direction = rng.standard_normal(problem.block.n_variables)
        step = 1.0
        while step > 1e-4 and not problem.is_feasible(step * direction):
            step /= 2
        if step > 1e-4:
            points.append(rng.uniform(0.5, 1.0) * step * direction)
    return points


def _n_starts(problem: Problem) -> int:
    return N_STARTS if problem.block.n_variables <= FEW else 1


def _distinct(points: list[FloatArray]) -> list[FloatArray]:
    """The points without near copies."""
    kept: list[FloatArray] = []
    for x in points:
        if all(np.abs(x - y).max(initial=0.0) > 1e-4 for y in kept):
            kept.append(x)
    return kept


def _root(covariances: FloatArray, t: FloatArray) -> FloatArray:
    """Standard error of t·c for every covariance (samples, B, B): (samples,)."""
    return np.sqrt(np.maximum(np.einsum("i,mij,j->m", t, covariances, t), 0.0))
