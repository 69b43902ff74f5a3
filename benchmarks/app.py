"""The page of `gmcr app`: does it answer while a fit runs, is it light, and does it take whatever is asked of it?

    python benchmarks/app.py
    python benchmarks/app.py --only load switch
    python benchmarks/app.py --only requests --minutes 10

`load` is twenty pages that ask for their project, as often as pages do that hear of a change, on an idle
server and while a fit runs, in one run. `uploads` gives fifty files at once. `paint` and `weight` open the
page in Chromium; `switch` asks for another count of a fit of 1,000 × 500 and back. `install` is what `pip
install gmcr[app]` adds. `requests` asks for everything in the schema with values of its shapes and of others,
with the token and without. `left` is how far off the time is that is said to be left, at the beginning of
fits of several sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from common import ROOT, Cell, Result, check, measure, parser, report, shown
from gmcr import make_mixtures

PAGES, EACH, EVERY = 20, 30, 0.5  # pages, questions of each, seconds between them
FILES = 50
MOST_RATIO, MOST_SECONDS, MOST_PAINT, MOST_SWITCH = 4.0, 2.0, 1.0, 0.3
MOST_PAGE, MOST_PACKAGES, MOST_DOWNLOAD = 400_000, 10, 1_000_000
SIZES = ((30, 100), (100, 200), (300, 200))  # samples and channels, for the time that is left
SWITCHED = (1_000, 500)
SMALL = (40, 60)


def table(n_samples: int, n_channels: int, seed: int, n_components: int = 6) -> bytes:
    mix = make_mixtures(
        n_components, n_samples, snr_db=25, n_features=n_channels, random_state=seed, active=(1, 4)
    )
    axis = np.linspace(400, 700, n_channels).round(3)
    return pd.DataFrame(mix.D, columns=axis).to_csv(index=False).encode()


@contextmanager
def running(folder: Path | None = None):
    """`gmcr app` in a process of its own, and a client that was let in."""
    from app_server import Process, end_jobs

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        home = (folder or Path(made)) / "gmcr"
        app = Process(home)
        try:
            yield app, app.client()
        finally:
            app.end()
            end_jobs(home)


def asked(client: Any, path: str) -> list[float]:
    """Seconds of each answer to pages that ask at once, again and again."""
    seconds: list[float] = []

    def page(number: int) -> None:
        time.sleep(EVERY * number / PAGES)
        for _ in range(EACH):
            began = time.perf_counter()
            client.get(path)
            seconds.append(time.perf_counter() - began)
            time.sleep(EVERY)

    threads = [threading.Thread(target=page, args=(number,)) for number in range(PAGES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds


def load(cell: Cell) -> Result:
    with running() as (_, client):
        project = client.create("Load")
        client.give(project, "mix.csv", table(300, 300, cell["seed"]))
        path = f"/api/projects/{project}"
        idle = asked(client, path)
        number = client.begin(project, "fit", go_on=False)
        client.wait(project, number, ("running",))
        busy = asked(client, path)
        still = client.job(project, number)["state"]
        again = asked(client, path) if still == "running" else []
    return {
        "idle": median(idle),
        "busy": median(busy),
        "ratio": median(busy) / median(idle),
        "longest": max(busy + again),
        "asked": len(idle) + len(busy) + len(again),
        "ran": still == "running",
    }


def uploads(cell: Cell) -> Result:
    contents = {f"{number}.csv": table(20, 50, 1000 * cell["seed"] + number) for number in range(FILES)}
    with running() as (app, client):
        project = client.create("Uploads")
        threads = [
            threading.Thread(target=client.give, args=(project, name, content, "data", "files"))
            for name, content in contents.items()
        ]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
        folder = app.folder / project / "data" / "files"
        kept = sum(
            (folder / name).read_bytes() == content
            for name, content in contents.items()
            if (folder / name).exists()
        )
    return {"given": FILES, "lost": FILES - kept, "seconds": seconds}


READY = "document.documentElement?.dataset.ready == 'yes'"


@contextmanager
def opened(app: Any):
    """A tab that was let in."""
    from browser import open_browser

    with open_browser() as page:
        page.size(1280)
        page.call("Page.navigate", url=app.opening.as_uri())
        page.wait(READY, 600)
        yield page


PAINTED = """(() => {
  const page = performance.getEntriesByType("navigation")[0];
  const first = performance.getEntriesByName("first-contentful-paint")[0];
  const all = [page, ...performance.getEntriesByType("resource")].filter(one => !one.name.includes("/api/"));
  return { paint: (first.startTime - page.responseStart) / 1000,
           weight: all.reduce((sum, one) => sum + one.decodedBodySize, 0), parts: all.length };
})()"""


def paint(cell: Cell) -> Result:
    with running() as (app, client):
        for number in range(5):
            client.create(f"Project {number}")
        app.process.poll()
        with opened(app) as page:
            page.call("Network.setCacheDisabled", cacheDisabled=True)
            told = []
            for _ in range(5):
                page.call("Page.reload", ignoreCache=True)
                page.wait(f"{READY} && performance.getEntriesByName('first-contentful-paint').length", 600)
                told.append(page.run(PAINTED))
    return {
        "paint": median(one["paint"] for one in told),
        "weight": told[0]["weight"],
        "parts": told[0]["parts"],
    }


SWITCH = """(async (selector, count) => {
  const report = document.querySelector("#report"), began = performance.now();
  document.querySelector(selector).click();
  while (report.dataset.count !== count) await new Promise(done => setTimeout(done, 2));
  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  return (performance.now() - began) / 1000;
})"""


def switch(cell: Cell) -> Result:
    n_samples, n_channels = cell["samples"], cell["channels"]
    with running() as (app, client):
        project = client.create("Switch")
        client.give(project, "mix.csv", table(n_samples, n_channels, cell["seed"]))
        client.settle(project, components=6)
        client.get(f"/api/projects/{project}/reading")
        fitted = client.do(project, "fit", go_on=False)["seconds"]
        made = client.do(project, "page", count=5)["seconds"]
        with opened(app) as page:
            page.run(f"location.hash = '#/p/{project}/answer'")
            whole = "document.querySelector('#report')?.dataset.whole == 'yes'"
            page.wait(whole, 600)
            kept, held = [], []
            for turn in range(5):
                if turn == 0 or turn > 2:  # a page that was loaded anew holds nothing yet
                    page.call("Page.reload")
                    page.wait(f"{READY} && {whole}", 600)
                place = kept if turn == 0 or turn > 2 else held
                place.append(page.run(f"{SWITCH}('#fewer', '5')"))
                page.wait(whole, 600)
                held.append(page.run(f"{SWITCH}('#more', '6')"))
                page.wait(whole, 600)
    return {
        "kept": median(kept),
        "held": median(held),
        "longest": max(kept + held),
        "fit": fitted,
        "made": made,
    }


def install(cell: Cell) -> Result:
    """What pip would add to the core, and how many bytes it would fetch."""
    project = (ROOT / "pyproject.toml").read_text()
    import tomllib

    told = tomllib.loads(project)["project"]
    core = told["dependencies"]
    names = [resolved(core), resolved(core + told["optional-dependencies"]["app"])]
    added = sorted(set(names[1]) - set(names[0]))
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
            "-d",
            folder,
        ]
        subprocess.run(
            [*command, *(f"{name}=={names[1][name]}" for name in added)], check=True, capture_output=True
        )
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    return {"packages": len(added), "bytes": size, "names": " ".join(added)}


def resolved(wanted: list[str]) -> dict[str, str]:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        command += ["--report", file.name, "-c", str(ROOT / "constraints.txt")]
        subprocess.run([*command, *wanted], check=True, capture_output=True)
        told = json.loads(Path(file.name).read_text())
    return {one["metadata"]["name"]: one["metadata"]["version"] for one in told["install"]}


def requests(cell: Cell) -> Result:
    os.environ.setdefault("GMCR_APP_SECONDS", "1")
    import test_app_schema as asking
    from app_server import Client, threaded
    from gmcr.app.jobs.queue import Queue

    Queue._begin = lambda self, job: None  # what jobs do is asked elsewhere
    with tempfile.TemporaryDirectory() as folder, threaded(Path(folder) / "gmcr") as (_, address, client):
        client.create(asking.PROJECT)
        client.give(asking.PROJECT, "mix.csv", b"400,401\n1,2\n3,4\n5,6\n")
        asker = client if cell["token"] else Client(address)
        seen = asking.ask_all(asker, cell["seconds"])  # fails where the server does
        alive = bool(client.get("/api/projects")["folder"])
    codes = [code for _, _, code in seen]
    return {
        "requests": len(codes),
        "done": sum(code == 200 for code in codes),
        "broken": sum(code >= 500 for code in codes),
        "let in": sum(code not in (400, 403, 404) for code in codes),
        "alive": alive,
    }


def left(cell: Cell) -> Result:
    with running() as (_, client):
        project = client.create("Left")
        client.give(project, "mix.csv", table(cell["samples"], cell["channels"], cell["seed"], 5))
        client.get(f"/api/projects/{project}/reading")
        if cell["told"]:
            client.settle(project, components=5)
        number = client.begin(project, "fit", go_on=False)
        while (job := client.job(project, number))["state"] != "running" or job.get("left") is None:
            time.sleep(0.05)
        said = job["left"] + job["seconds"]
        job = client.wait(project, number)
    return {"said": said, "took": job["seconds"], "ratio": said / job["seconds"], "state": job["state"]}


RUNS: dict[str, Callable[[Cell], Result]] = {
    "load": load,
    "uploads": uploads,
    "paint": paint,
    "switch": switch,
    "install": install,
    "requests": requests,
    "left": left,
}


def cells(given: argparse.Namespace) -> list[Cell]:
    seed = (given.seeds or [100])[0]
    size = SMALL if given.smoke else SWITCHED
    seconds = 4.0 if given.smoke else 30.0 * given.minutes
    made: list[Cell] = [{"row": name, "seed": seed} for name in ("load", "uploads", "paint", "install")]
    made.append({"row": "switch", "seed": seed, "samples": size[0], "channels": size[1]})
    made += [{"row": "requests", "token": token, "seconds": seconds} for token in (True, False)]
    sizes = SIZES[:1] if given.smoke else SIZES
    made += [
        {"row": "left", "seed": seed, "samples": n, "channels": d, "told": told}
        for n, d in sizes
        for told in (False, True)
    ]
    return made


def main() -> None:
    options = parser(__doc__ or "", "app")
    options.add_argument(
        "--minutes", type=float, default=10.0, help="of requests, half with the token (%(default)g)"
    )
    given = options.parse_args()
    runs = measure(cells(given), lambda cell: RUNS[cell["row"]](cell), given)
    rows = dict(iter(runs.table.groupby("row")))
    lines: list[dict[str, Any]] = []
    met: list[dict[str, str]] = []

    def tell(what: str, value: str) -> None:
        lines.append({"what": what, "measured": value})

    if "load" in rows:
        one = rows["load"].iloc[0]
        tell(
            f"answers to {PAGES} pages, idle", f"{1e3 * one['idle']:.1f} ms, median of {one['asked']} in all"
        )
        tell(
            "the same while a fit runs",
            f"{1e3 * one['busy']:.1f} ms; the fit ran to the end of it: {one['ran']}",
        )
        met.append(check("median beside a fit / idle", one["ratio"], "<=", MOST_RATIO, "{:.2f}"))
        met.append(check("longest answer, s", one["longest"], "<=", MOST_SECONDS, "{:.2f}"))
    if "uploads" in rows:
        one = rows["uploads"].iloc[0]
        met.append(check(f"{FILES} files given at once: lost", one["lost"], "<=", 0, "{:.0f}"))
    if "paint" in rows:
        one = rows["paint"].iloc[0]
        met.append(check("first paint after the server answers, s", one["paint"], "<=", MOST_PAINT, "{:.3f}"))
        met.append(check("the page and its parts, bytes", one["weight"], "<=", MOST_PAGE, "{:,.0f}"))
    if "switch" in rows:
        one = rows["switch"].iloc[0]
        tell("a count switched that the page holds", f"{1e3 * one['held']:.0f} ms")
        tell("the fit, and making another count, once", f"{one['fit']:.0f} s, {one['made']:.0f} s")
        met.append(check("a count switched that was kept, s", one["kept"], "<=", MOST_SWITCH, "{:.3f}"))
    if "install" in rows:
        one = rows["install"].iloc[0]
        tell("packages that the extra adds", one["names"])
        met.append(check("packages that the extra adds", one["packages"], "<=", MOST_PACKAGES, "{:.0f}"))
        met.append(check("their download, bytes", one["bytes"], "<=", MOST_DOWNLOAD, "{:,.0f}"))
    if "requests" in rows:
        frame = rows["requests"]
        for _, one in frame.iterrows():
            who = "with the token" if one["token"] else "without"
            tell(
                f"requests {who}, {one['seconds']:.0f} s",
                f"{one['requests']:,}, of which {one['done']:,} were done",
            )
        met.append(check("answers that say that the server broke", frame["broken"].sum(), "<=", 0, "{:.0f}"))
        strangers = frame[~frame["token"].astype(bool)]
        met.append(check("let in without the token", strangers["let in"].sum(), "<=", 0, "{:.0f}"))
    if "left" in rows:
        for _, one in rows["left"].iterrows():
            what = f"{one['samples']:.0f} × {one['channels']:.0f}, {'told' if one['told'] else 'blind'}"
            tell(
                f"time said at the beginning / time taken, {what}",
                f"{shown(one['ratio'], '{:.2f}')} of {one['took']:.0f} s",
            )
    report([lines, met], runs, given)


if __name__ == "__main__":
    main()
