"""The count that all evidence speaks for, with its probability."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gmcr.counting.distribution import MASS, probabilities, smallest_range
from gmcr.counting.gathered import Gathered, gather
from gmcr.counting.net import stored
from gmcr.threads import threads
from gmcr.validation import FloatArray
from gmcr.window.evidence import SPARSE, TOLD, Evidence
from gmcr.window.regime import MISSES

SMALLEST = 4  # samples or channels, with fewer of which there is nothing to weigh
CLEARLY = 3.0  # times as likely, from which another count is taken than that of the solver's own rule,
AT_ALL = 0.2  # if it is so likely: of counts that are all unlikely, that of the rule shows in the data
FEW_SAMPLES = 6  # of which no count is told for sure
NUMBERS = "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"
# What a direction may be rather than a component, and from which share of it on.
INSTEAD = {
    "like a baseline": ("a drift of the baseline", 0.7),
    "like a shift": ("a shift of the axis", 0.7),
    "like a tilt": ("scatter", 0.7),
    "like a saturation": ("saturation", 0.7),
    "one sample": ("a single odd sample", 0.9),
    "one channel": ("a single odd channel", 0.9),
}


def weighed(D: FloatArray, evidence: Evidence, most: int | None = None) -> Evidence:
    """The solver's evidence on the samples D (NaN where missing) with a probability for each count.

    What was asked for stays: of a told count nothing was searched that could speak for another.

    most : the largest count that may be
    """
    if evidence.decided_by == "you":
        return evidence
    if min(D.shape) < SMALLEST:
        n, d = D.shape
        return replace(
            evidence,
            low=1,
            high=max(evidence.count, min(n, d, most or n)),
            caution=f"{n} samples of {d} channels are too few to be sure of a count.",
        )
    with threads():
        gathered = gather(D, evidence)
    chances = probabilities(gathered, stored())
    allowed = {k: p for k, p in chances.items() if most is None or k <= most}
    total = sum(allowed.values())
    if total <= 0:
        return replace(evidence, caution=f"More than {most} are likely, and were not allowed.")
    chances = {k: p / total for k, p in allowed.items()}
    low, high = smallest_range(chances)
    likeliest = max(chances, key=lambda k: chances[k])
    clear = chances[likeliest] >= max(CLEARLY * chances.get(evidence.count, 0.0), AT_ALL)
    count = likeliest if clear else evidence.count
    return replace(
        evidence,
        count=count,
        low=min(low, count),
        high=max(high, count),
        decided_by=evidence.decided_by if count == evidence.count else "all",
        probabilities=chances,
        caution=(
            f"More than {most} are likely, and were not allowed."
            if total < MASS
            else not_to_be_sure(D, evidence, count)
        ),
        doubt=doubt(gathered, chances, count),
    )


def not_to_be_sure(D: FloatArray, evidence: Evidence, count: int) -> str:
    """Why no count of these samples is sure, however likely; empty where one may be."""
    if len(D) < FEW_SAMPLES:
        return f"{len(D)} samples are too few to be sure of a count."
    if evidence.held > SPARSE and count >= min(D.shape) - 1:
        n, d = D.shape
        return f"{n} samples of {d} channels that hold most of the components cannot tell so many of them."
    excess = evidence.excess.get(count, 0.0) if count == evidence.count else 0.0  # else it is fitted again
    if excess >= MISSES and not evidence.white:
        return f"The fit leaves {excess:.1f} times what {count} directions would: too much to be sure of a count."
    return ""


def doubt(gathered: Gathered, chances: dict[int, float], count: int) -> str:
    """What the last component could be instead, where one fewer or more than `count` is the next likeliest."""
    others = {k: p for k, p in chances.items() if k != count and p >= TOLD}
    other = max(others, key=lambda k: others[k], default=count)
    if abs(other - count) != 1 or chances.get(count, 0.0) >= MASS:
        return ""
    last = max(count, other)
    row = dict(zip(gathered.names, gathered.values[gathered.counts.tolist().index(last)]))
    could = {words: row.get(name, 0.0) / enough for name, (words, enough) in INSTEAD.items()}
    words = max(could, key=lambda one: np.nan_to_num(could[one]))
    return f"the {_nth(last)} could be {words}" if could[words] >= 1.0 else ""


def _nth(n: int) -> str:
    if n <= len(NUMBERS):
        return NUMBERS[n - 1]
    return f"{n}th" if 10 < n % 100 < 14 else f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th') }"
