"""The fit at a known count under constraints that hold all the time, from what the window solver has found.

    starting.py       `constrained_fit`: from the search's solution to a fit that obeys
    finish.py         several starts, and the choice among what fits equally well
    alternating.py    least squares, column by column, each projected exactly
    factors.py        what each factor must obey: bounds of entries, shapes of columns
    closed.py         concentrations that sum to a total: samples one by one, exactly
    middle.py         the middle of all pools that fit equally well and obey
    walls.py          how far columns are from obeying, in compiled code
    kinetics.py       concentrations that follow reactions, over rate constants
    rates.py          `Rates`: rate constants, and errors that know how residuals hang together

Plain functions on arrays; what a constraint says lives in constraints/.
"""

from gmcr.constrained.alternating import Fit
from gmcr.constrained.finish import Table
from gmcr.constrained.rates import Rates
from gmcr.constrained.starting import constrained_fit
