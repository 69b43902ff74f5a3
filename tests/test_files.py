"""Files: one written whole or not at all; several changed as one, whoever is killed when."""

import errno
import json
import os
import stat

import numpy as np
import pytest

from gmcr import files
from gmcr.errors import FileError
from gmcr.files import RECORD, changed_together, finish, write_whole
from gmcr.io.opening import read_bytes
from gmcr.storage import read_model, write_model
from killed import kill_everywhere
from powerless import fail_everywhere

ARRAYS = {"small": np.array([[0.1, -0.0], [np.nan, 1e-310]])}


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.gmcr"
    write_model(path, ARRAYS, {"kind": "test"})
    return path


# Written whole or not at all


def fail(*args, **kwargs):
    raise OSError(28, "No space left on device")


def interrupt(*args, **kwargs):
    raise KeyboardInterrupt


crashes = pytest.mark.parametrize(("crash", "error"), [(fail, FileError), (interrupt, KeyboardInterrupt)])


def assert_old_file_stays(model, error):
    """Writing ends in this error and leaves the file as it was, and no other beside it."""
    before = model.read_bytes()
    with pytest.raises(error):
        write_model(model, {"new": np.zeros(3)}, {"kind": "new"})
    assert model.read_bytes() == before
    assert list(model.parent.iterdir()) == [model]


@pytest.mark.parametrize("where", ["fsync", "replace"])
@crashes
def test_a_crash_while_saving_leaves_the_old_file(model, monkeypatch, where, crash, error):
    monkeypatch.setattr(files.os, where, crash)
    assert_old_file_stays(model, error)


@crashes
def test_a_crash_in_the_middle_of_the_bytes_leaves_the_old_file(model, monkeypatch, crash, error):
    class HalfWritten:
        """A file that takes half of the bytes and then breaks."""

        def __init__(self, path, mode):
            self.file = open(path, mode)  # noqa: SIM115

        def __enter__(self):
            return self

        def __exit__(self, *details):
            self.file.close()

        def write(self, content):
            self.file.write(content[: len(content) // 2])
            crash()

    monkeypatch.setattr(files, "open", HalfWritten, raising=False)
    assert_old_file_stays(model, error)


def test_a_folder_that_cannot_be_synced_is_no_failure(model, monkeypatch):
    sync = os.fsync
    calls = []

    def files_only(descriptor):
        calls.append(descriptor)
        return sync(descriptor) if len(calls) == 1 else fail()

    monkeypatch.setattr(files.os, "fsync", files_only)
    write_model(model, {}, {"kind": "new"})
    assert len(calls) == 2
    assert read_model(model)[1] == {"kind": "new"}


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match="is a folder"):
        write_model(tmp_path, {}, {"kind": "test"})
    with pytest.raises(FileError, match="could not be written"):
        write_model(tmp_path / "missing" / "m.gmcr", {}, {"kind": "test"})
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="could not be written"):
        write_model(tmp_path / "file" / "m.gmcr", {}, {"kind": "test"})


def test_a_link_goes_on_pointing_to_the_file(model):
    link = model.with_name("latest.gmcr")
    link.symlink_to(model)
    write_model(link, {}, {"kind": "new"})
    assert link.is_symlink()
    assert read_model(model)[1] == {"kind": "new"}


# Several as one


