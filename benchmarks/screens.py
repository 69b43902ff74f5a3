"""First screens of reports at 1280 x 800, the pictures in docs/figures: spectra, times, an image, counts.

    python benchmarks/screens.py [NAME ...]

Takes Chromium. Spectra (carbs) and times (kinetics) are measured, read from GMCR_DATA or ../shared/data; the
image and the counts are simulated (seeds 103; 101 and 104). All counts are found.
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
PIXELS = 24  # of each side of the image


def spectra() -> Table:
    kept = np.load(DATA / "carbs.npz", allow_pickle=True)
    return Table(kept["D"], np.asarray(kept["axis"], float), axis_unit="cm⁻¹")


def times() -> Table:
    kept = np.load(DATA / "uvvis_kinetics_meting9_300_500.npz", allow_pickle=True)
    names = tuple(f"{t:g}" for t in kept["x_time_s"])
    return Table(kept["D"], np.asarray(kept["axis"], float), names, axis_unit="nm", row_label="time (s)")


def image() -> Table:
    """Three components about places of their own, which overlap."""
    S = make_measured(3, 30, 60, random_state=103, profiles="peaks", disturbed=False).S
    across, down = np.meshgrid(np.linspace(0, 1, PIXELS), np.linspace(0, 1, PIXELS))
    places = np.array([[0.25, 0.3], [0.7, 0.25], [0.55, 0.75]])
    far = [np.hypot(across - x, down - y).ravel() for x, y in places]
    C = np.exp(-np.square(np.stack(far, axis=1) / 0.2))
    noise = np.random.default_rng(103).standard_normal((PIXELS**2, 60))
    return Table(C @ S + 0.01 * S.max() * noise, pixels=Pixels(np.ones((PIXELS, PIXELS), dtype=bool)))


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
            model = GMCR(random_state=0).fit(table)
            page = Path(folder) / f"{name}.html"
            model.report(table, page, source=source)
            browser.open(page, **SIZE)
            browser.screenshot(SCREENS / f"screen-{name}.png", **SIZE)
            print(f"{name}: {model.n_components_} components, docs/figures/screen-{name}.png", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
