"""The count that all evidence speaks for, with its probability."""

from __future__ import annotations

from dataclasses import replace

from gmcr.counting.distribution import MASS, probabilities, smallest_range
from gmcr.counting.forest import stored_forest
from gmcr.counting.gathered import gather
from gmcr.validation import FloatArray
from gmcr.window.evidence import Evidence

SMALLEST = 4  # samples or channels, with fewer of which there is nothing to weigh
CLEARLY = 2.0  # times as likely, from which another count is taken than that of the solver's own rule
FEW_SAMPLES = 6  # of which no count is told for sure


def weighed(D: FloatArray, evidence: Evidence, most: int | None = None) -> Evidence:
    """The solver's evidence on the samples D (NaN where missing) with a probability for each count.

    What was asked for stays: of a told count nothing was searched that could speak for another.

    most : the largest count that may be
    """
    if evidence.decided_by == "you":
        return evidence
    if min(D.shape) < SMALLEST:
        n, d = D.shape
        return replace(evidence, caution=f"{n} samples of {d} channels are too few to be sure of a count.")
    chances = probabilities(gather(D, evidence), stored_forest())
    allowed = {k: p for k, p in chances.items() if most is None or k <= most}
    total = sum(allowed.values())
    if total <= 0:
        return replace(evidence, caution=f"More than {most} are likely, and were not allowed.")
    chances = {k: p / total for k, p in allowed.items()}
    low, high = smallest_range(chances)
    likeliest = max(chances, key=lambda k: chances[k])
    clear = chances[likeliest] >= CLEARLY * chances.get(evidence.count, 0.0)
    count = likeliest if clear else evidence.count
    caution = f"{len(D)} samples are too few to be sure of a count." if len(D) < FEW_SAMPLES else ""
    if total < MASS:
        caution = f"More than {most} are likely, and were not allowed."
    return replace(
        evidence,
        count=count,
        low=min(low, count),
        high=max(high, count),
        decided_by=evidence.decided_by if count == evidence.count else "all",
        probabilities=chances,
        caution=caution,
    )
