"""What a run folder holds, whichever solver wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gmcr.cli.options import RUN_MODEL, names_of

if TYPE_CHECKING:
    from gmcr.decomposition import Decomposition
    from gmcr.io.table import Table

SUMMARY = "summary.txt"
REPORT = "report.html"
FACTS = "report.gmcr"  # what the report shows beside the model, to rebuild it without the data
FIGURES = "figures"
MAPS = "maps.npz"
Tables = dict[str, tuple[list[Any], Any]]  # by file name: header and rows


def write_run(
    folder: Path,
    found: Decomposition,
    table: Table,
    summary: list[str],
    others: Tables,
    save: Callable[[Path], None],
) -> list[str]:
    """All files of the run, each whole or not at all; the model last, so that with it the run is complete.

    others : tables beside profiles, concentrations and supports
    save : writes the model to a path
    """
    import numpy as np

    from gmcr.io.arrays import write_arrays
    from gmcr.io.csv import write_csv
    from gmcr.io.writing import corner
    from gmcr.storage import write_whole

    for name in (RUN_MODEL, REPORT, FACTS, MAPS):  # none of another run stays
        (folder / name).unlink(missing_ok=True)
    components = component_names(found)
    axis = range(found.n_channels) if table.axis is None else table.axis
    tables: Tables = {
        "profiles.csv": (
            [corner("component", table.axis_unit), *axis],
            labelled(components, found.components),
        ),
        "concentrations.csv": (["sample", *components], labelled(names_of(table), found.concentrations)),
        "supports.csv": (["sample", *components], labelled(names_of(table), found.supports.astype(int))),
    }
    tables |= others
    for name, (header, rows) in tables.items():
        write_csv(folder / name, header, rows)
    maps = []
    if table.pixels is not None:
        write_arrays(folder / MAPS, concentrations=np.asarray(table.refold(found.concentrations)))
        maps = [MAPS]
    write_whole(folder / SUMMARY, "\n".join([*summary, "", str(found), ""]).encode())
    save(folder / RUN_MODEL)
    return [*tables, *maps, SUMMARY, RUN_MODEL]


def component_names(found: Decomposition) -> list[str]:
    return [f"component {j}" for j in range(found.n_components)]


def labelled(labels: Any, rows: Any) -> Iterator[list[Any]]:
    """Rows of a table, each behind its label."""
    return ([label, *row] for label, row in zip(labels, rows, strict=True))
