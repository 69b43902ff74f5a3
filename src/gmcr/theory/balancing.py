"""From a solution and what is known of it to the balanced units in which transformations are looked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.linalg
from scipy.stats import norm

from gmcr.constraints import Closure, Constraints, Layout
from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.noise import rounding_floor
from gmcr.theory.limits import Told, limits_of, told_by
from gmcr.theory.transformations import Balanced, find_directions, find_errors
from gmcr.validation import BoolArray, FloatArray, as_numbers

HANDFUL = 5  # components whose transformations can be followed where any sample may hold any


def check_constraints(given: Any, decomposition: Decomposition) -> Constraints | None:
    """One or several constraints, with the signs that the solution has; None where none is given."""
    if given is None:
        return None
    if isinstance(given, Constraints):
        return given
    signed = True if decomposition.signed_amounts else "profiles" if decomposition.signed else False
    several = list(given) if isinstance(given, Iterable) else [given]
    return Constraints.of(several, signed=signed)


def balanced_solution(
    samples: FloatArray,
    decomposition: Decomposition,
    used: Any,
    sigma: FloatArray,
    layout: Layout,
    constraints: Constraints | None,
    *,
    supports: Any,
    c_min: float | None,
    closure: bool,
    alpha: float,
    deadline: float,
    notes: list[str],
) -> Balanced:
    """The components that samples hold (`used`), in balanced units; what was assumed is added to the notes."""
    C, S = decomposition.concentrations, decomposition.components
    held = _check_supports(supports, decomposition, constraints, notes)
    floor = np.maximum(sigma, rounding_floor(samples))
    spread = np.sqrt(len(samples) / np.maximum((~np.isnan(samples)).sum(axis=0), 1))
    told = None if constraints is None else told_by(constraints, layout, C, S, (floor, spread), alpha)
    if told is not None:
        held = held & told.held
    if not held.all():
        notes.append(
            "Taken as right: which sample holds what. A wrong support can move a component beyond its band."
        )
    own = None if constraints is None else constraints.find(Closure)
    if own is not None and own.components is None:
        closure = True
    scales = _closure_scales(C[:, used], notes) if closure else None
    if decomposition.signed and (c_min is not None or closure):
        notes.append("Values may be negative: c_min and closure are not used.")
    notes += _told_notes(told, own)
    rank = min(np.linalg.matrix_rank(S[used]), np.linalg.matrix_rank(C[:, used]))
    if rank < len(used):
        notes.append(
            f"The {len(used)} components have rank {rank}: more solutions than those compared here may fit."
        )
    sizes = np.linalg.norm(C[:, used], axis=0)
    balanced, profiles, held = C[:, used] / sizes, S[used] * sizes[:, None], held[:, used]
    z = float(norm.isf(alpha / sum(samples.shape)))
    known = None if told is None else told.known[used]
    return Balanced(
        C=balanced,
        S=profiles,
        held=held,
        weights=1.0 / floor,
        directions=find_directions(balanced, held, sizes, floor, z, known),
        errors=find_errors(balanced, profiles, held, sigma, 1.0 / floor),
        spread=spread,
        closure=None if scales is None else scales * sizes,
        z=z,
        c_min=None if decomposition.signed else c_min,
        signed=decomposition.signed,
        deadline=deadline,
        limits=() if told is None else limits_of(told.limits, used),
    )


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


def _told_notes(told: Told | None, closure: Closure | None) -> list[str]:
    if told is None:
        return []
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
