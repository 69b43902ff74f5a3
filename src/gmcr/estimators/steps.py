"""The steps of a model: learned when it is fitted, and what they make of samples and of noise that is told."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gmcr.disturbances import Undisturbed, find_disturbances
from gmcr.errors import InputError
from gmcr.noise import NoiseLaw
from gmcr.preprocessing import Background, Chain, Step, check_steps
from gmcr.preprocessing.told_noise import collapsed, noise_after
from gmcr.validation import FloatArray, check_samples, check_whole, require

DISTURBANCES = "mask", "tell", "keep"
NAMED = 3  # disturbances that a warning names
UNSEEN = 1e-3  # share of a profile's norm that nobody would see


def given_steps(model: Any) -> list[Step]:
    """The model's own steps and, behind them, its background."""
    steps = check_steps(getattr(model, "steps", None))
    count = check_whole(getattr(model, "background", 0), "background", 0)
    if count and any(isinstance(step, Background) for step in steps):
        raise InputError("steps holds a Background, and background asks for another; give one of them.")
    both_signs = model.signed is True or model.signed == "profiles"
    return [*steps, Background(count, lifted=not both_signs)] if count else steps


Labels = tuple[FloatArray | None, tuple[str, ...] | None]  # of the channels: their positions, their names


def learned_chain(
    model: Any, labels: Labels, samples: FloatArray, replicates: Any = None
) -> tuple[Chain, FloatArray, FloatArray | None]:
    """The model's steps learned from samples, the samples after them, and their noise if replicates tell."""
    steps = [*_undisturbed(model, samples), *given_steps(model)]
    if not steps:
        return Chain((), samples.shape[1], *labels), samples, None
    chain, after, sigma = Chain.learned(steps, samples, *labels, replicates)
    return chain, check_samples(after, "what the steps left", allow_constant=False, copy=False), sigma


def _undisturbed(model: Any, samples: FloatArray) -> list[Step]:
    """The step that leaves out what the detector did, where there is something to leave out; the rest is told."""
    asked = getattr(model, "disturbances", "keep")  # the paper's solver takes no missing entries
    require(asked in DISTURBANCES, "disturbances", " or ".join(DISTURBANCES), asked)
    found = find_disturbances(samples) if asked != "keep" else None
    if not found:
        return []
    masks = asked == "mask" and any(one.masked for one in found)
    # A dead channel that is not to be masked reads zero throughout: it says nothing and does no harm.
    harmful = [one for one in found if one.masked or one.kind != "dead channel"]
    if told := [one for one in harmful if not (masks and one.masked)]:
        some = "; ".join(one.advice() for one in told[:NAMED])
        more = f"; and {len(told) - NAMED} more" if len(told) > NAMED else ""
        warnings.warn(
            f"the detector seems to have disturbed the samples, left as they are: {some}{more}.", stacklevel=5
        )
    if masks:
        warnings.warn('what the detector did was masked; disturbances="keep" keeps it.', stacklevel=5)
    return [Undisturbed.of(found, samples)] if masks else []


def noise_of_fit(chain: Chain, noise: Any, told: FloatArray | None, raw: FloatArray) -> Any:
    """The noise of the training samples after the steps: as given, or as averaged replicates tell."""
    if chain.averaging is None:
        return noise_after(chain, noise, raw)
    if noise is not None:
        raise InputError("AverageReplicates tells the noise, and so does noise; give one of them.")
    return None if told is None else collapsed(told)


def law_of_one(chain: Chain, law: NoiseLaw) -> NoiseLaw:
    """The law of one measurement, from that of the means that were fitted."""
    step = chain.averaging
    return law if step is None else law.scaled(float(np.sqrt(1.0 / np.mean(1.0 / step.counts_))))


def known_profiles(chain: Chain, profiles: FloatArray, signed: bool) -> FloatArray:
    """Profiles known beforehand, (known, channels as measured), after the steps that go for them.

    Where nothing may be negative, what a baseline left below zero is nothing, and that is said.
    """
    after = chain.apply_to_spectra(profiles)
    if signed or (profiles < 0).any() or (after >= 0).all():
        return after
    positive: FloatArray = np.maximum(after, 0.0)
    lost = np.linalg.norm(after - positive, axis=1) / np.linalg.norm(after, axis=1)
    told = [f"{share:.2g} of profile {j}" for j, share in enumerate(lost) if share > UNSEEN]
    if told:
        warnings.warn(
            f"the steps leave known profiles negative in places, which was taken for zero ({', '.join(told)}, by "
            'norm); signed="profiles" keeps them as they are.',
            stacklevel=5,
        )
    return positive
