"""A package that adds one of everything (tests/plugin): installed it works, gone it is missed by name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent / "plugin"
THINGS = ("law", "constraint", "reader", "rule", "section", "step")

USE = """
import warnings
import numpy as np
import gmcr
from gmcr import GMCR, make_mixtures
from gmcr.noise import LAWS
from gmcr_example.constraint import Dark
from gmcr_example.law import Ramp
from gmcr_example.step import Thin

mix = make_mixtures(4, 40, snr_db=None, n_features=48, random_state=0)
D = Ramp(0.05).draw(mix.clean, np.random.default_rng(0))
with open("run.lab", "w") as file:
    file.write("LAB1\\n")
    for m, row in enumerate(D.tolist()):
        file.write(f"s{m} " + " ".join(map(repr, row)) + "\\n")
table = gmcr.read("run.lab")
assert np.array_equal(table.samples, D) and table.sample_names[3] == "s3"
by_name = GMCR(noise="ramp", random_state=0).fit(table)
assert by_name.noise_law_.kind == "ramp", by_name.noise_law_
assert abs(by_name.noise_law_.level - 0.05) < 0.005, by_name.noise_law_
model = GMCR(noise=Ramp(0.05), constraints=[Dark(10, 12)], random_state=0).fit(table)
assert model.noise_law_ == Ramp(0.05)
assert model.violations_["dark"] == 0 and not model.components_[:, 10:12].any()
assert model.n_components_ == by_name.n_components_ == 4
assert gmcr.estimate_rank(table).counts["five-medians", "as is"] == 4
model.save("model.gmcr")
again = GMCR.load("model.gmcr")
assert again.constraints == [Dark(10, 12)] and again.noise == Ramp(0.05)
assert np.array_equal(again.transform(table), model.transform(table))
thin = GMCR(steps=[Thin(2)], random_state=0).fit(table)
assert thin.components_.shape[1] == 24
thin.save("thin.gmcr")
assert np.array_equal(GMCR.load("thin.gmcr").transform(table), thin.transform(table))
model.report(table, "report.html")
page = open("report.html", encoding="utf-8").read()
assert "hold one component only" in page and "The noise follows a law of its own: ramp, level 0.05." in page
"""


def call(code, folder, site=None):
    """Python in a process of its own, with the plugin's site or without."""
    paths = [str(site)] if site else []
    paths += [str(Path(__file__).parents[1] / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        cwd=folder, env=environment, capture_output=True, text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which pip has installed the package, by itself and without the network."""
    folder = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run(
        [*pip, "--no-build-isolation", "--target", folder, PLUGIN], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_each_thing_takes_at_most_forty_lines():
    for thing in THINGS:
        lines = (PLUGIN / "src" / "gmcr_example" / f"{thing}.py").read_text().splitlines()
        assert len(lines) <= 40, thing


def test_everything_works_installed_and_is_missed_by_name_when_gone(site, tmp_path):
    done = call(USE, tmp_path, site)
    assert done.returncode == 0, done.stderr
    gone = "from gmcr import GMCR\nGMCR.load('model.gmcr')"
    done = call(gone, tmp_path)
    assert done.returncode == 1
    message = done.stderr.strip().splitlines()[-1]
    needs = "model.gmcr needs what is not installed: the noise law 'ramp' is not known here"
    assert message.endswith(f"{needs}; install the package that adds it.")
    done = call("import gmcr\ngmcr.read('run.lab')", tmp_path)
    assert done.returncode == 1
    assert "run.lab has no extension gmcr reads" in done.stderr.strip().splitlines()[-1]
