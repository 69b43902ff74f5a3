"""The estimator's methods for lazy samples: what they need of the model, handed to `large`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gmcr.errors import InputError
from gmcr.large.arrays import LazySamples, lazy_samples
from gmcr.large.decoding import Decoder, LazyDecoding, decoded
from gmcr.noise import NoiseLaw
from gmcr.preprocessing.told_noise import noise_after
from gmcr.validation import channel_order, check_same_axis, is_lazy

if TYPE_CHECKING:
    from gmcr.estimators.window import GMCR


def decode(model: GMCR, D: Any, noise: Any, runs: Any) -> LazyDecoding:
    """`GMCR.decode` of lazy samples."""
    if runs is not None:
        raise InputError("runs are told for samples in memory; leave them out, or give D.compute().")
    samples = checked(model, D)
    if isinstance(noise, str):
        raise InputError("the level of a law is not estimated from lazy samples; give the law, or numbers.")
    # A law or a number is for all samples; what is told by sample or entry goes along with the blocks.
    alike = noise is None or isinstance(noise, NoiseLaw) or (not is_lazy(noise) and np.ndim(noise) == 0)
    if noise is not None and alike:
        noise_after(model.chain_, noise, np.zeros((1, samples.n_channels)))  # refused where a step changes it
    decoder = Decoder(
        model._learned,
        model.chain_,
        noise if noise is not None and alike else model.noise_law_,
        channel_order(samples.channels, model.chain_.channels, "the training samples"),
        calibration=model.calibration_,
        n_jobs=model.n_jobs or 1,
    )
    return decoded(samples, decoder, model.learn_confidence, None if alike else noise)


def transform(model: GMCR, D: Any) -> Any:
    """`GMCR.transform` of lazy samples."""
    return checked(model, D).like(model.decode(D).concentrations, model.decomposition_.names)


def checked(model: GMCR, D: Any) -> LazySamples:
    """New lazy samples, on the channels of the training samples."""
    samples = lazy_samples(D)
    if (came := samples.n_channels) != (known := model.n_features_in_):
        raise InputError(
            f"the samples have {came} channels and the model has {known}; put both on the same channel axis."
        )
    check_same_axis(samples.axis, model.chain_.axis, "the training samples")
    return samples
