"""`gmcr-paper`: a table or figure of the paper, run again beside the paper's own values."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.cli.console import print_json, run, wrong_call
from gmcr.cli.options import Json
from gmcr.errors import printable

if TYPE_CHECKING:
    from gmcr_paper.experiment import Asked, Experiment, Found
    from gmcr_paper.results import Results


app = typer.Typer(
    help="Run a table or figure of the paper again.", rich_markup_mode=None, add_completion=False
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 0, 1 (the work failed) or 2 (the call was wrong)."""
    return run(app, "gmcr-paper", argv)


class Format(StrEnum):
    text = "text"
    markdown = "markdown"
    latex = "latex"


@app.command()
def paper(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What to run: all, list, or a name of the list.")
    ],
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The paper's runs and seeds, or minutes on two cores.")
    ] = False,
    n: Annotated[str | None, typer.Option("--n", help="True counts, such as 16,32.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Seeds from 100 on, such as 100-104 or 100,107.")] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, such as nmf,window.")] = None,
    pool: Annotated[int | None, typer.Option(min=2, help="Slots of EB-gMCR's pool.")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Most epochs of an EB-gMCR run.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the real data sets.", show_default="$GMCR_DATA, or fetched")
    ] = None,
    results: Annotated[
        Path | None, typer.Option(help="Folder of finished runs.", show_default="OUTPUT/runs")
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for tables and figures.")] = Path(
        "results/paper"
    ),
    docs: Annotated[
        Path | None, typer.Option(help="Also write the document there (.md), its figures beside it.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes, one thread each; -1 for one per core.")] = -1,
    form: Annotated[Format, typer.Option("--format", help="How tables are printed.")] = Format.text,
    as_json: Json = False,
) -> None:
    """Run a table or figure of the paper again, beside the paper's own values.

    Runs that are in the results folder already are not done again; what is shown are all runs of that folder
    that the options do not exclude. Tables are written as text, Markdown and LaTeX, figures as PNG and PDF.

    \b
    Example:
      gmcr-paper counts --n 16,32 --seeds 100-104 --methods nmf,spa,window
    """
    from gmcr_paper.experiment import Asked, Found
    from gmcr_paper.registry import chosen
    from gmcr_paper.results import Results
    from gmcr_paper.tables import FORMATS, Table

    if name == "list":
        _list(as_json)
        return
    if jobs == 0:
        raise typer.BadParameter("--jobs must be a number of processes, or -1 for one per core, not 0.")
    with wrong_call():
        asked = Asked(full, _whole(n, "--n"), _whole(seeds, "--seeds"), _words(methods), pool, epochs)
        experiments = chosen(name)
    kept = Results(results or output / "runs")
    ready, notes = _ready(experiments, data)
    notes += _run(ready, asked, kept, data, jobs)
    found = Found(kept, asked)
    shown = [(experiment, experiment.shows(found)) for experiment in ready]
    written = _write(shown, output)
    if name == "all" or docs is not None:
        written += _write_document(docs or output / "paper.md", found)
    tables = [part for _, parts in shown for part in parts if isinstance(part, Table)]
    if as_json:
        print_json({"tables": [table.as_dict() for table in tables], "written": written, "notes": notes})
    else:
        for table in tables:
            typer.echo(FORMATS[form.value][1](table) + "\n")
        for note in notes:
            typer.echo(printable(note), err=True)
        typer.echo(f"Wrote {len(written)} files to {output}.", err=True)
    if any(note.startswith("failed") for note in notes):
        raise typer.Exit(1)


def _list(as_json: bool) -> None:
    from gmcr_paper.methods import METHODS
    from gmcr_paper.registry import EXPERIMENTS

    if as_json:
        print_json({"names": {key: one.title for key, one in EXPERIMENTS.items()}, "methods": METHODS})
        return
    for key, one in EXPERIMENTS.items():
        typer.echo(f"{key:15} {one.title} (lines {one.lines})")
    typer.echo(f"\nmethods: {', '.join(METHODS)}")


def _ready(experiments: list[Experiment], data: Path | None) -> tuple[list[Experiment], list[str]]:
    """The experiments whose data are there, and a line for each that has to be left out."""
    from gmcr.errors import GMCRError
    from gmcr_paper.studies.sets import load

    ready, notes = [], []
    for experiment in experiments:
        try:
            for name in experiment.sets:
                load(name, data)
        except GMCRError as error:
            notes.append(f"left out: {experiment.name}: {error}")
        else:
            ready.append(experiment)
    return ready, notes


def _run(
    experiments: list[Experiment], asked: Asked, kept: Results, data: Path | None, jobs: int
) -> list[str]:
    """Do the missing runs; a line for each that failed."""
    from functools import partial

    from joblib import effective_n_jobs

    from gmcr_paper.running import perform, report
    from gmcr_paper.studies import measure

    runs = [run for experiment in experiments for run in experiment.runs(asked)]
    return report(perform(runs, kept, partial(measure, data=data), effective_n_jobs(jobs)))


def _write(shown: list[tuple[Experiment, Any]], output: Path) -> list[str]:
    from gmcr_paper.figures import Figure
    from gmcr_paper.tables import FORMATS

    output.mkdir(parents=True, exist_ok=True)
    written = []
    for _, parts in shown:
        for part in parts:
            if isinstance(part, Figure):
                written += part.save(output)
                continue
            for suffix, form in FORMATS.values():
                path = output / f"{part.name}{suffix}"
                path.write_text(form(part) + "\n", encoding="utf-8")
                written.append(path)
    return [str(path) for path in written]


def _write_document(path: Path, found: Found) -> list[str]:
    from gmcr_paper.document import write_document

    return [str(file) for file in write_document(path, found)]


def _words(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(word.strip() for word in text.split(",") if word.strip())


def _whole(text: str | None, option: str) -> tuple[int, ...] | None:
    """Whole numbers from "16,32" or "100-104"."""
    words = _words(text)
    if words is None:
        return None
    numbers: list[int] = []
    for word in words:
        first, dash, last = word.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise typer.BadParameter(
                f"{option} must be whole numbers such as 16,32 or 100-104, not {text!r}."
            )
        numbers += range(int(first), int(last or first) + 1)
    if not numbers:
        raise typer.BadParameter(f"{option} names no number: {text!r}.")
    return tuple(dict.fromkeys(numbers))
