"""Readers and writers of data files, one file per format.

Here will live what turns an instrument's file or a table into samples with their channel axis and labels,
and back; what had to be guessed (orientation, axis) is said. Packages for single formats come with the
extra `readers` and are imported where they are used. Model files are not data files: they are
`gmcr.storage`. Nothing here may call a solver.
"""
