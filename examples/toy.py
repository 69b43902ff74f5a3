"""The worked toy of the paper (its appendix "A Worked Toy"): every number of it, computed and checked.

python examples/toy.py
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from gmcr import Decomposition, decode
from gmcr.theory.ambiguity import feasible_bands

C_MIN, C_MAX, S_MIN = 1.0, 10.0, 0.5
S = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 0.8, 0.6]])
C = np.array([[5.0, 0.0], [0.0, 5.0], [5.0, 5.0]])
D = C @ S  # x1, x2, x3


def margin(pool: np.ndarray) -> float:
    """Smallest singular value of the profiles: their spark margin, as none of these pools has more than three."""
    return float(np.linalg.svd(pool, compute_uv=False)[-1])


def remainder(a: float) -> np.ndarray:
    """r(a) = x3 − a s2: what is left of x3 for the first component."""
    return D[2] - a * S[1]


def member(a: float) -> tuple[np.ndarray, np.ndarray]:
    """The family's pool and its concentrations of x2, x3."""
    r = remainder(a)
    size = np.linalg.norm(r)
    return np.stack([r / size, S[1]]), np.array([[0.0, 5.0], [size, a]])


def usage(C: np.ndarray) -> int:
    return int(np.count_nonzero(C))


def show(what: str, value: object) -> None:
    print(f"{what:<66} {value}")


def setup() -> None:
    print("The model on numbers")
    assert np.allclose(D, [[3, 4, 0, 0], [0, 0, 4, 3], [3, 4, 4, 3]])
    assert np.isclose(margin(S), 1.0)
    assert usage(C) == 4
    out = decode(D, S, noise=1e-6)
    assert (out.supports == (C > 0)).all()
    assert np.allclose(out.concentrations, C)
    show("x1, x2, x3", D.tolist())
    show("margin of the pool", f"{margin(S):.2f}")
    show("usage of the truth", usage(C))
    show("decoded over the pool", out.concentrations.round(6).tolist())


def without_diversity() -> None:
    print("\nWithout x1: infinitely many solutions")
    merged = D[2] / np.linalg.norm(D[2])
    assert np.allclose(merged.round(2), [0.42, 0.57, 0.57, 0.42])
    assert np.isclose(np.linalg.norm(D[2]), np.sqrt(50))
    coarse = np.stack([merged, S[1]])
    coarse_C = np.array([[0.0, 5.0], [np.sqrt(50), 0.0]])
    assert np.allclose(coarse_C @ coarse, D[1:])
    assert usage(coarse_C) == 2
    assert usage(C[1:]) == 3
    assert round(margin(coarse), 2) == 0.54
    show("a merged profile s'", merged.round(2).tolist())
    show("its usage, and the truth's on x2, x3", f"{usage(coarse_C)}, {usage(C[1:])}")
    show("its margin", f"{margin(coarse):.2f}")

    amounts = np.linspace(C_MIN, 5.0, 401)
    for a in amounts:
        pool, concentrations = member(a)
        assert np.allclose(concentrations @ pool, D[1:])
        assert usage(concentrations) == 3
        held = concentrations[concentrations > 0]
        assert ((held >= C_MIN) & (held <= C_MAX)).all()
    margins = [margin(member(a)[0]) for a in amounts]
    assert min(margins) >= 0.6 > S_MIN
    assert np.argmin(margins) == 0
    assert round(margins[0], 1) == 0.6
    show("the family r(a), a from 1 to 5: exact, usage", 3)
    show("its smallest margin, at a = 1", f"{margins[0]:.2f}")
    pool, concentrations = member(2.5)
    assert np.allclose(pool[0].round(2), [0.54, 0.72, 0.36, 0.27])
    assert round(concentrations[1, 0], 2) == 5.59
    show("its member a = 2.5", f"{pool[0].round(2).tolist()}, x3 = {concentrations[1, 0]:.2f} s1(a) + 2.5 s2")
    assert np.allclose(member(5.0)[0], S)


def wrong_preferences() -> None:
    print("\nWhat penalties choose")
    span = (C_MIN, 5.0)
    l1 = minimize_scalar(lambda a: np.abs(member(a)[1]).sum(), bounds=span, method="bounded").x
    l2 = minimize_scalar(lambda a: (member(a)[1] ** 2).sum(), bounds=span, method="bounded").x
    for a in np.linspace(*span, 9):
        assert np.isclose((member(a)[1] ** 2).sum(), 75 - 10 * a + 2 * a**2)
        assert np.isclose(np.abs(member(a)[1]).sum(), 5 + np.linalg.norm(remainder(a)) + a)
    assert abs(l1 - 1.0) < 1e-4
    assert abs(l2 - 2.5) < 1e-6
    show("ℓ1 is least at a =", f"{l1:.2f}")
    show("ℓ2 is least at a =", f"{l2:.2f}")


def ambiguity_by_itself() -> None:
    print("\nWhat the ambiguity module finds by itself, from x2, x3 and c_min = 1")
    for start in (5.0, 2.5):  # whichever member of the family it is given
        pool, concentrations = member(start)
        found = feasible_bands(D[1:], Decomposition(pool, concentrations), noise=0.0, c_min=C_MIN)
        low, high = found.bands[1].concentrations[:, 1]
        assert np.allclose([low, high], [1.0, 5.0], atol=1e-5)
        assert not found.closed
        show(f"concentration of s2 in x3, told the member a = {start}", f"from {low:.4f} to {high:.4f}")
    closed = feasible_bands(D, Decomposition(S, C), noise=0.0, c_min=C_MIN)
    assert closed.closed
    ends = closed.bands[1].concentrations[:, 2]
    assert np.allclose(ends, 5.0)
    show("the same with x1", f"from {ends[0]:.4f} to {ends[1]:.4f}: a single point")


def one_more_proportion() -> None:
    print("\nOne further proportion")
    for a in np.linspace(C_MIN, 5.0, 9):
        pool = member(a)[0]
        weights = np.linalg.lstsq(pool.T, D[0], rcond=None)[0]
        assert np.allclose(weights @ pool, D[0])
        assert np.allclose(weights, [np.linalg.norm(remainder(a)), -(5.0 - a)])
        assert (weights[1] < -1e-9) == (a < 5.0)
        if a in (1.0, 2.5, 5.0):
            show(f"x1 over the family's pool, a = {a:g}: coefficient of s2", f"{weights[1]:+.2f}")


def without_spark() -> None:
    print("\nWithout the spark condition")
    pool = np.vstack([S, D[2] / np.linalg.norm(D[2])])
    merged = np.diag([5.0, 5.0, np.sqrt(50)])
    assert np.allclose(merged @ pool, D)
    assert usage(merged) == 3 < usage(C)
    assert margin(pool) < 1e-12 < S_MIN
    show("a third, merged profile: usage, against the truth's", f"{usage(merged)}, {usage(C)}")
    show("its margin", f"{margin(pool):.2f}")


def reuse() -> None:
    print("\nReuse")
    out = decode(np.array([10 * S[0], 10 * S[1]]), S, noise=1e-6)
    assert (out.supports == np.eye(2, dtype=bool)).all()
    assert np.allclose(out.concentrations, 10 * np.eye(2))
    show("x4, x5 decoded over the pool in hand", out.concentrations.round(6).tolist())


def main() -> None:
    setup()
    without_diversity()
    wrong_preferences()
    ambiguity_by_itself()
    one_more_proportion()
    without_spark()
    reuse()
    print("\nEvery number agrees with the paper.")


if __name__ == "__main__":
    main()
