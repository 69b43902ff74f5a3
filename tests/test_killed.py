"""Commands killed at every file operation: a folder holds the old result or the new one, whole, and loads."""

import contextlib
import io
import json
import os
import resource
import shutil

import numpy as np
import pandas as pd
import pytest

from forked import forked
from gmcr import GMCR, make_mixtures
from gmcr.cli.app import main
from gmcr.errors import FileError
from gmcr.files import finish, write_whole
from gmcr.runs import RunFolder
from gmcr.storage import read_model
from killed import kill_everywhere

OWN = "notes of mine.txt"  # which no command may touch


def command(*arguments):
    """The command line, without a word."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as told:
        code = main([str(argument) for argument in arguments])
    assert code == 0, told.getvalue()


def shown(folder):
    """All files of a folder but the temporary ones and the checkpoint, which is no result."""
    finish(folder)
    paths = (path for path in folder.rglob("*") if path.is_file())
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return {n: c for n, c in found.items() if not n.startswith(".gmcr-") and n != "checkpoint.gmcr"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two tables, and a run of each."""
    folder = tmp_path_factory.mktemp("made")
    for name, count, seed in (("old", 2, 0), ("new", 3, 1)):
        mix = make_mixtures(count, 12, snr_db=30, n_features=24, random_state=seed, profiles="peaks")
        pd.DataFrame(mix.D).to_csv(folder / f"{name}.csv")
        command("fit", folder / f"{name}.csv", "-o", folder / name, "--components", count)
    return folder


def folder_with(path, source=None):
    """A folder with a file of the user's, and with a run."""
    if source is None:
        path.mkdir()
    else:
        shutil.copytree(source, path)
    (path / OWN).write_text("mine")
    return path


def names(folder):
    """What tells results apart that were written twice, at other times."""
    return set(shown(folder)) - {OWN}


def check_run(copy, old, new):
    """The folder holds a whole run: the old one, or one with the new model and all that belongs to it."""
    assert (copy / OWN).read_text() == "mine"
    found = shown(copy)
    if "model.gmcr" not in found:
        assert old is None
        assert set(found) == {OWN}
        return
    run = RunFolder.at(copy)
    model, contents = run.estimator(), run.contents()
    assert contents.found.n_components == model.n_components_  # the facts are those of the model
    profiles = np.atleast_2d(pd.read_csv(copy / "profiles.csv", index_col=0).to_numpy())
    np.testing.assert_allclose(profiles, model.components_)
    assert f"{model.n_components_} components" in found["summary.txt"].decode()
    expected = new if old is None or model.n_components_ == 3 else old
    assert names(copy) == names(expected)
    if expected is old:
        assert {name: found[name] for name in names(old)} == {name: shown(old)[name] for name in names(old)}
    write_whole(copy / "later", b"")  # and whoever writes next sweeps
    assert not [path.name for path in copy.iterdir() if path.name.startswith(".gmcr-")]


@pytest.mark.parametrize("over", [False, True], ids=["fresh", "over a run"])
def test_fit(made, tmp_path, over):
    folder = folder_with(tmp_path / "run", made / "old" if over else None)
    force = ["--force"] if over else []
    kill_everywhere(
        lambda: command("fit", made / "new.csv", "-o", folder, "--components", 3, *force),
        folder,
        lambda copy: check_run(copy, made / "old" if over else None, made / "new"),
        tmp_path,
    )


def test_report(made, tmp_path):
    folder = folder_with(tmp_path / "run", made / "new")
    figures = {name for name in names(folder) if name.startswith("figures/")}
    page, facts = shown(folder)["report.html"], read_model(folder / "report.gmcr")[1]

    def check(copy):
        check_run(copy, None, made / "new")
        found = shown(copy)
        # The entries of a file's header may stand in another order.
        same = {found["report.html"] == page, read_model(copy / "report.gmcr")[1] == facts}
        assert len(same) == 1  # both are the old ones, or both are new
        assert {name for name in found if name.startswith("figures/")} == figures

    kill_everywhere(lambda: command("report", folder, made / "new.csv"), folder, check, tmp_path)


