"""The report: what it says, that it needs nothing else, and that a browser and a keyboard can use it."""

import io
import json
import os
import re
import shutil
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup

import gmcr
from browser import need_chromium, open_browser
from gmcr import GMCR, Decomposition, make_measured, make_mixtures
from gmcr.cli.app import main
from gmcr.errors import FileError, InputError
from gmcr.io.cube import Pixels
from gmcr.io.table import Table
from gmcr.rank import RankReport
from gmcr.reporting import collect as collecting
from gmcr.reporting.charts import Plane, Series, as_data, as_levels
from gmcr.reporting.colours import PALETTE, RAMP, RAMP_NEGATIVE, shades
from gmcr.reporting.contents import Contents, LibraryMatch
from gmcr.reporting.files import draw_figures
from gmcr.reporting.kept import load_contents, save_contents
from gmcr.reporting.listing import Cell, Column, Listing
from gmcr.reporting.page import as_script, render, write_report
from gmcr.reporting.section import SECTIONS as REGISTERED
from gmcr.reporting.section import Points, Row, Section, make_sections
from gmcr.reporting.sections.separation import groups
from gmcr.reporting.trust import CARE, GOOD, NONE, answer, checks
from gmcr.reporting.words import listed
from gmcr.text import block_means, thinned
from gmcr.theory.certificate import Certificate
from gmcr.theory.feasible_bands import Ambiguity, Band
from gmcr.trust import Trust
from gmcr.trust.checks import WORDS
from gmcr.window.evidence import Evidence

SAID = [word.capitalize() for word in WORDS]
SECTIONS = ["answer", "count", "profiles", "concentrations", "supports", "fit", "separation", "noise"]
SECTIONS += ["certificate", "reproduce", "citation"]
NASTY = (
    "<script>alert(1)</script>",
    "</script><script>hacked=1</script>",
    "\"><img src=x onerror='hacked=1'>",
)
NASTIER = ("\u202egnp.exe\x1b[31m", "a\u2028b", "&lt;b&gt; ${x} {{ 7 * 7 }}", "'); DROP TABLE samples; --")


def charts_of(contents):
    """All charts of a report by name, in the order of the page."""
    return {name: chart for one in make_sections(contents) for name, chart in one.charts.items()}


