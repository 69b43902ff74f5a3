"""Known amounts: what --known and --known-replicates name in the metadata of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gmcr.asking.wrong import WrongOption
from gmcr.errors import InputError

if TYPE_CHECKING:
    from gmcr.io.table import Table


@dataclass(frozen=True, eq=False)
class Known:
    """Known amounts by name, NaN where not known, their units, and labels of replicates."""

    values: dict[str, list[float]]
    units: dict[str, str]
    replicates: list[str] | None


def read_known(text: str, replicates: str | None, table: Table) -> Known:
    """What --known and --known-replicates name in the metadata of the file."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    units = {name.strip(): unit.strip() for name, _, unit in pairs}
    if not units:
        raise WrongOption("--known is empty; give columns of DATA with known amounts, such as glucose=g/L.")
    values = {}
    for name in units:
        column = column_of(name, table)
        try:
            values[name] = [float(value) if str(value).strip() else float("nan") for value in column]
        except (TypeError, ValueError):
            raise InputError(
                f"--known: the column {name!r} holds what is no number; leave cells empty where it is not known."
            ) from None
    labels = None if replicates is None else [str(label) for label in column_of(replicates, table)]
    return Known(values, units, labels)


def column_of(name: str, table: Table) -> list[Any]:
    """A column of the file that is no channel, a value per sample."""
    columns = [key for key, value in table.metadata.items() if isinstance(value, list)]
    if name not in columns:
        there = f"there are: {', '.join(columns)}" if columns else "there is none beside the channels"
        raise InputError(f"DATA has no column {name!r} with a value per sample; {there}.")
    return list(table.metadata[name])
