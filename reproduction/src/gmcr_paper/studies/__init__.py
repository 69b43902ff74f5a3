"""What is measured: each study is a function from a run's settings to its numbers and arrays.

    synthetic.py   a method on mixtures of Algorithm 2, and the truth itself
    energy.py      EB-gMCR on such mixtures: its bands, its end, its pool refined
    real.py        a method on Carbs or NIR, against the references
    simplex.py     a frozen Carbs model on mixtures it has not seen

Tables and figures share runs through them. Nothing here prints, and nothing here knows the paper's values.
"""

from __future__ import annotations

from pathlib import Path

from gmcr_paper.results import Settings
from gmcr_paper.running import Outcome


def measure(settings: Settings, data: Path | None = None) -> Outcome:
    """One run, by the study its settings name.

    data : folder of the real data sets
    """
    study = settings["study"]
    if study == "synthetic":
        from gmcr_paper.studies.synthetic import measure_synthetic

        return measure_synthetic(settings)
    if study == "timing":
        from gmcr_paper.studies.synthetic import measure_time

        return measure_time(settings)
    if study == "eb":
        from gmcr_paper.studies.energy import measure_energy

        return measure_energy(settings)
    if study == "real":
        from gmcr_paper.studies.real import measure_real

        return measure_real(settings, data)
    raise ValueError(f"there is no study {study!r}")
