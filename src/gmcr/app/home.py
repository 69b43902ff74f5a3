"""FOLDER: where projects live, each an ordinary run folder, and a private one with what the app itself keeps."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from gmcr.app.project import Project
from gmcr.errors import FileError

PRIVATE = ".gmcr-app"  # in FOLDER: jobs, tokens, the address of the server that runs
FOR_ME = 0o700  # whom folders are for
MOST_PROJECTS = 10_000


def usual_folder() -> Path:
    """The folder of somebody who names none: in their documents, wherever their desktop has these."""
    home = Path.home()
    try:
        told = (home / ".config" / "user-dirs.dirs").read_text(encoding="utf-8")
        found = re.search(r'^XDG_DOCUMENTS_DIR="\$HOME/(.+)"', told, re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        found = None
    documents = home / (found[1] if found else "Documents")
    return (documents if documents.is_dir() else home) / "gmcr"


class Home:
    """The folder that holds the projects.

    path : the folder; private : in it, what belongs to no project
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.private = path / PRIVATE

    @classmethod
    def opened(cls, path: Path) -> tuple[Home, list[str]]:
        """The folder, made if need be, which its user alone can read from now on; what was changed is told."""
        told = []
        try:
            if not path.exists():
                path.mkdir(parents=True, mode=FOR_ME)
            path = path.resolve()
            found = path.stat()
            if not stat.S_ISDIR(found.st_mode):
                raise FileError(f"{path} is not a folder; give one to keep projects in.")
            if hasattr(os, "getuid") and found.st_uid != os.getuid():
                raise FileError(f"{path} belongs to somebody else; give a folder of your own.")
            if stat.S_IMODE(found.st_mode) & 0o077:
                path.chmod(FOR_ME)
                told.append(f"Others could read {path}; from now on you alone can.")
            home = cls(path)
            home.private.mkdir(mode=FOR_ME, exist_ok=True)
            if home.private.is_symlink():
                raise FileError(f"{home.private} is a link; remove it.")
        except FileError:
            raise
        except OSError as error:
            raise FileError(f"{path} cannot be used: {error.strerror or error}.") from error
        return home, told

    def projects(self) -> Iterator[Project]:
        """Those that there are: folders right here, which are no links and not hidden."""
        with os.scandir(self.path) as entries:
            names = [one.name for one in entries if one.name[0] != "." and one.is_dir(follow_symlinks=False)]
        return (Project(self.path / name) for name in sorted(names)[:MOST_PROJECTS])

    def project(self, name: str) -> Project | None:
        """The project of this name. The name is compared with those that there are and never made into a path."""
        return next((one for one in self.projects() if one.name == name), None)

    def new_project(self, title: str) -> Project:
        """An empty project, in a folder whose name is made of the title's letters and digits."""
        plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "project"
        number = 1
        while True:
            project = Project(self.path / (plain if number == 1 else f"{plain}-{number}"))
            try:
                project.path.mkdir(mode=FOR_ME)
            except FileExistsError:
                number += 1
                continue
            project.change(title=title)
            return project
