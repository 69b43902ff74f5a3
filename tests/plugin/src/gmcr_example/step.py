"""Every other channel: a step before unmixing."""

import numpy as np

from gmcr.preprocessing import STEPS, Step


class Thin(Step):
    """Keep every `step`-th channel."""

    kind = "thin"

    def __init__(self, step=2):
        self.step = step

    def kept(self, axis):
        return np.arange(0, len(axis), self.step)

    def apply(self, X, axis):
        return X[:, self.kept(axis)]

    def sentence(self):
        return f"every {self.step}. channel kept"


STEPS.add(Thin.kind, Thin)
