"""What the tests of gmcr and of the reproduction use."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from gmcr.cli.app import main

# Tests assert no times: a busy machine is no failure.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def caller(main, capsys):
    """A function that runs a command line in this process: exit code, standard output, standard error."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


SUFFIXES = "gmcr.reporting.figures.SUFFIXES"


@pytest.fixture(autouse=True, scope="session")
def _svg_alone():
    """Figures as SVG alone: PNG take as long again and are written the same way; `with_png` draws both."""
    with pytest.MonkeyPatch.context() as patch:
        if find_spec("matplotlib"):
            patch.setattr(SUFFIXES, (".svg",))
        yield


@pytest.fixture(scope="module")
def jobs_without_figures():
    """Processes that are begun draw no figures that are files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent / "tests" / "without_figures"))
        yield


@pytest.fixture
def with_png(monkeypatch):
    monkeypatch.setattr(SUFFIXES, (".svg", ".png"))


@pytest.fixture
def run(capsys):
    """The command `gmcr`."""
    return caller(main, capsys)


@pytest.fixture
def paper(capsys):
    """The command `gmcr-paper`."""
    from gmcr_paper.cli import main as paper_main

    return caller(paper_main, capsys)
