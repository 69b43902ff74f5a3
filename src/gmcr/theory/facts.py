"""What a certificate is computed from: the model's constants, and what the solution leaves of each sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.noise import NoiseLaw, degrees_of_freedom, estimate_noise
from gmcr.rank import noise_edge
from gmcr.theory.pairs import IsolatingPairs, diverse_pairs
from gmcr.theory.spark import SparkMargin, spark_margin
from gmcr.theory.window import NoiseLevels, gaussian_levels, inverse_gram_diagonals, net_levels
from gmcr.threads import product
from gmcr.validation import FloatArray, check_per_sample, check_samples, check_share, squared_norms

ROUNDING = 1e-9  # of a sample's norm: a residual as small as that is none


@dataclass(frozen=True, eq=False)
class Facts:
    """A solution with the constants of the model (Eq. 2) that it is checked against.

    Attributes
    ----------
    S : (slots, channels); C : (samples, slots)
    sigma : (samples,) proxy σ of the noise, with what correlation adds to it
    correlated : by how much the noise's proxy exceeds its standard deviation, 1 for white noise
    k, c_min, c_max, floor, diversity : constants of the model and of the certificate (C8, Conjecture R)
    read_off : names of the constants that nobody gave, so that they come from the solution itself
    spark : the pool's margin at 2k
    levels, net : noise levels ε_ns and ε_prj per sample, exact for Gaussian noise and the paper's
    eps_fit : (samples,) fit tolerance
    residual : (samples,) norm of what the solution leaves
    without : (samples, slots) norm of what the best fit leaves when a slot is taken from a support; NaN elsewhere
    inverse : (samples, slots) (G_J⁻¹)_ii for each sample's own support; NaN elsewhere
    gains : (samples, slots) product of what is left of a sample with each profile
    pairs : isolating pairs on the solution's supports
    has_missing : whether entries of D are missing
    """

    S: FloatArray
    C: FloatArray
    alpha: float
    sigma: FloatArray
    correlated: float
    k: int
    c_min: float
    c_max: float
    floor: float
    diversity: float
    read_off: tuple[str, ...]
    spark: SparkMargin
    levels: NoiseLevels
    net: NoiseLevels
    eps_fit: FloatArray
    residual: FloatArray
    without: FloatArray
    inverse: FloatArray
    gains: FloatArray
    pairs: IsolatingPairs
    has_missing: bool

    @property
    def n_samples(self) -> int:
        return len(self.C)

    @property
    def n_slots(self) -> int:
        return len(self.S)

    @property
    def noiseless(self) -> bool:
        return not self.sigma.any()

    @property
    def spare(self) -> np.ndarray:
        """(samples, slots) selections without which a sample still passes the fit condition."""
        return self.without <= self.eps_fit[:, None]


def noise_of(noise: Any, D: FloatArray, solution: Decomposition) -> tuple[FloatArray, NoiseLaw | None]:
    """(samples,) standard deviations: as given, else the solution's, else estimated; and the law if estimated."""
    fit = solution.reconstruct()
    if isinstance(noise, NoiseLaw):
        return noise.sigma(D, fit).per_sample(D), None
    given = solution.noise if noise is None else noise
    if given is not None:
        return check_per_sample(given, len(D), "noise"), None
    law = estimate_noise(D, fit, degrees_of_freedom(D, solution.concentrations, solution.components))
    return law.sigma(D, fit).per_sample(D), law


