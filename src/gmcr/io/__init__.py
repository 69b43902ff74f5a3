"""Readers and writers of data files, one file per format.

Here lives what turns an instrument's file or a table into samples with their channel axis and names
(`gmcr.read` is `reading.read`), and back; what had to be inferred is said. Each format registers itself with
what the rest has to know of it (`formats`). `cells`, `layout` and `preamble` are shared by tables of cells,
`words` and `orientation` tell which way samples run in them, `pairs`, `long` and `image` are forms they may have;
`variables` and `frames` by files of named arrays and columns, `spectra` by files of single spectra, `cube` by
images; `mutations` and `catalogues` know mutation types, `marks` what is yes or no by name. Files come from
strangers: they are parsed, never executed, and damage is a FileError. Formats that a package parses are read in
a process of their own (`apart`); the packages come with the extra `readers`.
`datasets` are measured ones to learn from. Model files are not data files: they are `gmcr.storage`. Nothing
here may call a solver.
"""

# Importing a format registers it; their order is that of docs/formats.md.
from gmcr.io import (  # noqa: I001
    csv, xlsx, arrays, mat, hdf5, netcdf, parquet, rdata, jcamp, spc, opus, wdf,
)  # fmt: skip
from gmcr.io import datasets
from gmcr.io.formats import FORMATS, Asked, Format
from gmcr.io.table import Table
