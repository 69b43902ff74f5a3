"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.cli.console import wrong_call

if TYPE_CHECKING:
    from gmcr.decomposition import Decomposition
    from gmcr.io.table import Table
    from gmcr.runs import RunFolder


class SamplesIn(StrEnum):
    auto = "auto"
    rows = "rows"
    columns = "columns"


def file_argument(metavar: str, text: str, *, folder: bool = False) -> Any:
    return typer.Argument(metavar=metavar, help=text, exists=True, dir_okay=folder)


Data = Annotated[
    Path,
    file_argument(
        "DATA",
        "Samples: a table (CSV, XLSX, Parquet), arrays (NPY, NPZ, MAT, HDF5, NetCDF, RData), spectra (JCAMP-DX, "
        "SPC, OPUS, WDF), or a folder of spectra.",
        folder=True,
    ),
]
Run = Annotated[Path, file_argument("RUN", "Run folder, or its model file (.gmcr).", folder=True)]
Orientation = Annotated[
    SamplesIn, typer.Option("--samples-in", "--orientation", help="Where a table has its samples.")
]
Components = Annotated[int, typer.Option(help="Number of components.")]
Samples = Annotated[int | None, typer.Option(help="Number of samples.", show_default="4 per component")]
Snr = Annotated[float, typer.Option(help="Signal-to-noise ratio in dB.")]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


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


def run_and_samples(run: Path, data: Path, samples_in: SamplesIn) -> tuple[Decomposition, Table]:
    """What a run found, and samples on the same axis."""
    from gmcr.io.reading import read_table
    from gmcr.validation import check_same_axis

    folder = run_at(run)
    found = folder.solution()
    table = read_table(data, samples_in=samples_in.value)
    check_same_axis(table.axis, found.axis, "the pool")
    return found, table