def test_name(made, tmp_path):
    """Model, tables, workbook and report have the old name, or all have the new one."""
    folder = folder_with(tmp_path / "run", made / "old")

    def check(copy):
        found = shown(copy)
        new = "lactose" in RunFolder.at(copy).solution().names
        for name in ("concentrations.csv", "profiles.csv", "report.html"):
            assert (b"lactose" in found[name]) == new, name
        assert names(copy) == names(made / "old")

    kill_everywhere(lambda: command("name", folder, "0=lactose"), folder, check, tmp_path)


@pytest.mark.parametrize("over", [False, True], ids=["fresh", "over others"])
def test_decode(made, tmp_path, over):
    """The table, and the one of what is not explained: samples of another mixture."""
    folder = folder_with(tmp_path / "out")
    if over:
        command("decode", made / "old", made / "new.csv", "-o", folder / "c.csv")
        assert names(folder) == {"c.csv", "c_unexplained.csv"}
    old = shown(folder)
    command("decode", made / "new", made / "old.csv", "-o", tmp_path / "c.csv")
    new = {OWN: b"mine"} | {name: (tmp_path / name).read_bytes() for name in ("c.csv", "c_unexplained.csv")}

    def check(copy):
        assert shown(copy) in (old, new)

    call = ("decode", made / "new", made / "old.csv", "-o", folder / "c.csv")
    kill_everywhere(lambda: command(*call), folder, check, tmp_path)


def test_decode_over_samples_that_were_not_explained(made, tmp_path):
    """The second table goes with the first."""
    folder = folder_with(tmp_path / "out")
    command("decode", made / "old", made / "new.csv", "-o", folder / "c.csv")
    old = shown(folder)
    command("decode", made / "new", made / "new.csv", "-o", tmp_path / "c.csv")
    new = {OWN: b"mine", "c.csv": (tmp_path / "c.csv").read_bytes()}

    def check(copy):
        assert shown(copy) in (old, new)

    call = ("decode", made / "new", made / "new.csv", "-o", folder / "c.csv")
    kill_everywhere(lambda: command(*call), folder, check, tmp_path)


@pytest.mark.parametrize("over", [False, True], ids=["fresh", "over another"])
def test_save(made, tmp_path, over):
    folder = folder_with(tmp_path / "out")
    old, new = (GMCR.load(made / name / "model.gmcr") for name in ("old", "new"))
    if over:
        old.save(folder / "model.gmcr")

    def check(copy):
        if over or (copy / "model.gmcr").exists():
            assert GMCR.load(copy / "model.gmcr").n_components_ in ((2, 3) if over else (3,))
        assert (copy / OWN).read_text() == "mine"

    assert kill_everywhere(lambda: new.save(folder / "model.gmcr"), folder, check, tmp_path) >= 3


def test_a_refit_leaves_no_file_of_the_run_before(made, tmp_path):
    """Only those that a manifest, or their names, tell to be the run's."""
    folder = folder_with(tmp_path / "run", made / "old")
    (folder / "figures" / "mine.svg").write_text("mine")
    (folder / "fractions.csv").write_text("of a run before")
    command("report", folder, made / "old.csv", "--components", 3)
    assert (folder / "report_3.html").exists()
    command("fit", made / "new.csv", "-o", folder, "--components", 3, "--force")
    assert names(folder) == names(made / "new") | {"figures/mine.svg"}


def test_a_run_without_a_manifest_is_still_a_run(made, tmp_path):
    folder = folder_with(tmp_path / "run", made / "old")
    (folder / "manifest.json").unlink()
    command("report", folder)
    assert names(folder) == names(made / "old")
    (folder / "manifest.json").write_text("[")
    with pytest.raises(AssertionError, match=r"manifest\.json is damaged; remove it"):
        command("report", folder)


