"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.asking.samples import Reading
from gmcr.cli.console import in_shell, wrong_call

if TYPE_CHECKING:
    from gmcr.decomposition import Decomposition
    from gmcr.io.table import Table
    from gmcr.runs import RunFolder


SamplesIn = StrEnum("SamplesIn", ["auto", "rows", "columns"])


def place(metavar: str, text: str, default: bool = True) -> Any:
    """An argument: a file or a folder that is there; default : whether the help tells what stands for it."""
    return typer.Argument(metavar=metavar, help=text, exists=True, show_default=default)


def option(text: str, *names: str, default: str | bool = True, least: float | None = None) -> Any:
    """An option; default : what stands in the help for a value that is found out, False for nothing."""
    return typer.Option(*names, help=text, show_default=default, min=least)


OUTPUT = ("-o", "--output")
SAMPLES = (
    "Samples: a table (CSV, XLSX, Parquet), arrays (NPY, NPZ, MAT, HDF5, NetCDF, RData), spectra (JCAMP-DX, "
    "SPC, OPUS, WDF), or a folder of spectra."
)
NOISE = "Noise: its standard deviation, or its law (constant, proportional, poisson, counts, instrument)."
Data = Annotated[Path, place("DATA", SAMPLES)]
Run = Annotated[Path, place("RUN", "Run folder, or its model file (.gmcr).")]
NewRun = Annotated[Path, typer.Option(*OUTPUT, metavar="RUN", help="Folder to write the run to.")]
Orientation = Annotated[SamplesIn, option("Where a table has its samples.", "--samples-in", "--orientation")]
Memory = Annotated[
    str | None,
    option(
        "Most memory that reading data may take, such as 4G.", default="256 MB and 100 times the file's size"
    ),
]
Sheets = Annotated[bool, option("Read all sheets of a workbook, each a run.", "--sheets")]
Unit = Annotated[str | None, option("Unit of the axis, such as nm or cm-1.", default="as DATA says")]
Metadata = Annotated[str | None, option("Columns of DATA that are no channels, with commas.", default=False)]
Components = Annotated[int, option("Number of components.")]
Samples = Annotated[int | None, option("Number of samples.", default="4 per component")]
Snr = Annotated[float, option("Signal-to-noise ratio in dB.")]
Seed = Annotated[int, option("Seed of the random numbers.")]
Json = Annotated[bool, option("Print JSON instead of text.", "--json")]


def number_of_samples(samples: int | None, components: int) -> int:
    return 4 * components if samples is None else samples


def noise_option(text: str | None) -> float | str | None:
    """What --noise says: a number, a law's name, or nothing."""
    from gmcr.noise import LAWS

    if text is None or text in LAWS:
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(
            f"--noise must be a number or one of {', '.join(LAWS)}, not {text!r}."
        ) from None


def run_at(path: Path) -> RunFolder:
    """The run of a folder, or of a model file."""
    from gmcr.runs import RunFolder

    with wrong_call():
        return RunFolder.at(path)


def samples_of(
    data: Path,
    samples_in: SamplesIn,
    memory: str | None,
    sheets: bool = False,
    unit: str | None = None,
    metadata: str | None = None,
) -> Table:
    """The samples of a data file, as --samples-in, --memory, --sheets, --unit and --metadata say."""
    table = Reading(samples_in.value, sheets, unit, metadata, memory).read(data)
    return replace(table, notes=tuple(map(in_shell, table.notes)))


def run_and_samples(
    run: Path,
    data: Path,
    samples_in: SamplesIn,
    memory: str | None,
    sheets: bool = False,
    metadata: str | None = None,
) -> tuple[Decomposition, Table]:
    """What a run found, and samples on the same axis."""
    from gmcr.validation import check_same_axis

    folder = run_at(run)
    found = folder.solution()
    table = samples_of(data, samples_in, memory, sheets, metadata=metadata).after(
        folder.chain(), training=True
    )
    check_same_axis(table.axis, found.axis, "the pool")
    return found, table.ordered_as(found.channels, "the pool")
