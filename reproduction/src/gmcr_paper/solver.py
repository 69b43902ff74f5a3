"""EB-gMCR at its own size: the paper's statements point by point, the runs, their course, what goes further."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gmcr_paper.claims_solver import solver_claims, twin_look
from gmcr_paper.claims_solver_real import real_solver_claims
from gmcr_paper.experiment import Asked, Claim, Experiment, Found
from gmcr_paper.long.plan import ON_REQUEST, RUNS, VARIANTS, LongRun
from gmcr_paper.predictions import predictions_table
from gmcr_paper.results import Record
from gmcr_paper.running import Run
from gmcr_paper.tables import NONE, NOT_RUN, Table, number

LINES = "510–750, 6066–6192"
SHARES = 10  # columns of the course: tenths of the most epochs
EXACT = 0.9  # share of samples whose support has to be exact
VERDICT = {True: "reached", False: "not reached", None: "not yet run"}


def runs(asked: Asked) -> list[Run]:
    """None: these take hours each and are worked off by `gmcr-paper-long`."""
    return []


def shows(found: Found) -> Sequence[Table]:
    known = [(run, _record(found, run)) for run in (RUNS | ON_REQUEST).values()]
    there = [(run, record) for run, record in known if record is not None or run.name in RUNS]
    return [
        points_table([*solver_claims(found), *real_solver_claims(found)]),
        _runs_table(there),
        _course_table(there),
        _variants_table(there, found),
        predictions_table(found),
    ]


def _record(found: Found, run: LongRun) -> Record | None:
    record = found.results.get(run.settings)
    return record if record in (*found.records, *found.going) else None


def points_table(claims: Sequence[Claim]) -> Table:
    rows = tuple(
        (
            c.statement,
            c.lines,
            c.paper,
            c.ours,
            VERDICT[c.holds],
            c.why if c.holds is False and c.why else NONE,
        )
        for c in claims
    )
    columns = ("statement", "lines", "paper", "here", "verdict", "why")
    note = (
        "A number of the paper's is reached where the mean of our runs lies within its mean ± three of its "
        "standard deviations. Batches of 16, as in the authors' own log, except where 64 is said; pool 1024, on "
        "Carbs and NIR 128; the paper's learning rate."
    )
    return Table("points", "The paper's statements about its solver, point by point", columns, rows, (note,))


def _runs_table(there: Sequence[tuple[LongRun, Record | None]]) -> Table:
    columns = (
        "run", "epochs", "ended", "hours", "in the tolerance", "oscillates", "energy then", "energy at the end",
        "count", "usage / true", "R²", "supports exact", "ϑ = 0.5", "with gate noise: count, R²",
    )  # fmt: skip
    note = (
        "hours: of one core at the lowest priority; in the tolerance and oscillates: first epoch; "
        "energy: mean energy over its mean up to the tolerance; the termination rule asks 0.25; count and what "
        "follows: the state at the end; with gate noise: the same evaluated as the paper says, with the "
        "reparameterisation noise drawn, which ours leaves out."
    )
    rows = tuple(_run_row(run, record) for run, record in there)
    return Table("long-runs", "The runs", columns, rows, (note,))


def _run_row(run: LongRun, record: Record | None) -> tuple[str, ...]:
    if record is None:
        return (run.name, f"0 of {run.settings['epochs']:,}", NOT_RUN, *(NONE,) * 11)
    ended = "by the rule" if record["terminated"] else "at the limit" if record["finished"] else "not yet"
    final = record["final"]
    return (
        run.name,
        f"{record['epochs_run']:,} of {record['epochs']:,}",
        ended,
        f"{record['fit_seconds'] / 3600:.2f}",
        number(record["entered"], "{:,}"),
        number(record["oscillated"], "{:,}"),
        number(record["ratio_oscillated"], "{:.2f}"),
        number(record["energy_ratio"], "{:.2f}"),
        str(final["count"]),
        number(final.get("usage_ratio"), "{:.2f}"),
        number(final["r2"], "{:.4f}"),
        number(final.get("exact"), "{:.2f}"),
        number(final.get("exact_above"), "{:.2f}"),
        f"{record['noisy']['count']:.0f}, {record['noisy']['r2']:.4f}" if record["noisy"] else NONE,
    )


def _course_table(there: Sequence[tuple[LongRun, Record | None]]) -> Table:
    columns = ("run", *(f"{10 * tenth} %" for tenth in range(1, SHARES + 1)))
    rows = tuple((run.name, *_course(record)) for run, record in there if record is not None)
    note = "Count and, in brackets, usage at so much of the run's most epochs."
    return Table("course", "The course of the runs", columns, rows, (note,))


def _course(record: Record) -> list[str]:
    cells = []
    for tenth in range(1, SHARES + 1):
        upto = record["epochs"] * tenth // SHARES
        look = max(
            (look for look in record["course"] if look["epoch"] <= upto),
            key=lambda l: l["epoch"],
            default=None,
        )
        behind = look is None or record["epochs_run"] < upto
        cells.append(NONE if behind or look is None else f"{look['count']} ({look['usage']:,})")
    return cells


def _variants_table(there: Sequence[tuple[LongRun, Record | None]], found: Found) -> Table:
    columns = (
        "run", "epochs", "count", "usage / true", "fewest of any band", "paper's way then: count, fewest",
        "best checkpoint", "its count", "its R²", "supports exact", "ϑ = 0.5",
        f"right count and {EXACT:.0%} exact",
    )  # fmt: skip
    rows = [
        _variant_row(run, record, found)
        for run, record in there
        if record is not None and run.settings["study"] == VARIANTS
    ]
    note = (
        "What the paper does not do, beside its own way at that epoch of the same data: noise, the usage price "
        "from the noise that singular values tell; slots, a price per slot in use; samples, singular: profiles "
        "started from samples or from parts of singular vectors. best checkpoint: the band whose supports by the "
        "gate are exact on most samples."
    )
    return Table("variants", "Further than the paper", columns, tuple(rows), (note,))


def _variant_row(run: LongRun, record: Record, found: Found) -> tuple[str, ...]:
    final, look = record["final"], twin_look(found, record)
    head = (
        run.name,
        f"{record['epochs_run']:,}",
        str(final["count"]),
        f"{final['usage_ratio']:.2f}",
        number(min((band["count"] for band in record["bands"]), default=None), "{:d}"),
        NONE if look is None else f"{look['count']}, {min(look['fewest'].values(), default=NONE)}",
    )
    if not record["bands"]:
        return (*head, "no band entered", *(NONE,) * 5)
    best = max(record["bands"], key=lambda band: (band["exact"], band["r2"]))
    return (*head, *_checkpoint_cells(best), "yes" if any(map(_solved, record["bands"])) else "no")


def _checkpoint_cells(band: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"[{band['low']:g}, {band['high']:g})",
        str(band["count"]),
        f"{band['r2']:.4f}",
        f"{band['exact']:.2f}",
        f"{band['exact_above']:.2f}",
    )


def _solved(band: dict[str, Any]) -> bool:
    return band["count"] == band["true_count"] and band["exact"] >= EXACT


EXPERIMENT = Experiment("solver", "EB-gMCR at its own size, point by point", LINES, runs, shows)
