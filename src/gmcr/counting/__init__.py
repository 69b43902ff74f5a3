"""How many components, as a distribution over counts.

ratios.py        what numbers are made of
numbers.py       cheap numbers of a table that speak for or against each count
fits.py          of short non-negative fits
cleaning.py      a table without spikes and odd samples
left_over.py     of what is left beyond each count
few.py           of a few samples or channels that alone make a component
likeness.py      of directions that a disturbance would make
by_sample.py     of what a disturbance would leave of each sample
neighbours.py    of samples that are alike
gathered.py      these and what the solver's search says: a row per count
net.py           what was learned from simulated tables, as plain arrays (weights.npz)
distribution.py  from the one to the other: a probability of each count
weighing.py      the count that all evidence speaks for
"""

from gmcr.counting.gathered import Gathered, gather
from gmcr.counting.weighing import weighed

__all__ = ["Gathered", "gather", "weighed"]
