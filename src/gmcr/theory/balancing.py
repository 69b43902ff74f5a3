"""From a solution and what is known of it to the balanced units in which transformations are looked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.stats import norm

from gmcr.constraints import Closure, Constraints, Layout
from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.noise import rounding_floor
from gmcr.theory.facts import noise_of
from gmcr.theory.limits import Limit, Told, limits_of, told_by
from gmcr.theory.transformations import Balanced, find_directions, find_errors
from gmcr.validation import BoolArray, FloatArray, as_numbers, check_samples, check_share

HANDFUL = 5  # components whose transformations can be followed where any sample may hold any


@dataclass(frozen=True, eq=False, kw_only=True)
class Given:
    """A solution and all that its transformations have to respect, for the components that samples hold.

    C : (samples, K);  S : (K, channels) of unit norm;  held : (samples, K) what samples may hold
    sigma : (samples,) noise;  floor : the same, never zero;  known : (K,) whose profile is given
    scales : (K,) with which concentrations sum to one, or None;  the rest as in `Bound`
    """

    C: FloatArray
    S: FloatArray
    held: BoolArray
    sigma: FloatArray
    floor: FloatArray
    spread: FloatArray
    scales: FloatArray | None
    known: BoolArray
    limits: tuple[Limit, ...]
    z: float
    c_min: float | None
    signed: bool
    deadline: float
    counted: BoolArray | None = None

    @property
    def sizes(self) -> FloatArray:
        """(K,) norm of each component's signal."""
        return np.linalg.norm(self.C, axis=0).astype(np.float64)

    def balanced(self) -> Balanced:
        sizes = self.sizes
        C, S = self.C / sizes, self.S * sizes[:, None]
        same = ("held", "spread", "z", "c_min", "signed", "deadline", "limits", "counted")
        return Balanced(
            **{name: getattr(self, name) for name in same},
            C=C,
            S=S,
            weights=1.0 / self.floor,
            directions=find_directions(C, self.held, sizes, self.floor, self.z, self.known),
            errors=find_errors(C, S, self.held, self.sigma, 1.0 / self.floor),
            closure=None if self.scales is None else self.scales * sizes,
        )

    def moved(self, T: FloatArray) -> Given:
        """The solution C T, T⁻¹ S that fits as well; T (K, K) in these units."""
        S = np.linalg.solve(T, self.S)
        norms = np.linalg.norm(S, axis=1)
        scales = None if self.scales is None else np.linalg.solve(T, self.scales) / norms
        return replace(self, C=self.C @ T * norms, S=S / norms[:, None], scales=scales)

    def clipped(self) -> Given:
        """The solution without what noise alone leaves negative, as a true one is, unless it is signed."""
        if self.signed:
            return self
        C, S = np.maximum(self.C, 0.0), np.maximum(self.S, 0.0)
        norms = np.linalg.norm(S, axis=1)
        scales = None if self.scales is None else self.scales / norms
        return replace(self, C=C * norms, S=S / norms[:, None], scales=scales)

    def and_sample(self, c: FloatArray, absent: Sequence[int] = ()) -> Given:
        """The same with another sample of concentrations c (K,), known to be without some of the components.

        Shares stay those of the signal of the samples that were there.
        """
        held = ~np.isin(np.arange(len(c)), absent)
        n, noise, floor = len(self.C), float(np.median(self.sigma)), float(np.median(self.floor))
        return replace(
            self,
            C=np.vstack([self.C, np.where(held, c, 0.0)]),
            held=np.vstack([self.held, held]),
            sigma=np.append(self.sigma, noise),
            floor=np.append(self.floor, floor),
            limits=tuple(one.of_first(n) for one in self.limits),
            counted=np.append(np.ones(n, dtype=bool) if self.counted is None else self.counted, False),
        )


