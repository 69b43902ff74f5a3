"""`gmcr fit`: unmix a file into a run folder."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.cli.console import print_json, print_notes, reproduction, verdict, verdict_as_dict
from gmcr.cli.fixed import read_fixed
from gmcr.cli.options import Data, Json, Orientation, SamplesIn, Seed, noise_option
from gmcr.errors import GMCRError

if TYPE_CHECKING:
    from gmcr.estimators.eb import EBgMCR
    from gmcr.estimators.window import GMCR
    from gmcr.io.table import Table
    from gmcr.runs import RunFolder


class Solver(StrEnum):
    window = "window"
    eb = "eb"


class UsageSchedule(StrEnum):
    paper = "paper"
    window = "window"


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
    from gmcr.runs import RunFolder, in_short

    table, run = read_table(data, samples_in=samples_in.value), RunFolder(output)
    if not as_json:
        print_notes(table.notes)
    model: GMCR | EBgMCR
    if solver is Solver.eb:
        known, paper = read_fixed(None, None, table), _paper_solver()
        model = paper(
            pool,
            max_epochs,
            random_state=seed,
            signed=signed,
            learning_rate="scaled" if learning_rate is None else learning_rate,
            usage=usage.value,
            lowest_band=0.95,
            folder=run.training,
            verbose=1,
        )
    else:
        known = read_fixed(fixed, fixed_names, table)
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
    if not as_json:
        print_notes(known.notes)
    if run.taken() and not force:
        raise typer.BadParameter(f"{output} holds {run.taken()} already; --force replaces it.")
    if force:
        run.begin_anew()
    started = perf_counter()
    with run.made():
        warned = _fit(model, table, run)
    seconds = perf_counter() - started
    written, contents = run.write(
        model,
        table,
        source=data.name,
        warned=warned,
        reproduce=reproduction(context, seconds, data),
        fixed=known.names,
    )
    if as_json:
        told = {"run": str(output), "written": written} | _as_dict(model) | {"seconds": seconds}
        told |= verdict_as_dict(contents) | {"report": str(run.report)}
        print_json(told | {"notes": [*table.notes, *known.notes], "warnings": warned})
    else:
        print_notes(warned)
        typer.echo(in_short(model))
        typer.echo(verdict(contents))
        typer.echo(f"\nWrote {output}: {', '.join(written)}; {seconds:.2f} s.")
        typer.echo(f"Report: {run.report}")
    if isinstance(model, GMCR) and model.interrupted_:
        raise typer.Exit(1)


def _paper_solver() -> type[EBgMCR]:
    try:
        from gmcr.estimators.eb import EBgMCR
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise GMCRError("EBgMCR needs torch; install it with: pip install 'gmcr[eb]'.") from None
    return EBgMCR


def _fit(model: GMCR | EBgMCR, table: Table, run: RunFolder) -> list[str]:
    """Fit, and return what was warned of; both solvers go on from what an ended run has left in the folder."""
    from gmcr.estimators.window import GMCR

    if not isinstance(model, GMCR):
        model.fit(table)
        return []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model.fit(table, checkpoint=run.checkpoint)
    texts = [str(warning.message) for warning in caught]
    return [text[:1].upper() + text[1:] for text in texts]


def _as_dict(model: GMCR | EBgMCR) -> dict[str, Any]:
    from gmcr.estimators.window import GMCR

    found = model.decomposition_
    if isinstance(model, GMCR):
        return {
            "samples": found.n_samples,
            "channels": found.n_channels,
            "components": found.n_components,
            "evidence": asdict(model.count_),
            "noise_law": model.noise_law_.as_dict(),
            "r2": found.fit["r2"],
            "usage": found.usage,
            "interrupted": model.interrupted_,
        }
    bands = ("low", "high", "epoch", "count", "r2")
    return {
        "components": found.n_components,
        "usage": found.usage,
        "epochs": model.n_epochs_,
        "terminated": model.terminated_,
        "bands": [{name: getattr(band, name) for name in bands} for band in model.bands_],
    }
