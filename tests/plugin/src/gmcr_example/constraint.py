"""Dark channels: where no component may have any signal."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gmcr.constraints import CONSTRAINTS, Constraint


@dataclass(frozen=True, eq=False)
class Dark(Constraint):
    """Profiles are zero in the channels from `first` up to `last`, which is not among them."""

    first: int
    last: int

    kind = "dark"
    stages: ClassVar[frozenset] = frozenset({"pool"})

    def apply(self, C, S, layout):
        changed = S.copy()
        changed[:, self.first : self.last] = 0.0
        return C, changed

    def violation(self, C, S, layout=None):
        return float(np.abs(S[:, self.first : self.last]).max())


CONSTRAINTS.add(Dark.kind, Dark)
