"""Noise: how large it is in every entry of a table, by one law for a data set, so that new samples have one too.

    sigma.py          `Sigma`: standard deviations, one per sample or one per entry, and what is asked of them
    law.py            `NoiseLaw`: what a law can be asked; `LAWS`, all of them by name
    constant.py, proportional.py, poisson.py, instrument.py,
    counts.py
                      one law each
    correlation.py, covariance.py
                      noise that is correlated along the channels, by neighbours or by modes
    balancing.py      noise as a product of sample and channel
    estimation.py     the law that residuals speak for, with the degrees of freedom that a fit used up
    replicates.py     the law that replicates speak for

A new law is one more file (CONTRIBUTING.md); nothing outside this folder knows a law by its name. Nothing here
may decode or fit.
"""

from gmcr.noise.balancing import balanced
from gmcr.noise.correlation import Correlation
from gmcr.noise.estimation import degrees_of_freedom, estimate_noise, leverage, likelier
from gmcr.noise.law import LAWS, NoiseLaw, law_of, whitenings
from gmcr.noise.sigma import Sigma, count_present, root_mean_square, rounding_floor

# The order in which laws are tried and listed.
# isort: off
from gmcr.noise.constant import Constant
from gmcr.noise.proportional import Proportional
from gmcr.noise.poisson import Poisson
from gmcr.noise.instrument import Instrument
from gmcr.noise.counts import Counts, are_counts
from gmcr.noise.replicates import law_of_replicates
from gmcr.noise.covariance import ErrorCovariance
# isort: on
