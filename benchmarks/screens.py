"""First screens of reports at 1280 x 800, the pictures in docs/figures: spectra, times, an image, counts.

    python benchmarks/screens.py [NAME ...]

Takes Chromium. Spectra (carbs) and times (kinetics) are measured, read from GMCR_DATA or ../shared/data; the
image and the counts are simulated (seeds 103; 101 and 104).
The image's count is told, every other is found.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from common import DATA, ROOT
from gmcr import GMCR, make_measured
from gmcr.io.cube import Pixels
from gmcr.io.table import Table

SCREENS = ROOT / "docs" / "figures"
SIZE = {"width": 1280, "height": 800}
PIXELS = 20  # of each side of the image


def spectra() -> Table:
    kept = np.load(DATA / "carbs.npz", allow_pickle=True)
    return Table(kept["D"], np.asarray(kept["axis"], float), axis_unit="cm⁻¹")


def times() -> Table:
    kept = np.load(DATA / "uvvis_kinetics_meting9_300_500.npz", allow_pickle=True)
    names = tuple(f"{t:g}" for t in kept["x_time_s"])
    return Table(kept["D"], np.asarray(kept["axis"], float), names, axis_unit="nm", row_label="time (s)")


def image() -> Table:
    made = make_measured(3, PIXELS**2, 60, random_state=103, purity="pure", profiles="peaks", disturbed=False)
    rows = np.lexsort((made.C[:, 1], np.round(made.C[:, 0], 1)))  # neighbours that are alike, as in a picture
    return Table(made.D[rows], pixels=Pixels(np.ones((PIXELS, PIXELS), dtype=bool)))


def counts() -> Table:
    made = make_measured(3, 30, 60, random_state=101, purity="pure", profiles="bands", disturbed=False).D
    return Table(np.random.default_rng(104).poisson(200 * np.maximum(made, 0) / made.max()).astype(float))


KINDS: dict[str, tuple[Callable[[], Table], str]] = {
    "spectra": (spectra, "carbs"),
    "times": (times, "uvvis_kinetics"),
    "image": (image, "image, simulated"),
    "counts": (counts, "counts, simulated"),
}


def main(names: list[str]) -> None:
    from browser import open_browser

    with open_browser() as browser, tempfile.TemporaryDirectory() as folder:
        for name in names or list(KINDS):
            make, source = KINDS[name]
            table = make()
            model = GMCR(3 if name == "image" else "auto", random_state=0).fit(table)
            page = Path(folder) / f"{name}.html"
            model.report(table, page, source=source)
            browser.open(page, **SIZE)
            browser.screenshot(SCREENS / f"screen-{name}.png", **SIZE)
            print(f"{name}: {model.n_components_} components, docs/figures/screen-{name}.png", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
