"""Pure samples: a section of the report that lists those which hold one component and nothing else."""

import numpy as np
import pandas as pd

from gmcr.reporting import SECTIONS, Section
from gmcr.reporting.charts import Plane, Series
from gmcr.reporting.listing import Listing


def build(contents):
    """A sentence, a table and a chart; the page lays them out and escapes all text."""
    held = contents.found.supports
    pure = np.flatnonzero(held.sum(axis=1) == 1)
    yield f"{len(pure)} of {len(held)} samples hold one component only."
    if not len(pure):
        return
    which = held[pure].argmax(axis=1)
    amounts = contents.found.concentrations[pure, which]
    table = pd.DataFrame({"sample": [contents.sample_names[m] for m in pure], "concentration": amounts})
    table.insert(1, "component", [contents.component_names[j] for j in which])
    yield Listing.of("pure-samples", "Pure samples", table)
    yield Plane(
        name="pure-amounts",
        title="Concentrations of the pure samples",
        alt=f"Concentrations from {amounts.min():.3g} to {amounts.max():.3g}.",
        x_label="sample",
        y_label="concentration",
        series=(Series("concentration", pure.astype(float), amounts, "points"),),
        whole=True,
    )


SECTIONS.add("pure", Section("Pure samples", 45, build, figures=("pure-amounts",)))
