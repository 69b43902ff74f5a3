"""What a fit has learned, as new samples need it: the pool, its noise, and what tells how sure supports are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gmcr.decoder import Decoding
from gmcr.noise import Sigma
from gmcr.validation import FloatArray
from gmcr.window.frozen_pool import FrozenPool, Noise
from gmcr.window.pool_confidence import Judge, are_training_samples


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned pool with what confidence and errors take beside it.

    judge : of supports;  trained : (samples, slots) concentrations of the training samples, decoded like others
    """

    frozen: FrozenPool
    judge: Judge
    trained: FloatArray

    def decode(self, samples: FloatArray, noise: Noise) -> Decoding:
        """What samples (samples, channels) hold, with confidence and errors for whoever asks for them."""
        return self.judged(samples, self.frozen.decode(samples, noise), noise)

    def judged(self, samples: FloatArray, out: Decoding, noise: Noise) -> Decoding:
        """The decoding `out` of samples, with the same."""
        asked = samples, out, noise
        find = partial(self.confidence, *asked), partial(self.errors, *asked)
        left_out = self.frozen.constraints.left_out
        return replace(out, find_confidence=find[0], find_errors=find[1], left_out=left_out)

    def sigma(self, samples: FloatArray, out: Decoding, noise: Noise) -> Sigma:
        """The noise that samples were decoded with, as large as it is for the amounts of smooth profiles."""
        sigma = noise.sigma(samples, out.concentrations @ self.frozen.S if noise.per_entry else None)
        inflation = self.frozen.inflation
        return sigma if inflation == 1.0 else sigma * float(np.sqrt(inflation))

    def confidence(self, samples: FloatArray, out: Decoding, noise: Noise) -> FloatArray:
        """Confidence in decoded supports over the learned pool, with its errors: (samples,)."""
        sigma = self.sigma(samples, out, noise)
        return self.judge.confidence(samples, out.concentrations, sigma, self.trained)

    def errors(self, samples: FloatArray, out: Decoding, noise: Noise) -> FloatArray:
        """Standard errors of decoded concentrations over the learned pool, with its errors: (samples, slots)."""
        sigma = self.sigma(samples, out, noise).where_present(samples)
        C = out.concentrations
        return self.frozen.errors(C, sigma, are_training_samples(C, self.trained))
