"""`gmcr fit --solver eb`: the paper's solver on a file."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from gmcr.cli import report
from gmcr.cli.console import print_json
from gmcr.errors import GMCRError
from gmcr.runs import REPORT, Tables, write_run

if TYPE_CHECKING:
    from gmcr.decomposition import Decomposition
    from gmcr.estimators.eb import EBgMCR
    from gmcr.io.table import Table

STATE_FOLDER = "training"


def fit_eb(
    context: typer.Context,
    table: Table,
    output: Path,
    data: Path,
    *,
    pool: int,
    max_epochs: int,
    signed: bool,
    usage: str,
    learning_rate: str | float | None,
    seed: int,
    force: bool,
    as_json: bool,
) -> None:
    """Train, and write the fewest-components checkpoint (or the final state), all bands and the history.

    The run's state is kept in RUN/training, from which the same command goes on after a kill.
    """
    from gmcr.reporting.collect import collect

    try:
        from gmcr import EBgMCR
    except ImportError as error:
        raise GMCRError(f"{error}.") from error
    if force:
        rmtree(output / STATE_FOLDER, ignore_errors=True)
    model = EBgMCR(
        pool,
        max_epochs,
        random_state=seed,
        signed=signed,
        learning_rate=learning_rate,
        usage=usage,
        lowest_band=0.95,
        folder=output / STATE_FOLDER,
        verbose=1,
    )
    started = perf_counter()
    model.fit(table.samples)
    seconds = perf_counter() - started
    written = _write(output, model, table, data.name)
    reproduce = report.reproduction(context, data, seconds)
    contents = collect(_written(model), table, source=data.name, reproduce=reproduce)
    written += report.write_report_files(output, contents)
    if as_json:
        told = _as_dict(model, output, written, seconds) | report.in_short(contents)
        print_json(told | {"report": str(output / REPORT), "notes": table.notes})
    else:
        typer.echo(_in_short(model))
        typer.echo(report.verdict(contents))
        typer.echo(f"\nWrote {output}: {', '.join(written)}; {seconds:.1f} s.")
        typer.echo(f"Report: {output / REPORT}")


def _write(folder: Path, model: EBgMCR, table: Table, source: str) -> list[str]:
    found = _written(model)
    bands = [[band.low, band.high, band.epoch, band.count, band.r2, band.usage] for band in model.bands_]
    others: Tables = {
        "bands.csv": (["low", "high", "epoch", "count", "r2", "usage"], bands),
        "history.csv": (list(model.history_.columns), model.history_.itertuples(index=False)),
    }
    summary = [source, *table.notes, "", _in_short(model), *map(repr, model.bands_)]
    return write_run(folder, found, table, summary, others, found.save)


def _written(model: EBgMCR) -> Decomposition:
    return model.select("fewest" if model.bands_ else "final")


def _in_short(model: EBgMCR) -> str:
    end = "ended by the termination rule" if model.terminated_ else "not ended by the termination rule"
    last = model.history_.iloc[-1]
    text = (
        f"{model.n_epochs_} epochs, {end}; final state: {last['count']:.0f} components, R² {last['r2']:.4f}, "
        f"{last['usage']:.0f} selections, {last['single_users']:.0f} slots used by one sample."
    )
    if not model.bands_:
        return f"{text} No band of R² was entered; the final state is what was written."
    fewest = model.select()
    return f"{text} Written: the checkpoint with the fewest components, {fewest.n_components}."


def _as_dict(model: EBgMCR, folder: Path, written: list[str], seconds: float) -> dict[str, Any]:
    found = _written(model)
    return {
        "run": str(folder),
        "written": written,
        "components": found.n_components,
        "usage": found.usage,
        "epochs": model.n_epochs_,
        "terminated": model.terminated_,
        "bands": [
            {"low": band.low, "high": band.high, "epoch": band.epoch, "count": band.count, "r2": band.r2}
            for band in model.bands_
        ],
        "seconds": seconds,
    }
