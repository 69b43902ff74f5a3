"""What weighing the count costs, beside a fit that is told it, on the shared sets.

    OMP_NUM_THREADS=1 python benchmarks/weighing.py --data ../shared/data

CPU seconds, the best of three in one run; run it with nothing beside it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from common import DATA, check, tell
from counting_tables import MEASURED
from gmcr import GMCR
from gmcr.estimators import window
from real_sets import load

TIMES = 3


def costs(D: np.ndarray) -> tuple[float, float]:
    """CPU seconds of the weighing, and of a fit told the count that it chose."""
    weighing, told = [], []
    own, spent = window.weighed, []

    def weighed(*given: Any) -> Any:
        start = time.process_time()
        found = own(*given)
        spent.append(time.process_time() - start)
        return found

    for _ in range(TIMES):
        spent.clear()
        with patch.object(window, "weighed", weighed):
            n = GMCR(random_state=0).fit(D).n_components_
        weighing.append(sum(spent))
        start = time.process_time()
        GMCR(n_components=n, random_state=0).fit(D)
        told.append(time.process_time() - start)
    return min(weighing), min(told)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--data", type=Path, default=DATA)
    asked = arguments.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for name in MEASURED:
        weighing, told = costs(load(asked.data, name)["D"].astype(float))
        lines.append({"set": name, "weighing": weighing, "told fit": told, "ratio": weighing / told})
    ratios = [line["ratio"] for line in lines]
    met = [check("median", float(np.median(ratios)), "<=", 1.0), check("largest", max(ratios), "<=", 3.0)]
    tell(lines, met, "weighing", None)


if __name__ == "__main__":
    main()
