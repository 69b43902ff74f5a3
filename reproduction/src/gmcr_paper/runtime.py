"""Runtime: how long a search over all counts takes at each interval, beside methods that need no search."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from statistics import fmean

from gmcr_paper import published
from gmcr_paper.baselines.search import SEARCH_INTERVALS as INTERVALS
from gmcr_paper.baselines.search import SEARCH_UP_TO as PAPER_N
from gmcr_paper.baselines.search import Fit, counts_up_to, search_seconds
from gmcr_paper.energy_cells import energy_run, of_size, sizes
from gmcr_paper.experiment import Asked, Experiment, Found
from gmcr_paper.methods import METHODS, SEARCHED
from gmcr_paper.running import Run
from gmcr_paper.tables import NONE, NOT_RUN, Table, mean_sd, number
from gmcr_paper.truth import synthetic

LINES = "6515–6545"
SNR = 20
RATIOS = (4, 8)
SINGLE = ("ard-oracle", "rank-nmf", "window")  # choose the count themselves: one fit
SECONDS = {"nmf": 0.15, "sparse-nmf": 0.2, "bayes-nmf": 0.8, "ica": 0.4, "mcr-als": 1.5, "spa": 0.05}


def runs(asked: Asked) -> list[Run]:
    found = []
    for n in asked.counts((32,), (PAPER_N,)):
        for ratio in RATIOS:
            for seed in asked.seeded(1, 1):
                here = {"n": n, "ratio": ratio, "snr": SNR, "seed": seed}
                found += [
                    Run(
                        {"study": "timing", "method": method, "count": count} | here,
                        SECONDS[method] * count / 16,
                    )
                    for method in SEARCHED
                    if asked.wants(method)
                    for count in counts_up_to(n, min(INTERVALS))
                ]
                found += [
                    Run(synthetic(method, n, SNR, seed, ratio), n / 16)
                    for method in SINGLE
                    if asked.wants(method)
                ]
                if asked.wants("eb"):
                    found.append(energy_run(asked, n, ratio, SNR, seed))
    return found


def shows(found: Found) -> Sequence[Table]:
    cells = sorted(
        {(record["n"], record["ratio"]) for record in found.select("timing")},
        key=lambda cell: (cell[1], cell[0]),
    )
    rows = [row for n, ratio in cells for row in _rows(found, n, ratio)]
    columns = (
        "samples",
        "N",
        "method",
        *(f"paper, hours: {interval}" for interval in INTERVALS),
        *(f"seconds: {interval}" for interval in INTERVALS),
    )
    note = (
        "On one thread, to fit every count up to N that is a multiple of the interval (32, 16, 8, 4, 2): "
        f"the sum of the fits. The paper's hours are for N = {PAPER_N}. Methods that choose the count "
        "themselves need one fit, whatever the interval."
    )
    return [
        Table("runtime", f"Time of a search over counts up to N, {SNR} dB", columns, tuple(rows), (note,))
    ]


def _rows(found: Found, n: int, ratio: int) -> list[tuple[str, ...]]:
    rows = []
    where = {"n": n, "ratio": ratio, "snr": SNR}
    for method in SEARCHED:
        if not found.asked.wants(method):
            continue
        times = {}
        for count in counts_up_to(n, min(INTERVALS)):
            records = found.select("timing", method=method, count=count, **where)
            if records:
                times[count] = fmean(record["fit_seconds"] for record in records)
        paper = (published.RUNTIME.get((ratio, interval, method), NONE) for interval in INTERVALS)
        ours = (_shown(times, n, interval) for interval in INTERVALS)
        rows.append((f"{ratio}N", str(n), METHODS[method], *paper, *ours))
    for method in SINGLE:
        if found.asked.wants(method):
            seconds = [record["fit_seconds"] for record in found.select("synthetic", method=method, **where)]
            rows.append(_single(ratio, n, METHODS[method], NONE, seconds))
    if found.asked.wants("eb"):
        for size in sizes(found, **where, without="nothing"):
            records = of_size(found, size, **where, without="nothing")
            label = f"EB-gMCR ({size}, paper: pool 1024)"
            paper_hours = published.RUNTIME[ratio, INTERVALS[0], "eb"]
            rows.append(_single(ratio, n, label, paper_hours, [record["fit_seconds"] for record in records]))
    return rows


def _single(ratio: int, n: int, label: str, paper: str, seconds: Sequence[float]) -> tuple[str, ...]:
    blank = ("",) * (len(INTERVALS) - 1)
    return (f"{ratio}N", str(n), label, paper, *blank, mean_sd(seconds, "{:.3g}"), *blank)


def cumulative(times: dict[int, float], n: int, interval: int) -> float | None:
    """Seconds of a search, from the seconds of a fit at each count; None unless all were measured."""
    fits = [Fit(count, nan, seconds) for count, seconds in times.items()]
    total = search_seconds(fits, (interval,), n)[interval]
    return total if total > 0 else None  # not a number, or no count to try


def _shown(times: dict[int, float], n: int, interval: int) -> str:
    if interval > n:
        return NONE
    seconds = cumulative(times, n, interval)
    return NOT_RUN if seconds is None else number(seconds, "{:.3g}")


EXPERIMENT = Experiment("runtime", "Runtime of a search over counts at intervals 32 to 2", LINES, runs, shows)
