"""`gmcr fit`: unmix a file into a run folder."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.cli import report
from gmcr.cli.console import print_json
from gmcr.cli.fixed import read_fixed, write_names
from gmcr.cli.options import (
    RUN_MODEL,
    Data,
    Json,
    Orientation,
    SamplesIn,
    Seed,
    names_of,
    noise_option,
    print_notes,
)
from gmcr.runs import REPORT, SUMMARY, Tables, component_names, labelled, write_run

if TYPE_CHECKING:
    from gmcr.estimators.window import GMCR
    from gmcr.io.table import Table


class Solver(StrEnum):
    window = "window"
    eb = "eb"


class UsageSchedule(StrEnum):
    paper = "paper"
    window = "window"


CHECKPOINT = "checkpoint.gmcr"
TABLES = ("profiles.csv", "concentrations.csv", "supports.csv", "path.csv")


def fit(
    context: typer.Context,
    data: Data,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="RUN", help="Folder to write the run to.")
    ],
    components: Annotated[
        int | None, typer.Option(min=1, help="Number of components.", show_default="found out")
    ] = None,
    max_components: Annotated[int | None, typer.Option(min=1, help="Most components to consider.")] = None,
    fixed: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="Known profiles to keep: a model file, a table with one per row, or a library of spectra.",
        ),
    ] = None,
    fixed_names: Annotated[
        str | None,
        typer.Option(help="Those to take from --fixed, by name, with commas.", show_default="all"),
    ] = None,
    signed: Annotated[
        bool, typer.Option("--signed", help="Allow negative profiles and concentrations.")
    ] = False,
    noise: Annotated[
        str | None,
        typer.Option(
            help="Noise: its standard deviation, or its law (constant, proportional or poisson).",
            show_default="found out",
        ),
    ] = None,
    k_max: Annotated[int | None, typer.Option(min=1, help="Most components in a sample.")] = None,
    r2_band: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Take the cheapest solution with R² in this band.", show_default=False),
    ] = None,
    closure: Annotated[
        bool, typer.Option("--closure", help="Write fractions that sum to one as well.")
    ] = False,
    starts: Annotated[int, typer.Option(min=1, help="Number of starting pools.")] = 1,
    jobs: Annotated[int | None, typer.Option(help="Number of threads.", show_default="by size")] = None,
    solver: Annotated[
        Solver, typer.Option(help="The window solver, or the paper's (slow; needs torch).")
    ] = Solver.window,
    pool: Annotated[int, typer.Option(min=1, help="eb: slots of the pool.")] = 256,
    max_epochs: Annotated[int, typer.Option(min=1, help="eb: iteration limit.")] = 20_000,
    usage: Annotated[
        UsageSchedule, typer.Option(help="eb: usage weight by the paper's schedule, or inside the window.")
    ] = UsageSchedule.paper,
    learning_rate: Annotated[
        float | None, typer.Option(help="eb: learning rate.", show_default="scaled to the pool")
    ] = None,
    seed: Seed = 0,
    samples_in: Orientation = SamplesIn.auto,
    force: Annotated[bool, typer.Option("--force", help="Replace a run that is in the folder.")] = False,
    as_json: Json = False,
) -> None:
    """Unmix a file: how many components, their profiles, and which sample holds which.

    RUN holds the report (report.html), the model (model.gmcr), profiles, concentrations, supports and path as
    CSV, figures, and summary.txt. A run that was interrupted or killed goes on from its best pool when the same
    command is given again.

    \b
    Example:
      gmcr fit mixtures.csv -o run
      gmcr fit mixtures.csv -o run --fixed library.csv --fixed-names "glucose,lactose"
    """
    assumed = noise_option(noise)
    from gmcr.estimators.window import GMCR
    from gmcr.io.reading import read_table
    from gmcr.reporting.collect import collect

    table = read_table(data, samples_in=samples_in.value)
    if not as_json:
        print_notes(table.notes)
    if solver is Solver.eb:
        from gmcr.cli.fit_eb import fit_eb

        with _run_folder(output, force):
            fit_eb(
                context,
                table,
                output,
                data,
                pool=pool,
                max_epochs=max_epochs,
                signed=signed,
                usage=usage.value,
                learning_rate="scaled" if learning_rate is None else learning_rate,
                seed=seed,
                force=force,
                as_json=as_json,
            )
        return
    known = read_fixed(fixed, fixed_names, table)
    if not as_json:
        print_notes(known.notes)
    model = GMCR(
        n_components="auto" if components is None else components,
        max_components=max_components,
        fixed_components=known.profiles,
        signed=signed,
        noise="auto" if assumed is None else assumed,
        k_max=k_max,
        random_state=seed,
        n_starts=starts,
        n_jobs=jobs,
        verbose=1,
        r2_band=r2_band,
        closure=closure,
    )
    started = perf_counter()
    with _run_folder(output, force), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model.fit(_as_frame(table), checkpoint=output / CHECKPOINT)
    seconds = perf_counter() - started
    warned = [_capitalised(str(warning.message)) for warning in caught]
    named = write_names(output, known)
    written = [*named, *_write_run(output, model, table, data.name, warned)]
    contents = collect(
        model.decomposition_,
        table,
        model=model,
        source=data.name,
        warned=warned,
        reproduce=report.reproduction(context, data, seconds),
        names=report.names_in(output),
    )
    written += report.write_report_files(output, contents)
    if as_json:
        notes = [*table.notes, *known.notes]
        told = _as_dict(model, output, written, seconds) | report.in_short(contents)
        print_json(told | {"report": str(output / REPORT), "notes": notes, "warnings": warned})
    else:
        print_notes(warned)
        typer.echo(_in_short(model))
        typer.echo(report.verdict(contents))
        typer.echo(f"\nWrote {output}: {', '.join(written)}; {seconds:.2f} s.")
        typer.echo(f"Report: {output / REPORT}")
    if model.interrupted_:
        raise typer.Exit(1)


@contextmanager
def _run_folder(folder: Path, force: bool) -> Iterator[None]:
    """The folder, made if need be; one that holds a finished run is refused unless it may be replaced."""
    from gmcr.errors import FileError

    taken = [name for name in (RUN_MODEL, *TABLES, SUMMARY, REPORT) if (folder / name).exists()]
    if taken and not force and not (folder / CHECKPOINT).exists():
        raise typer.BadParameter(f"{folder} holds {taken[0]} already; --force replaces it.")
    if force:
        (folder / CHECKPOINT).unlink(missing_ok=True)
    existed = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder} could not be made: {error.strerror or error}.") from error
    try:
        yield
    except BaseException:
        if not existed:
            with suppress(OSError):  # holds a checkpoint
                folder.rmdir()
        raise


def _as_frame(table: Table) -> Any:
    """The samples with their labels, as the estimator takes them."""
    import pandas as pd

    names = None if table.sample_names is None else list(table.sample_names)
    return pd.DataFrame(table.samples, index=names, columns=table.axis, copy=False)


def _write_run(folder: Path, model: GMCR, table: Table, source: str, warned: list[str]) -> list[str]:
    found = model.decomposition_
    others: Tables = {"path.csv": (list(model.path_.columns), model.path_.itertuples(index=False))}
    if model.fractions_ is not None:
        rows = labelled(names_of(table), model.fractions_)
        others["fractions.csv"] = (["sample", *component_names(found)], rows)
    summary = [source, *table.notes, *warned, "", _in_short(model)]
    return write_run(folder, found, table, summary, others, model.save)


def _in_short(model: GMCR) -> str:
    law = model.noise_law_
    return (
        f"{model.count_}\n"
        f"Noise: {law.sentence()}. R² {model.decomposition_.fit['r2']:.6f}. "
        f"{model.decomposition_.usage} selections in {model.decomposition_.n_samples} samples."
    )


def _as_dict(model: GMCR, folder: Path, written: list[str], seconds: float) -> dict[str, Any]:
    found = model.decomposition_
    return {
        "run": str(folder),
        "written": written,
        "samples": found.n_samples,
        "channels": found.n_channels,
        "components": found.n_components,
        "evidence": asdict(model.count_),
        "noise_law": model.noise_law_.as_dict(),
        "r2": found.fit["r2"],
        "usage": found.usage,
        "interrupted": model.interrupted_,
        "seconds": seconds,
    }


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
