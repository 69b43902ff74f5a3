"""The least and the largest share of signal a component can have: MCR-BANDS within a block of components.

Minimise and maximise f_i = ‖c_i s_i‖ / ‖C S‖ over C T and T⁻¹ S (Tauler 2001; Gemperline and Cash 2003), here
with the supports built into T, analytic gradients, and non-negativity up to the noise of each value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, eq=False)
class _Place:
    """What is at coordinates x: T, A = T⁻¹, norms of the profiles there, and once asked for, how these change and
    what limits say."""

    x: FloatArray
    T: FloatArray
    A: FloatArray
    norms: FloatArray
    slopes: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)
    excesses: list[list[tuple[float, FloatArray, FloatArray]]] = field(default_factory=list)


class Problem:
    """Objective and constraints of a block as functions of the coordinates x of T, with derivatives."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.G, self.H = block.C_counted.T @ block.C_counted, block.S @ block.S.T
        self.samples = [np.flatnonzero(block.held[:, i]) for i in range(len(block.members))]
        self.limits = [[one for one in block.limits if one.component == i] for i in range(len(block.members))]
        self.mean_C_cov = block.C_cov.mean(axis=0)
        self.directions = np.hstack(block.directions)
        self.column_of = np.repeat(np.arange(len(block.members)), [Q.shape[1] for Q in block.directions])
        self.own = _slices(block)
        self._last: _Place | None = None
        # Two components cannot change places without T becoming singular on the way; three can.
        self.same = 0.0 if len(block.members) == 2 else SAME_COMPONENT

    def log_share(self, x: FloatArray, i: int, sign: float = 1.0) -> tuple[float, FloatArray]:
        """± log ‖c_i‖ ‖s_i‖ and its gradient (n_variables,)."""
        at = self._at(x)
        t, n = at.T[:, i], at.norms[i]
        square = max(float(t @ self.G @ t), SMALLEST)
        gradient = self._slopes(at)[i][1] / n
        gradient[self.own[i]] += self.block.directions[i].T @ (self.G @ t) / square
        return sign * float(0.5 * np.log(square) + np.log(n)), sign * gradient

    def values(self, x: FloatArray, working: Sequence[Rows] | None = None) -> list[FloatArray]:
        """Each kind of constraint: not negative where it is met, in units of typical values.

        working : of each kind, which constraints are wanted; by default all
        """
        block, z = self.block, self.block.z
        if monotonic() > block.deadline:
            raise TimeoutError("the search for other solutions that fit has run out of its time")
        at = self._at(x)
        rows: Iterator[Rows] = repeat(slice(None)) if working is None else iter(working)
        kinds = []
        for i, (t, w, n) in enumerate(zip(at.T.T, at.A, at.norms)):
            R = block.misfits[i]
            kinds.append(np.array([w[i] - self.same])[next(rows)])
            if R is not None:
                kinds.append(np.array([1.0 - (np.linalg.norm(R @ t) * n / z) ** 2])[next(rows)])
            for used, _, _ in self._excesses(at)[i]:
                kinds.append(np.array([1.0 - used])[next(rows)])
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
        at = self._at(x)
        rows = iter(working)
        kinds = []
        for i, (t, w, n, (dw, dn)) in enumerate(zip(at.T.T, at.A, at.norms, self._slopes(at))):
            own, Q, R = self.own[i], block.directions[i], block.misfits[i]
            kinds.append(dw[i][None][next(rows)])
            if R is not None:
                r = R @ t
                slope = -2 * (r @ r) * n * dn
                slope[own] -= 2 * n**2 * (Q.T @ (R.T @ r))
                kinds.append(slope[None][next(rows)] / z**2)
            for _, by_t, by_w in self._excesses(at)[i]:
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

    def _excesses(self, at: _Place) -> list[list[tuple[float, FloatArray, FloatArray]]]:
        """Per component what its limits say, as `_excess` has it."""
        if not at.excesses:
            for limits, t, w in zip(self.limits, at.T.T, at.A):
                at.excesses.append([self._excess(limit, t, w) for limit in limits])
        return at.excesses

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

    def _at(self, x: FloatArray) -> _Place:
        """What all functions of x have in common: of the last x, since they ask for the same one in turn."""
        if self._last is None or not np.array_equal(x, self._last.x):
            T = self.block.transformation(x)
            try:
                A: Any = np.linalg.inv(T)
            except np.linalg.LinAlgError:
                A = np.linalg.pinv(T)
            norms = np.sqrt(np.maximum(np.einsum("ik,kl,il->i", A, self.H, A), SMALLEST))
            self._last = _Place(x.copy(), T, A, norms)
        return self._last

    def _slopes(self, at: _Place) -> list[tuple[FloatArray, FloatArray]]:
        """By component, derivatives of its row of A = T⁻¹, (B, n_variables), and of its norm, (n_variables,)."""
        if not at.slopes:
            minus = -at.A[self.column_of].T  # dA = −A dT A
            for w, n in zip(at.A, at.norms):
                dw = minus * (w @ self.directions)
                at.slopes.append((dw, (self.H @ w) @ dw / n))
        return at.slopes


