"""What a detector did to a table, found before anything is fitted: where, and how sure.

    directions.py   the strongest directions of a table, and how many stand out of noise
    noise.py        how large the noise of samples, channels and entries is
    left_over.py    what is left of each sample, or channel, by what all the others span
    shapes.py       what single samples may have on top: a spike, a band of something else, a shifted axis
    jumps.py        what all samples have on top from one on
    channels.py     channels that read too much, or nothing
    clipping.py     readings that stop at what the detector takes
    found.py        `Disturbances`, what was found
    finding.py      `find_disturbances`, which asks them all
    masking.py      `Undisturbed`, the step that leaves out what is to be masked

A test is at a level for the whole table: a clean table has a false alarm in so many of a hundred. Nothing here
may fit components.
"""

from gmcr.disturbances.finding import find_disturbances
from gmcr.disturbances.found import Disturbance, Disturbances
from gmcr.disturbances.masking import Undisturbed