def gather(
    D: Any,
    decomposition: Decomposition,
    noise: Any,
    alpha: float,
    constants: dict[str, float | None],
    seconds: float,
) -> Facts:
    """Check the arguments and compute everything that conditions need.

    constants : k, c_min, c_max, eps_fit, floor and diversity, None where the solution is to tell
    seconds : for the search that tightens the spark margin
    """
    samples = check_samples(D)
    S, C = decomposition.components, decomposition.concentrations
    if samples.shape != (len(C), S.shape[1]):
        raise InputError(
            f"D must be the samples that were decomposed, {len(C)} x {S.shape[1]}, but is "
            f"{samples.shape[0]} x {samples.shape[1]}."
        )
    for name, value in (constants | {"alpha": alpha}).items():
        if value is not None and not (np.isfinite(value) and value >= 0):
            raise InputError(f"{name} must be finite and not negative, not {value}.")
    if constants["k"] is not None and constants["k"] < 1:
        raise InputError(f"k must be at least 1, not {constants['k']}.")
    check_share(alpha, "alpha")
    read_off = [name for name, value in constants.items() if value is None and name != "eps_fit"]
    missing = np.isnan(samples)
    fit = C @ S
    X = np.where(missing, fit, samples) if missing.any() else samples
    left = X - fit
    residual = np.sqrt(squared_norms(left))
    residual[residual <= ROUNDING * np.sqrt(squared_norms(X))] = 0.0

    held = C != 0
    sigma = noise_of(noise, samples, decomposition)[0]
    if noise is None:
        read_off.append("noise")
    correlated = 1.0 if missing.any() else _correlation(left, sigma)
    proxy = sigma * correlated
    pairs, inverse = diverse_pairs(C), inverse_gram_diagonals(S, held)
    amounts, served = np.abs(C[held]), pairs.level[pairs.active]
    smallest = float(amounts.min()) if amounts.size else 0.0

    def constant(name: str, found: float) -> float:
        value = constants[name]
        return found if value is None else float(value)

    k = int(constant("k", max(int(held.sum(axis=1).max()), 1)))
    levels = gaussian_levels(proxy, S.shape[1], len(S), len(C), k, alpha)
    eps_fit = constants["eps_fit"]
    return Facts(
        S=S,
        C=C,
        alpha=alpha,
        sigma=proxy,
        correlated=correlated,
        k=k,
        c_min=constant("c_min", smallest),
        c_max=constant("c_max", float(amounts.max(initial=0.0))),
        floor=constant("floor", smallest),
        diversity=constant("diversity", float(served.min()) if served.size else 0.0),
        read_off=tuple(read_off),
        spark=spark_margin(S, 2 * k, supports=held, seconds=seconds),
        levels=levels,
        net=net_levels(proxy, S.shape[1], len(S), len(C), k, alpha),
        eps_fit=levels.norm if eps_fit is None else np.full(len(C), float(eps_fit)),
        residual=residual,
        without=_without_one(product(X, S, np.empty_like(C)), S, C, residual, inverse),
        inverse=inverse,
        gains=product(left, S, np.empty_like(C)),
        pairs=pairs,
        has_missing=bool(missing.any()),
    )


def _correlation(left: FloatArray, sigma: FloatArray) -> float:
    """√ of the largest eigenvalue of the noise's covariance, in units of its variance; 1 where noise is white.

    A wrong solution leaves something of the samples it is wrong about, and that is no noise. So the half of the
    samples of which least is left must be correlated before all of them tell by how much.
    """
    if not (sigma > 0).all():
        return 1.0
    scaled = left / sigma[:, None]
    size = squared_norms(scaled)
    if _spike(scaled[size <= np.median(size)]) == 1.0:
        return 1.0
    return float(np.sqrt(_spike(scaled)))


def _spike(noise: FloatArray) -> float:
    """The largest eigenvalue of the covariance of rows of unit variance, 1 where they look white.

    The largest singular value beyond the edge of white noise, brought back to the covariance's own by the
    relation of the spiked model.
    """
    M, d = noise.shape
    largest = float(np.linalg.eigvalsh(noise.T @ noise if d <= M else noise @ noise.T)[-1])
    if largest <= noise_edge(M, d) ** 2:
        return 1.0
    ratio, value = d / M, largest / M
    middle = value + 1.0 - ratio
    return max(1.0, (middle + np.sqrt(max(middle**2 - 4.0 * value, 0.0))) / 2.0)


def _without_one(
    B: FloatArray, S: FloatArray, C: FloatArray, residual: FloatArray, inverse: FloatArray
) -> FloatArray:
    """(samples, slots) what the best fit leaves of a sample when one slot is taken from its support.

    B : (samples, slots) products of samples and profiles. With c the concentrations given and c* the best ones,
    ‖x − S'c*‖² = ‖x − S'c‖² − ‖S'(c − c*)‖²; and leaving out i adds c*_i² / (G⁻¹)_ii.
    """
    best, gained = np.zeros_like(C), np.zeros(len(C))
    G = S @ S.T
    held = C != 0
    sizes = held.sum(axis=1)
    for size in np.unique(sizes[sizes > 0]):
        rows = np.flatnonzero(sizes == size)
        slots = np.nonzero(held[rows])[1].reshape(len(rows), size)
        stacked = G[slots[:, :, None], slots[:, None, :]]
        right = np.take_along_axis(B[rows], slots, axis=1)[:, :, None]
        try:
            solved = np.linalg.solve(stacked, right)
        except np.linalg.LinAlgError:
            solved = np.linalg.pinv(stacked) @ right
        best[rows[:, None], slots] = solved[:, :, 0]
        moved = solved - np.take_along_axis(C[rows], slots, axis=1)[:, :, None]
        gained[rows] = np.einsum("mio,mij,mjo->m", moved, stacked, moved)
    squares = np.maximum(residual**2 - gained, 0.0)
    return np.sqrt(squares[:, None] + best**2 / inverse)
