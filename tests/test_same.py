"""The same answers as before: quick cases of every regime against those kept in kept/same.json.

`python benchmarks/same.py --keep` writes that file anew, after a change that is meant to change answers;
`python benchmarks/same.py OLD NEW` compares two checkouts in full.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from same import CASES, KEPT, QUICK, compare, digest, flat

# Where every sample holds most components, profiles are a mean over draws, which a last digit of another
# processor may lead elsewhere: they are the same to the draws' own error.
DRAWN = {"dense", "image-small", "poisson-dense", "fixed-dense", "closure", "told-count-dense"}
ANSWERS = json.loads(KEPT.read_text(encoding="utf-8"))


def test_every_quick_case_is_kept():
    assert set(ANSWERS) == set(QUICK)


@pytest.mark.parametrize("name", QUICK)
def test_answers_are_those_kept(name):
    case, kept = CASES[name], ANSWERS[name]
    found = digest(case.fit(case.data()))
    assert found["count"] == kept["count"]
    drawn = name in DRAWN
    differ = (int(found["supports"] or "0", 16) ^ int(kept["supports"] or "0", 16)).bit_count()
    assert differ <= (0.02 * 4 * len(kept["supports"]) if drawn else 0)
    assert found["numbers"].keys() == kept["numbers"].keys()
    for what, numbers in kept["numbers"].items():
        np.testing.assert_allclose(
            found["numbers"][what], numbers, rtol=0.02 if drawn else 1e-5, err_msg=what
        )


RECORD = {"count": 3, "verdict": "proved", "C": [[1.0, 0.0], [np.nan, 2.0]], "supports": [True, False]}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, []),
        ({"C": [[1.0 + 1e-9, 0.0], [np.nan, 2.0]]}, []),
        ({"C": [[1.0 + 1e-8, 0.0], [np.nan, 2.0]]}, ["C: 5.0e-09"]),
        ({"C": [[1.0, 0.0], [0.0, 2.0]]}, ["C: nan"]),
        ({"C": [[1.0, 0.0], [np.nan, np.inf]]}, ["C: inf"]),
        ({"C": [[1.0, 0.0]]}, ["C: shape (2, 2) became (1, 2)"]),
        ({"count": 4, "verdict": "consistent"}, ["count: 3 became 4", "verdict: proved became consistent"]),
        ({"supports": [True, True]}, ["supports: 1 of 2 entries"]),
        ({"more": 1}, ["more: only in new"]),
    ],
)
def test_what_differs_is_told(change, told):
    assert compare(dict(flat(RECORD)), dict(flat(RECORD | change)))[0] == told
