"""Plots of what was found, with matplotlib (extra `plot`): each takes Axes and returns them.

    profiles.py        what components look like, with errors and bands
    concentrations.py  how much samples hold: lines, or a heat map
    maps.py            how much pixels hold
    count.py           what speaks for the count
    residuals.py       what is left over, by sample and by entry; one sample measured and fitted
    ambiguity.py       what could look different: shares, and the plane of two or three components
    steps.py           samples before and after the steps
    axes.py, subject.py    the Axes that came or new ones; the solution that came

A function that draws one picture takes `ax` and returns it; without `ax` it makes a figure with pyplot. One that
draws several takes an array of Axes, or one whose place it divides, and returns an array, as scikit-learn's
displays do. Nothing is left out to draw faster, so that what is drawn can be read back off the Axes. The charts
are those of the report, drawn by `gmcr.reporting.drawing`, which also draws the files beside it.
"""

from gmcr.plot import axes  # first: it says what is missing
from gmcr.plot.ambiguity import bands, plane
from gmcr.plot.concentrations import concentrations
from gmcr.plot.count import count
from gmcr.plot.maps import maps
from gmcr.plot.profiles import profiles
from gmcr.plot.residuals import residuals, sample
from gmcr.plot.steps import steps

__all__ = ["bands", "concentrations", "count", "maps", "plane", "profiles", "residuals", "sample", "steps"]
