"""Steps before unmixing: scikit-learn transformers that keep a DataFrame's axis, alone, in a Pipeline or in a
model.

    step.py           `Step`: what a step can be asked; `STEPS`, all of them by name
    chain.py          `Chain`: steps in a row, learned on training samples, as a model applies and stores them
    frames.py, gaps.py    the axis of a DataFrame; missing entries filled while a step computes, and pieces of
        an axis
    ranges.py         `Crop` and `Cut`: channels kept, channels left out
    baseline.py, despike.py, savitzky_golay.py, snv.py, msc.py, normalise.py, blank.py, replicates.py
                      one step each
    told_noise.py     noise that is told for samples as measured, as it is after the steps
    background.py     `Background`: smooth components that are fitted and belong to no sample's support

A new step is one more file (CONTRIBUTING.md). What is missing stays missing, nothing is clipped, and every
step says in a sentence what it did. Nothing here may decode or unmix.
"""

from gmcr.preprocessing.background import Background
from gmcr.preprocessing.baseline import Baseline
from gmcr.preprocessing.blank import SubtractBlank
from gmcr.preprocessing.chain import Chain, check_steps
from gmcr.preprocessing.despike import Despike
from gmcr.preprocessing.msc import MSC
from gmcr.preprocessing.normalise import Normalise
from gmcr.preprocessing.ranges import Crop, Cut
from gmcr.preprocessing.replicates import AverageReplicates
from gmcr.preprocessing.savitzky_golay import SavitzkyGolay
from gmcr.preprocessing.snv import SNV
from gmcr.preprocessing.step import STEPS, Step, step_of
