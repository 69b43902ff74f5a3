"""Amounts in units: from where samples lie in the space of the profiles to known amounts, with intervals.

    known.py           known amounts as they come (tables, arrays), checked; which rows are one mixture
    coordinates.py     where samples lie among the profiles, cleaned of what replicates show to be noise
    assignment.py      which known amounts are which component's
    features.py        what an amount is told by
    pooling.py         the regression: partial pooling, averaged over how strongly to shrink
    calibrating.py     `calibrate`: all of these together, and its errors by leaving mixtures out
    result.py          `Calibration`, which predicts and prints, and `Amounts` with their intervals

Plain functions on arrays, which know neither solver nor file. What a fit obeys lives in `gmcr.constraints`; a
constraint that holds concentrations to known amounts can take the regression from here.
"""

from gmcr.calibration.calibrating import calibrate
from gmcr.calibration.result import Amounts, Calibration