def _slices(block: Block) -> list[slice]:
    """The coordinates of each column of T."""
    ends = np.cumsum([0, *(Q.shape[1] for Q in block.directions)])
    return [slice(a, b) for a, b in pairwise(ends)]


def extremes(block: Block) -> list[tuple[End, End]]:
    """For each component of the block, its least and its largest share, as log ‖c_i‖ ‖s_i‖, and T there.

    Without T, the value is infinite where nothing bounds it and NaN where nothing met the constraints.
    """
    return _ends(block, range(len(block.members)))


def ends_of(block: Block, i: int) -> tuple[End, End]:
    """Both ends of one member's share alone: quicker."""
    return _ends(block, [i])[0]


def error_of(block: Block, i: int) -> float:
    """Standard error of ‖c_i s_i‖, T fixed: from the profile's size and from that of the concentrations."""
    c, rows = block.C_counted[:, i], slice(None) if block.counted is None else block.counted
    square = max(float(c @ c), SMALLEST)
    spread = float(c**2 @ block.C_cov[rows, i, i]) / square * float(block.S[i] @ block.S[i])
    return float(np.sqrt(square * block.S_cov[i, i] + spread))


def _ends(block: Block, wanted: Sequence[int]) -> list[tuple[End, End]]:
    """Both ends of the shares of some members.

    Every solution found is a start for those that follow, beside the solution itself and a few random points; so
    are solutions for the other members, which are looked for less.
    """
    problem = Problem(block)
    starts = _starts(problem)
    ends = [(i, sign) for i in range(len(block.members)) for sign in (1.0, -1.0)]
    objectives = [partial(problem.log_share, i=i, sign=sign) for i, sign in ends]
    found = [
        best(problem, objective, starts if i in wanted else starts[:1])
        for objective, (i, _) in zip(objectives, ends)
    ]
    tried: list[FloatArray] = []
    for _ in range(PASSES):
        met = _distinct([*tried, *(x for _, x in found if x is not None)])[len(tried) :]
        tried += met
        for k, objective in enumerate(objectives):
            if ends[k][0] not in wanted:
                continue
            others = [x for x in met if not _are_same(x, found[k][1])]
            promising = sorted(others, key=lambda x: objective(x)[0])[: max(_n_starts(problem) - 1, 1)]
            again = best(problem, objective, promising)
            if again[0] < found[k][0] - GAIN:
                found[k] = again
    both = [(value, None if x is None else block.transformation(x)) for value, x in found]
    return [(both[2 * i], (-both[2 * i + 1][0], both[2 * i + 1][1])) for i in wanted]


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
        if not any(_are_same(x, y) for y in kept):
            kept.append(x)
    return kept


def _are_same(x: FloatArray, y: FloatArray | None) -> bool:
    return y is not None and bool(np.abs(x - y).max(initial=0.0) <= 1e-4)


def _root(covariances: FloatArray, t: FloatArray) -> FloatArray:
    """Standard error of t·c for every covariance (samples, B, B): (samples,)."""
    return np.sqrt(np.maximum(np.einsum("i,mij,j->m", t, covariances, t), 0.0))
