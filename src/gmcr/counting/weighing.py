"""The count that all evidence speaks for, with its probability."""

from __future__ import annotations

from dataclasses import replace

from gmcr.counting.distribution import probabilities, smallest_range
from gmcr.counting.forest import stored_forest
from gmcr.counting.gathered import gather
from gmcr.validation import FloatArray
from gmcr.window.evidence import Evidence

SMALLEST = 4  # samples or channels, with fewer of which there is nothing to weigh
CLEARLY = 2.0  # times as likely, from which another count is taken than that of the solver's own rule
FEW_SAMPLES = 6  # of which no count is told for sure


def weighed(
    D: FloatArray, evidence: Evidence, least: int = 1, most: int | None = None, idle: int = 0
) -> Evidence:
    """The solver's evidence on the samples D (NaN where missing) with a probability for each count.

    What was asked for stays: of a told count nothing was searched that could speak for another.

    least, most : counts that may be
    idle : components that are known beforehand but that no sample holds: they count, though no sample tells so
    """
    if evidence.decided_by == "you" or min(D.shape) < SMALLEST:
        return evidence
    of_samples = replace(
        evidence,
        by_cost=evidence.by_cost - idle,
        by_rule=evidence.by_rule - idle,
        costs={k - idle: cost for k, cost in evidence.costs.items()},
    )
    chances = probabilities(gather(D, of_samples), stored_forest())
    allowed = {k + idle: p for k, p in chances.items() if least <= k + idle <= (most or k + idle)}
    total = sum(allowed.values())
    if total <= 0:
        return evidence
    chances = {k: p / total for k, p in allowed.items()}
    low, high = smallest_range(chances)
    likeliest = max(chances, key=lambda k: chances[k])
    clear = chances[likeliest] >= CLEARLY * chances.get(evidence.count, 0.0)
    count = likeliest if clear else evidence.count
    return replace(
        evidence,
        count=count,
        low=low,
        high=high,
        decided_by=evidence.decided_by if count == evidence.count else "all",
        probabilities=chances,
        caution=f"{len(D)} samples are too few to be sure of a count." if len(D) < FEW_SAMPLES else "",
    )
