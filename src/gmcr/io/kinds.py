"""Which format a file has: by its first bytes where a format marks them, else by its extension."""

from __future__ import annotations

import zipfile
from pathlib import Path

from gmcr.io.opening import FilePath, read_bytes

SUFFIXES = {
    "text": (".csv", ".tsv", ".txt", ".dat", ".asc", ".prn", ".dpt", ".xy"),
    "arrays": (".npy", ".npz"),
    "xlsx": (".xlsx", ".xlsm"),
    "mat": (".mat",),
    "hdf5": (".h5", ".hdf5", ".hdf", ".he5", ".nxs"),
    "netcdf": (".nc", ".cdf"),
    "parquet": (".parquet", ".pq"),
    "jcamp": (".jdx", ".dx", ".jcamp", ".jcm"),
    "spc": (".spc",),
    "opus": (".opus",),
    "wdf": (".wdf",),
    "rdata": (".rdata", ".rda", ".rds"),
}
_MARKS = {
    b"\x93NUMPY": "arrays",
    b"\x89HDF\r\n\x1a\n": "hdf5",
    b"MATLAB 7.3": "hdf5",
    b"MATLAB 5.0": "mat",
    b"CDF\x01": "netcdf",
    b"CDF\x02": "netcdf",
    b"PAR1": "parquet",
    b"WDF1": "wdf",
    b"\n\n\xfe\xfe": "opus",
    b"##TITLE": "jcamp",
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in SUFFIXES.items() for suffix in suffixes}


def kind_of(path: FilePath) -> str | None:
    """The format's name in `SUFFIXES`, or None if the file is of no kind that gmcr reads."""
    suffix = Path(path).suffix.lower()
    start = read_bytes(path, 64)
    text = start.lstrip(b"\xef\xbb\xbf\r\n ").upper()
    for mark, kind in _MARKS.items():
        if start.startswith(mark) or (kind == "jcamp" and text.startswith(mark)):
            return kind
    if start.startswith(b"PK\x03\x04"):
        return "xlsx" if _is_workbook(path) else "arrays"
    if suffix[1:].isdecimal():  # OPUS numbers its files: name.0, name.1
        return "opus"
    return _BY_SUFFIX.get(suffix)


def _is_workbook(path: FilePath) -> bool:
    if Path(path).suffix.lower() in SUFFIXES["arrays"] + SUFFIXES["xlsx"]:
        return Path(path).suffix.lower() in SUFFIXES["xlsx"]
    try:
        with zipfile.ZipFile(path) as archive:
            return "[Content_Types].xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False
