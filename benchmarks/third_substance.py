"""What `gcms_osd_gcms2`, described as two substances that elute together, holds beside them.

    python benchmarks/third_substance.py --data ../shared/data --docs docs/benchmarks.md

Ions below m/z 85 were cut out of the table; they come with it by themselves. Before either of the two elutes, do
ions that no fit saw rise and fall as three courses say, in amounts told by the whole run, and not as two say?
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from common import DATA, check, tell
from gmcr import GMCR
from real_sets import load

NAME, DESCRIBED = "gcms_osd_gcms2", 2
LEAST_SIGNAL = 1e-3  # of the strongest ion: others are hardly there
NOT_YET = 0.06  # of its highest, below which a substance has not begun to elute
FOLLOWS = 0.8  # of an ion's variance over these times
AT_ALL = 0.5  # of it, less than which courses that do not tell of an ion explain


def explained(ion: np.ndarray, courses: np.ndarray, times: slice) -> float:
    """Of the variance of an ion over some times, what courses explain by amounts that the whole run tells."""
    left = ion - courses @ nnls(courses, ion)[0]
    return 1.0 - float(np.var(left[times]) / np.var(ion[times]))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--data", type=Path, default=DATA)
    arguments.add_argument("--docs", type=Path, metavar="FILE", help="put the table there")
    asked = arguments.parse_args()
    warnings.simplefilter("ignore")
    arrays = load(asked.data, NAME)
    D, mz = arrays["D"].astype(float), arrays["axis"]
    mz_cut_out = arrays["x_axis_full"][arrays["x_axis_full"] < mz.min()]
    ions = arrays["x_D_full"][:, : len(mz_cut_out)].astype(float)
    there = ions.max(axis=0) > LEAST_SIGNAL * D.max()
    ions, mz_cut_out = ions[:, there], mz_cut_out[there]

    fits = {k: GMCR(n_components=k, random_state=0).fit(D) for k in range(DESCRIBED, DESCRIBED + 3)}
    courses = {k: fit.concentrations_ for k, fit in fits.items()}
    begun = courses[DESCRIBED] / courses[DESCRIBED].max(axis=0) > NOT_YET
    before = slice(int(np.argmax(begun.any(axis=1))))
    by = {k: np.array([explained(ion, own, before) for ion in ions.T]) for k, own in courses.items()}
    two = by[DESCRIBED]
    lines = []
    for k, own in courses.items():
        gained, lost = ((one >= FOLLOWS) & (other < AT_ALL) for one, other in ((by[k], two), (two, by[k])))
        least = int(np.argmin(own.sum(axis=0)))
        strongest = mz[np.argsort(-fits[k].components_[least])[:8]].astype(int)
        lines.append(
            {
                "components": k,
                "the least is highest at time": int(np.argmax(own[:, least])),
                "its strongest m/z": " ".join(map(str, strongest)),
                f"ions explained, of {ions.shape[1]}": int((by[k] >= FOLLOWS).sum()),
                "not by two courses": int(gained.sum()),
                "their m/z": " ".join(map(str, mz_cut_out[gained].astype(int))),
                "by two courses alone": int(lost.sum()),
            }
        )
    met = [check("ions that no fit saw, of the third alone", lines[1]["not by two courses"], ">=", 5, "{:d}")]
    tell(lines, met, "third_substance", asked.docs)


if __name__ == "__main__":
    main()
