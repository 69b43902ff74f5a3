"""The layers: a wrong import is found, wherever it hides; imports by string or from the root are few."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gmcr"

# The root loads public names when they are first used; packages name their modules by entry points.
BY_STRING = {"io/apart.py", "__init__.py", "registry.py"}


def linted(folder):
    """The contract of pyproject.toml on a copy of the package."""
    command = Path(sys.executable).with_name("lint-imports")
    if not command.exists():
        pytest.skip("import-linter is not installed")
    return subprocess.run(
        [command, "--no-cache"], cwd=folder, env={"PYTHONPATH": "src"}, capture_output=True, text=True
    )


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(SOURCE, tmp_path / "src" / "gmcr", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contract_is_kept_and_breaks_where_it_should(copy):
    kept = linted(copy)
    assert kept.returncode == 0, kept.stdout
    decoder = copy / "src" / "gmcr" / "decoder.py"
    late = "\n\ndef late():\n    from gmcr.theory.certificate import certify\n\n    return certify\n"
    decoder.write_text(decoder.read_text() + late)
    broken = linted(copy)
    assert broken.returncode == 1
    assert "gmcr.decoder is not allowed to import gmcr.theory" in broken.stdout


def test_a_new_module_must_be_given_a_layer(copy):
    (copy / "src" / "gmcr" / "somewhere.py").write_text('"""In no layer."""\n')
    assert linted(copy).returncode == 1


def trees():
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text())


def test_imports_by_string_are_few_and_known():
    found = set()
    for name, tree in trees():
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        if names & {"import_module", "__import__", "entry_points", "run_module"}:
            found.add(name)
    assert found == BY_STRING


def test_nobody_imports_from_the_root():
    """`import gmcr` inside the package would load whatever the root loads, past every layer."""
    for name, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert not any(alias.name == "gmcr" for alias in node.names), name
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "gmcr":
                parts = {path.stem for path in SOURCE.iterdir()}
                assert {alias.name for alias in node.names} <= parts, name  # modules, not public names
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, name
