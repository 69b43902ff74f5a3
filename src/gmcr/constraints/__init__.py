"""What is known of an answer beforehand, as things one can add.

    constraint.py     `Constraint`: what one can be asked; `CONSTRAINTS`, all of them by name
    layout.py         `Layout`: which samples belong to one run, and in which order they were measured
    together.py       `Constraints`: all that an answer must obey, as solver and decoder need it
    factor.py         `FactorConstraint`: one that bounds or shapes concentrations or profiles during the fit
    isotonic.py       nearest series that rise, fall, or have one maximum
    reactions.py      reactions as people write them, and their concentrations over time
    nonnegative.py, at_most.py, reference.py, closure.py, unimodal.py, monotonic.py, zero_region.py,
    selectivity.py, known.py, presence.py, calibration.py, smooth.py, equal.py, trilinear.py, kinetic.py
                      one constraint each

A new constraint is one more file (CONTRIBUTING.md). Nothing here may decode, fit or estimate noise: a constraint
changes given arrays as little as makes them obey, and says how far arrays are from obeying.
"""

from gmcr.constraints.at_most import AtMost
from gmcr.constraints.calibration import Calibration
from gmcr.constraints.closure import Closure
from gmcr.constraints.constraint import CONSTRAINTS, Constraint, constraint_of, constraint_of_words
from gmcr.constraints.equal import Equal
from gmcr.constraints.factor import FactorConstraint
from gmcr.constraints.kinetic import Kinetic
from gmcr.constraints.known import FixedValues
from gmcr.constraints.layout import Layout
from gmcr.constraints.monotonic import Monotonic
from gmcr.constraints.nonnegative import NonNegative
from gmcr.constraints.presence import Presence
from gmcr.constraints.reference import ReferenceProfile
from gmcr.constraints.selectivity import Selectivity
from gmcr.constraints.smooth import Smooth
from gmcr.constraints.together import Constraints
from gmcr.constraints.trilinear import Trilinear
from gmcr.constraints.unimodal import Unimodal
from gmcr.constraints.zero_region import ZeroRegion
