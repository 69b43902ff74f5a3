"""`gmcr fit`: unmix a file into a run folder."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.asking.fixed import Fixed, read_fixed
from gmcr.asking.known import Known, read_known
from gmcr.asking.places import Places, read_places
from gmcr.asking.steps import Told
from gmcr.cli import steps
from gmcr.cli.console import (
    figure_notes,
    in_shell,
    print_json,
    print_notes,
    reproduction,
    say,
    sentence,
    verdict,
    verdict_as_dict,
)
from gmcr.cli.lazily import InParts, Scheduler, Workers, head_of
from gmcr.cli.options import (
    NOISE,
    SAMPLES,
    Json,
    Memory,
    Metadata,
    NewRun,
    Orientation,
    SamplesIn,
    Seed,
    Sheets,
    Unit,
    noise_option,
    option,
    place,
    samples_of,
)
from gmcr.cli.progress import Progress
from gmcr.cli.terminal import Kept
from gmcr.errors import GMCRError, InputError, printable

if TYPE_CHECKING:
    from gmcr.constraints import Constraint
    from gmcr.estimators.eb import EBgMCR
    from gmcr.estimators.window import GMCR
    from gmcr.runs import RunFolder


Solver = StrEnum("Solver", ["window", "eb"])
WhatToDo = StrEnum("WhatToDo", ["keep", "tell", "mask"])
UsageSchedule = StrEnum("UsageSchedule", ["paper", "window"])
FILES = f"{SAMPLES} Of several, each is a run of its own, in a folder of its name."
Files = Annotated[list[Path], place("DATA...", FILES)]
FIXED = "Known profiles to keep: a model file, a table with one per row, or a library of spectra."
KNOWN = "Columns of DATA with known amounts, and their units, with commas: glucose=g/L,lactose=g/L."
BY_RUN = "Let slopes of amounts differ between runs (matrix effects); with --known."
REPLICATES = "Column of DATA with labels: samples of the same label are replicates of one mixture."
ORDER = (
    "Order of the samples in their run: rows, as they stand; names, where they are named by numbers such as "
    "times; or a column of DATA."
)
RUNS = "Column of DATA with the run of each sample; or the number of runs of equal length, or their lengths."
CONSTRAINT = (
    'What the answer must obey, such as "unimodal C", "zero S 400:450", "kinetic A > B > C"; repeatable.'
)
SIGNED = "Whether profiles and concentrations may be negative."
DISTURBANCES = (
    "Spikes, clipped readings, hot channels and the like: not looked for, told, or masked where beyond doubt."
)
PROGRESS = "File to add a line of JSON to at every stage and every solution met, for programs that watch."
USAGE = "eb: usage weight by the paper's schedule, or inside the window."


def fit(
    context: typer.Context,
    files: Files,
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
    known: Annotated[str | None, option(KNOWN, default=False)] = None,
    known_replicates: Annotated[str | None, option(REPLICATES, default=False)] = None,
    known_by_run: Annotated[bool, option(BY_RUN, "--known-by-run")] = False,
    constraint: Annotated[list[str] | None, option(CONSTRAINT, "--constraint", default=False)] = None,
    order: Annotated[str | None, option(ORDER, default="not known")] = None,
    runs: Annotated[str | None, option(RUNS, default="one, or the files or sheets")] = None,
    sheets: Sheets = False,
    closure: Annotated[bool, option("Write fractions that sum to one as well.", "--closure")] = False,
    range_: steps.Range = None,
    drop: steps.Drop = None,
    baseline: steps.Baseline = None,
    despike: steps.Despike = False,
    smooth: steps.Smooth = None,
    derivative: steps.Derivative = 0,
    snv: steps.Snv = False,
    msc: steps.Msc = False,
    normalise: steps.NormaliseBy = None,
    blank: steps.Blank = None,
    average: steps.Average = False,
    replicates: steps.Replicates = None,
    background: steps.Background = 0,
    disturbances: Annotated[WhatToDo, option(DISTURBANCES)] = WhatToDo.keep,
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
    unit: Unit = None,
    metadata: Metadata = None,
    memory: Memory = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    progress: Annotated[Path | None, option(PROGRESS, "--progress", default=False)] = None,
    force: Annotated[bool, option("Replace a run that is in the folder.", "--force")] = False,
    as_json: Json = False,
) -> None:
    """Unmix a file: how many components, their profiles, and which sample holds which.

    RUN holds the report (report.html), the model (model.gmcr), profiles, concentrations, supports and path as
    CSV and in one workbook (run.xlsx), figures, and summary.txt; with --known also amounts in units
    (amounts.csv), with several runs of samples their areas (areas.csv). A run that was interrupted or killed
    goes on where it was when the same command is given again, to the same answer. The files of a run that is in
    the folder already are replaced at the end, all at once; others in it are left alone.

    Steps before unmixing (--blank, --despike, --range, --drop, --average, --baseline, --smooth and --derivative,
    --msc, --snv, --normalise) are done in this order, are stored in the model, and are done to new samples too.
    Ranges are in units of the axis; of samples without one, in channel numbers from 0. --disturbances tell
    looks first for what the detector did, and mask leaves out what is beyond doubt, which the report says.

    A zarr folder, and HDF5, NPY and Parquet files for which there is no room or with --workers or --scheduler,
    are read in parts, as many at once as --memory allows. Tables and report show samples spread over all;
    maps.zarr holds the concentrations of every one.

    \b
    Example:
      gmcr fit mixtures.csv -o run
      gmcr fit raman.csv -o run --range 400:1800 --despike --baseline asls
      gmcr fit mixtures.csv -o run --fixed library.csv --fixed-names "glucose,lactose"
      gmcr fit mixtures.csv -o run --known "glucose=g/L" --replicates names
      gmcr fit chromatograms.csv -o run --constraint "unimodal C" --order rows --runs 4
      gmcr fit monday.csv tuesday.csv -o runs
      gmcr fit chromatograms.xlsx -o run --constraint "unimodal C" --order names --sheets
      gmcr fit cube.zarr -o run --memory 4GB --workers 2
    """
    assumed = noise_option(noise)
    from gmcr.estimators.window import GMCR
    from gmcr.runs import RunFolder, in_short

    if solver is Solver.eb and (constraint or order or runs or replicates):
        raise typer.BadParameter(
            "--constraint, --order, --runs and --replicates are for the window solver; leave out --solver eb."
        )
    if len(files) > 1:
        _each(context, files, output)
        return
    (data,) = files
    told = Progress(progress)
    told.begin("reading")
    parts, run = InParts(workers, scheduler, memory), RunFolder(output)
    samples: Any = None
    if parts.are_asked_for(data):
        beside = any((known, order, runs, replicates, average, closure, sheets, unit, metadata))
        if beside or solver is Solver.eb or r2_band or disturbances is not WhatToDo.keep:
            raise typer.BadParameter(
                f"{data.name} is read in parts, which goes without --known, --order, --runs, --replicates, "
                "--average, --closure, --sheets, --unit, --metadata, --r2-band, --disturbances and --solver eb; "
                "leave that out."
            )
        samples = parts.samples_of(data, samples_in)
        table = head_of(samples)
    else:
        table = samples_of(data, samples_in, memory, sheets, unit, metadata)
    if not as_json:
        print_notes(table.notes)
    asked = Told(
        range_,
        drop,
        baseline,
        despike,
        smooth,
        derivative,
        snv,
        msc,
        None if normalise is None else normalise.value,
        blank,
        average,
        replicates,
    )
    through = asked.steps(table)
    if solver is Solver.eb and (through or background):
        raise typer.BadParameter("steps before unmixing and --background are for --solver window.")
    profiles = Fixed() if solver is Solver.eb else read_fixed(fixed, fixed_names, table)
    amounts = None if known is None else read_known(known, known_replicates, table)
    if known_replicates is not None and known is None:
        raise typer.BadParameter("--known-replicates needs --known with the columns of known amounts.")
    if amounts is not None and solver is Solver.eb:
        raise typer.BadParameter("--known needs the window solver; leave out --solver eb.")
    places = Places() if solver is Solver.eb else read_places(order, runs, table)
    if known_by_run and (amounts is None or places.runs is None):
        raise typer.BadParameter(
            "--known-by-run needs --known, and runs: --runs, or several files or sheets."
        )
    model: GMCR | EBgMCR
    if solver is Solver.eb:
        model = _eb(
            pool_size=pool,
            max_epochs=max_epochs,
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
            fixed_components=profiles.profiles,
            signed="auto" if signed is None else signed,
            noise="auto" if assumed is None else assumed,
            k_max=k_max,
            random_state=seed,
            n_starts=starts,
            n_jobs=jobs,
            verbose=1,
            r2_band=r2_band,
            closure=closure,
            constraints=_constraints(constraint, amounts),
            steps=through,
            background=background,
            disturbances=disturbances.value,
            callback=None if progress is None else told.row,
        )
    if not as_json:
        print_notes(profiles.notes)
    if run.taken() and not force:
        raise typer.BadParameter(f"{output} holds {run.taken()} already; --force replaces it.")
    if force:
        run.begin_anew()
    started = perf_counter()
    told.begin("fitting")
    with parts.at_work(samples):
        with run.made():
            warned = _fit(model, table if samples is None else samples, run, places, asked.replicates(table))
            if amounts is not None and isinstance(model, GMCR):
                try:
                    model.calibrate(
                        amounts.values,
                        units=amounts.units,
                        replicates=amounts.replicates,
                        runs=places.runs if known_by_run else None,
                    )
                except InputError as error:  # the fit is worth keeping
                    warned.append(f"There are no amounts: {error}")
        seconds = perf_counter() - started
        told.begin("judging")
        again = reproduction(context, seconds, data, checked=samples is None)
        written, contents = run.write(
            model, table, source=data.name, warned=warned, reproduce=again, fixed=profiles.names
        )
    if as_json:
        facts = {"run": str(output), "written": written} | _as_dict(model) | {"seconds": seconds}
        facts |= verdict_as_dict(contents) | {"report": str(run.report)}
        print_json(facts | {"notes": [*table.notes, *profiles.notes, *figure_notes()], "warnings": warned})
    else:
        print_notes([*model.chain_.did, *warned])
        say(in_short(model))
        if isinstance(model, GMCR) and model.calibration_ is not None:
            say(f"\n{model.calibration_}\n")
        say(verdict(contents))
        say(f"\nWrote {output}: {', '.join(written)}; {seconds:.2f} s.")
        print_notes(figure_notes())
        say(f"Report: {run.report}")
    no_amounts = amounts is not None and getattr(model, "calibration_", None) is None
    if isinstance(model, GMCR) and model.interrupted_:
        raise Kept
    if no_amounts:
        raise typer.Exit(1)


def _each(context: typer.Context, files: list[Path], output: Path) -> None:
    """A run for every file, in a folder of its name; one that fails does not keep others from being done."""
    names = [file.stem if file.is_file() else file.name for file in files]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise typer.BadParameter(
            f"two files are called {twice!r}, and their runs would be; rename one of them."
        )
    failed, callback = [], context.command.callback or fit
    for file, name in zip(files, names):
        say(f"{printable(file.name)} -> {printable(str(output / name))}", err=True)
        try:
            context.invoke(callback, **(context.params | {"files": [file], "output": output / name}))
        except GMCRError as error:
            say(f"gmcr: {sentence(error)}", err=True)
            failed.append(file.name)
    if failed:
        raise GMCRError(f"{len(failed)} of {len(files)} files could not be unmixed: {', '.join(failed)}.")


def _constraints(lines: list[str] | None, amounts: Known | None) -> list[Constraint] | None:
    """What --constraint says; "calibration" takes the amounts that --known names."""
    from gmcr.constraints import Calibration, constraint_of_words

    if not lines:
        return None
    if amounts is None and Calibration.kind in lines:
        raise typer.BadParameter("--constraint calibration needs --known with columns of known amounts.")
    words = [line for line in lines if line != Calibration.kind]
    told = [constraint_of_words(line) for line in words]
    return told if amounts is None or words == lines else [*told, Calibration(amounts.values, amounts.units)]


def _eb(**told: Any) -> EBgMCR:
    """The paper's solver, where torch is installed."""
    try:
        from gmcr.estimators.eb import EBgMCR
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise GMCRError("EBgMCR needs torch; install it with: pip install 'gmcr[eb]'.") from None
    return EBgMCR(**told)


