"""What a run folder holds, whichever solver wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gmcr.commands.options import RUN_MODEL, names_of

if TYPE_CHECKING:
    from gmcr.decomposition import Decomposition
    from gmcr.io.table import Table

SUMMARY = "summary.txt"
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
    from gmcr.io.csv import write_csv
    from gmcr.storage import write_whole

    (folder / RUN_MODEL).unlink(missing_ok=True)
    components = component_names(found)
    axis = range(found.n_channels) if table.axis is None else table.axis
    tables: Tables = {
        "profiles.csv": (["component", *axis], labelled(components, found.components)),
        "concentrations.csv": (["sample", *components], labelled(names_of(table), found.concentrations)),
        "supports.csv": (["sample", *components], labelled(names_of(table), found.supports.astype(int))),
    }
    tables |= others
    for name, (header, rows) in tables.items():
        write_csv(folder / name, header, rows)
    write_whole(folder / SUMMARY, "\n".join([*summary, "", str(found), ""]).encode())
    save(folder / RUN_MODEL)
    return [*tables, SUMMARY, RUN_MODEL]


def component_names(found: Decomposition) -> list[str]:
    return [f"component {j}" for j in range(found.n_components)]


def labelled(labels: Any, rows: Any) -> Iterator[list[Any]]:
    """Rows of a table, each behind its label."""
    return ([label, *row] for label, row in zip(labels, rows, strict=True))