def content(folder):
    """What shows in a folder."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


OLD = {"a.txt": "old a", "b/c.txt": "old c", "gone.txt": "old", "mine.txt": "mine"}
NEW = {"a.txt": "new a", "b/c.txt": "new c", "more.txt": "new", "mine.txt": "mine"}


def change(folder):
    with changed_together(folder) as staged:
        (staged.path / "b").mkdir()
        for name in ("a.txt", "b/c.txt", "more.txt"):
            write_whole(staged.path / name, NEW[name].encode())
        staged.removed.add("gone.txt")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "folder"
    (folder / "b").mkdir(parents=True)
    for name, text in OLD.items():
        (folder / name).write_text(text)
    return folder


def test_files_change_together(folder):
    change(folder)
    assert content(folder) == NEW


def test_killed_at_any_operation_the_old_files_are_there_or_the_new_ones(folder, tmp_path):
    seen = []

    def check(copy):
        finish(copy)
        shown = {name: text for name, text in content(copy).items() if not name.startswith(".gmcr-")}
        assert shown in (OLD, NEW)
        seen.append(shown == NEW)
        write_whole(copy / "later.txt", b"later")  # and the next to write sweeps
        assert not [path for path in copy.iterdir() if path.name.startswith(".gmcr-")]

    def call():
        change(folder)
        assert {True, False} <= set(seen)

    assert kill_everywhere(call, folder, check, tmp_path) > 25


def test_the_power_fails_at_any_moment_and_the_old_files_are_there_or_the_new_ones(folder, tmp_path):
    seen = []

    def check(copy):
        finish(copy)
        shown = {name: text for name, text in content(copy).items() if not name.startswith(".gmcr-")}
        assert shown in (OLD, NEW)
        seen.append(shown == NEW)

    def call():
        change(folder)
        assert {True, False} <= set(seen)

    assert fail_everywhere(call, folder, check, tmp_path) > 25


def test_a_file_is_whole_when_the_power_fails(folder, tmp_path):
    def check(copy):
        assert (copy / "a.txt").read_text() in ("old a", "new a")

    def call():
        write_whole(folder / "a.txt", b"new a")

    assert fail_everywhere(call, folder, check, tmp_path) > 2


def test_what_fails_changes_nothing(folder):
    def half():
        with changed_together(folder) as staged:
            (staged.path / "a.txt").write_text("half")
            write_whole(staged.path / "missing" / "b.txt", b"")

    with pytest.raises(FileError, match="could not be written"):
        half()
    (folder / "more.txt").mkdir()
    with pytest.raises(FileError, match=r"more\.txt is a folder"):
        change(folder)
    (folder / "more.txt").rmdir()
    assert content(folder) == OLD
    with pytest.raises(FileError, match="could not be written"), changed_together(folder / "none"):
        pass


def test_a_link_stays_a_link(folder, tmp_path):
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(tmp_path / "elsewhere.txt")
    change(folder)
    assert (folder / "a.txt").is_symlink()
    assert (tmp_path / "elsewhere.txt").read_text() == "new a"


def test_a_link_to_another_disk_is_written_through(folder, tmp_path, monkeypatch):
    replace = os.replace

    def across(source, target):
        if os.path.dirname(target) != os.path.dirname(source) and "elsewhere" in str(target):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        replace(source, target)

    monkeypatch.setattr(files.os, "replace", across)
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(tmp_path / "elsewhere.txt")
    change(folder)
    assert (tmp_path / "elsewhere.txt").read_text() == "new a"
    assert content(folder) == NEW


@pytest.mark.parametrize(
    "record",
    [
        "{",
        "[]",
        '{"from": ".gmcr-0123456789abcdef.tmp", "files": ["../a.txt"], "removed": []}',
        '{"from": ".gmcr-0123456789abcdef.tmp", "files": [], "removed": ["/etc/passwd"]}',
        '{"from": "b", "files": ["c.txt"], "removed": []}',
        '{"from": ".gmcr-0123456789abcdef.tmp", "files": [""], "removed": []}',
    ],
)
def test_a_record_that_reaches_elsewhere_is_refused(folder, record):
    (folder / RECORD).write_text(record)
    with pytest.raises(FileError, match="is damaged; remove it"):
        finish(folder)
    (folder / RECORD).unlink()
    assert content(folder) == OLD


STAGED = ".gmcr-0123456789abcdef.tmp"


def planted(folder, files=(), removed=()):
    """A record that this process did not write, with files to go with it."""
    (folder / STAGED).mkdir(exist_ok=True)
    for name in files:
        if not (folder / STAGED / name).exists():
            (folder / STAGED / name).write_text("planted")
    record = {"from": STAGED, "files": list(files), "removed": list(removed)}
    (folder / RECORD).write_text(json.dumps(record))


def test_a_record_reaches_nothing_through_links(folder, tmp_path):
    """Whoever unpacks a stranger's folder, and reads a file in it, keeps what is elsewhere."""
    (tmp_path / "home").mkdir()
    own = tmp_path / "home" / "own.txt"
    own.write_text("own")
    (folder / "link").symlink_to(tmp_path / "home")
    planted(folder, removed=["link/own.txt"])
    with pytest.raises(FileError, match="through the link link; remove it"):
        finish(folder)
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(own)
    planted(folder, files=["a.txt"])  # the link itself is replaced
    finish(folder)
    assert (folder / "a.txt").read_text() == "planted"
    (folder / STAGED).symlink_to(tmp_path / "home")
    planted(folder, files=["own.txt"])
    with pytest.raises(FileError, match="through the link"):
        finish(folder)
    assert own.read_text() == "own"


