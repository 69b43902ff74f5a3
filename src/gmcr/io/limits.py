"""How much memory reading a file may take: looked up in its header before anything of it is expanded.

A file of a few kilobytes can claim, compress or repeat its way to any size. So each gets a fixed amount, and a
multiple of what it takes on the disk, never more than a share of the memory that is free; who knows better
says so (`memory` of `gmcr.read`, `--memory`). Readers ask `check_room` before they make anything large, and
formats that packages parse have the same limit set by the system (`apart`).
"""

from __future__ import annotations

import os
import re
import zipfile
from itertools import pairwise
from pathlib import Path

from gmcr.errors import FileError, InputError
from gmcr.io.formats import Asked
from gmcr.io.opening import FilePath, check_exists

# Measured tables of numbers compress to a half or a tenth, texts parse to fifty times their size, and deflate
# cannot expand by more than 1032: any pair of bounds between these keeps tables in and bombs out.
FREELY = 256 << 20  # bytes that any file may take
TIMES = 100  # further bytes for each byte that the file has
SHARE = 0.5  # of the free memory, that no file may exceed by itself
COPIES = 3  # of a table's numbers while it is read: as in the file, as floats, turned
MOST_MEMBERS = 100_000  # of an archive; a table has one, a workbook some dozens

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def as_memory(given: float | str | None) -> int | None:
    """Bytes, from a number of them or a text such as "2G" or "500 MB"; None stays None."""
    if given is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?(?:e\d+)?)\s*([KMGT]?)(i?B)?\s*", str(given), re.IGNORECASE)
    size = float(found[1]) * _UNITS[found[2].upper()] if found else 0.0
    if not 1 <= size < 2**62:
        raise InputError(f'memory must be a size such as "2G" or a number of bytes, not {given!r:.40}.')
    return int(size)


def room(path: FilePath, asked: Asked) -> int:
    """Bytes that reading this file, or the files of this folder, may take beyond what the process has."""
    if asked.memory is not None:
        return asked.memory
    return int(min(SHARE * free_memory(), FREELY + TIMES * held(path)))


def held(path: FilePath) -> int:
    """Bytes that a file, or the files of a folder, have on the disk: of one with holes, what is not hole."""
    files = [file for file in Path(path).iterdir() if file.is_file()] if Path(path).is_dir() else [Path(path)]
    told = [file.stat() for file in files]
    return sum(min(one.st_size, 512 * getattr(one, "st_blocks", one.st_size)) for one in told)


def check_room(path: FilePath, size: float, asked: Asked) -> None:
    """Refuse a file that would take `size` bytes, if that is more than it may."""
    if size <= (most := room(path, asked)):
        return
    raise FileError(
        f"{path} would take {spoken(size)} of memory where {spoken(most)} are allowed; if it is no mistake, "
        f'allow more with memory="{_rounded_up(size)}" (--memory {_rounded_up(size)}).'
    )


def check_entries(path: FilePath, entries: float, asked: Asked, itemsize: int = 8) -> None:
    """Refuse a file that holds more entries than there is room for."""
    check_room(path, COPIES * entries * max(itemsize, 8), asked)


def check_size(path: FilePath, asked: Asked) -> None:
    """Refuse a file whose own bytes, which are read at once, are more than there is room for."""
    check_room(path, check_exists(path).stat().st_size, asked)


def check_archive(path: FilePath, archive: zipfile.ZipFile, asked: Asked) -> None:
    """Refuse an archive that expands to more than there is room for, or whose members share their bytes."""
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise FileError(f"{path} is an archive of {len(members)} members; save the samples alone.")
    check_room(path, sum(member.file_size for member in members), asked)
    # A member's own header is 30 bytes and its name, before its bytes: the least room that it can have.
    spans = sorted(
        (
            member.header_offset,
            member.header_offset + 30 + len(member.filename.encode()) + member.compress_size,
        )
        for member in members
    )
    if any(start < end for (_, end), (start, _) in pairwise(spans)):
        raise FileError(
            f"{path} is an archive whose members overlap, as no program writes it; save it again."
        )


def free_memory() -> int:
    """Bytes of memory that can still be had: what the system says, or the group of processes may have."""
    bounds = []
    try:
        told = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        bounds += [int(told[1]) * 1024] if told else []
    except OSError:  # no Linux
        pass
    try:
        group = Path("/sys/fs/cgroup")
        most, used = ((group / name).read_text().strip() for name in ("memory.max", "memory.current"))
        bounds += [max(int(most) - int(used), 0)] if most.isdigit() else []
    except (OSError, ValueError):  # no such groups
        pass
    try:
        bounds += [] if bounds else [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):  # no Unix
        bounds = [4 << 30]
    return min(bounds)


def spoken(size: float) -> str:
    """A number of bytes in a few digits.

    >>> spoken(3_400_000_000), spoken(2_000)
    ('3.4 GB', '2 kB')
    """
    for power, unit in ((12, "TB"), (9, "GB"), (6, "MB")):
        if size >= 10**power:
            return f"{size / 10**power:.3g} {unit}"
    return f"{size / 1e3:.3g} kB"


def _rounded_up(size: float) -> str:
    """What to allow for `size` bytes, such as "4G"."""
    power, unit = next(((p, u) for p, u in ((1 << 40, "T"), (1 << 30, "G")) if size > p), (1 << 20, "M"))
    return f"{int(size // power) + 1}{unit}"
