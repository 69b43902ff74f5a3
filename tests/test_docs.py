"""The documentation: every code block of docs and README runs, prints what it says, and the site builds.

A block is python (run, one namespace per page), bash (its `gmcr` lines run through main(); `make` and `pip` lines
name targets and extras that exist), text, or a script of examples/, written as { .python } so that no formatter
touches it. A text block titled "prints" is what the block before it prints; `...` in it stands for anything.
"""

import doctest
import importlib
import importlib.util
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
import typer

import gmcr
from gmcr.cli.app import app, main
from shared_data import ORIGINALS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SOURCES = (ROOT / "src", ROOT / "reproduction" / "src")
FENCE = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<body>.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
SNIPPET = re.compile(r'^--8<-- "(.+)"$')
PRINTS = 'text title="prints"'
SCRIPT = " { .python }"
KINDS = ("python", "bash", "text", PRINTS, SCRIPT)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    """(line, kind, body) of each fenced block."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, found.start()) + 2, found["kind"], found["body"])
        for found in FENCE.finditer(text)
    ]


def use_originals(monkeypatch, text):
    if "load_carbs" in text or "load_nir" in text:
        if not ORIGINALS.exists():
            pytest.skip("../shared/data/originals is not here; GMCR_DATA could not point at it")
        monkeypatch.setenv("GMCR_DATA", str(ORIGINALS))


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def run_shell(body):
    """A bash block; gmcr lines run, others must name what is there."""
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for line in body.strip().split("\n"):
        program, *words = shlex.split(line, comments=True)
        if program == "gmcr":
            assert main(words) == 0, line
        elif program == "make":
            assert set(words) <= set(targets), line
        elif program == "pip":
            assert words[0] == "install", line
            extras = re.search(r"\[(.*)\]", line)
            assert set(extras[1].split(",") if extras else ()) <= set(PROJECT["optional-dependencies"]), line
        else:
            raise AssertionError(f"a bash block cannot be checked: {line}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    use_originals(monkeypatch, page.read_text(encoding="utf-8"))
    namespace, printed = {"__name__": "docs"}, None
    for line, kind, body in blocks(page):
        where = f"{page.name}:{line}"
        assert kind in KINDS, f"{where}: a block must be one of {KINDS}, not {kind!r}"
        if kind == PRINTS:
            assert printed is not None, f"{where}: nothing was run before it"
            assert doctest.OutputChecker().check_output(body, printed, FLAGS), f"{where}: printed\n{printed}"
        elif kind == SCRIPT:
            snippet = SNIPPET.match(body.strip())
            assert snippet, f"{where}: no script"
            assert ROOT / snippet[1] in EXAMPLES, where
        elif kind != "text":
            out = io.StringIO()
            with redirect_stdout(out):
                if kind == "bash":
                    run_shell(body)
                else:
                    exec(compile(body, where, "exec"), namespace)
            printed = out.getvalue()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    use_originals(monkeypatch, example.read_text())
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
    assert f'"examples/{example.name}"' in (DOCS / "examples.md").read_text(), "not shown in docs/examples.md"


PUBLIC = sorted(set(gmcr.__all__) - {"__version__"})


def test_the_reference_holds_every_public_name():
    shown = re.findall(r"^::: (\S+)", (DOCS / "api.md").read_text(), re.MULTILINE)
    assert set(PUBLIC) <= {name.rsplit(".", 1)[-1] for name in shown}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name):
    (found,) = doctest.DocTestFinder(recurse=False).find(getattr(gmcr, name), name)
    assert found.examples


WITH_EXAMPLES = [
    ".".join(path.relative_to(folder).with_suffix("").parts)
    for folder in SOURCES
    for path in sorted(folder.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert found.failed == 0
    assert found.attempted > 0


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_those_of_the_script():
    """Same words; numbers may differ by the last bits of another machine, less than a pixel."""
    number = re.compile(r"-?\d+\.?\d*")
    for name, drawn in load(DOCS / "figures" / "how.py").pictures().items():
        kept = (DOCS / "figures" / name).read_text()
        drawn, kept = (re.sub(r'"data:[^"]*"', '""', text) for text in (drawn, kept))
        assert number.sub("", drawn) == number.sub("", kept), f"{name}: run python docs/figures/how.py"
        np.testing.assert_allclose(
            [float(x) for x in number.findall(drawn)], [float(x) for x in number.findall(kept)], atol=1.0
        )


def test_command_reference_holds_all_options():
    page = load(DOCS / "hooks.py").command_reference()
    for name, command in typer.main.get_command(app).commands.items():
        section = page.split(f"## gmcr {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            assert all(option in section for option in parameter.opts if option.startswith("--")), (
                name,
                parameter,
            )


def test_what_is_to_be_cited_is_this_version():
    assert f"version: {PROJECT['version']}" in (ROOT / "CITATION.cff").read_text().splitlines()


def test_scripts_named_in_the_pages_exist():
    script = re.compile(r"python ((?:benchmarks|examples|docs)/\S+?\.py)")
    named = {found for page in PAGES for found in script.findall(page.read_text(encoding="utf-8"))}
    assert len(named) > 10
    assert {name for name in named if not (ROOT / name).is_file()} == set()


@pytest.mark.skipif(
    importlib.util.find_spec("mkdocstrings") is None, reason="mkdocs is not installed: make docs"
)
def test_the_site_builds_without_a_warning(tmp_path):
    if not (DOCS / "paper.md").exists():
        pytest.skip("docs/paper.md is not here; gmcr-paper all writes it")
    build = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, env=quiet, check=False)
    assert done.returncode == 0, done.stderr
    # Nothing is fetched from elsewhere: no script, style, font or picture with an address of its own.
    loads = re.compile(r'<(?:script|img|iframe)[^>]*\ssrc="(https?:)?//|<link[^>]*\shref="(https?:)?//')
    pages = list((tmp_path / "site").glob("*.html"))
    assert len(pages) >= 13
    for page in pages:
        found = loads.search(page.read_text(encoding="utf-8"))
        assert found is None, (page.name, found[0])