def _fit(model: GMCR | EBgMCR, table: Any, run: RunFolder, places: Places, replicates: Any) -> list[str]:
    """Fit, and return what was warned of; both solvers go on from what an ended run has left in the folder."""
    from gmcr.estimators.window import GMCR
    from gmcr.window.checkpoint import Checkpoint

    if not isinstance(model, GMCR):
        model.fit(table)
        return []
    # The checkpoint goes when the run is written.
    with Checkpoint(run.checkpoint) as saved, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model.fit(table, replicates=replicates, runs=places.runs, order=places.order, checkpoint=saved)
    return [(text := in_shell(str(warning.message)))[:1].upper() + text[1:] for warning in caught]


def _as_dict(model: GMCR | EBgMCR) -> dict[str, Any]:
    from gmcr.estimators.window import GMCR

    found = model.decomposition_
    if isinstance(model, GMCR):
        sizes = {"samples": found.n_samples, "channels": found.n_channels, "components": found.n_components}
        whole = {} if model.of_all_ is None else {"of_all": model.of_all_}
        learned = {"evidence": model.count_.as_dict(), "noise_law": model.noise_law_.as_dict()}
        fit = {"r2": found.fit["r2"], "usage": found.usage, "interrupted": model.interrupted_}
        known = model.calibration_
        amounts = (
            {} if known is None else {"calibration": known.table().to_dict("records"), "told": known.notes()}
        )
        return sizes | whole | learned | fit | {"steps": list(model.chain_.did)} | amounts
    of_bands = ("low", "high", "epoch", "count", "r2")
    bands = [{name: getattr(band, name) for name in of_bands} for band in model.bands_]
    told = {"components": found.n_components, "usage": found.usage, "epochs": model.n_epochs_}
    return told | {"terminated": model.terminated_, "bands": bands}
