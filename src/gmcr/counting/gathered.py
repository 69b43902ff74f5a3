"""All that speaks for or against each count, in one table: a row per count, a column per kind of evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gmcr.counting.net import MANY
from gmcr.counting.numbers import candidate_counts, cheap_numbers
from gmcr.counting.ratios import digits, log_ratio
from gmcr.validation import FloatArray
from gmcr.window.dense_fit import filled, telling_samples
from gmcr.window.evidence import Evidence
from gmcr.window.judging import tells_of_counts

LOOKED_AT = 20  # counts that the cheap numbers are computed for at most,
FIRST, HALF = 4, 2  # and so many in any case, with one and a half times those that the solver speaks for
AROUND, PART = 3, 8  # counts to either side of one that is spoken for, and a part of it more
ENOUGH, FEWER = 500, 150  # samples; and to tell a handful, where that is all but excluded
FARTHEST = 6  # beyond which counts are all as far off


@dataclass(frozen=True)
class Gathered:
    """Evidence on a table's count.

    counts : (candidates,) in ascending order
    names : of the columns
    values : (candidates, kinds of evidence), NaN where there is none
    """

    counts: np.ndarray
    names: tuple[str, ...]
    values: FloatArray


def gather(D: FloatArray, evidence: Evidence, enough: int = ENOUGH) -> Gathered:
    """What samples (NaN where missing) and the solver's search say of each count.

    enough : samples; of more, some are looked at
    """
    X = some(filled(D, 3), evidence.by_cost, enough)
    by = [evidence.by_cost, *([evidence.by_rank] if evidence.white_rank else [])]
    most = last_looked_at(X, max(by))
    near = [k for count in by for k in range(count - around(count), count + around(count) + 1)]
    reached = range(1, max(min(MANY, min(X.shape) - 1), most) + 1)
    counts = np.array(sorted({*reached, *(k for k in near if k > most)}))
    agreed = evidence.white and evidence.white_rank and evidence.by_cost == evidence.by_rank > MANY
    # Then nothing but a handful is in question, which a part of the samples shows.
    few = FEWER if agreed else enough
    columns = of_the_table(D, X, counts, most, few) | _of_the_search(counts, evidence)
    return Gathered(counts, tuple(columns), np.stack(list(columns.values()), axis=1))


def some(X: FloatArray, count: int, enough: int = ENOUGH) -> FloatArray:
    """Samples that are enough to look at, where about so many components are."""
    if len(X) <= enough:
        return X
    return X[telling_samples(X, enough, min(count, enough // 4, X.shape[1] // 2))]


def last_looked_at(X: FloatArray, count: int) -> int:
    """The largest count worth the cheap numbers, where the solver speaks for so many at most."""
    return candidate_counts(X.shape, min(FIRST + count + count // HALF, LOOKED_AT))


def of_the_table(
    D: FloatArray, X: FloatArray, counts: np.ndarray, most: int, enough: int = ENOUGH
) -> dict[str, FloatArray]:
    """What needs no search.

    X : the samples that are looked at, without gaps;  most : the last count that cheap numbers are computed for,
    enough : from so many of the samples
    """
    whole = tells_of_counts(D)
    columns = {
        name: np.concatenate([values, np.full(len(counts) - most, np.nan)])
        for name, values in cheap_numbers(some(X, most, enough), most, whole).items()
    }
    for name in ("channels", "negative"):
        columns[name][:] = columns[name][0]
    columns["samples"][:] = np.log(len(X))
    columns["smaller side"] = np.minimum(columns["samples"], columns["channels"])
    columns["whole numbers"] = np.full(len(counts), float(whole))
    columns["count"], columns["count of smaller side"] = counts.astype(float), counts / min(X.shape)
    return columns


def around(count: int) -> int:
    """Counts to either side of one that the solver or the singular values speak for, which may be too."""
    return AROUND + count // PART


def _of_the_search(counts: np.ndarray, evidence: Evidence) -> dict[str, FloatArray]:
    def of(by_count: dict[int, float], step: int = 0) -> FloatArray:
        return np.array([by_count.get(int(k) + step, np.nan) for k in counts])

    found = {
        "beyond the lowest cost": _beyond(counts, evidence.by_cost),
        "beyond the singular values": _beyond(counts, evidence.by_rank),
        "beyond the halves": _beyond(counts, evidence.by_reproducibility),
        "beyond the rule": _beyond(counts, evidence.by_rule),
        "cost": np.log1p(of(evidence.costs)),
    }
    for name, value in {
        "white noise left": float(evidence.white),
        "white noise below": float(evidence.white_rank),
        "share that samples hold": evidence.held,
        "weakest slot": float(log_ratio(evidence.weakest, 1.0)),
        "rarest slot": float(log_ratio(evidence.rarest, 1.0)),
        "unexplained samples": evidence.unexplained,
        "most alike slots": float(digits(np.array(evidence.alike))),
    }.items():
        found[name] = np.full(len(counts), value)
    fall = of(evidence.costs) - of(evidence.costs, 1)
    return found | {
        "profiles back": digits(of(evidence.reproducibility)),
        "starts agree": digits(of(evidence.agreement)),
        "left over rank": log_ratio(of(evidence.excess), 1.0),
        "cost over that of next": np.sign(fall) * np.log1p(np.abs(fall)),
    }


def _beyond(counts: np.ndarray, by: int | None) -> FloatArray:
    return np.full(len(counts), np.nan) if by is None else np.clip(counts - float(by), -FARTHEST, FARTHEST)
