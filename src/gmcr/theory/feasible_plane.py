"""The feasible region of two and of three components that always may occur together, in the plane.

Two components: T = [[1, b], [a, 1]], so that c₁ + a c₂ and c₂ + b c₁ are the new concentrations and, up to scale,
s₁ − b s₂ and s₂ − a s₁ the new profiles. Each coefficient has an interval of its own (Lawton and Sylvestre 1971).

Three components: a profile is a point (1, x, y) in the coordinates of the singular vectors of C S. It is feasible
when it is a corner of a triangle inside the outer polygon (profiles not negative) around the inner one (the
samples, which are not negative combinations of the corners): Borgen and Kowalski 1985. With P one corner, the
other two may as well lie as far out as the outer polygon goes on the two tangents from P to the inner one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import label
from scipy.optimize import minimize_scalar
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

from gmcr.theory.extremes import End
from gmcr.theory.transformations import Block
from gmcr.validation import BoolArray, FloatArray

Interval = tuple[float, float]

NOTHING = 1e-12  # of a squared norm: rounding
GRID = 81  # points to a side, on the whole plane and again on each region


@dataclass(frozen=True, eq=False)
class FeasiblePair:
    """Two components: the intervals of the two mixing coefficients.

    Attributes
    ----------
    components : their numbers, (i, j)
    a, b : intervals such that c_i + a c_j and c_j + b c_i (and profiles s_j − a s_i, s_i − b s_j, profiles of
        unit norm) fit as well; zero is the solution itself
    """

    components: tuple[int, int]
    a: Interval
    b: Interval

    def to_dict(self) -> dict[str, Any]:
        return {"components": list(self.components), "a": list(self.a), "b": list(self.b)}


@dataclass(frozen=True, eq=False)
class FeasibleArea:
    """Three components: where their profiles can lie in the plane.

    Attributes
    ----------
    components : their numbers
    points : (3, 2) the solution's own profiles
    axes : (3, channels) singular vectors: the profile at (x, y) is axes[0] + x axes[1] + y axes[2], up to scale
    inner : (n, 2) corners of the samples' polygon; outer : (n, 2) of the polygon of profiles not negative
    grids : per component x (GRID,) and y (GRID,); masks : per component (GRID, GRID) bool, [y, x]: feasible
    """

    components: tuple[int, int, int]
    points: FloatArray
    axes: FloatArray
    inner: FloatArray
    outer: FloatArray
    grids: tuple[tuple[FloatArray, FloatArray], ...]
    masks: tuple[BoolArray, ...]

    @property
    def areas(self) -> tuple[float, ...]:
        """Area of each component's region as a share of the outer polygon's."""
        whole = ConvexHull(self.outer).volume
        cells = [(x[1] - x[0]) * (y[1] - y[0]) for x, y in self.grids]
        return tuple(float(mask.sum() * cell / whole) for mask, cell in zip(self.masks, cells))

    def to_dict(self) -> dict[str, Any]:
        parts = {"points": self.points, "inner": self.inner, "outer": self.outer}
        plain = {name: value.tolist() for name, value in parts.items()}
        regions = [
            {"x": x.tolist(), "y": y.tolist(), "feasible": mask.tolist()}
            for (x, y), mask in zip(self.grids, self.masks)
        ]
        return {"components": list(self.components), "areas": list(self.areas)} | plain | {"regions": regions}


# Two components


def pair_extremes(block: Block, a: Interval, b: Interval) -> list[tuple[End, End]]:
    """Per component the least and the largest log ‖c_i‖ ‖s_i‖ over the intervals, and T there: exact.

    For one coefficient fixed the share is the norm of a point on a line, so it is largest at an end of the
    other's interval, and least where the line comes closest to zero, or at the end nearest to that.
    """
    return [_pair_ends(block, 0, a, b), _pair_ends(block, 1, b, a)]


def _pair_ends(block: Block, i: int, moves: Interval, others: Interval) -> tuple[End, End]:
    """Least and largest share of member i; its own column moves in one interval, the other's in the other."""
    order = [i, 1 - i]
    G = (block.C_counted.T @ block.C_counted)[np.ix_(order, order)]
    H = (block.S @ block.S.T)[np.ix_(order, order)]

    def value(mine: float, other: float) -> float:
        free = 1.0 - mine * other
        c = G[0, 0] + 2 * mine * G[0, 1] + mine**2 * G[1, 1]
        if c <= NOTHING * G[0, 0]:
            return -np.inf  # always in the same proportion as its partner: it can be done without
        if free <= 0:
            return np.inf  # C T has lost a component: nothing bounds the share
        s = H[0, 0] - 2 * other * H[0, 1] + other**2 * H[1, 1]
        return 0.5 * float(np.log(c * s)) - float(np.log(free))

    def closest(other: float) -> float:
        """The coefficient for which ‖c_i + mine c_j‖ / (1 − mine other) is least."""
        top, bottom = -(G[0, 1] + other * G[0, 0]), G[1, 1] + other * G[0, 1]
        inside = float(np.clip(top / bottom if bottom else 0.0, *moves))
        return min((*moves, inside), key=lambda mine: value(mine, other))

    def least(other: float) -> float:
        return value(closest(other), other)

    places = np.linspace(*others, GRID)
    near = int(np.argmin([least(place) for place in places]))
    around = places[max(near - 1, 0)], places[min(near + 1, GRID - 1)]
    refined = [minimize_scalar(least, bounds=around, method="bounded").x] if around[1] > around[0] else []
    low = float(min([places[near], *refined], key=least))
    corners = [(mine, other) for mine in moves for other in others]
    high = max(corners, key=lambda corner: value(*corner))
    ends = [(least(low), (closest(low), low)), (value(*high), high)]
    Ts = [np.array([[1.0, other], [mine, 1.0]])[np.ix_(order, order)] for _, (mine, other) in ends]
    first, last = ((log, T if np.isfinite(log) else None) for (log, _), T in zip(ends, Ts))
    return first, last


