"""What constraints leave of a band: columns that obey, up to noise.

The true column obeys. What a transformation makes of the solution is that column and noise, so its distance from
the nearest column that obeys is no more than noise is from obeying. For sets that hold every multiple and every
sum of their columns (rising ones, splines, …) noise is nowhere further from obeying than about zero, and that is
what `most` is drawn from. A maximum somewhere is such a set once its place is settled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.stats import gamma

from gmcr.constrained.factors import Factor, factor_of
from gmcr.constraints import Constraint, Constraints, Kinetic, Layout, Trilinear, Unimodal
from gmcr.constraints.factor import FactorConstraint
from gmcr.validation import BoolArray, FloatArray

Nearest = Callable[[FloatArray], FloatArray]

DRAWS = (
    400  # of noise, from which the law of its distance is taken; the law's two numbers are known to 5 % then
)
ROUNDING = 1e-10  # of a column's squares: what is forgiven without noise
ALIKE = 1e-8  # singular value over the first, below which columns add nothing
TINY = 1e-300
FAR = 1e6  # of a top over the noise, so that nothing moves it


@dataclass(frozen=True, eq=False)
class Limit:
    """That a column is near obeying: its squared distance is at most `most` times its entries' mean variance.

    of : "C" or "S";  component : whose column;  nearest : the column that obeys, nearest to one
    name : of the constraint
    """

    of: str
    component: int
    nearest: Nearest
    most: float
    name: str

    def excess(self, column: FloatArray, variance: float) -> tuple[float, FloatArray, float]:
        """Squared distance over what is allowed, and its derivatives by the column and by the variance."""
        off = column - self.nearest(column)
        allowed = self.most * variance + ROUNDING * float(column @ column)
        ratio = float(off @ off) / allowed
        slope = 2.0 * (off - ratio * ROUNDING * column) / allowed
        return ratio, slope, -ratio * self.most / allowed

    def of_first(self, n: int) -> Limit:
        """The same for the first n of a column's entries, where it is one of concentrations."""
        if self.of == "S":
            return self
        first = self.nearest
        return replace(self, nearest=lambda column: np.concatenate([first(column[:n]), column[n:]]))


@dataclass(frozen=True, eq=False)
class Told:
    """Constraints as bands need them.

    held : (samples, components) bool, where constraints let a sample hold a component
    known : (components,) bool, whose profile is given
    limits : of columns;  names : of constraints that make a difference;  unused : of those that do not
    """

    held: BoolArray
    known: BoolArray
    limits: tuple[Limit, ...]
    names: tuple[str, ...]
    unused: tuple[str, ...]


def limits_of(limits: Iterable[Limit], chosen: NDArray[np.intp]) -> tuple[Limit, ...]:
    """The limits of chosen components, which they name by their place among these."""
    place = {int(number): position for position, number in enumerate(chosen)}
    return tuple(replace(one, component=place[one.component]) for one in limits if one.component in place)


def told_by(
    constraints: Constraints,
    layout: Layout,
    C: FloatArray,
    S: FloatArray,
    spreads: tuple[FloatArray, FloatArray],
    alpha: float,
) -> Told:
    """What constraints say about a solution C (samples, components), S (components, channels).

    spreads : (samples,) and (channels,) relative standard deviations of concentrations and of profiles' values
    alpha : probability that noise alone exceeds any limit
    """
    K = C.shape[1]
    followed = Constraints(tuple(one for one in constraints.given if not isinstance(one, Kinetic)))
    of = {
        "C": factor_of("C", followed, layout, C.shape, constraints.signed_amounts),
        "S": factor_of("S", followed, layout, S.T.shape, constraints.signed),
    }
    held = ~((of["C"].lower == 0) & (of["C"].upper == 0))
    kinetic = constraints.find(Kinetic)
    asked = [(name, j, _nearest(of[name], name, j), of[name].shaped_by[j]) for name in of for j in range(K)]
    if kinetic is not None:
        near = kinetic.columns_near(C, layout)
        asked += [("C", j, _among(columns), kinetic) for j, columns in enumerate(near)]
    wanted = [(name, j, nearest, shaping) for name, j, nearest, shaping in asked if nearest is not None]
    share = alpha / max(len(wanted), 1)
    limits = []
    for name, j, nearest, shaping in wanted:
        column, spread = (C[:, j], spreads[0]) if name == "C" else (S[j], spreads[1])
        most = _most(nearest, _place(column, shaping, layout), spread, share)
        limits.append(Limit(name, j, nearest, most, _label(shaping, name)))
    known = np.arange(K) < constraints.n_fixed
    useful = {one.name for one in constraints.given if _counts(one)}
    rest = [one.name for one in constraints.given if not _counts(one) and not _is_plain(one)]
    return Told(held, known, tuple(limits), tuple(sorted(useful)), tuple(dict.fromkeys(rest)))