def contents_of(n_components=4, n_samples=40, n_channels=120, *, names=True, seed=0, **changes):
    """A report's contents with everything in it, from a truth that no solver has to find."""
    mix = make_mixtures(
        n_components, n_samples, snr_db=25, n_features=n_channels, random_state=seed, profiles="peaks"
    )
    path = pd.DataFrame(
        {"level": range(3), "count": [1, 2, n_components], "cost": [90.0, 50.0, 40.0], "chosen": [0, 0, 1]}
    )
    found = Decomposition(
        mix.S,
        mix.C,
        noise=mix.sigma,
        noise_law={"kind": "proportional", "level": 0.056},
        path=path,
        axis=np.linspace(1600.0, 200.0, n_channels),
        sample_names=(*NASTY, *NASTIER, *(f"sample {m}" for m in range(7, n_samples))) if names else None,
        component_names=(*NASTY[:2], *(f"component {j}" for j in range(2, n_components))) if names else None,
        settings={"random_state": 0},
        fit={"r2": 0.987},
    )
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"rule": ["marchenko-pastur", "eigengap"], "scaling": "as is", "count": n_components}
        | {"threshold": [2.0, np.nan]}
    )
    rank = RankReport(
        count=n_components,
        agree=True,
        scaling="as is",
        white=True,
        counts={("eigengap", "as is"): n_components, ("marchenko-pastur", "as is"): n_components},
        table=table,
        singular_values={"as is": np.linspace(9.0, 1.0, 30)},
        noise={},
        misfit={},
        notes=("Parallel analysis was skipped.",),
    )
    certificate = Certificate(
        verdict="consistent",
        sentence="Consistent: not proved.",
        conditions=pd.DataFrame(
            {"name": ["C1", "C2"], "status": "unchecked", "value": np.nan, "threshold": 1.0, "note": NASTY[0]}
        ),
        alpha=0.05,
        known_pool=False,
        constants={"k": 4, "s_min": np.nan},
        read_off=("k",),
        concentration_error=np.nan,
        profile_error=np.nan,
        robust=None,
        components=pd.DataFrame(),
        groups=[],
    )
    bands = tuple(
        Band(
            component=j,
            name=str(j),
            share=0.3,
            min=0.2,
            max=np.nan,
            profiles=np.stack([mix.S[j] * 0.9, mix.S[j] * 1.1]),
            concentrations=np.full((2, n_samples), np.nan),
            noise=0.1,
            closed=False,
            why="open: trades",
            partners=(),
        )
        for j in range(n_components)
    )
    facts = {
        "source": "mix<b>.csv",
        "made": "2026-01-01 12:00",
        "axis_label": "wavenumber (cm⁻¹) <i>",
        "notes": ("Samples are in rows.", NASTY[1]),
        "count": Evidence(
            n_components, n_components, n_components, "cost", 4, 4, 2, True, {1: 0.99, 2: 0.98, 3: 0.5}
        ),
        "rank": rank,
        "trust": made_up_trust(found.component_names or [f"component {j}" for j in range(n_components)]),
        "certificate": certificate,
        "ambiguity": Ambiguity(bands),
        "groups": [[0, 1]],
        "ratio": rng.uniform(0.9, 1.1, n_samples),
        "known": np.arange(n_samples) != 3,
        "confidence": rng.uniform(0.3, 1.0, n_samples),
        "profile_errors": np.full(n_components, 0.01),
        "concentration_errors": np.where(mix.C != 0, 0.05, 0.0),
        "worst": np.array([3, 1]),
        "worst_data": mix.D[[3, 1]],
        "sizes": np.sqrt((mix.D**2).mean(axis=1)),
        "pair_counts": np.arange(n_components),
        "pair_examples": np.tile([0, 1], (n_components, 1)),
        "reproduce": {"command": "gmcr fit mix.csv -o run", "gmcr": "0.1.0"},
        "shape": (n_samples // 4, 5),
        "pixels": np.arange(n_samples),
    }
    return Contents(found, **(facts | changes))


def made_up_trust(names, verdict="use with care"):
    """A verdict that the second check decided, with one component in doubt."""
    checks = pd.DataFrame(
        {
            "name": ["count", "fit", "supports"],
            "number": ["97 %", NASTY[0], "90 %"],
            "limit": "80 %",
            "verdict": ["use it", verdict, "use it"],
            "todo": ["compare", "look at what is left over", "do not rely on it"],
        }
    )
    words = [verdict, *["use it"] * (len(names) - 1)]
    components = pd.DataFrame(
        {"component": names, "verdict": words, "right": 0.6, "wrong": 0.1, "todo": "mixed up"}
    )
    rates = pd.DataFrame(
        [[0.8, 0.18, 0.02], [0.4, 0.3, 0.3], [0.05, 0.1, 0.85]],
        index=["use it", "use with care", "do not use"],
        columns=["right", "in between", "wrong"],
    )
    return Trust(verdict, 0.55, 0.2, checks, components, rates)


# A strict reader of HTML

VOID = {"meta", "link", "br", "img", "input", "hr", "rect", "polyline", "path"}


class Reader(HTMLParser):
    """Text, attributes and tables of a page; fails where elements are not closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts, self.data, self.tables = [], [], [], "", {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.rows = self.tables[dict(attrs).get("id", "")] = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.data = self.data or data  # the first script is the data
        elif "style" not in self.open:
            self.texts.append(data)
            if self.open and ({"td", "th"} & set(self.open)):
                self.rows[-1][-1] += data

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]

    @property
    def text(self):
        return " ".join(self.texts)


@pytest.fixture(scope="module")
def contents():
    return contents_of()


@pytest.fixture(scope="module")
def page(contents):
    return render(contents)


def test_page_is_whole_and_every_link_leads_somewhere(page):
    read = Reader(page)
    identities = read.attributes("id")
    assert len(identities) == len(set(identities))
    assert [name for name in identities if name in SECTIONS] == SECTIONS
    links = [attributes["href"] for tag, attributes in read.elements if tag == "a"]
    assert {f"#{name}" for name in SECTIONS} <= set(links)
    assert all(link[1:] in identities for link in links)
    assert all(label in identities for label in read.attributes("aria-labelledby"))
    assert page.lstrip().startswith("<!DOCTYPE html>")


def test_page_loads_nothing(page):
    read = Reader(page)
    assert not re.search(r"://|@import|url\((?!#)", page.replace(NASTY[2], ""))
    assert not read.attributes("src")
    assert {tag for tag, _ in read.elements} & {"link", "iframe", "img", "object", "embed"} == set()
    (policy,) = [dict(a)["content"] for tag, a in read.elements if a.get("http-equiv")]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_text_from_files_is_escaped_everywhere(page, contents):
    for text in NASTY:
        assert text not in page
    assert page.count("<script") == page.count("</script>") == 2
    read = Reader(page)
    names = json.loads(read.data)["charts"]["concentrations"]["rows"]
    assert tuple(names[:3]) == NASTY
    assert names[3] == "�gnp.exe�[31m"
    assert names[4] == "a�b"
    assert NASTY[0] in read.text
    assert "{{ 7 * 7 }}" in read.text
    assert "mix<b>.csv" in read.text
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert contents.found.sample_names[3] == NASTIER[0]  # the data themselves stay as they are


@pytest.mark.parametrize("seed", range(20))
def test_json_in_a_script_reads_back_and_cannot_end_it(seed):
    rng = np.random.default_rng(seed)
    letters = list("<>&/!-'\"\\ascript]\n") + ["</script>", "<!--", "]]>", "é"]
    value = {"names": ["".join(rng.choice(letters, 30)) for _ in range(20)], "x": [0.1, None, 2.0]}
    text = as_script(value)
    assert not set(text) & set("<>&\n\u2028")
    expected = [name.replace("\n", "�") for name in value["names"]]
    assert json.loads(text) == {"names": expected, "x": value["x"]}


def test_tables_hold_the_numbers_of_the_decomposition(page, contents):
    rows = Reader(page).tables["table-samples"]
    C, names = contents.found.concentrations, contents.component_names
    assert rows[0][1 : 1 + len(names)] == list(names)
    assert len(rows) == 1 + contents.found.n_samples
    for row, expected in zip(rows[1:], C):
        cells = row[1 : 1 + len(names)]
        found = [float(cell.split(" ± ")[0]) if cell else 0.0 for cell in cells]
        np.testing.assert_allclose(found, expected, rtol=1e-3)
    confidence = [float(row[1 + len(names)]) for row in rows[1:]]
    np.testing.assert_allclose(confidence, contents.confidence, atol=6e-4)
    components = Reader(page).tables["table-components"]
    held = {row[0]: int(row[2]) for row in components[1:]}
    assert held == dict(zip(names, contents.found.supports.sum(axis=0)))


def test_charts_hold_the_numbers_of_the_decomposition(page, contents):
    charts = json.loads(Reader(page).data)["charts"]
    series = charts["profiles"]["series"]
    np.testing.assert_allclose([one["y"] for one in series], contents.found.components, rtol=1e-3, atol=1e-12)
    np.testing.assert_allclose(charts["profiles"]["x"], contents.found.axis, rtol=1e-6)
    assert charts["profiles"]["reverse"]
    heat = np.zeros(contents.found.concentrations.size)
    heat[charts["concentrations"]["at"]] = charts["concentrations"]["values"]
    np.testing.assert_allclose(heat, contents.found.concentrations.ravel(), rtol=1e-3)
    measured, fit, residual = (np.array(one["y"]) for one in charts["worst-0"]["series"])
    np.testing.assert_allclose(measured, contents.worst_data[0], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(residual, measured - fit, atol=2e-3 * np.abs(measured).max())
    assert charts["confidence"]["series"][0]["y"] == np.histogram(contents.confidence, 10, (0, 1))[0].tolist()
    assert all(chart["alt"] for chart in charts.values())


def test_every_chart_of_the_contents_is_on_the_page(page, contents):
    assert Reader(page).attributes("data-chart") == list(charts_of(contents))
    assert {"values", "costs", "halves", "profiles", "concentrations", "maps"} <= set(charts_of(contents))


def test_a_report_without_facts_says_what_is_missing():
    bare = collecting.collect(Decomposition(np.eye(2, 5), [[1.0, 0.0], [0.5, 2.0], [0.0, 1.0]]))
    text = Reader(render(bare)).text
    for subject in ("Rank rules", "Fit of each sample", "Certificate"):
        assert f"{subject}: {collecting.NO_DATA}" in text
    assert f"Not judged: {collecting.NO_DATA}" in text
    assert [check.status for check in checks(bare)] == [NONE, NONE, NONE, GOOD]


def odd_cases():
    rng = np.random.default_rng(0)
    S, C = rng.uniform(0.1, 1, (3, 12)), rng.uniform(1, 2, (9, 3)) * (rng.random((9, 3)) < 0.6)
    D = C @ S + 0.01 * rng.standard_normal((9, 12))
    holes = np.where(rng.random(D.shape) < 0.2, np.nan, D)
    yield "one of everything", Decomposition([[1.0]], [[2.0]]), np.array([[2.0]])
    yield "two channels", Decomposition.from_factors(C[:, :1] + 1, [[1.0, 2.0]]), (C[:, :1] + 1) * [1.0, 2.0]
    yield "nothing held", Decomposition(np.eye(2, 12), np.zeros((9, 2)), noise=1.0), D
    yield "missing entries", Decomposition.from_factors(C, S, noise=0.01), holes
    yield "no noise", Decomposition.from_factors(C, S, noise=0.0), C @ S
    yield (
        "signed",
        Decomposition.from_factors(C - 0.5, S - 0.4, signed=True, noise=0.1),
        (C - 0.5) @ (S - 0.4),
    )
    yield "huge numbers", Decomposition.from_factors(1e30 * C, S, noise=1e28), 1e30 * D
    yield "equal profiles", Decomposition.from_factors(C, S[[0, 0, 1]], noise=0.01), C @ S[[0, 0, 1]]


@pytest.fixture(scope="module")
def odd():
    """Contents of odd runs, by name."""
    return {name: collecting.collect(found, Table(D)) for name, found, D in odd_cases()}


@pytest.mark.parametrize("name", [case[0] for case in odd_cases()])
def test_odd_runs_have_a_report_too(odd, name):
    read = Reader(render(odd[name]))
    assert [name for name in read.attributes("id") if name in SECTIONS] == SECTIONS
    json.loads(read.data)
    assert not re.search(r"\b(nan|inf)\b", read.text)
    figures = draw_figures(odd[name])
    assert "profiles.svg" in figures
    for figure, content in figures.items():
        ElementTree.fromstring(content)
        assert not re.search(rb"\b(nan|inf)\b", content), figure


# Size


def test_a_large_report_stays_small_and_says_what_was_thinned(tmp_path):
    large = contents_of(64, 1000, 512, names=False, shape=None, pixels=None)
    write_report(large, tmp_path / "large.html")
    assert (tmp_path / "large.html").stat().st_size < 8e6
    text = Reader((tmp_path / "large.html").read_text()).text
    assert "Thinned for display: 600 of 1,000 samples" in text


def test_a_huge_report_stays_small_too(tmp_path):
    rng = np.random.default_rng(0)
    C = rng.uniform(1, 2, (10_000, 30)) * (rng.random((10_000, 30)) < 0.1)
    found = Decomposition.from_factors(C, rng.uniform(0.1, 1, (30, 4_000)), noise=0.1)
    facts = {"ratio": np.ones(10_000), "known": np.ones(10_000, bool), "confidence": np.ones(10_000)}
    huge = Contents(found, shape=(100, 100), pixels=np.arange(10_000), **facts)
    write_report(huge, tmp_path / "huge.html")
    assert (tmp_path / "huge.html").stat().st_size < 8e6
    text = Reader((tmp_path / "huge.html").read_text()).text
    assert "at most 1,200 of 4,000 channels per profile" in text
    assert "2,000 of 10,000 pixels" in text
    assert "10,000 pixels are listed" in text


@pytest.mark.parametrize("most", [10, 50, 333])
def test_thinning_keeps_peaks(most):
    rng = np.random.default_rng(1)
    values = rng.standard_normal(1000)
    values[437] = 50.0
    rows = thinned(values, most)
    assert len(rows) <= most
    assert (np.diff(rows) > 0).all()
    assert {0, 437, 999, int(values.argmin())} <= set(rows.tolist())
    assert thinned(values, 1000).tolist() == list(range(1000))


def test_pictures_shrink_by_means_and_keep_their_holes():
    picture = np.arange(48.0).reshape(6, 8)
    picture[:2, :2] = np.nan
    small = block_means(picture, 12)
    assert small.shape == (3, 4)
    assert np.isnan(small[0, 0])
    assert small[1, 1] == picture[2:4, 2:4].mean()
    assert block_means(picture, 48) is picture
    assert block_means(np.ones((7, 9)), 10).size <= 10


def test_maps_land_on_their_pixels():
    mask = np.ones((6, 7), bool)
    mask[0, :3] = False
    C = np.zeros((mask.sum(), 2))
    where = np.flatnonzero(mask)
    C[where == 3 * 7 + 5, 0] = 4.0
    C[:, 1] = 1.0
    found = Decomposition(np.eye(2, 6), C)
    maps = charts_of(Contents(found, shape=(6, 7), pixels=where))["maps"]
    assert np.argwhere(maps.values[0] == 4.0).tolist() == [[3, 5]]
    np.testing.assert_array_equal(np.isnan(maps.values[0]), ~mask)
    levels, least, most = as_levels(maps.values)
    assert (levels[0, 3, 5], levels[0, 5, 5], levels[0, 0, 0]) == (255, 1, 0)
    assert (least, most) == ([0.0, 0.0], [4.0, 1.0])


# Colours


def linear(colour):
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return linear(colour) @ [0.2126, 0.7152, 0.0722]


# Machado, Oliveira & Fernandes 2009, severity 1: what people without one kind of cone see, of linear RGB.
SEEN = {
    "all": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


def lab(rgb):
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
    f = np.cbrt(np.clip(xyz / [0.9505, 1.0, 1.089], 1e-6, None))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("kind", SEEN)
def test_colours_are_told_apart_by_everyone(kind):
    seen = [lab(np.clip(np.array(SEEN[kind]) @ linear(colour), 0, 1)) for colour in PALETTE]
    apart = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(apart) > 12  # 2.3 is just noticeable


def test_colours_stand_out_from_white_and_ramps_darken():
    assert all(1.05 / (luminance(colour) + 0.05) >= 3 for colour in PALETTE)
    for ramp in (RAMP, RAMP_NEGATIVE):
        assert (np.diff([luminance(colour) for colour in ramp]) < 0).all()
    shares = np.linspace(-1, 1, 9)
    colours = shades(shares)
    assert colours[4].tolist() == [255, 255, 255]
    assert (np.diff(colours[5:].sum(axis=1).astype(int)) < 0).all()


# Words


def test_the_answer_is_two_sentences(contents):
    first, second = answer(contents)
    assert first.startswith("40 pixels hold 4 components, 1 to 4 in each pixel.")
    assert second == "They explain 98.7 % of the variance, and 1 pixel of 40 leaves more than noise."
    named = replace(
        contents, names={2: LibraryMatch("glucose"), 0: LibraryMatch("lactose"), 1: LibraryMatch()}
    )
    assert "names by spectra: lactose and glucose." in answer(named)[0]
    assert named.component_names[2] == "glucose (2)"
    assert named.component_names[1] == NASTY[1]


def test_checks_are_those_of_the_verdict(contents):
    found = checks(contents)
    assert [check.subject for check in found[:3]] == ["Count", "Fit", "Supports"]
    assert [check.status for check in found[:4]] == [GOOD, CARE, GOOD, CARE]
    assert found[1].text.endswith(" Look at what is left over.")
    assert found[3].text == "use with care: mixed up."
    text = Reader(render(contents)).text
    assert "Because of fit. Of simulated answers like this one, 55 % are right and 20 % wrong." in text
    assert 'that were headed "use with care", 40 % were right and 30 % wrong.' in text
    denied = replace(contents, certificate=replace(contents.certificate, verdict="unsupported"))
    assert "Certificate" in [check.subject for check in checks(denied)]


def test_checks_go_by_the_facts_where_nothing_was_judged(contents):
    plain = replace(contents, trust=None)
    status = {check.subject: check.status for check in checks(plain)}
    assert (status["Count"], status["Fit"], status["Uniqueness"]) == (GOOD, GOOD, CARE)
    doubtful = replace(plain, count=replace(contents.count, low=3), known=np.arange(40) > 10)
    status = {check.subject: check.status for check in checks(doubtful)}
    assert (status["Count"], status["Fit"]) == (CARE, CARE)
    for harmless in ({"closed": True}, {"within_noise": True}):
        bands = tuple(replace(band, **harmless) for band in contents.ambiguity.bands)
        assert checks(replace(plain, ambiguity=Ambiguity(bands)))[3].status == GOOD


def test_groups_name_the_one_that_is_never_alone():
    C = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    contents = Contents(Decomposition(np.eye(3, 4), C), groups=[[0, 1]])
    assert groups(contents) == ["component 1 never occurs without component 0."]
    together = Contents(Decomposition(np.eye(3, 4), C[[0, 2, 3]]), groups=[[0, 1]])
    assert groups(together) == ["component 0 and component 1 always occur together."]
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"


# Files


def test_contents_are_kept_whole(contents, tmp_path):
    save_contents(contents, tmp_path / "report.gmcr")
    again = load_contents(tmp_path / "report.gmcr", contents.found)
    assert render(again) == render(contents)
    other = replace(contents.found, concentrations=contents.found.concentrations * 2)
    with pytest.raises(FileError, match="does not belong to the model beside it"):
        load_contents(tmp_path / "report.gmcr", other)
    (tmp_path / "report.gmcr").write_bytes(b"nonsense")
    with pytest.raises(FileError, match="not a gmcr model file"):
        load_contents(tmp_path / "report.gmcr", contents.found)


def test_contents_refuse_arrays_of_another_run(contents):
    for name, array in (("ratio", np.ones(3)), ("profile_errors", np.ones(9)), ("worst", np.array([40, 1]))):
        with pytest.raises(ValueError, match=name):
            replace(contents, **{name: array})


def test_figures_are_files_too(contents, with_png):
    figures = draw_figures(replace(contents, count=None))
    assert "profiles.svg" in figures
    assert "halves.svg" not in figures
    for name, content in figures.items():
        if not name.endswith(".svg"):
            continue
        root = ElementTree.fromstring(content)
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert "script" not in tags
        assert b"nan" not in content, name
    assert NASTY[1] in " ".join(ElementTree.fromstring(figures["worst.svg"]).itertext())
    assert draw_figures(replace(contents, count=None)) == figures  # the same run is the same file


def test_without_matplotlib_there_are_no_figures(contents, monkeypatch):
    monkeypatch.setattr("gmcr.reporting.files.can_draw", lambda: False)
    assert draw_figures(contents) == {}


def test_png_figures_open(contents, with_png):
    image = pytest.importorskip("matplotlib.image", reason="matplotlib draws the PNG figures")
    pictures = {name: content for name, content in draw_figures(contents).items() if name.endswith(".png")}
    assert "profiles.png" in pictures
    for name, content in pictures.items():
        assert image.imread(io.BytesIO(content)).std() > 0.01, name


# Collecting


def test_what_takes_too_long_is_left_out():
    rng = np.random.default_rng(0)
    C, S = rng.uniform(1, 2, (20, 3)), rng.uniform(0.1, 1, (3, 40))  # held by all samples: a search is needed
    found = Decomposition.from_factors(C, S, noise=0.01)
    contents = collecting.collect(found, Table(C @ S), seconds=0.0)
    assert "not finished within 0 s; gmcr ambiguity RUN DATA" in contents.left_out["bands"]
    assert contents.certificate is not None
    assert contents.left_out["bands"] in Reader(render(contents)).text


def test_what_cannot_be_found_out_is_left_out(monkeypatch):
    def refuse(*_, **__):
        raise InputError("too small for that.")

    monkeypatch.setattr(collecting, "estimate_rank", refuse)
    mix = make_mixtures(3, 12, snr_db=30, n_features=40, random_state=0)
    contents = collecting.collect(Decomposition.from_factors(mix.C, mix.S, noise=mix.sigma), Table(mix.D))
    not_judged = "only answers of the window solver, with their model, are judged."
    assert contents.left_out == {"rank": "too small for that.", "trust": not_judged}


def test_collected_facts_are_those_of_the_theory():
    from gmcr import certify
    from gmcr.theory.ambiguity import feasible_bands

    mix = make_mixtures(3, 30, snr_db=30, n_features=40, random_state=1)
    found = Decomposition.from_factors(mix.C, mix.S, noise=mix.sigma)
    contents = collecting.collect(found, Table(mix.D, axis_unit="nm"))
    assert contents.axis_label == "wavelength (nm)"
    assert contents.certificate.to_dict() == certify(mix.D, found).to_dict()
    expected = [band.share for band in feasible_bands(mix.D, found).bands]
    assert [band.share for band in contents.ambiguity.bands] == expected
    left = mix.D - found.reconstruct()
    expected = np.sqrt((left**2).mean(axis=1)) / mix.sigma
    np.testing.assert_allclose(contents.ratio, expected, rtol=0.2)
    assert set(contents.worst) == set(np.argsort(-contents.ratio)[:6])
    np.testing.assert_array_equal(contents.worst_data, mix.D[contents.worst])


# Sections that others add


@pytest.fixture
def added():
    """A function that adds a section for the time of a test."""
    names = []

    def add(build, name="extra", place=55):
        REGISTERED.add(name, Section(f"<i>{name}</i>", place, build))
        names.append(name)

    yield add
    for name in names:
        del REGISTERED._things[name], REGISTERED._sources[name]


def test_an_added_section_is_on_the_page_and_in_the_files(added, contents, tmp_path):
    def build(contents):
        x = np.arange(3.0)
        yield f"{NASTY[0]} of {contents.source}"
        yield Markup("<b>bold</b>")
        yield Plane("mine", NASTY[1], "three points", "x", "y", (Series(NASTY[2], x, x**2, "points"),))
        yield None
        yield Listing("numbers", NASTY[0], [Column(NASTY[1])], [[Cell(Markup("<img src=x>"))]])
        yield Points([NASTY[2]], Markup("<em>"))

    added(build)
    page = render(contents)
    read = Reader(page)
    identities = read.attributes("id")
    assert identities.index("fit") < identities.index("extra") < identities.index("separation")
    assert "<i>extra</i>" in read.text
    for text in (*NASTY, "<b>bold</b>", "<img src=x>", "<em>", "<i>extra</i>"):
        assert text not in page
        assert text in read.text or text == NASTY[1]
    assert json.loads(read.data)["charts"]["mine"]["series"][0]["y"] == [0.0, 1.0, 4.0]
    assert read.tables["table-numbers"] == [[NASTY[1]], ["<img src=x>"]]
    assert "mine.svg" in draw_figures(contents)


def test_a_text_alone_is_a_paragraph(added, contents):
    added(lambda contents: "All is well.")
    assert "All is well." in Reader(render(contents)).texts


def broken(contents):
    yield "begun"
    raise ZeroDivisionError("of all\nthings")


def series(x, y):
    return Plane("odd", "odd", "odd", "x", "y", (Series("odd", x, y),))


@pytest.mark.parametrize(
    ("build", "told"),
    [
        (broken, "of all things"),
        (lambda _: None, "'NoneType' object is not iterable"),
        (lambda _: [3], "it gives a int where a text, a chart or a table belongs"),
        (lambda _: [series(np.arange(2.0), ["a", "b"])], "could not be made"),
        (lambda _: [Row([charts_of(contents_of())["fit"]])], "a chart or a table named 'fit' already"),
        (lambda _: [series(np.ones(1), np.ones(1))] * 2, "a chart or a table named 'odd' already"),
        (lambda _: [replace(series(np.ones(1), np.ones(1)), name="../x")], "'../x' is no name"),
        (lambda _: [Listing("odd", "odd", [Column("a")], [[Cell("b"), Cell("c")]])], "could not be made"),
    ],
)
def test_a_section_that_fails_is_told_in_a_sentence_and_the_rest_is_there(added, contents, page, build, told):
    added(build)
    read = Reader(render(contents))
    (sentence,) = [text for text in read.texts if "could not be made" in text]
    assert sentence.startswith("This section could not be made: ")
    assert sentence.endswith(".")
    assert told in sentence
    before = Reader(page)
    assert read.tables == before.tables
    assert json.loads(read.data) == json.loads(before.data)


def test_a_chart_that_cannot_be_drawn_does_not_stop_the_others(added, contents):
    added(lambda _: [series(np.arange(3.0), np.array([]))])
    with pytest.warns(UserWarning, match="the figure odd could not be drawn"):
        assert "profiles.svg" in draw_figures(contents)


@pytest.mark.parametrize("name", ["data", "answer", "Weather", 'a "b" <c>'])
def test_a_name_that_no_link_can_have_is_none(added, contents, name):
    added(lambda _: ["here"], name)
    identities = Reader(render(contents)).attributes("id")
    assert len(identities) == len(set(identities))
    assert "section-6" in identities


def test_no_section_of_ours_fails(page, odd):
    for text in (page, *map(render, odd.values())):
        assert "could not be made" not in text


# From Python


@pytest.mark.parametrize("loaded", [False, True])
def test_a_models_report_is_the_one_that_fit_writes(fitted, tmp_path, loaded):
    """But for the time, and for what only the command line knows: the command and the file."""
    table = gmcr.read(fitted / "mix.csv")
    if loaded:
        model = GMCR.load(fitted / "run" / "model.gmcr")
    else:
        frame = pd.DataFrame(table.samples, table.sample_names, table.axis)
        model = GMCR(5, random_state=0, verbose=1).fit(frame)
        gmcr.report(table, model, tmp_path / "r.html", source="mix.csv")
    if loaded:
        model.report(table, tmp_path / "r.html", source="mix.csv")
    pages = [(fitted / "run" / "report.html").read_text(), (tmp_path / "r.html").read_text()]
    pages[0] = pages[0].replace(
        "--samples-in columns", "samples_in=&#34;columns&#34;"
    )  # each in its own words
    pages[0] = re.sub(r"<dt>(command|data|SHA-256 of the data|time)</dt><dd>.*</dd>\n", "", pages[0])
    written, own = (re.sub(r"<span>· [-\d]+ [:\d]+</span>", "", page) for page in pages)
    assert own == written
    with pytest.raises(InputError, match="the data are not the samples that were unmixed: those have R²"):
        model.report(table.samples[::-1], tmp_path / "r.html")
    with pytest.raises(
        InputError, match="the samples have 40 channels and the model has 48; put both on the same"
    ):
        model.report(table.samples[:, :40], tmp_path / "r.html")


def test_report_of_any_decomposition(tmp_path):
    mix = make_mixtures(3, 20, snr_db=30, n_features=40, random_state=0)
    found = Decomposition.from_factors(mix.C, mix.S, noise=mix.sigma)
    gmcr.report(mix.D, found, tmp_path / "r.html", source="mine")
    read = Reader((tmp_path / "r.html").read_text())
    assert "3 components in mine" in read.text
    assert "Not certified" not in read.text
    with pytest.raises(InputError, match="give the samples that were unmixed"):
        gmcr.report(mix.D[1:], found, tmp_path / "r.html")
    with pytest.raises(
        InputError, match="must be a Decomposition or a fitted model, not a tuple; Decomposition"
    ):
        gmcr.report(mix.D, (mix.C, mix.S), tmp_path / "r.html")
    with pytest.raises(FileError, match=r"is a folder; give the name of a file, such as report.html"):
        gmcr.report(mix.D, found, tmp_path)
    for path in (None, 5):
        with pytest.raises(InputError, match="path must be the name of a file"):
            gmcr.report(mix.D, found, path)
    away, found = Table(mix.D, np.arange(40.0) + 3), replace(found, axis=np.arange(40.0))
    with pytest.raises(InputError, match="different axes"):
        gmcr.report(away, found, tmp_path / "r.html")


# The command line


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A run that `gmcr fit` wrote, with hostile sample names, and its data."""
    folder = tmp_path_factory.mktemp("fitted")
    mix = make_mixtures(n_components=5, n_samples=30, snr_db=30, n_features=48, random_state=0)
    names = [*NASTY, *(f"mixture {m}" for m in range(3, 30))]
    pd.DataFrame(mix.D, names, np.linspace(400.0, 700.0, 48)).to_csv(folder / "mix.csv")
    assert main(["fit", str(folder / "mix.csv"), "-o", str(folder / "run"), "--components", "5"]) == 0
    return folder


@pytest.fixture
def run_copy(fitted, tmp_path):
    shutil.copytree(fitted, tmp_path / "copy")
    return tmp_path / "copy"


def test_fit_ends_with_count_verdict_and_report(run_copy, capsys):
    data, run = str(run_copy / "mix.csv"), str(run_copy / "again")
    assert main(["fit", data, "-o", run]) == 0
    out = capsys.readouterr().out
    assert "5 components" in out
    assert any(f"{word}: of simulated answers" in out or f"{word} (" in out for word in SAID)
    assert out.splitlines()[-1] == f"Report: {run_copy / 'again' / 'report.html'}"
    assert main(["fit", data, "-o", run, "--components", "5", "--force", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["report"] == str(run_copy / "again" / "report.html")
    assert told["verdict"] in WORDS
    assert told["certificate"] == "consistent"
    assert {"report.html", "report.gmcr", "figures"} <= set(told["written"])
    assert (run_copy / "again" / "figures" / "profiles.svg").exists()


def test_report_tells_how_to_do_it_again_and_no_path_of_this_machine(fitted):
    page = (fitted / "run" / "report.html").read_text()
    assert "gmcr fit mix.csv -o run --components 5" in Reader(page).text
    assert str(fitted) not in page


def test_report_is_rebuilt_without_the_data(run_copy, capsys):
    before = (run_copy / "run" / "report.html").read_bytes()
    (run_copy / "run" / "report.html").unlink()
    assert main(["report", str(run_copy / "run")]) == 0
    assert capsys.readouterr().out.endswith(f"Report: {run_copy / 'run' / 'report.html'}\n")
    assert (run_copy / "run" / "report.html").read_bytes() == before


def test_report_is_computed_anew_with_the_data(run_copy, capsys):
    before = Reader((run_copy / "run" / "report.html").read_text())
    for name in ("report.html", "report.gmcr"):
        (run_copy / "run" / name).unlink()
    assert main(["report", str(run_copy / "run")]) == 0
    assert "Not judged: it takes the samples" in capsys.readouterr().out
    assert main(["report", str(run_copy / "run"), str(run_copy / "mix.csv"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] in WORDS
    assert told["certificate"] in ("consistent", "unsupported")
    after = Reader((run_copy / "run" / "report.html").read_text())
    assert after.tables == before.tables
    assert json.loads(after.data) == json.loads(before.data)


def test_reports_kept_by_the_first_version_are_made_anew(tmp_path, capsys):
    """The folder was written before the contents were typed: by dictionaries, and by words about noise."""
    shutil.copytree(Path(__file__).parent / "data" / "run-v1", tmp_path / "run")
    names = "component,name,verdict,hit,hqi\n1,glucose,named,glucose,99.0\n"
    (tmp_path / "run" / "matches.csv").write_text(names)
    assert main(["report", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out.startswith(
        "Not judged: nothing was kept of it: gmcr report RUN DATA judges it."
    )
    read = Reader((tmp_path / "run" / "report.html").read_text())
    different = [row[-1] for row in read.tables["table-components"][1:]]
    assert different == ["yes: 0.96 to 1 times as strong", "not beyond noise", "not beyond noise"]
    assert [row[4] for row in read.tables["table-pairs"][1:]] == ["0.3022", "0.267", "0.2318"]
    assert read.tables["table-rank"][2] == ["Gavish-Donoho threshold", "3", "4"]
    assert read.tables["table-conditions"][5][2:5] == ["holds", "0.4735", "0"]
    for text in (
        "glucose (1) could look different and fit as well.",
        "3, the evidence leaves 2 to 3.",
        "Something was odd.",
        "gmcr fit mix.csv -o run",
    ):
        assert text in read.text
    charts = json.loads(read.data)["charts"]
    assert charts["values"]["rules"][0]["at"] == pytest.approx(0.09796571)
    assert charts["halves"]["x"] == [1.0, 2.0]
    assert charts["halves"]["series"][0]["y"] == [0.99, 0.97]
    assert sum("band" in one for one in charts["profiles"]["series"]) == 3
    kept = (tmp_path / "run" / "report.html").read_bytes()
    assert main(["report", str(tmp_path / "run")]) == 0  # and once more, from what was written now
    assert (tmp_path / "run" / "report.html").read_bytes() == kept


def test_report_shows_names_of_a_library(run_copy):
    rows = "component,name,verdict,hit,hqi\n0,gluc<ose,named,gluc<ose,99.5\n1,,none of these,lactose,41\n"
    (run_copy / "run" / "matches.csv").write_text(rows)
    assert main(["report", str(run_copy / "run"), "-o", str(run_copy / "out.html")]) == 0
    text = Reader((run_copy / "out.html").read_text()).text
    assert "gluc<ose (0)" in text
    assert "named, HQI 99.5" in text
    assert "none of these (nearest: lactose, HQI 41)" in text


def test_report_of_a_plain_model_file(run_copy, capsys):
    mix = make_mixtures(3, 12, snr_db=30, n_features=40, random_state=0)
    Decomposition.from_factors(mix.C, mix.S).save(run_copy / "plain.gmcr")
    assert main(["report", str(run_copy / "plain.gmcr")]) == 0
    assert "3 components" in Reader((run_copy / "plain.html").read_text()).text


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["report", "run", "other.csv"], "give the samples that were unmixed", 1),
        (["report", "nowhere"], "nowhere", 2),
        (["report", "run", "-o", "out.pdf"], "out.pdf must end in .html", 2),
        (["report", "."], "is no run folder", 2),
    ],
)
def test_report_refuses_in_one_sentence(run_copy, capsys, monkeypatch, arguments, message, code):
    monkeypatch.chdir(run_copy)
    pd.DataFrame(np.random.default_rng(0).random((4, 48))).to_csv("other.csv", header=False, index=False)
    assert main(arguments) == code
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


def test_a_cube_has_maps(tmp_path):
    mix = make_mixtures(3, 60, snr_db=30, n_features=40, random_state=0)
    cube = mix.D.reshape(6, 10, 40)
    cube[0, 0] = np.nan
    np.save(tmp_path / "cube.npy", cube)
    assert main(["fit", str(tmp_path / "cube.npy"), "-o", str(tmp_path / "run"), "--components", "3"]) == 0
    data = json.loads(Reader((tmp_path / "run" / "report.html").read_text()).data)
    assert (data["charts"]["maps"]["height"], data["charts"]["maps"]["width"]) == (6, 10)
    with np.load(tmp_path / "run" / "maps.npz") as maps:
        concentrations = maps["concentrations"]
    assert concentrations.shape[:2] == (6, 10)
    assert np.isnan(concentrations[0, 0]).all()
    found = Decomposition.load(tmp_path / "run" / "model.gmcr")
    np.testing.assert_array_equal(concentrations.reshape(60, -1)[1:], found.concentrations)


# In a browser


@pytest.fixture(scope="module")
def browser():
    need_chromium()
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(contents, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    write_report(contents, folder / "hostile.html")
    return folder


FOCUSED = """(() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const name = one.getAttribute("aria-label") || one.textContent.trim() || one.title;
  const all = [...document.querySelectorAll("*")];
  const ringed = style.outlineStyle != "none" && style.outlineWidth != "0px";
  return [all.indexOf(one), one.tagName, one.className, name, ringed];
})()"""


def check_quiet(browser, path):
    """No message on the console, no dialog, no request but for the page itself."""
    assert browser.told("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded") == []
    assert browser.told("Page.javascriptDialogOpening") == []
    asked = {told["request"]["url"] for told in browser.told("Network.requestWillBeSent")}
    assert asked == {Path(path).as_uri()}


def test_browser_draws_everything_and_asks_for_nothing(browser, pages, contents):
    browser.open(pages / "hostile.html")
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    drawn = browser.run(
        """Object.fromEntries([...document.querySelectorAll("figure[data-chart]")].map(figure => {
             const plot = figure.querySelector(".plot"), canvas = plot.querySelector("canvas");
             const marks = plot.querySelectorAll("path, rect").length;
             const size = canvas && [0, 0, canvas.width, canvas.height];
             const pixels = canvas ? canvas.getContext("2d").getImageData(...size).data : [];
             return [figure.dataset.chart, [marks, new Set(pixels).size, plot.clientHeight]];
           }))"""
    )
    assert set(drawn) == set(charts_of(contents))
    for name, (marks, shades_seen, height) in drawn.items():
        assert marks > 0, name
        assert height > 100, name
        assert name not in ("concentrations", "maps") or shades_seen > 3, name
    assert browser.run("typeof hacked") == "undefined"
    assert browser.run("document.querySelectorAll('img, script:not([type]) ~ script').length") == 0
    assert browser.run("document.querySelector('.chips').textContent").startswith(NASTY[0])
    assert browser.run("document.title") == "4 components in mix<b>.csv"
    assert "NaN" not in browser.run("document.body.innerHTML")
    check_quiet(browser, pages / "hostile.html")


PIXELS = """(name => {
  const canvas = document.querySelector(`#figure-${name} .plot canvas`);
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return [canvas.height, canvas.width, Array.from(data)];
})"""


def test_pictures_show_each_amount_in_its_place(browser, pages, contents):
    browser.open(pages / "hostile.html")
    C = contents.found.concentrations
    height, width, data = browser.run(f"{PIXELS}('concentrations')")
    pixels = np.reshape(data, (height, width, 4))
    assert (height, width) == C.shape
    np.testing.assert_array_equal((pixels[:, :, :3] == 255).all(axis=2), C == 0)
    np.testing.assert_allclose(pixels[:, :, :3], shades(C / C.max()), atol=1)
    height, width, data = browser.run(f"{PIXELS}('maps')")
    pixels = np.reshape(data, (height * width, 4))[: len(C)]
    np.testing.assert_array_equal((pixels[:, :3] == 255).all(axis=1), C[:, 0] == 0)
    browser.run("document.querySelectorAll('#figure-concentrations input')[0].click()")
    height, width, data = browser.run(f"{PIXELS}('concentrations')")
    alike = np.reshape(data, (height, width, 4))[:, :, :3].sum(axis=2).argmin(axis=1)
    assert (np.diff(alike) >= 0).all()  # by their strongest component
    np.testing.assert_array_equal(np.bincount(alike), np.bincount(C.argmax(axis=1)))


def test_run_of_the_command_line_is_quiet_too(browser, fitted):
    browser.open(fitted / "run" / "report.html")
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    assert browser.run("document.querySelectorAll('.plot svg').length") >= 10
    check_quiet(browser, fitted / "run" / "report.html")


def test_odd_runs_are_drawn_too(browser, odd, tmp_path):
    for name, contents in odd.items():
        path = tmp_path / f"{name}.html"
        write_report(contents, path)
        browser.open(path)
        assert browser.run("document.documentElement.dataset.ready") == "yes", name
        assert not re.search(r"NaN|Infinity", browser.run("document.querySelector('main').innerHTML")), name
        for figure in range(browser.run("document.querySelectorAll('.plot').length")):
            browser.run(f"document.querySelectorAll('.plot')[{figure}].focus()")
            browser.press("ArrowRight")
        check_quiet(browser, path)


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out_sideways(browser, pages, width):
    browser.open(pages / "hostile.html", width)
    assert browser.run("document.scrollingElement.scrollWidth") <= width
    wide = browser.run(
        """[...document.querySelectorAll("section > *, figure, .plot, figcaption, h1, h2, p, dl")]
           .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
           .map(one => one.outerHTML.slice(0, 80))"""
    )
    assert wide == []


def test_everything_is_reached_with_the_keyboard(browser, pages):
    browser.open(pages / "hostile.html")
    wanted = browser.run(
        """[...document.querySelectorAll("a, button, select, input, summary, .plot, .scroll, pre")]
           .filter(one => one.checkVisibility()).map(one => [...document.querySelectorAll("*")].indexOf(one))"""
    )
    reached = []
    for _ in range(len(wanted) + 20):
        browser.press("Tab")
        place, tag, kind, name, ringed = browser.run(FOCUSED)
        if tag == "BODY" or place in reached:
            break
        assert name or tag == "INPUT", (tag, kind)
        assert ringed, (tag, kind, name)
        reached.append(place)
    assert reached == sorted(reached)  # in the order of the page
    assert set(wanted) <= set(reached)


def test_charts_speak_when_keys_are_pressed(browser, pages, contents):
    browser.open(pages / "hostile.html")
    browser.run("document.querySelector('#figure-profiles .plot').focus()")
    for _ in range(5):
        browser.press("ArrowRight")
    said = browser.run("document.getElementById('live').textContent")
    at = float(re.search(r"wavenumber \(cm⁻¹\) <i> ([\d.]+)", said).group(1))
    channel = int(np.abs(contents.found.axis - at).argmin())
    for j, name in enumerate(contents.component_names):
        assert f"{name}: {float(f'{contents.found.components[j, channel]:.4g}'):g}" in said.replace(
            "e-", "e-0"
        )
    ticks = (
        "[...document.querySelectorAll('#figure-profiles .plot text')].map(text => text.textContent).join()"
    )
    before = browser.run(ticks)
    browser.press("+")
    assert browser.run(ticks) != before
    browser.press("0")
    assert browser.run(ticks) == before
    browser.run("document.querySelector('#figure-concentrations .plot').focus()")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"):
        browser.press(key)
    said = browser.run("document.getElementById('live').textContent")
    amount = contents.found.concentrations[3, 1]
    assert said.startswith("�gnp.exe�[31m, " + NASTY[1])
    assert said.endswith("not held" if amount == 0 else f"{float(f'{amount:.4g}'):g}")
    check_quiet(browser, pages / "hostile.html")


def test_pointer_reads_zooms_and_chooses(browser, pages, contents):
    browser.open(pages / "hostile.html")
    place = "document.querySelector('#figure-profiles .plot').getBoundingClientRect()"
    browser.run("document.querySelector('#figure-profiles').scrollIntoView({block: 'center'})")
    box = browser.run(f"({{x: {place}.x, y: {place}.y, width: {place}.width, height: {place}.height}})")
    middle = box["y"] + box["height"] / 2
    browser.move(box["x"] + 0.5 * box["width"], middle)
    tip = browser.run("document.querySelector('#figure-profiles .tip').innerText")
    at = float(tip.splitlines()[0].split()[-1])
    assert 800 < at < 1000  # about the middle of 1600 to 200
    drawn = browser.run("document.querySelector('#figure-profiles .cursor').getBoundingClientRect().x")
    assert drawn == pytest.approx(box["x"] + 0.5 * box["width"], abs=10)  # channels are 9 pixels apart
    browser.move(box["x"] + 0.3 * box["width"], middle, "mousePressed", "left")
    browser.move(box["x"] + 0.6 * box["width"], middle)
    browser.move(box["x"] + 0.6 * box["width"], middle, "mouseReleased", "left")
    browser.move(box["x"] + box["width"] - 20, middle)
    tip = browser.run("document.querySelector('#figure-profiles .tip').innerText")
    assert 700 < float(tip.splitlines()[0].split()[-1]) < 1000
    lines = "document.querySelectorAll('#figure-profiles .plot g[clip-path] path').length"
    before = browser.run(lines)
    browser.run("document.querySelector('#figure-profiles .chips button').click()")
    assert browser.run(lines) == before - 3  # the line, its errors and its band
    assert browser.run("document.querySelector('#figure-profiles .chips button').ariaPressed") == "false"


def test_tables_sort_by_numbers_and_by_text(browser, pages, contents):
    browser.open(pages / "hostile.html")
    browser.run("document.querySelectorAll('#table-samples th button')[5].focus()")
    column = "[...document.querySelectorAll('#table-samples tbody tr')].map(row => row.cells[5].textContent)"
    browser.press("Enter")
    rising = [float(value) for value in browser.run(column)]
    assert rising == sorted(rising)
    assert rising == pytest.approx(sorted(contents.confidence), abs=6e-4)
    browser.press("Enter")
    assert [float(value) for value in browser.run(column)] == rising[::-1]
    assert browser.run("document.querySelectorAll('#table-samples th')[5].ariaSort") == "descending"


def test_print_hides_what_paper_cannot_use(browser, pages):
    browser.open(pages / "hostile.html")
    browser.call("Emulation.setEmulatedMedia", media="print")
    shown = "[...document.querySelectorAll('nav, .tools')].filter(one => one.checkVisibility()).length"
    assert browser.run(shown) == 0
    assert browser.run("document.querySelectorAll('.plot svg').length") > 10
    browser.call("Emulation.setEmulatedMedia", media="")


def test_the_large_report_opens(browser, tmp_path):
    write_report(contents_of(64, 1000, 512, names=False, shape=None, pixels=None), tmp_path / "large.html")
    browser.open(tmp_path / "large.html")
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    assert browser.run("document.querySelectorAll('#table-samples tbody tr').length") == 1000
    check_quiet(browser, tmp_path / "large.html")


# In a notebook


def test_results_have_a_form_for_notebooks():
    from gmcr import GMCR, certify, estimate_rank
    from gmcr.theory.ambiguity import feasible_bands

    mix = make_mixtures(3, 40, snr_db=30, n_features=40, random_state=0)
    found = Decomposition.from_factors(mix.C, mix.S, noise=mix.sigma, component_names=NASTY)
    model = GMCR(n_components=3).fit(mix.D)
    out = model.decode(mix.D)
    shown = {
        "components in": found,
        "over 3 components": out,
        "eigengap": estimate_rank(mix.D),
        "Could it look different": feasible_bands(mix.D, found),
        "C6": certify(mix.D, found),
        "3 components": model.count_,
    }
    for text, result in shown.items():
        markup = result._repr_html_()
        assert text in Reader(markup).text, type(result)
        assert "<script" not in markup
    assert model.decomposition_._repr_html_() in model._repr_html_()
    assert GMCR()._repr_html_()
    assert NASTY[0][:23] in Reader(found._repr_html_()).text
    assert found._repr_html_().count("<polyline") == 3
    assert re.fullmatch(
        r"<Decoding: 40 samples over 3 components: [\d.]+ held per sample, [\d.]+% of the .* their noise>",
        repr(out),
    )
    rows = Reader(out._repr_html_()).tables[""]
    assert len(rows) == 31  # the first thirty samples, and their header
    held = dict(pair.split(": ") for pair in rows[1][1].split(", "))
    assert {int(j): float(c) for j, c in held.items()} == pytest.approx(
        {j: out.concentrations[0, j] for j in np.flatnonzero(out.concentrations[0])}, rel=1e-3
    )


def test_axis_that_goes_to_and_fro_is_not_drawn_over():
    found = Decomposition(np.eye(2, 4), [[1.0, 0.0], [0.0, 1.0]], axis=[3.0, 1.0, 2.0, 4.0])
    chart = charts_of(Contents(found))["profiles"]
    assert chart.x_label == "channel"
    assert as_data(chart)["x"] == [0.0, 1.0, 2.0, 3.0]


def four_kinds():
    """Spectra, times, an image and counts, and what else the fit is told."""
    wavelengths = tuple(np.linspace(400.0, 700.0, 60))
    spectra = make_measured(3, 30, 60, random_state=101, purity="pure", profiles="bands", disturbed=False).D
    times = make_measured(3, 40, 60, random_state=102, concentrations="elution", disturbed=False).D
    image = make_measured(3, 80, 40, random_state=103, purity="pure", profiles="peaks", disturbed=False).D
    counts = np.random.default_rng(104).poisson(200 * spectra / spectra.max()).astype(float)
    yield "spectra", Table(spectra, np.array(wavelengths), axis_unit="nm"), {}
    in_time = {"sample_names": tuple(f"{t:g}" for t in 0.5 * np.arange(40)), "row_label": "time (min)"}
    yield "times", Table(times, np.array(wavelengths), axis_unit="nm", **in_time), {}
    yield "image", Table(image, pixels=Pixels(np.ones((8, 10), dtype=bool))), {}
    yield "counts", Table(counts), {}


@pytest.mark.parametrize(
    ("name", "table", "given"), four_kinds(), ids=lambda one: one if type(one) is str else ""
)
def test_the_first_screen_holds_count_verdict_and_profiles(browser, tmp_path, name, table, given):
    model = GMCR(3, random_state=0).fit(table, **given)
    model.report(table, tmp_path / "r.html", source=name)
    browser.open(tmp_path / "r.html", width=1280, height=800)
    bottoms = browser.run(
        """["h1", ".verdict h2", ".cards svg polyline"].map(what =>
             document.querySelector(what).getBoundingClientRect().bottom)"""
    )
    assert 0 < min(bottoms) <= max(bottoms) <= 800
    amounts = browser.run("document.querySelectorAll('.cards svg').length")
    assert amounts == (6 if name == "times" else 3)
    painted = browser.run(
        """[...document.querySelectorAll(".cards canvas")].map(one => [one.width, one.height,
             one.getBoundingClientRect().bottom < 800,
             new Set(one.getContext("2d").getImageData(0, 0, one.width, one.height).data).size])"""
    )
    assert [one[:3] for one in painted] == [[10, 8, True]] * (3 if name == "image" else 0)
    assert all(colours > 10 for *_, colours in painted)
    row = {"times": "time point", "image": "pixel"}.get(name, "sample")
    assert f" {row}s hold 3 components" in browser.run("document.querySelector('.lead').innerText")
    if row != "sample":
        assert "sample" not in browser.run(
            "document.querySelector('main').innerText.toLowerCase()"
        ).partition("to do it again")[0].replace("simulated", "")
    check_quiet(browser, tmp_path / "r.html")
    if "GMCR_SCREENS" in os.environ:  # to look at
        browser.screenshot(Path(os.environ["GMCR_SCREENS"]) / f"{name}.png")