def pair_interval(block: Block, i: int) -> Interval:
    """The interval of T[1 − i, i], the coefficient a of column i, for two fully free components, c_min apart.

    In balanced units; it also makes the other's profile.
    """
    j = 1 - i
    held = block.held[:, i]
    K, z = block.C_cov[held], block.z
    # c_i + a c_j ≥ −z standard errors, in every sample
    samples = (block.C[held, i], block.C[held, j], K[:, i, i], K[:, i, j], K[:, j, j])
    # s_j − a s_i ≥ −z standard errors, in every channel
    V, more = block.S_cov, block.spread**2
    channels = (block.S[j], -block.S[i], V[j, j] * more, -V[i, j] * more, V[i, i] * more)
    parts = [np.concatenate(pair) for pair in zip(samples, channels)]
    if block.closure is not None:
        extra = (block.closure[j], -block.closure[i], 0.0, 0.0, 0.0)
        parts = [np.append(part, value) for part, value in zip(parts, extra)]
    p, q, *variances = parts
    u, v, w = (z**2 * variance for variance in variances)
    return -_reach(p, -q, u, -v, w), _reach(p, q, u, v, w)


def _reach(p: FloatArray, q: FloatArray, u: FloatArray, v: FloatArray, w: FloatArray) -> float:
    """The largest a ≥ 0 up to which p + a q ≥ −√(u + 2 a v + a² w) holds throughout, given p ≥ 0."""
    falls = q < 0
    p, q, u, v, w = (part[falls] for part in (p, q, u, v, w))
    # Squared: (q² − w) a² + 2 (p q − v) a + p² − u = 0, with a past the zero of p + a q.
    A, half = q**2 - w, p * q - v
    with np.errstate(all="ignore"):
        # The discriminant without p² q², which cancels: without noise the root is exact.
        root = np.sqrt(np.maximum(v**2 - w * u + q**2 * u - 2 * p * q * v + p**2 * w, 0.0))
        # The larger root where the parabola opens upwards; where noise exceeds the slope there is no end.
        ends = np.where(A > 0, (-half + root) / A, np.inf)
    return max(float(np.min(ends, initial=np.inf)), 0.0)


# Three components


def feasible_area(block: Block, numbers: Any) -> FeasibleArea | None:
    """The area of feasible profiles of three fully free components, c_min apart; None where it has no area.

    numbers : (3,) what to call the components
    """
    left, L = np.linalg.qr(block.C)
    right, R = np.linalg.qr(block.S.T)
    U, values, Vt = np.linalg.svd(L @ R.T)
    if values[-1] < 1e-9 * values[0]:
        return None
    axes, scores = Vt @ right.T, left @ U * values
    sign = np.where(np.arange(3) == 0, np.sign(axes[0].sum()), 1.0)
    axes, scores = axes * sign[:, None], scores * sign
    coordinates = block.S @ axes.T
    sizes = coordinates[:, :1]
    if (sizes <= 0).any():
        return None
    points = coordinates[:, 1:] / sizes
    try:
        inner = _inner(block, scores, coordinates)
        outer, walls = _outer(block, axes, sizes[:, 0], inner.mean(axis=0))
    except QhullError:
        return None
    grids, masks = _regions(points, inner, outer, walls)
    i, j, k = (int(number) for number in numbers)
    return FeasibleArea((i, j, k), points, axes, inner, outer, grids, masks)


