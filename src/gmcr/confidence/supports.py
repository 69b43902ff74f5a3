"""How sure each support is: its posterior weight among its neighbours.

Gaussian noise; the law of supports and concentrations is estimated from the decomposition itself
(`gmcr.confidence.support_law`). The decoder's price λ is more severe than that law, so weak components are missed
more often than invented: a neighbour can then outweigh the support that was returned, and the confidence says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gmcr.confidence.support_law import SupportLaw
from gmcr.confidence.weighing import Judged
from gmcr.threads import threads
from gmcr.validation import FloatArray


@dataclass(frozen=True)
class Posterior:
    """Posterior weights of supports.

    confidence : (samples,) probability that the returned support is right
    highest : (samples,) probability of the most probable support
    presence : (samples, slots) probability that a sample holds a component, where it was asked for
    law : the law of supports and concentrations that was assumed
    """

    confidence: FloatArray
    highest: FloatArray
    presence: FloatArray | None
    law: SupportLaw

    @property
    def expected_wrong(self) -> float:
        """Expected number of wrong supports among the returned ones."""
        return float(np.sum(1.0 - self.confidence))

    @property
    def q(self) -> float:
        """q of Theorem 3(a), 1 − E[max_A Pr(J = A | x)]: the share of samples that no estimator decodes."""
        return float(np.mean(1.0 - self.highest))


def support_posterior(
    D: Any,
    S: Any,
    C: Any,
    noise: Any,
    *,
    learned: Any = False,
    pool_covariance: Any = None,
    law: SupportLaw | None = None,
    signed: bool = False,
    presence: bool = False,
    allowed: Any = None,
) -> Posterior:
    """Posterior weight of each sample's support among its neighbours.

    All single changes and exchanges are weighed, and in turn those of every neighbour that matters.

    Parameters
    ----------
    D : (samples, channels) samples; NaN means missing
    S : (slots, channels) pool of profiles, of any norm
    C : (samples, slots) concentrations as decoded; a support is where they are not zero
    noise : standard deviation of the noise: one number, one per sample or one per entry
    learned : whether the pool was learned from these very samples, or which of them: (samples,) bool. Each of
        those is judged over the pool as it would be without it
    pool_covariance : (slots, slots) covariance of the profiles' errors in one channel, where the pool was
        learned; by default (C' diag(1/σ²) C)⁺ if all samples were learned from, and none otherwise. When it is
        given, S is to be free of what a cut has put into it (`gmcr.confidence.uncut.uncut_pool`)
    law : law of supports and concentrations; by default it is estimated from these samples
    signed : whether concentrations may be negative
    presence : whether `Posterior.presence` is wanted
    allowed : (samples, slots) bool, which slots a sample may hold at all; only supports of these are weighed. Not
        for a learned pool

    Examples
    --------
    >>> from gmcr import decode, make_mixtures
    >>> from gmcr.confidence.supports import support_posterior
    >>> mix = make_mixtures(n_components=8, n_samples=50, snr_db=30, n_features=64, random_state=0)
    >>> out = decode(mix.D, mix.S, noise=mix.sigma)
    >>> bool(support_posterior(mix.D, mix.S, out.concentrations, mix.sigma).confidence.mean() > 0.99)
    True
    """
    judged = Judged.of(D, S, C, noise, learned, pool_covariance, signed, allowed)
    with threads():
        law = judged.law() if law is None else law
        wanted = np.zeros(judged.C.shape) if presence else None
        confidence, highest = judged.weigh(law, wanted)
    return Posterior(confidence, highest, wanted, law)
