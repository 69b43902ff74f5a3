"""Readers and writers of data files, one file per format.

Here lives what turns an instrument's file or a table into samples with their channel axis and names (`gmcr.read`
is `reading.read`), and back; what had to be inferred is said. `cells`, `layout` and `preamble` are shared by
tables of cells, `variables` and `frames` by files of named arrays and columns, `spectra` by files of single
spectra. Files come from strangers: they are parsed, never executed, and damage is a FileError. Formats that a
package parses are read in a process of their own (`apart`); the packages come with the extra `readers`. Model
files are not data files: they are `gmcr.storage`. Nothing here may call a solver.
"""