def test_a_record_that_is_no_file_is_refused_without_waiting(folder):
    os.mkfifo(folder / RECORD)
    with pytest.raises(FileError, match="is damaged; remove it"):
        finish(folder)
    (folder / RECORD).unlink()
    (folder / RECORD).symlink_to("/dev/zero")
    with pytest.raises(FileError, match="is damaged; remove it"):
        finish(folder)
    (folder / RECORD).unlink()
    with open(folder / RECORD, "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(FileError, match="is damaged; remove it"):
        finish(folder)


def test_reading_a_file_leaves_a_change_of_others_alone(folder):
    planted(folder, files=["a.txt"], removed=["gone.txt"])
    read_bytes(folder / "mine.txt")
    assert (folder / "gone.txt").exists()
    assert read_bytes(folder / "a.txt") == b"planted"
    assert not (folder / "gone.txt").exists()


def test_a_change_that_cannot_be_ended_is_told(folder, monkeypatch):
    planted(folder, files=["a.txt"])
    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(FileError, match="a change that was begun and cannot be ended: No space left"):
        read_bytes(folder / "a.txt")
    monkeypatch.undo()
    assert read_bytes(folder / "a.txt") == b"planted"


def test_a_file_keeps_who_may_read_it(folder):
    for name in ("a.txt", "b/c.txt"):
        (folder / name).chmod(0o600)
    write_whole(folder / "a.txt", b"new")
    assert stat.S_IMODE((folder / "a.txt").stat().st_mode) == 0o600
    change(folder)
    assert stat.S_IMODE((folder / "b/c.txt").stat().st_mode) == 0o600


def test_temporary_files_of_others_at_work_are_not_swept(folder, monkeypatch):
    """Those who write hold the folder; the last to come sweeps what nobody holds."""
    left = folder / ".gmcr-0123456789abcdef.tmp"
    left.write_text("of one that was killed")
    descriptor = os.open(folder, os.O_RDONLY)
    files.fcntl.flock(descriptor, files.fcntl.LOCK_SH)
    write_whole(folder / "a.txt", b"new a")
    assert left.exists()
    monkeypatch.setattr(files, "_PATIENCE", 0.05)
    with pytest.raises(FileError, match="is being written by another process"):
        change(folder)
    os.close(descriptor)
    write_whole(folder / "a.txt", b"new a")
    assert not left.exists()


def test_where_folders_cannot_be_locked(folder, monkeypatch):
    def refuse(descriptor, kind):
        raise OSError(errno.ENOLCK, "No locks available")

    old, young = (folder / f".gmcr-{digit * 16}.tmp" for digit in "01")
    old.write_text("")
    os.utime(old, (0, 0))
    young.write_text("")
    monkeypatch.setattr(files.fcntl, "flock", refuse)
    change(folder)
    assert (old.exists(), young.exists()) == (False, True)  # somebody may still write it
    young.unlink()
    assert content(folder) == NEW