def _counts(one: Constraint) -> bool:
    """Whether bands go by the constraint."""
    exact = one.kind == "reference profile" and getattr(one, "weight", None) is None
    return isinstance(one, FactorConstraint) or exact


def _is_plain(one: Constraint) -> bool:
    """Whether bands know of it anyway, or it is nothing that could close them."""
    return one.kind in ("non-negative", "at most", "closure")


def _label(shaping: FactorConstraint | None, name: str) -> str:
    return f"values of {name}" if shaping is None else shaping.name


def _nearest(factor: Factor, name: str, j: int) -> Nearest | None:
    """The column of component j that obeys, nearest to one; None where nothing but a sign is asked of it."""
    if name == "S" and j < factor.n_fixed:
        return None  # no transformation changes it
    lower, upper = factor.lower[:, j], factor.upper[:, j]
    zero, given = (lower == 0) & (upper == 0), (lower == upper) & (lower != 0)
    shaping = factor.shaped_by[j]
    if shaping is None:
        if given.any():
            return _proportional(zero | given, np.where(given, lower, 0.0))
        return (lambda column: np.where(zero, 0.0, column)) if zero.any() and name == "S" else None
    shaper = factor.shapers[j]
    assert shaper is not None
    # Signs have limits of their own, entry by entry; zeros belong to the shape.
    low, high = np.where(zero, 0.0, -np.inf), np.where(zero, 0.0, np.inf)
    positive = (factor.lower[:, j] >= 0).all() and shaping.kind in ("smooth", "trilinear")
    low = np.where(positive, 0.0, low)
    return lambda column: shaper(column, low, high)


def _proportional(rows: BoolArray, values: FloatArray) -> Nearest:
    """What makes entries of a column a multiple of known ones."""
    given = values[rows]

    def nearest(column: FloatArray) -> FloatArray:
        found = column.copy()
        found[rows] = max(float(column[rows] @ given), 0.0) / float(given @ given) * given
        return found

    return nearest


def _among(columns: FloatArray) -> Nearest:
    """What makes a column a sum of some: of those that rate constants near the found ones make."""
    U, values, _ = scipy.linalg.svd(
        columns / np.maximum(np.linalg.norm(columns, axis=0), TINY), full_matrices=False
    )
    Q = U[:, values > ALIKE * values[0]]
    return lambda column: Q @ (Q.T @ column)


def _most(nearest: Nearest, place: FloatArray, spread: FloatArray, share: float) -> float:
    """How far noise of unit variance on average is from obeying, squared, at most but for a share of draws."""
    random = np.random.default_rng(0)
    noise = spread / max(float(np.sqrt(np.mean(spread**2))), TINY)
    squares = []
    for _ in range(DRAWS):
        drawn = place + noise * random.standard_normal(len(place))
        squares.append(float(np.sum((drawn - nearest(drawn)) ** 2)))
    mean, variance = float(np.mean(squares)), float(np.var(squares))
    if mean <= 0 or variance <= 0:
        return mean
    return float(gamma.isf(share, mean**2 / variance, scale=variance / mean))


def _place(column: FloatArray, shaping: FactorConstraint | None, layout: Layout) -> FloatArray:
    """Where noise is furthest from obeying: about zero, with what settles a top, or where a set is curved."""
    if isinstance(shaping, Trilinear):
        return FAR * column / max(float(np.linalg.norm(column)), TINY)
    place = np.zeros(len(column))
    if isinstance(shaping, Unimodal):
        for rows in shaping.series(len(column), layout):
            place[rows[np.argmax(column[rows])]] = FAR
    return place
