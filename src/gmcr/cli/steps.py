"""The steps before unmixing as options of `gmcr fit`; `gmcr.asking.steps` has what they stand for."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gmcr.cli.options import option

Size = StrEnum("Size", ["area", "maximum", "norm"])

Range = Annotated[
    str | None, option("Keep this range of the axis, such as 400:1800.", "--range", default=False)
]
Drop = Annotated[
    list[str] | None, option("Leave this range out; may be given again.", "--drop", default=False)
]
BASELINE = (
    "Subtract a baseline: asls, arpls, airpls, snip, polynomial, or another of pybaselines' methods; its options "
    "behind a colon, as in asls:lam=1e6,p=0.001; with common among them, all samples have the same weights of "
    "channels, so that mixtures stay mixtures."
)
Baseline = Annotated[str | None, option(BASELINE, "--baseline", default=False)]
Despike = Annotated[bool, option("Mark spikes that are in one sample alone as missing.", "--despike")]
Smooth = Annotated[
    int | None, option("Smooth over so many channels (Savitzky-Golay).", default=False, least=3)
]
Derivative = Annotated[int, option("Take this derivative (Savitzky-Golay).", least=0)]
Snv = Annotated[bool, option("Standard normal variate.", "--snv")]
Msc = Annotated[bool, option("Multiplicative scatter correction.", "--msc")]
NormaliseBy = Annotated[
    Size | None, option("Divide samples by this size of theirs.", "--normalise", default=False)
]
Blank = Annotated[
    Path | None,
    typer.Option("--blank", exists=True, help="Subtract this blank, a file of one or several spectra."),
]
Average = Annotated[bool, option("Average samples of the same name, or --replicates.", "--average")]
Replicates = Annotated[
    str | None,
    option(
        "Samples that measure one thing, whose spread tells the noise: names, those of the same name; "
        "or a column of DATA with labels.",
        default="not known",
    ),
]
Background = Annotated[
    int, option("Smooth components to fit in every sample beside the others, such as 3.", least=0)
]
