"""`gmcr fit`: unmix a file into a run folder."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.cli.console import in_shell, print_json, print_notes, reproduction, say, verdict, verdict_as_dict
from gmcr.cli.options import (
    NOISE,
    Data,
    Json,
    Memory,
    NewRun,
    Orientation,
    SamplesIn,
    Seed,
    noise_option,
    option,
    samples_of,
)
from gmcr.cli.terminal import Kept
from gmcr.errors import GMCRError, InputError

if TYPE_CHECKING:
    from gmcr.estimators.eb import EBgMCR
    from gmcr.estimators.window import GMCR
    from gmcr.io.table import Table
    from gmcr.runs import RunFolder
    from gmcr.validation import FloatArray


Solver = StrEnum("Solver", ["window", "eb"])
UsageSchedule = StrEnum("UsageSchedule", ["paper", "window"])
FIXED = "Known profiles to keep: a model file, a table with one per row, or a library of spectra."
SIGNED = "Whether profiles and concentrations may be negative."
USAGE = "eb: usage weight by the paper's schedule, or inside the window."


def fit(
    context: typer.Context,
    data: Data,
    output: NewRun,
    components: Annotated[int | None, option("Number of components.", default="found out", least=1)] = None,
    max_components: Annotated[int | None, option("Most components to consider.", least=1)] = None,
    fixed: Annotated[Path | None, typer.Option(exists=True, help=FIXED)] = None,
    fixed_names: Annotated[
        str | None, option("Those to take from --fixed, by name, with commas.", default="all")
    ] = None,
    signed: Annotated[
        bool | None, option(SIGNED, "--signed/--unsigned", default="profiles, if need be")
    ] = None,
    noise: Annotated[str | None, option(NOISE, default="found out")] = None,
    k_max: Annotated[int | None, option("Most components in a sample.", least=1)] = None,
    r2_band: Annotated[
        tuple[float, float] | None, option("Take the cheapest solution with R² in this band.", default=False)
    ] = None,
    closure: Annotated[bool, option("Write fractions that sum to one as well.", "--closure")] = False,
    starts: Annotated[int, option("Number of starting pools.", least=1)] = 1,
    jobs: Annotated[int | None, option("Number of threads.", default="by size")] = None,
    solver: Annotated[
        Solver, option("The window solver, or the paper's (slow; needs torch).")
    ] = Solver.window,
    pool: Annotated[int, option("eb: slots of the pool.", least=1)] = 256,
    max_epochs: Annotated[int, option("eb: iteration limit.", least=1)] = 20_000,
    usage: Annotated[UsageSchedule, option(USAGE)] = UsageSchedule.paper,
    learning_rate: Annotated[float | None, option("eb: learning rate.", default="scaled to the pool")] = None,
    seed: Seed = 0,
    samples_in: Orientation = SamplesIn.auto,
    memory: Memory = None,
    force: Annotated[bool, option("Replace a run that is in the folder.", "--force")] = False,
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
    from gmcr.runs import RunFolder, in_short

    table, run = samples_of(data, samples_in, memory), RunFolder(output)
    if not as_json:
        print_notes(table.notes)
    known = Fixed() if solver is Solver.eb else _read_fixed(fixed, fixed_names, table)
    model: GMCR | EBgMCR
    if solver is Solver.eb:
        try:
            from gmcr.estimators.eb import EBgMCR
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise GMCRError("EBgMCR needs torch; install it with: pip install 'gmcr[eb]'.") from None
        model = EBgMCR(
            pool,
            max_epochs,
            random_state=seed,
            signed=bool(signed),
            learning_rate="scaled" if learning_rate is None else learning_rate,
            usage=usage.value,
            lowest_band=0.95,
            folder=run.training,
            verbose=1,
        )
    else:
        model = GMCR(
            n_components="auto" if components is None else components,
            max_components=max_components,
            fixed_components=known.profiles,
            signed="auto" if signed is None else signed,
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
    again = reproduction(context, seconds, data)
    written, contents = run.write(
        model, table, source=data.name, warned=warned, reproduce=again, fixed=known.names
    )
    if as_json:
        told = {"run": str(output), "written": written} | _as_dict(model) | {"seconds": seconds}
        told |= verdict_as_dict(contents) | {"report": str(run.report)}
        print_json(told | {"notes": [*table.notes, *known.notes], "warnings": warned})
    else:
        print_notes(warned)
        say(in_short(model))
        say(verdict(contents))
        say(f"\nWrote {output}: {', '.join(written)}; {seconds:.2f} s.")
        say(f"Report: {run.report}")
    if isinstance(model, GMCR) and model.interrupted_:
        raise Kept


@dataclass(frozen=True, eq=False)
class Fixed:
    """Known profiles (profiles, channels) on the axis of the samples, their names, and what was inferred."""

    profiles: FloatArray | None = None
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _read_fixed(path: Path | None, wanted: str | None, table: Table) -> Fixed:
    """The profiles that --fixed and --fixed-names ask for."""
    if path is None:
        if wanted is not None:
            raise typer.BadParameter("--fixed-names needs --fixed with the library that holds them.")
        return Fixed()
    import numpy as np

    from gmcr.naming import read_library

    library = read_library(path)
    if wanted is not None:
        whole, parts = wanted.strip(), [name.strip() for name in wanted.split(",") if name.strip()]
        names = [whole] if whole in library.names else parts  # a name may hold commas
        if not names:
            raise typer.BadParameter("--fixed-names is empty; give names, separated by commas.")
        library = library.pick(names)
    library = library.ordered_as(table.channels, "the samples")
    notes = []
    n_channels = table.samples.shape[1]
    if table.axis is None or not library.has_axis:
        profiles = library.by_channel(n_channels).on_axis(np.arange(float(n_channels)))
    else:
        profiles = library.on_axis(table.axis)
        if library.differs(table.axis):
            notes.append("The fixed profiles were interpolated onto the axis of the samples.")
    missing = np.flatnonzero(np.isnan(profiles).any(axis=1))
    if missing.size:
        raise InputError(
            f"{path}: {library.names[missing[0]]!r} does not cover the whole axis of the samples; "
            "cut the samples to the range that it has."
        )
    notes += [f"Component {j} is fixed: {name}." for j, name in enumerate(library.names)]
    return Fixed(profiles, library.names, tuple(notes))


def _fit(model: GMCR | EBgMCR, table: Table, run: RunFolder) -> list[str]:
    """Fit, and return what was warned of; both solvers go on from what an ended run has left in the folder."""
    from gmcr.estimators.window import GMCR

    if not isinstance(model, GMCR):
        model.fit(table)
        return []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model.fit(table, checkpoint=run.checkpoint)
    return [(text := in_shell(str(warning.message)))[:1].upper() + text[1:] for warning in caught]


def _as_dict(model: GMCR | EBgMCR) -> dict[str, Any]:
    from gmcr.estimators.window import GMCR

    found = model.decomposition_
    if isinstance(model, GMCR):
        sizes = {"samples": found.n_samples, "channels": found.n_channels, "components": found.n_components}
        learned = {"evidence": model.count_.as_dict(), "noise_law": model.noise_law_.as_dict()}
        fit = {"r2": found.fit["r2"], "usage": found.usage, "interrupted": model.interrupted_}
        return sizes | learned | fit
    of_bands = ("low", "high", "epoch", "count", "r2")
    bands = [{name: getattr(band, name) for name in of_bands} for band in model.bands_]
    told = {"components": found.n_components, "usage": found.usage, "epochs": model.n_epochs_}
    return told | {"terminated": model.terminated_, "bands": bands}
