"""Per-sample supports: the checkpoint of the success band, its pool refined, and the window solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gmcr_paper import published
from gmcr_paper.energy_cells import FULL_N, QUICK_N, energy_run, of_size, sizes, success_band
from gmcr_paper.experiment import Asked, Experiment, Found
from gmcr_paper.methods import METHODS
from gmcr_paper.running import Run
from gmcr_paper.tables import NOT_RUN, Table, mean_sd
from gmcr_paper.truth import synthetic, truth_note, truth_runs

LINES = "6541–6688"
RATIO = 4
SNRS = (20, 30)
COLUMNS = (
    "N",
    "dB",
    "solver",
    "usage ratio",
    "exact",
    "no-miss",
    "min cos",
    "misses",
    "isolating pairs (ceiling)",
    "usage, ĉ > 0.5",
    "exact, ĉ > 0.5",
    "runs",
)
NOTE = (
    "usage ratio: selections over true selections; exact, no-miss: share of samples whose support equals, "
    "or contains, the true one after Hungarian matching on profile cosine; misses: true components "
    "without a slot; isolating pairs: components that admit one in the sense of Conjecture R, among found "
    "and (ceiling) true supports; ĉ > 0.5: selections up to that concentration dropped."
)


def runs(asked: Asked) -> list[Run]:
    cells = [(n, snr) for n in asked.counts(QUICK_N, FULL_N) for snr in SNRS]
    found = []
    if asked.wants("window"):
        seeds = asked.seeded(2, 5)
        found += [Run(synthetic("window", n, snr, seed), n / 16) for n, snr in cells for seed in seeds]
    if asked.wants("eb") or asked.wants("eb-refined"):
        found += [energy_run(asked, n, RATIO, snr, seed) for n, snr in cells for seed in asked.seeded(1, 5)]
    return [*found, *truth_runs([(n, RATIO, snr) for n, snr in cells], asked.seeded(1, 5))]


def shows(found: Found) -> Sequence[Table]:
    where = {"ratio": RATIO}
    window = found.select("synthetic", method="window", **where)
    energy = found.select("eb", without="nothing", **where)
    cells = sorted({(record["n"], record["snr"]) for record in (*window, *energy)})
    rows = [row for n, snr in cells for row in _rows(found, n, snr)]
    return [
        Table(
            "supports",
            "Per-sample supports at the checkpoint band of the count table",
            COLUMNS,
            tuple(rows),
            (NOTE, truth_note(found, [(n, RATIO, snr) for n, snr in cells])),
        )
    ]


def _rows(found: Found, n: int, snr: int) -> list[tuple[str, ...]]:
    rows = []
    if (n, snr) in published.SUPPORTS:
        *columns, pairs, ceiling, usage, exact = published.SUPPORTS[n, snr]
        cells = (*columns, f"{pairs} ({ceiling})", usage, exact)
        rows.append((str(n), str(snr), "EB-gMCR in the paper (pool 1024)", *cells, "5"))
    where = {"n": n, "ratio": RATIO, "snr": snr}
    for size in sizes(found, **where, without="nothing"):
        records = of_size(found, size, **where, without="nothing")
        if found.asked.wants("eb"):
            kept = [band for record in records if (band := success_band(record)) is not None]
            rows.append(_row(n, snr, f"EB-gMCR ({size})", kept, len(records)))
        if found.asked.wants("eb-refined"):
            refined = [record["refined"] for record in records]
            rows.append(_row(n, snr, f"{METHODS['eb-refined']} ({size})", refined, len(records)))
    if found.asked.wants("window"):
        lines = [record.result for record in found.select("synthetic", method="window", **where)]
        rows.append(_row(n, snr, METHODS["window"], lines, len(lines)))
    return rows


def _row(n: int, snr: int, label: str, lines: Sequence[dict[str, Any]], n_runs: int) -> tuple[str, ...]:
    head = (str(n), str(snr), label)
    if not lines:
        return (*head, NOT_RUN if not n_runs else "no checkpoint in the band", *("–",) * 7, f"0 of {n_runs}")
    return (*head, *support_cells(lines), f"{len(lines)} of {n_runs}")


def support_cells(lines: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The support columns over runs; each line is what `support_columns` gives."""

    def over(name: str, form: str = "{:.3f}") -> str:
        return mean_sd([line[name] for line in lines], form)

    ceiling = mean_sd([line["isolating_pairs_ceiling"] for line in lines], "{:.1f}").split("±")[0]
    return (
        over("usage_ratio"),
        over("exact"),
        over("no_miss"),
        over("min_cos"),
        over("misses", "{:.1f}"),
        f"{over('isolating_pairs', '{:.1f}')} ({ceiling})",
        over("usage_ratio_above"),
        over("exact_above"),
    )


EXPERIMENT = Experiment("supports", "Per-sample supports", LINES, runs, shows)
