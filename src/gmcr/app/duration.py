"""How long a fit will take: a law of the table's size, put right by the fits that this machine has done."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Any

# Seconds of `gmcr fit` by benchmarks/app.py on two cores, blind and told the count: so much for any table, and so
# much more for each million of entries. What a table holds makes it several times more or less.
ANY = {False: 12.0, True: 8.0}
EACH_MILLION = {False: 120.0, True: 60.0}


def expected(about: dict[str, Any]) -> float | None:
    """Seconds by the law alone; None where the size is not known."""
    try:
        size = float(about["samples"]) * float(about["channels"]) / 1e6
    except (KeyError, TypeError, ValueError):
        return None
    known = bool(about.get("components"))
    return ANY[known] + EACH_MILLION[known] * size


def left(
    about: dict[str, Any], elapsed: float, before: Iterable[tuple[dict[str, Any], float]]
) -> float | None:
    """Seconds that are left, about; 0 where it takes longer than fits of this size do; None where nobody knows.

    before : what fits were about that are done, and their seconds
    """
    usual = expected(about)
    if usual is None:
        return None
    ratios = [seconds / law for told, seconds in before if (law := expected(told)) and seconds > 0]
    return max(usual * (median(ratios) if ratios else 1.0) - elapsed, 0.0)