def _inner(block: Block, scores: FloatArray, coordinates: FloatArray) -> FloatArray:
    """Corners of the samples' polygon; each sample first moves inwards by its noise: (n, 2)."""
    rows = (scores[:, 0] > 0) & block.held.any(axis=1)
    places = scores[rows, 1:] / scores[rows, :1]
    centre = places.mean(axis=0)
    # Profiles of the singular axes are orthonormal: the noise of a score is σ_m in every direction.
    noise = np.einsum("ji,mjk,ki->mi", coordinates, block.C_cov[rows], coordinates)[:, 1:].max(axis=1)
    shift = block.z * np.sqrt(noise) / scores[rows, 0]
    away = np.maximum(np.linalg.norm(places - centre, axis=1), 1e-300)
    places = centre + (places - centre) * np.maximum(1.0 - shift / away, 0.0)[:, None]
    hull = ConvexHull(places)
    return places[hull.vertices]


def _outer(
    block: Block, axes: FloatArray, sizes: FloatArray, inside: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Corners (n, 2) of the polygon of profiles not negative beyond noise, and its walls (m, 3): n·x + b ≤ 0."""
    error = np.sqrt(np.diag(block.S_cov)) / sizes
    walls = np.column_stack([-axes[1], -axes[2], -axes[0] - block.z * error.max() * block.spread])
    if block.closure is not None:
        # Scales are a linear function of the profile, as one more channel would be.
        row = np.linalg.solve(block.S @ axes.T, block.closure)
        walls = np.vstack([walls, [-row[1], -row[2], -row[0]]])
    lengths = np.linalg.norm(walls[:, :2], axis=1)
    walls = walls[lengths > 1e-12 * lengths.max()]
    meeting = HalfspaceIntersection(walls, inside)
    corners = meeting.intersections[np.isfinite(meeting.intersections).all(axis=1)]
    hull = ConvexHull(corners)
    return corners[hull.vertices], hull.equations


def _regions(
    points: FloatArray, inner: FloatArray, outer: FloatArray, walls: FloatArray
) -> tuple[tuple[tuple[FloatArray, FloatArray], ...], tuple[BoolArray, ...]]:
    """Per component a grid over its region and which of its points are feasible."""
    low, high = outer.min(axis=0), outer.max(axis=0)
    x, y = (np.linspace(low[k], high[k], GRID) for k in range(2))
    mask = _feasible_on(x, y, inner, walls)
    nearest = [(int(np.abs(y - p[1]).argmin()), int(np.abs(x - p[0]).argmin())) for p in points]
    for place in nearest:
        mask[place] = True  # the solution itself is feasible, however small its region
    labels, _ = label(mask, structure=np.ones((3, 3)))
    grids, masks = [], []
    for place in nearest:
        rows, columns = np.nonzero(labels == labels[place])
        fine = []
        for line, index in ((x, columns), (y, rows)):
            step = line[1] - line[0]
            fine.append(np.linspace(line[index.min()] - step, line[index.max()] + step, GRID))
        grids.append((fine[0], fine[1]))
        masks.append(_feasible_on(fine[0], fine[1], inner, walls))
    return tuple(grids), tuple(masks)


def _feasible_on(x: FloatArray, y: FloatArray, inner: FloatArray, walls: FloatArray) -> BoolArray:
    X, Y = np.meshgrid(x, y)
    return is_corner(np.column_stack([X.ravel(), Y.ravel()]), inner, walls).reshape(X.shape)


def is_corner(points: FloatArray, inner: FloatArray, walls: FloatArray) -> BoolArray:
    """Whether each point is a corner of some triangle within the walls around the inner polygon: (points,).

    points : (n, 2); inner : (m, 2) corners; walls : (k, 3), n·x + b ≤ 0 inside
    """
    scale = np.ptp(inner, axis=0).max()
    within = (points @ walls[:, :2].T + walls[:, 2] <= 1e-9 * scale).all(axis=1)
    towards = inner.mean(axis=0) - points
    ways = inner[None] - points[:, None]
    cross = towards[:, None, 0] * ways[..., 1] - towards[:, None, 1] * ways[..., 0]
    turn = np.arctan2(cross, np.einsum("nk,nmk->nm", towards, ways))
    spans = turn.max(axis=1) - turn.min(axis=1) < np.pi  # otherwise the point is inside the inner polygon
    rows = np.arange(len(points))
    far = []
    for tangent in (turn.argmin(axis=1), turn.argmax(axis=1)):
        way = ways[rows, tangent]
        speed = way @ walls[:, :2].T
        room = -(points @ walls[:, :2].T + walls[:, 2])
        with np.errstate(all="ignore"):
            steps = np.where(speed > 1e-12 * scale, room / speed, np.inf).min(axis=1)
        far.append(points + np.where(np.isfinite(steps), steps, 0.0)[:, None] * way)
    edge = far[1] - far[0]
    reach = inner[None] - far[0][:, None]
    side = edge[:, None, 0] * reach[..., 1] - edge[:, None, 1] * reach[..., 0]
    own = edge[:, 0] * (points - far[0])[:, 1] - edge[:, 1] * (points - far[0])[:, 0]
    covered = (side * np.sign(own)[:, None] >= -1e-9 * scale**2).all(axis=1)
    return within & spans & covered
