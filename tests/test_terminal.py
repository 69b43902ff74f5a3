"""Commands in poor surroundings: streams that cannot say everything or are closed, signals, no cache, no home."""

import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import gmcr
from gmcr.cli import console, terminal
from gmcr.cli.app import main
from gmcr.window import solver
from interpreter import python


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Samples, and a run on them."""
    folder = tmp_path_factory.mktemp("terminal")
    mix = gmcr.make_mixtures(n_components=3, n_samples=16, snr_db=30, n_features=40, random_state=0)
    np.savetxt(folder / "mix.csv", mix.D, delimiter=",")
    gmcr.GMCR(n_components=3, random_state=0).fit(mix.D).save(folder / "model.gmcr")
    return folder


def stream(encoding):
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("command", ["certify", "ambiguity"])
def test_streams_that_cannot_say_everything(folder, monkeypatch, encoding, command):
    out, err = stream(encoding), stream(encoding)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert main([command, str(folder / "model.gmcr"), str(folder / "mix.csv")]) == 0
    out.flush()
    said = out.buffer.getvalue().decode(encoding)
    assert said.strip()
    if command == "certify":
        assert "sigma = " in said
        assert "?" not in said.split("alpha")[0].split("sigma")[1]


def test_json_where_not_every_character_can_be_said(folder, monkeypatch):
    out = stream("latin-1")
    monkeypatch.setattr(sys, "stdout", out)
    console.print_json({"unit": "cm⁻¹ σ"})
    out.flush()
    assert json.loads(out.buffer.getvalue().decode("latin-1")) == {"unit": "cm⁻¹ σ"}


def test_characters_are_spelled():
    text = "R² 0.9, 4 cm⁻¹ ± σ_Δ ≤ 3 µm, é, 日"
    assert text.encode("ascii", "gmcr.spelled") == b"R^2 0.9, 4 cm^-1 +/- sigma_Delta <= 3 um, e, ?"
    assert text.encode("utf-8", "gmcr.spelled").decode() == text


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_a_signal_keeps_the_best_found_and_says_so(run, folder, tmp_path, monkeypatch, number, code):
    seen = []

    def settle(*arguments):
        if seen:
            os.kill(os.getpid(), number)
        seen.append(real(*arguments))
        return seen[-1]

    real = solver.settle
    monkeypatch.setattr(solver, "settle", settle)
    kept = signal.signal(number, signal.default_int_handler)  # in the background of a shell it is ignored
    try:
        ended, out, err = run("fit", folder / "mix.csv", "-o", tmp_path / "run")
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, kept)
    assert ended == code
    assert err.endswith("gmcr: interrupted; the best found so far was kept.\n")
    assert "Report:" in out
    assert (tmp_path / "run" / "model.gmcr").exists()


def test_a_signal_before_anything_was_found(run, folder, monkeypatch):
    monkeypatch.setattr("gmcr.rank.estimate_rank", lambda D: os.kill(os.getpid(), signal.SIGTERM))
    code, out, err = run("rank", folder / "mix.csv")
    assert (code, out) == (143, "")
    assert err.endswith("gmcr: interrupted before it was done.\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_streams_that_are_closed_full_or_left(folder):
    """In a shell: closed, a disk that is full, and a reader that is gone."""
    call = f'"{sys.executable}" -m gmcr info "{folder / "mix.csv"}"'
    for command, codes, last in (
        (f"{call} >&- 2>&- <&-", (0,), ""),
        (f"{call} >/dev/full", (1,), "gmcr: standard output could not be written: No space left on device."),
        (f"({call}; echo $? >&2) | true", (0,), "141"),
    ):
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode in codes, (command, done)
        assert "Traceback" not in done.stderr, (command, done)
        assert done.stderr.rstrip("\n").split("\n")[-1] == last, (command, done)


def test_streams_that_are_already_none(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    terminal.prepare_streams()
    print("into nothing")
    sys.stdout.close()


def test_compiled_code_without_a_cache_to_write_to(tmp_path):
    """As for a user without a home, of a package that somebody else installed: numba alone would refuse."""
    said = python(
        """
        import os, pathlib
        real = os.access
        ours = lambda path: str(path).startswith(os.environ["TMPDIR"])
        os.access = lambda path, mode, **more: ours(path) and real(path, mode, **more)
        import numba.core.caching as caching
        def refuse(self): raise OSError("not writable")
        caching.InTreeCacheLocator.ensure_cache_path = refuse
        caching.UserWideCacheLocator.ensure_cache_path = refuse
        import gmcr
        from gmcr import threads
        place = pathlib.Path(os.environ["NUMBA_CACHE_DIR"])
        print(place.parent == pathlib.Path(os.environ["TMPDIR"]), oct(place.stat().st_mode)[-3:])
        """,
        TMPDIR=str(tmp_path),
        NUMBA_CACHE_DIR="",
    )
    assert said == "True 700\n"
    assert not list(tmp_path.iterdir())  # gone with the process
