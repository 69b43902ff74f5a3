"""What a detector did to a table, found before anything is fitted: where, and how sure.

    left_over.py    what is left of each sample, or channel, by what all the others span
    shapes.py       what single samples may have on top: a spike, a band of something else, a shifted axis
    channels.py     channels that read too much, or nothing
    clipping.py     readings that stop at what the detector takes
    finding.py      `find_disturbances`, which asks them all; `Disturbances`, what was found

A test is at a level for the whole table: a clean table has a false alarm in so many of a hundred. Nothing here
knows an order of the samples, so a jump between batches is not looked for. Nothing here may fit components.
"""

from gmcr.disturbances.finding import Disturbance, Disturbances, find_disturbances
