"""The samples of a file as they are asked for: orientation, sheets, unit of the axis, what is no channel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gmcr.asking.wrong import WrongOption
from gmcr.errors import InputError

if TYPE_CHECKING:
    from gmcr.io.table import Table

WORKBOOKS = (".xlsx", ".xlsm")


@dataclass(frozen=True)
class Reading:
    """How a file is to be read.

    samples_in : "rows", "columns" or "auto"
    sheets : whether all sheets of a workbook are read, each a run
    unit : of the axis, instead of what the file says
    metadata : columns that are no channels, with commas
    memory : most that reading may take, such as "4G"
    """

    samples_in: str = "auto"
    sheets: bool = False
    unit: str | None = None
    metadata: str | None = None
    memory: str | None = None

    def read(self, data: Path) -> Table:
        """The samples of a data file or of a folder of them."""
        from gmcr.io.limits import as_memory
        from gmcr.io.reading import read_table
        from gmcr.io.units import as_unit

        try:
            allowed = as_memory(self.memory)
        except InputError as error:
            raise WrongOption(str(error)) from error
        if self.sheets and data.suffix.lower() not in WORKBOOKS:
            raise WrongOption(f"--sheets is for workbooks ({', '.join(WORKBOOKS)}), not for {data.name}.")
        name = "*" if self.sheets else None
        table = read_table(data, samples_in=self.samples_in, name=name, memory=allowed)
        if self.metadata is not None:
            table = table.without([one.strip() for one in self.metadata.split(",") if one.strip()])
        if self.unit is None:
            return table
        unit = as_unit(self.unit)
        if unit is None:
            raise WrongOption(f"--unit {self.unit!r:.40} is no unit; give one such as nm, cm-1, ppm or min.")
        if table.axis is None:
            raise WrongOption("--unit is for the axis of the channels, and these have none.")
        return replace(table, axis_unit=unit, notes=(*table.notes, f"The axis is said to be in {unit}."))
