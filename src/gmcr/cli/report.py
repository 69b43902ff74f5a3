"""`gmcr report`: the report of a run, made anew; and what other commands write a report with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.cli.console import check_suffix, print_json, printable
from gmcr.cli.options import Json, Orientation, SamplesIn, file_argument, model_of, print_notes
from gmcr.runs import FACTS, FIGURES, REPORT

if TYPE_CHECKING:
    from gmcr.decomposition import Decomposition
    from gmcr.estimators.window import GMCR
    from gmcr.io.table import Table
    from gmcr.reporting.contents import Contents


def report(
    run: Annotated[Path, file_argument("RUN", "Run folder, or its model file (.gmcr).", folder=True)],
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]",
            exists=True,
            help="The samples that were unmixed: fit, confidence and certificate are computed anew.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="HTML file to write instead.", show_default=f"RUN/{REPORT}"),
    ] = None,
    samples_in: Orientation = SamplesIn.auto,
    as_json: Json = False,
) -> None:
    """Make the report of a run anew, one HTML file to read and to send on; names from gmcr match are in it.

    \b
    Example:
      gmcr report run
      gmcr report run mixtures.csv -o report.html
    """
    if output is not None:
        check_suffix(output, ".html")
    file = model_of(run)
    table = None
    if data is not None:
        from gmcr.io.reading import read_table

        table = read_table(data, samples_in=samples_in.value)
        if not as_json:
            print_notes(table.notes)
    contents = contents_of(file, table, "" if data is None else data.name)
    if output is None and run.is_dir():
        write_report_files(run, contents)
        output = run / REPORT
    else:
        from gmcr.reporting.page import write_report

        output = file.with_suffix(".html") if output is None else output
        write_report(contents, output)
    if as_json:
        print_json({"report": str(output)} | in_short(contents))
    else:
        typer.echo(verdict(contents))
        typer.echo(f"Report: {output}")


def contents_of(file: Path, table: Table | None, source: str) -> Contents:
    """What there is to report of a model file: collected anew from the samples, else as kept beside it."""
    from gmcr.decomposition import Decomposition
    from gmcr.io.reading import check_same_axis, read_pool
    from gmcr.reporting.collect import collect
    from gmcr.reporting.contents import Contents

    found, model, facts = Decomposition.load(file), estimator_of(file), file.with_name(FACTS)
    kept = Contents.load(facts, found) if facts.exists() and table is None else None
    if kept is None:
        if table is not None:
            _check_same_samples(found, table)
            check_same_axis(read_pool(file), table)
        kept = collect(found, table, model=model, source=source or file.parent.name, reproduce=versions())
        kept = replace(kept, **_of_the_fit(facts, found))
    return replace(kept, names=names_in(file.parent))


def _of_the_fit(facts: Path, found: Decomposition) -> dict[str, Any]:
    """What only the command that fitted could tell, if it has left it."""
    from gmcr.errors import FileError
    from gmcr.reporting.contents import Contents

    try:
        before = Contents.load(facts, found)
    except FileError:
        return {}
    return {name: getattr(before, name) for name in ("source", "warnings", "reproduce")}


def write_report_files(folder: Path, contents: Contents) -> list[str]:
    """The report of a run folder, its figures, and the facts to make it anew; returns the names of the files."""
    from gmcr.reporting.files import write_figures
    from gmcr.reporting.page import write_report

    contents.save(folder / FACTS)
    write_report(contents, folder / REPORT)
    write_figures(contents, folder / FIGURES)
    return [FACTS, FIGURES, REPORT]


def estimator_of(file: Path) -> GMCR | None:
    """The window solver's estimator, if the model file holds one."""
    from gmcr.storage import read_model

    if read_model(file)[1]["kind"] != "GMCR":
        return None
    from gmcr.estimators.window import GMCR

    return GMCR.load(file)


def names_in(folder: Path) -> dict[str, dict[str, Any]]:
    """What a library says about the components of a run, by number, where gmcr match has left it."""
    import csv

    from gmcr.cli.fixed import MATCHES, read_names

    names = read_names(folder)
    if not (folder / MATCHES).exists():
        return {}
    with open(folder / MATCHES, encoding="utf-8", newline="") as file:
        rows = {int(row["component"]): row for row in csv.DictReader(file)}
    return {
        str(component): {
            "name": names.get(component, ""),
            "verdict": row.get("verdict") or "",
            "hit": (row.get("hit") or "").removeprefix("'"),
            "score": _number(row.get("hqi")),
        }
        for component, row in rows.items()
    }


def in_short(contents: Contents) -> dict[str, Any]:
    """The verdict for machines."""
    certificate = contents.certificate or {}
    return {"verdict": certificate.get("verdict"), "verdict_sentence": certificate.get("sentence")}


def verdict(contents: Contents) -> str:
    """The verdict in a sentence, for the terminal."""
    if contents.certificate is None:
        return f"Not certified: {printable(contents.left_out.get('certificate', 'it was left out.'))}"
    return printable(str(contents.certificate["sentence"]))


def versions() -> dict[str, str]:
    """What a result may depend on."""
    import platform
    from importlib.metadata import version

    told = {name: version(name) for name in ("gmcr", "numpy", "scipy", "numba", "scikit-learn")}
    return told | {"Python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}


def reproduction(context: typer.Context, data: Path, seconds: float) -> dict[str, str]:
    """What it takes to do it again: the command, the data by their checksum, and the versions."""
    import hashlib

    told = {"command": command_line(context), "data": data.name}
    if data.is_file():
        with open(data, "rb") as file:
            told["SHA-256 of the data"] = hashlib.file_digest(file, "sha256").hexdigest()
    return told | {"time": f"{seconds:.2f} s"} | versions()


def command_line(context: typer.Context) -> str:
    """The command that runs, with what was given to it; of paths the names alone, since reports are sent on."""
    import shlex

    words = ["gmcr", str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if value is None or value == parameter.get_default(context) or parameter.name in ("as_json", "force"):
            continue
        if parameter.param_type_name == "option":
            words.append(parameter.opts[0])
        if value is not True:
            values = value if isinstance(value, tuple) else (value,)
            words += [
                one.name if isinstance(one, Path) else str(getattr(one, "value", one)) for one in values
            ]
    return shlex.join(words)


def _check_same_samples(found: Any, table: Table) -> None:
    from gmcr.errors import InputError

    expected = (found.n_samples, found.n_channels)
    if table.samples.shape != expected:
        raise InputError(
            f"DATA holds {table.samples.shape[0]} samples x {table.samples.shape[1]} channels and the run "
            f"{expected[0]} x {expected[1]}; give the samples that were unmixed."
        )


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
