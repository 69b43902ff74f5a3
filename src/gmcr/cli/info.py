"""`gmcr info`: what is in a data or model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from gmcr.cli.console import print_json, print_notes, print_table, say
from gmcr.cli.options import Json, Memory, Metadata, Orientation, SamplesIn, Sheets, Unit, place, samples_of

if TYPE_CHECKING:
    from gmcr.io.table import Table


def info(
    file: Annotated[Path, place("FILE", "A data file, a folder of spectra or a model file.")],
    samples_in: Orientation = SamplesIn.auto,
    sheets: Sheets = False,
    unit: Unit = None,
    metadata: Metadata = None,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """What is in a data or model file.

    \b
    Example:
      gmcr info truth.gmcr
    """
    from gmcr.io.reading import MODEL

    if file.suffix.lower() == MODEL:
        from gmcr.decomposition import Decomposition

        model = Decomposition.load(file)
        names = ("usage", "noise_law", "settings", "fit", "signed", "component_names")
        sizes = {"components": model.n_components, "samples": model.n_samples, "channels": model.n_channels}
        if as_json:
            print_json({"kind": "model"} | sizes | {name: getattr(model, name) for name in names})
        else:
            say(str(model))
        return
    table = samples_of(file, samples_in, memory, sheets, unit, metadata)
    facts = _facts(table)
    if as_json:
        print_json({"kind": "data"} | facts | {"notes": table.notes})
    else:
        print_notes(table.notes)
        print_table(("", ""), facts.items())


def _facts(table: Table) -> dict[str, Any]:
    import numpy as np

    from gmcr.validation import check_samples

    D, axis = check_samples(table.samples, copy=False), table.axis
    unit = table.axis_unit or ""
    return {
        "samples": D.shape[0],
        "channels": D.shape[1],
        "axis": "none" if axis is None else f"{axis[0]:g} to {axis[-1]:g} {unit}".strip(),
        "missing": int(np.isnan(D).sum()),
        "smallest": float(np.nanmin(D)),
        "largest": float(np.nanmax(D)),
        "negative": int((D < 0).sum()),
    }
