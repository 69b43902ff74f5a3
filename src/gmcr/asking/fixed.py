"""Known profiles that a fit keeps: what --fixed and --fixed-names say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gmcr.asking.wrong import WrongOption
from gmcr.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from gmcr.io.table import Table


@dataclass(frozen=True, eq=False)
class Fixed:
    """Known profiles (profiles, channels) on the axis of the samples, their names, and what was inferred."""

    profiles: pd.DataFrame | None = None
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_fixed(path: Path | None, wanted: str | None, table: Table) -> Fixed:
    """The profiles that --fixed and --fixed-names ask for."""
    if path is None:
        if wanted is not None:
            raise WrongOption("--fixed-names needs --fixed with the library that holds them.")
        return Fixed()
    import numpy as np
    import pandas as pd

    from gmcr.naming import read_library

    library = read_library(path)
    if wanted is not None:
        whole, parts = wanted.strip(), [name.strip() for name in wanted.split(",") if name.strip()]
        names = [whole] if whole in library.names else parts  # a name may hold commas
        if not names:
            raise WrongOption("--fixed-names is empty; give names, separated by commas.")
        library = library.pick(names)
    library = library.ordered_as(table.channels, "the samples")
    notes = []
    n_channels = table.samples.shape[1]
    if table.axis is None or not library.has_axis:
        profiles = library.by_channel(n_channels).on_axis(np.arange(float(n_channels)))
    else:
        profiles = library.on_axis(table.axis)
        if library.differs(table.axis):
            notes.append("The fixed profiles were interpolated onto the axis of the samples.")
    missing = np.flatnonzero(np.isnan(profiles).any(axis=1))
    if missing.size:
        raise InputError(
            f"{path}: {library.names[missing[0]]!r} does not cover the whole axis of the samples; "
            "cut the samples to the range that it has."
        )
    notes += [f"Component {j} is fixed: {name}." for j, name in enumerate(library.names)]
    return Fixed(pd.DataFrame(profiles, list(library.names)), library.names, tuple(notes))