def checked_solution(
    D: Any,
    decomposition: Decomposition,
    used: NDArray[np.intp],
    noise: Any = None,
    *,
    supports: Any = None,
    c_min: float | None = None,
    closure: bool = False,
    constraints: Any = None,
    runs: Any = None,
    order: Any = None,
    alpha: float = 0.05,
    seconds: float = np.inf,
    counted: Any = None,
    notes: list[str],
) -> Given:
    """What `feasible_bands` is told, checked, for the components that samples hold (`used`).

    What was assumed is added to the notes.
    """
    deadline = monotonic() + seconds
    samples = check_samples(D, copy=False)
    C, S = decomposition.concentrations, decomposition.components
    if samples.shape != (len(C), S.shape[1]):
        raise InputError(
            f"D has shape {samples.shape}, but the decomposition has {len(C)} samples and {S.shape[1]} channels; "
            "pass the samples it was made from."
        )
    check_share(alpha, "alpha")
    if c_min is not None and not (np.isfinite(c_min) and c_min >= 0):
        raise InputError(f"c_min must be finite and not negative, not {c_min}.")
    if not used.size:
        raise InputError("the decomposition holds no component in any sample; there is nothing to compare.")
    own = _constraints(constraints, decomposition)
    sigma, law = noise_of(noise, samples, decomposition)
    if law is not None:
        notes.append(f"Noise estimated from what the solution leaves over: {law.sentence()}.")
    held = _check_supports(supports, decomposition, own, notes)
    floor = np.maximum(sigma, rounding_floor(samples))
    spread = np.sqrt(len(samples) / np.maximum((~np.isnan(samples)).sum(axis=0), 1))
    told = None
    if own is not None:
        layout = Layout.of(runs, order, len(samples), decomposition.axis)
        told = told_by(own, layout, C, S, (floor, spread), alpha)
        held = held & told.held
        total = own.find(Closure)
        closure = closure or (total is not None and total.components is None)
        notes += _told_notes(told, total)
    if not held.all():
        notes.append(
            "Taken as right: which sample holds what. A wrong support can move a component beyond its band."
        )
    scales = _closure_scales(C[:, used], notes) if closure else None
    if decomposition.signed and (c_min is not None or closure):
        notes.append("Values may be negative: c_min and closure are not used.")
    rank = min(np.linalg.matrix_rank(S[used]), np.linalg.matrix_rank(C[:, used]))
    if rank < len(used):
        notes.append(
            f"The {len(used)} components have rank {rank}: more solutions than those compared here may fit."
        )
    return Given(
        C=C[:, used],
        S=S[used],
        held=held[:, used],
        sigma=sigma,
        floor=floor,
        spread=spread,
        scales=scales,
        known=np.zeros(len(used), dtype=bool) if told is None else told.known[used],
        limits=() if told is None else limits_of(told.limits, used),
        z=float(norm.isf(alpha / sum(samples.shape))),
        c_min=None if decomposition.signed else c_min,
        signed=decomposition.signed,
        deadline=deadline,
        counted=_check_counted(counted, C[:, used]),
    )


def _constraints(given: Any, decomposition: Decomposition) -> Constraints | None:
    """One or several constraints, with the signs that the solution has; None where none is given."""
    if given is None:
        return None
    if isinstance(given, Constraints):
        return given
    signed = True if decomposition.signed_amounts else "profiles" if decomposition.signed else False
    several = list(given) if isinstance(given, Iterable) else [given]
    return Constraints.of(several, signed=signed)


def _check_supports(
    supports: Any, decomposition: Decomposition, constraints: Constraints | None, notes: list[str]
) -> BoolArray:
    """(samples, components) what a sample may hold."""
    found, shape = decomposition.supports, decomposition.concentrations.shape
    if supports is None and constraints is not None and shape[1] <= HANDFUL:
        notes.append("Any sample may hold any component: a zero of a fit under constraints says little.")
        supports = "all"
    if supports is None:
        return found
    if isinstance(supports, str):
        if supports != "all":
            raise InputError(f'supports must be "all" or an array of shape {shape}, not {supports!r}.')
        return np.ones(shape, dtype=bool)
    held = as_numbers(supports, "supports") != 0
    if held.shape != shape:
        raise InputError(f"supports must have shape {shape}, but has shape {held.shape}.")
    if (found & ~held).any():
        row, column = np.argwhere(found & ~held)[0]
        raise InputError(
            f"supports keeps component {column} out of sample {row}, which holds it in the decomposition."
        )
    return held


def _check_counted(counted: Any, C: FloatArray) -> BoolArray | None:
    """(samples,) bool, of whose signal shares are; None for all."""
    if counted is None:
        return None
    chosen = as_numbers(counted, "counted") != 0
    if chosen.shape != (len(C),):
        raise InputError(f"counted must be a yes or no for each of {len(C)} samples, but has {chosen.shape}.")
    if not C[chosen].any():
        raise InputError("counted chooses no sample that holds anything.")
    return chosen


def _told_notes(told: Told, closure: Closure | None) -> list[str]:
    unused = [
        *told.unused,
        *([closure.name] if closure is not None and closure.components is not None else []),
    ]
    notes = [f"Obeyed up to noise: {', '.join(told.names)}."] if told.names else []
    return notes + ([f"Not used here, though it may close more: {', '.join(unused)}."] if unused else [])


def _closure_scales(C: FloatArray, notes: list[str]) -> FloatArray:
    """The scale of each component with which concentrations come closest to summing to one: (components,)."""
    rows = C[C.any(axis=1)]
    scales = scipy.linalg.lstsq(rows, np.ones(len(rows)))[0]
    if (scales <= 0).any():
        raise InputError(
            f"closure cannot be met: component {int(np.argmin(scales))} would have to count for nothing or less "
            "for the concentrations to sum to one; leave closure out."
        )
    off = float(np.sqrt(np.mean((rows @ scales - 1.0) ** 2)))
    notes.append(f"Closure: the solution's scaled concentrations sum to one within {off:.2%}.")
    return scales
