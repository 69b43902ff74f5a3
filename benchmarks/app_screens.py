"""The screens of docs/app.md: the way through `gmcr app`, each step as it is on the screen.

    python benchmarks/app_screens.py

The data are simulated mixtures with a baseline that drifts and a few spikes; docs/figures/app/ gets the pictures.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
SCREENS = ROOT / "docs" / "figures" / "app"
WIDTH, HEIGHT = 1280, 900
PATIENCE = 1_800.0
READY = "document.documentElement?.dataset.ready == 'yes'"
WHOLE = "document.querySelector('#report')?.dataset.whole == 'yes'"

sys.path.append(str(ROOT / "tests"))


def spectra() -> pd.DataFrame:
    """Mixtures of three substances in Raman shifts, with a background and spikes."""
    rng = np.random.default_rng(7)
    axis = np.linspace(400, 1800, 351).round(1)
    peaks = [(620, 1004, 1450), (560, 850, 1125, 1340), (780, 1085, 1280, 1660)]
    S = np.array([sum(np.exp(-(((axis - p) / 16) ** 2)) for p in own) for own in peaks])
    C = rng.uniform(1, 5, (36, 3)) * (rng.uniform(size=(36, 3)) < 0.75)
    place = np.linspace(-1, 1, len(axis))
    D = C @ S + 0.04 * rng.standard_normal((36, len(axis)))
    D += rng.uniform(0.5, 2, (36, 3)) @ np.stack([np.ones_like(place), 0.4 * place, 0.5 * place**2])
    for sample, channel in zip(rng.integers(36, size=8), rng.integers(len(axis), size=8)):
        D[sample, channel] += rng.uniform(6, 12)
    return pd.DataFrame(D.round(4), [f"mixture {m + 1}" for m in range(36)], axis).rename_axis(
        "sample \\ cm-1"
    )


def main() -> None:
    from app_server import Process, end_jobs
    from browser import open_browser

    SCREENS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, open_browser() as page:
        path = Path(folder) / "gmcr"
        spectra().to_csv(Path(folder) / "mixtures.csv")
        app = Process(path)
        try:
            walk(page, app, Path(folder))
        finally:
            app.end()
            end_jobs(path)


def walk(page, app, folder) -> None:
    def picture(name: str, selector: str = "") -> None:
        if selector:
            page.run(f"document.querySelector('{selector}').scrollIntoView()")
        else:
            page.run("scrollTo(0, 0)")
        page.run("document.activeElement.blur()")
        page.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 400)))")
        page.screenshot_of_screen(SCREENS / f"{name}.png")
        print(f"docs/figures/app/{name}.png", flush=True)

    def go(way: int) -> None:
        page.run(f"document.querySelectorAll('#ways a')[{way}].click()")
        page.wait("!document.querySelector('main > .wait')", PATIENCE)

    def settle(option: str, value: str) -> None:
        place = f"document.querySelector('[data-option={option}]')"
        page.run(f"{place}.type == 'checkbox' ? {place}.click() : ({place}.value = '{value}')")
        page.run(f"{place}.dispatchEvent(new Event('change', {{ bubbles: true }}))")
        page.wait("!document.querySelector('[aria-busy]')", PATIENCE)

    page.size(WIDTH, HEIGHT)
    page.call("Page.navigate", url=app.opening.as_uri())
    page.wait(READY, PATIENCE)
    picture("start")
    page.choose(".drop input[type=file]", folder / "mixtures.csv")
    page.wait("document.querySelector('figure[data-chart=read] .plot svg')", PATIENCE)
    picture("data")
    picture("turn", "#turn")
    go(1)
    page.wait("document.querySelector('figure[data-chart=after] .plot svg')", PATIENCE)
    page.run("document.querySelector('[data-option=despike]').click()")
    page.wait("document.querySelectorAll('.did li').length == 1", PATIENCE)
    settle("baseline", "asls")
    page.wait("document.querySelectorAll('.did li').length == 2", PATIENCE)
    picture("prepare")
    go(2)
    page.wait("document.querySelector('#start')", PATIENCE)
    picture("unmix")
    page.click("#start")
    page.wait(
        "document.querySelector('figure[data-chart=path-count] .plot svg') || location.hash.endsWith('/answer')",
        PATIENCE,
    )
    picture("running")
    page.wait("location.hash.endsWith('/answer')", PATIENCE)
    page.wait(WHOLE, PATIENCE)
    picture("answer")
    picture("sample", "#explorer")
    page.click("#fewer")
    page.wait(f"document.querySelector('#report').dataset.count == '2' && {WHOLE}", PATIENCE)
    picture("count")
    page.click("#switch-own")
    page.wait(f"document.querySelector('#report').dataset.count == '3' && {WHOLE}", PATIENCE)
    fresh = spectra().iloc[:6]
    fresh.iloc[-1] += 3 * np.exp(-(((fresh.columns.to_numpy(float) - 930) / 16) ** 2))
    fresh.to_csv(folder / "tuesday.csv")
    go(4)
    page.choose(".drop input[type=file]", folder / "tuesday.csv")
    page.wait("document.querySelector('main table tbody tr')", PATIENCE)
    picture("new")
    go(5)
    page.wait("document.querySelector('#script')", PATIENCE)
    picture("take")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    page.size(390, 844)
    go(3)
    page.wait(WHOLE, PATIENCE)
    picture("narrow")


if __name__ == "__main__":
    main()
