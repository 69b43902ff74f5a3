"""The estimator's parameters, checked: from what the caller said to the solver's options."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gmcr.constraints import Closure, Constraint, Constraints, Layout, NonNegative, ReferenceProfile
from gmcr.errors import InputError
from gmcr.estimators.steps import known_profiles
from gmcr.noise import (
    LAWS,
    Constant,
    Counts,
    ErrorCovariance,
    NoiseLaw,
    Sigma,
    are_counts,
    law_of_replicates,
)
from gmcr.preprocessing import Chain
from gmcr.validation import FloatArray, as_labels, check_pool, check_seed, check_whole, require
from gmcr.window.dense_fit import filled
from gmcr.window.distinct_samples import distinct_samples
from gmcr.window.search import Options
from gmcr.window.signs import Signs

if TYPE_CHECKING:
    from gmcr.estimators.window import GMCR

DOUBTED = 5.0  # times what directions leave over; chosen
SAME_PROFILE = 1 - 1e-9  # cosine from which a profile of a warm start is a fixed one


def check_options(
    model: GMCR,
    noise: KnownNoise,
    rows: NDArray[np.intp],
    layout: Layout,
    warm_start: Any,
    n_channels: int,
) -> Options:
    """What the solver is to do, or an InputError that names the parameter.

    rows, layout : of the samples that are solved for
    """
    require(model.callback is None or callable(model.callback), "callback", "a function", model.callback)
    constraints = model._constraints
    require(model.n_components is not None, "n_components", 'a whole number or "auto"', None)
    n_components = None if model.n_components == "auto" else check_whole(model.n_components, "n_components")
    n_components = _told_count(constraints, n_components)
    most = model.max_components
    max_components = None if most is None else check_whole(most, "max_components")
    for name, count in (("n_components", n_components), ("max_components", max_components)):
        if count is not None and count < constraints.n_fixed:
            raise InputError(f"{name} is {count}, but there are {constraints.n_fixed} {_fixed_by(model)}.")
    if n_components is not None and max_components is not None and n_components > max_components:
        raise InputError(f"n_components is {n_components}, above max_components, {max_components}.")
    if model.r2_band is not None:
        check_band(model.r2_band)
        if n_components is not None or noise.sigma is not None or isinstance(noise.law, NoiseLaw):
            raise InputError(
                "r2_band chooses the solution, and so does a given count or noise; give one of them."
            )
    return Options(
        n_components=n_components,
        max_components=max_components,
        constraints=constraints,
        pool=_starting_pool(warm_start, n_channels, constraints.fixed),
        noise=noise.law,
        sigma=None if noise.sigma is None else noise.sigma[rows],
        covariance=noise.covariance,
        layout=layout,
        n_starts=check_whole(model.n_starts, "n_starts"),
        seed=check_seed(model.random_state),
    )


def _told_count(constraints: Constraints, asked: int | None) -> int | None:
    """The count that was asked for or that constraints tell, if they can be of one mind."""
    told = constraints.count
    if asked is not None and told not in (None, asked):
        raise InputError(f"n_components is {asked}, and the constraints speak of {told} components.")
    count = told if asked is None else asked
    for one in constraints.given:
        if one.least_count > (constraints.n_named if count is None else count):
            number = one.least_count - 1
            if count is None:
                raise InputError(
                    f"{one.name} speaks of component {number} before the count is known; "
                    "give n_components, or the component's ReferenceProfile."
                )
            raise InputError(f"{one.name} speaks of component {number}, and there are {count}.")
    return count


def given_constraints(model: GMCR) -> list[Constraint]:
    """The model's own constraints; what can be gone through once only would be gone at the next fit."""
    given = model.constraints
    given = [] if given is None else [given] if isinstance(given, Constraint) else given
    require(isinstance(given, list | tuple), "constraints", "a list of objects of gmcr.constraints", given)
    return list(given)


def check_constraints(model: GMCR, n_channels: int | None = None, signs: Signs | None = None) -> Constraints:
    """All that the answer must obey: the model's constraints, and its parameters that stand for one.

    signs : what is negative in the data, which decides where `signed` is "auto"
    """
    more = given_constraints(model)
    if model.fixed_components is not None:
        chain = getattr(model, "chain_", None) or Chain()  # a model from an old file has none yet
        known = check_pool(
            model.fixed_components, chain.n_channels if chain else n_channels, "fixed_components"
        )
        more.append(ReferenceProfile(known_profiles(chain, known, model.signed in (True, "profiles"))))
    if model.closure:
        more.append(Closure(when="answer"))
    signed, bound = model.signed, next((one for one in more if isinstance(one, NonNegative)), None)
    fine = isinstance(signed, bool | np.bool_) or (isinstance(signed, str) and signed in ("auto", "profiles"))
    require(fine, "signed", 'True, False, "profiles" or "auto"', signed)
    if signed == "auto":
        free = signs is not None and signs.matter if bound is None else not bound.profiles
        signed = "profiles" if free else False
    signed = signed if signed == "profiles" else bool(signed)
    if bound is not None and bound.profiles != (signed is False):
        raise InputError(
            f"signed={signed!r} allows negative values that NonNegative() forbids; give one of them."
        )
    constraints = Constraints.of(more, signed=signed, k_max=model.k_max)
    reference = constraints.find(ReferenceProfile)
    if n_channels is not None and reference is not None:
        check_pool(reference.profiles, n_channels, _fixed_by(model))
    if not constraints.signed and constraints.fixed is not None and (constraints.fixed < 0).any():
        raise InputError(f"{_fixed_by(model)} has negative values; pass signed=True if that is meant.")
    if constraints.signed_amounts and constraints.find(Closure) is not None:
        raise InputError("closure makes no sense with signed=True: fractions cannot be negative.")
    return constraints


