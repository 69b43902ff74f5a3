"""Tables of which the truth is known.

    generative.py   the paper's generative model (Algorithm 2) and variations: few of many components in a sample
    measured.py     tables that behave like measured ones:
    profiles.py, amounts.py, disturbances.py
                    their profiles, their concentrations, and what instruments and samples do to them

What does not belong here: measured data, files.
"""

from gmcr.mixtures.generative import Mixtures, make_mixtures
from gmcr.mixtures.measured import Measured, make_measured

__all__ = ["Measured", "Mixtures", "make_measured", "make_mixtures"]
