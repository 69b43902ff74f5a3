"""Where simpler tools suffice: the rank rule and NMF, or SPA, beside the window solver, on what was run."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from gmcr_paper.counts import RATIO
from gmcr_paper.experiment import Found
from gmcr_paper.methods import METHODS
from gmcr_paper.tables import NONE, Table, number

TOOLS = ("rank-nmf", "nmf-true", "spa", "window")
GOOD = 0.95  # smallest cosine from which every profile counts as found


def simpler_table(found: Found) -> Table:
    """Per cell and tool: counts right, profiles, supports, time beside the window solver's."""
    cells = sorted(
        {
            (record["n"], record["snr"])
            for record in found.select("synthetic", ratio=RATIO)
            if record["method"] in TOOLS
        }
    )
    rows = [row for n, snr in cells for row in _rows(found, n, snr)]
    columns = (
        "N",
        "dB",
        "tool",
        "counts right",
        "min cos",
        "exact supports",
        "time / window's",
        "what suffices",
    )
    note = f"every profile: the smallest cosine of all runs is at least {GOOD}."
    return Table("simpler", "What simpler tools find on 4N samples", columns, tuple(rows), (note,))


def _rows(found: Found, n: int, snr: int) -> list[tuple[str, ...]]:
    lines = {
        method: [r.result for r in found.select("synthetic", method=method, n=n, ratio=RATIO, snr=snr)]
        for method in TOOLS
    }
    window = [line["fit_seconds"] for line in lines["window"]]
    out: list[tuple[str, ...]] = []
    for method, results in lines.items():
        if not results:
            continue
        seconds = fmean(line["fit_seconds"] for line in results)
        out.append(
            (
                str(n),
                str(snr),
                METHODS[method],
                f"{_right(results)} of {len(results)}",
                number(min(line["min_cos"] for line in results)),
                number(fmean(line["exact"] for line in results)),
                NONE if not window else number(seconds / fmean(window), "{:.2g}"),
                sufficient(results),
            )
        )
    return out


def _right(results: Sequence[dict[str, Any]]) -> int:
    return sum(line["count"] == line["true_count"] for line in results)


def sufficient(results: Sequence[dict[str, Any]]) -> str:
    """What a tool got right in every run: the count, every profile, the supports."""
    got = []
    if _right(results) == len(results):
        got.append("count")
    if min(line["min_cos"] for line in results) >= GOOD:
        got.append("every profile")
    if fmean(line["exact"] for line in results) >= GOOD:
        got.append("supports")
    return ", ".join(got) or NONE