# Others at the same folder


def test_what_is_read_is_of_one_run(made, tmp_path):
    """Another process puts a new run in place between two looks."""
    folder = folder_with(tmp_path / "run", made / "old")
    run, other = RunFolder.at(folder), RunFolder.at(folder)
    assert run.solution().n_components == 2
    command("report", folder)  # which changes the folder
    with pytest.raises(FileError, match="was changed by another process meanwhile; try again"):
        run.matches()
    with pytest.raises(FileError, match="was changed by another process"):
        other.estimator()
    again = RunFolder.at(folder)
    assert again.estimator().n_components_ == again.solution().n_components


def test_a_report_of_the_old_run_is_not_put_beside_the_new_one(made, tmp_path):
    folder = folder_with(tmp_path / "run", made / "old")
    run = RunFolder.at(folder)
    contents = run.contents()
    command("fit", made / "new.csv", "-o", folder, "--components", 3, "--force")
    with pytest.raises(FileError, match="was changed by another process"):
        run.write_report(contents)
    with pytest.raises(FileError, match="was changed by another process"):
        run.write_names(pd.DataFrame({"component": [0], "name": ["a"], "verdict": ["fixed"]}))
    check_run(folder, None, made / "new")


def test_writers_of_the_same_folder_take_turns(made, tmp_path):
    """Decoding beside a refit writes into the run's folder too; nobody is refused, nothing is lost."""
    folder = folder_with(tmp_path / "run", made / "old")
    calls = [
        ("decode", made / "old", made / "old.csv", "-o", folder / "decoded a.csv"),
        ("decode", made / "new", made / "new.csv", "-o", folder / "decoded b.csv"),
        ("fit", made / "new.csv", "-o", folder, "--components", 3, "--force"),
    ]
    children = []
    for call in calls:
        child = os.fork()
        if child == 0:
            command(*call)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    decoded = list(folder.glob("decoded *"))  # with a table of what is unexplained, if there is any
    assert {"decoded a.csv", "decoded b.csv"} <= {path.name for path in decoded}
    for path in decoded:
        path.unlink()
    check_run(folder, None, made / "new")


def test_a_manifest_of_a_stranger_gives_no_other_file_away(made, tmp_path):
    """Neither in the folder nor beyond a link of it."""
    folder = folder_with(tmp_path / "run", made / "old")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "own.svg").write_text("own")
    shutil.rmtree(folder / "figures")
    (folder / "figures").symlink_to(tmp_path / "home")
    (folder / "link").symlink_to(tmp_path / "home")
    listed = [OWN, "../home/own.svg", "link/own.svg", "figures/own.svg", str(tmp_path / "home" / "own.svg")]
    (folder / "manifest.json").write_text(json.dumps({"files": listed}))
    command("fit", made / "new.csv", "-o", folder, "--components", 3, "--force")
    assert (tmp_path / "home" / "own.svg").read_text() == "own"
    assert (folder / OWN).read_text() == "mine"


def test_a_manifest_that_is_a_pipe_is_refused_without_waiting(made, tmp_path):
    folder = folder_with(tmp_path / "run", made / "old")
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    with pytest.raises(AssertionError, match=r"manifest\.json is not a file"):
        command("report", folder)


def test_a_disk_that_is_full_leaves_the_old_run(made, tmp_path):
    """In a process that may write no more than some bytes of a file: every table fits, the model does not."""
    folder = folder_with(tmp_path / "run", made / "old")
    before = shown(folder)

    def refit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as told:
            return main(
                ["fit", str(made / "new.csv"), "-o", str(folder), "--components", "3", "--force"]
            ), told.getvalue()

    code, told = forked(refit).value
    assert code == 1
    assert told.strip().split("\n")[-1].endswith("could not be written: File too large.")
    assert shown(folder) == before
    assert not [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]