def _fixed_by(model: GMCR) -> str:
    """What the caller gave the known profiles as."""
    return "profiles of ReferenceProfile" if model.fixed_components is None else "fixed_components"


@dataclass(frozen=True)
class KnownNoise:
    """What is known of the noise: a law or its name, the noise itself, how channels are off together."""

    law: str | NoiseLaw
    sigma: Sigma | None = None
    covariance: ErrorCovariance | None = None


def known_noise(parameter: Any, given: Any, replicates: Any, D: FloatArray, weight: FloatArray) -> KnownNoise:
    """What is known of the noise of samples D.

    parameter : the estimator's `noise`;  given, replicates : what came to `fit`;  weight : (samples,)
    """
    named = given is not None and (isinstance(given, str) or not hasattr(given, "__len__"))
    law = _check_law(given if named else parameter)
    if law == Counts.kind and not are_counts(D):
        told = "whole numbers, none negative, some above 1 and most below 100,000"
        raise InputError(f'noise="counts" needs {told}; take noise="poisson".')
    if replicates is not None:
        if given is not None or isinstance(law, NoiseLaw):
            raise InputError("replicates tell the noise, and so does noise; give one of them.")
        labels = as_labels(replicates, len(D), "replicates")
        same = Layout(np.unique(labels.astype(str), return_inverse=True)[1])
        rows = np.sort(distinct_samples(D, weight, layout=same)[0])  # copies tell nothing of the noise
        law = law_of_replicates(D[rows], labels[rows], law)
        return KnownNoise(law, covariance=ErrorCovariance.of_replicates(D[rows], labels[rows]))
    if given is None or named:
        return KnownNoise(law)
    return KnownNoise(law if isinstance(law, str) else law.kind, Sigma.given(given, D))


def doubt_replicates(samples: FloatArray, count: int, noise: FloatArray) -> None:
    """Warn where replicates differ by far more than the best of `count` directions leave over.

    noise : (samples,) as the replicates tell it
    """
    rest = np.linalg.svd(filled(samples, count), compute_uv=False)[count:]
    left, spread = float(np.sqrt(np.square(rest).sum() / samples.size)), float(np.median(noise))
    if count < min(samples.shape) // 2 and spread > DOUBTED * left:
        told = (
            f"replicates differ by {spread / max(left, 1e-300):.0f} times what {count} directions leave over"
        )
        warnings.warn(f"{told}; do their labels name measurements of one thing?", stacklevel=3)


def _check_law(noise: Any) -> str | NoiseLaw:
    """A law or its name; a number is the level of a constant one."""
    if isinstance(noise, NoiseLaw):
        return noise
    if isinstance(noise, str):
        fine = noise == "auto" or noise in LAWS
        require(fine, "noise", f"auto, {', '.join(LAWS)}, a number or a law", noise)
        return noise
    if isinstance(noise, bool) or not isinstance(noise, int | float | np.integer | np.floating):
        raise InputError(
            f"noise must be a law, its name or a number, not {noise!r:.40}; "
            "noise known per sample goes to fit(D, noise=...)."
        )
    return Constant(float(noise))


def check_band(band: Any, name: str = "r2_band") -> Any:
    """(low, high), two values of R²."""
    fine = isinstance(band, tuple | list) and len(band) == 2 and all(isinstance(edge, Real) for edge in band)
    require(fine and band[0] <= band[1], name, "(low, high), two values of R²", band)
    return band


def _starting_pool(warm_start: Any, n_channels: int, fixed: FloatArray | None) -> FloatArray | None:
    """The profiles to start from beside the fixed ones, if there are any."""
    if warm_start is None:
        return None
    pool = check_pool(getattr(warm_start, "components", warm_start), n_channels, "warm_start")
    pool = pool / np.linalg.norm(pool, axis=1, keepdims=True)
    if fixed is not None:
        pool = pool[(pool @ fixed.T).max(axis=1) < SAME_PROFILE]
    return pool if len(pool) else None
