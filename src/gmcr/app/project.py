"""A project: a run folder, with the files that were given to it and what the page has to remember.

data/         what is unmixed: one file, or one folder of files
given/        a blank, a library, known profiles
new/          samples to decode
decoded/      what came out of that
app/          settings and pictures of the page; nothing of the answer is lost with it
model.gmcr …  the run itself, as `gmcr fit` writes it
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from gmcr.errors import FileError, printable
from gmcr.files import write_whole

DATA, GIVEN, NEW, DECODED, OWN = "data", "given", "new", "decoded", "app"
PLACES = (DATA, GIVEN, NEW)  # where uploads go
SETTINGS = "project.json"
# As `gmcr.runs` has them, which would bring numpy and more into the server; a test holds them together.
MODEL, NAMES, CHECKPOINT = "model.gmcr", "matches.csv", "checkpoint.gmcr"
MOST_REMEMBERED = 1 << 20  # bytes of a project's settings


class Linked(FileError):
    """A project with a link in it, which could lead anywhere, or a pipe: nothing of it is opened."""


class Project:
    """A folder right in FOLDER.

    path : its folder; name : of the folder
    """

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name
        self.own = path / OWN

    def check(self) -> Project:
        """The project, if it holds files and folders alone: whoever opens it or writes to it stays within it."""
        folders = [self.path]
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                    elif not entry.is_file(follow_symlinks=False):
                        told = (
                            f"{self.name} holds {entry.name!r:.60}, which is no file but a link or the like"
                        )
                        raise Linked(f"{told} and may lead out of it; remove it.")
        return self

    # What it remembers

    def remembered(self) -> dict[str, Any]:
        """Title, settings and the like; what a stranger made of the file is no project's."""
        path = self.own / SETTINGS
        try:
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_REMEMBERED:
                return {}
            told = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return told if isinstance(told, dict) else {}

    def change(self, **facts: Any) -> None:
        """Remember something else."""
        self.own.mkdir(exist_ok=True)
        told = self.remembered() | facts
        write_whole(self.own / SETTINGS, json.dumps(told, indent=1).encode())

    @property
    def title(self) -> str:
        told = self.remembered().get("title")
        return printable(told[:200] if isinstance(told, str) and told else self.name)

    @property
    def settings(self) -> dict[str, Any]:
        told = self.remembered().get("settings")
        return told if isinstance(told, dict) else {}

    # Its files

    def files(self, place: str) -> list[str]:
        """Names in one of its places, without what is being written."""
        with suppress(OSError), os.scandir(self.path / place) as entries:
            return sorted(entry.name for entry in entries if entry.name[0] != ".")
        return []

    def file(self, place: str, name: str) -> Path | None:
        """The path of a file or folder in one of its places, if there is one of just this name."""
        return self.path / place / name if name in self.files(place) else None

    def data(self) -> str | None:
        """What is unmixed, as a path in the project: its file, or the folder of its files."""
        names = self.files(DATA)
        return f"{DATA}/{names[0]}" if len(names) == 1 else None

    @property
    def has_run(self) -> bool:
        return (self.path / MODEL).is_file()

    def stamp(self) -> str:
        """What tells one state of the run from another: it changes with the model and with its names."""
        parts = []
        for name in (MODEL, NAMES):
            with suppress(OSError):
                told = os.stat(self.path / name)
                parts.append(f"{told.st_mtime_ns:x}.{told.st_size:x}")
        return "-".join(parts)

    def page(self, count: int | None) -> Path:
        """Where the page of the run, or of another count, is kept; one of an earlier run has another name."""
        return self.own / f"page-{'own' if count is None else count}-{self.stamp()}.json"

    def pages(self) -> Iterator[Path]:
        """All pages that are kept, also those of earlier runs."""
        with suppress(OSError):
            yield from self.own.glob("page-*.json")

    def size(self) -> int:
        """Bytes of what was given to it."""
        paths = (Path(folder, name) for place in PLACES for folder, _, names in os.walk(self.path / place)
                 for name in names)  # fmt: skip
        return sum(path.lstat().st_size for path in paths)

    def copy(self, other: Project) -> None:
        """What was given to it and its settings, in another project: no run and no results."""
        for place in (DATA, GIVEN):
            if (self.path / place).is_dir():
                shutil.copytree(self.path / place, other.path / place, symlinks=True)
        other.change(settings=self.settings)
