"""Beyond the paper's grid: every other row of the window solver's acceptance table.

    python benchmarks/settings.py
    python benchmarks/settings.py --only smooth bands --seeds 100

Rows: overcomplete, large, no-pure, many-active, smooth, noise-laws, bands, dense,
all-of-many, low-snr. Columns are those of grid.py.
There are 6N samples where nothing else is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from common import SEEDS, Cell, Result, check, measure, parser, report, shown
from fits import SMOKE, exact_gap, fit_and_score, mixtures, setting, summary
from gmcr.rank import RULES, estimate_rank


@dataclass(frozen=True)
class Row:
    """Settings that are judged together: named calls of `make_mixtures`, and what is asked of them.

    wrong_counts : how many runs may miss the count; largest_miss : by how much at most
    exact : share of exact supports, at least, in the mean of every setting
    gap : how far below the true pool's share that mean may be
    """

    settings: dict[str, dict[str, Any]]
    wrong_counts: int | None = None
    largest_miss: int | None = None
    exact: float | None = None
    gap: float | None = None
    seeds: tuple[int, ...] = SEEDS


ROWS = {
    "overcomplete": Row(
        {
            f"{n} in {d} channels, 8N, 30 dB": setting(n, 8 * n, 30, n_features=d)
            for n, d in ((192, 128), (96, 64))
        },
        wrong_counts=0,
        exact=0.995,
    ),
    "large": Row(
        {"1024 in 512 channels, 8N, 30 dB": setting(1024, 8 * 1024, 30)},
        largest_miss=1,
        exact=0.995,
        seeds=SEEDS[:1],
    ),
    "no-pure": Row(
        {
            f"48, {low}–{high} active, {snr} dB": setting(48, 6 * 48, snr, active=[low, high])
            for low, high in ((2, 4), (3, 3))
            for snr in (20, 30)
        },
        wrong_counts=1,
        exact=0.98,
    ),
    "many-active": Row(
        {"48, 1–8 active, 30 dB": setting(48, 6 * 48, 30, active=[1, 8])},
        wrong_counts=0,
        exact=0.98,
    ),
    "smooth": Row(
        {
            f"{n}, 3–9 peaks, {snr} dB": setting(n, 6 * n, snr, profiles="peaks", peaks=[3, 9], width=[3, 12])
            for n in (16, 48)
            for snr in (20, 30)
        },
        wrong_counts=2,
        gap=0.03,
    ),
    "noise-laws": Row(
        {
            "32, constant noise, 25 dB": setting(32, 6 * 32, 25, noise="constant"),
            "32, Poisson noise, 1,000 counts": setting(32, 6 * 32, 20, noise="poisson", counts=1000),
            "32, no noise": setting(32, 6 * 32, None),
        },
        wrong_counts=0,
        gap=0.02,
    ),
    "bands": Row(
        {f"{n}, broad bands, 8N, 30 dB": setting(n, 8 * n, 30, profiles="bands") for n in (8, 16)},
        wrong_counts=2,
    ),
    "dense": Row(
        {
            f"{n} in every sample, {snr} dB": setting(n, 30, snr, profiles="peaks", active=[n, n])
            for n in (3, 4, 5)
            for snr in (25, 35)
        },
        wrong_counts=0,
    ),
    "all-of-many": Row(
        {f"{n}, all in every sample, 30 dB": setting(n, 6 * n, 30, active=[n, n]) for n in (8, 19, 38)},
        wrong_counts=0,
    ),
    "low-snr": Row({f"32, 4N, {snr} dB": setting(32, 4 * 32, snr) for snr in (12, 8)}),
}
SMOKE_ROWS = {"smoke": Row({"16, 30 dB": SMOKE}, wrong_counts=0, gap=0.02, seeds=SEEDS[:1])}
BESIDE_RANK_RULES = ("low-snr", "smoke")


def cells(rows: dict[str, Row], seeds: list[int] | None) -> list[Cell]:
    return [
        {"row": name, "setting": label, **call, "random_state": seed}
        for name, row in rows.items()
        for label, call in row.settings.items()
        for seed in seeds or row.seeds
    ]


def run(cell: Cell) -> Result:
    mix = mixtures(cell)
    result = fit_and_score(mix)
    if cell["row"] in BESIDE_RANK_RULES:
        looked = estimate_rank(mix.D)
        by_rule = {rule: looked.counts.get((rule, looked.scaling)) for rule in RULES}
        result |= {"rank": looked.count, **by_rule}
    return result


def acceptance(name: str, row: Row, runs: pd.DataFrame) -> list[dict[str, str]]:
    """What is asked of a row, over the runs there are."""
    miss = (runs["count"] - runs["true_count"]).abs()
    what = f"{name} ({len(runs)} runs)"
    lines = []
    if row.wrong_counts is not None:
        wrong = int((miss > 0).sum())
        lines.append(check(f"{what}: runs with a wrong count", wrong, "<=", row.wrong_counts, "{:d}"))
    if row.largest_miss is not None:
        lines.append(check(f"{what}: largest miss of the count", miss.max(), "<=", row.largest_miss, "{:d}"))
    if row.exact is not None:
        lowest = runs.groupby("setting")["exact"].mean().min()
        lines.append(check(f"{what}: supports exact, worst setting", lowest, ">=", row.exact))
    if row.gap is not None:
        gap = exact_gap(runs, "setting")
        lines.append(check(f"{what}: short of the true pool, worst setting", gap, "<=", row.gap))
    return lines


def beside_rank_rules(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Counts, one per seed, of GMCR and of the rules on singular values."""
    runs = runs[runs["row"].isin(BESIDE_RANK_RULES)]
    columns = {"true": "true_count", "GMCR": "count", "rank rules' median": "rank"}
    columns |= {rule.title: name for name, rule in RULES.items()}
    return [
        {"setting": label}
        | {head: " ".join(shown(n, "{:.0f}") for n in group[column]) for head, column in columns.items()}
        for label, group in runs.groupby("setting", sort=False)
    ]


def main() -> None:
    given = parser(__doc__, "settings").parse_args()
    rows = SMOKE_ROWS if given.smoke else ROWS
    runs = measure(cells(rows, given.seeds), run, given)
    by_setting = [
        {"row": name, "setting": label, **summary(group)}
        for (name, label), group in runs.table.groupby(["row", "setting"], sort=False)
    ]
    asked = [
        line
        for name, group in runs.table.groupby("row", sort=False)
        for line in acceptance(name, rows[name], group)
    ]
    report([by_setting, beside_rank_rules(runs.table), asked], runs, given)


if __name__ == "__main__":
    main()
