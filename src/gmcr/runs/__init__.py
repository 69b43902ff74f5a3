"""Runs in folders: nothing else knows their files by name; commands and the app ask here.

folder.py    `RunFolder`: where the files are, how they are written as one and read
tables.py    what a run tells in tables and in a few lines
workbook.py  all tables in one workbook, and new names in them
"""

from gmcr.runs.folder import RunFolder
from gmcr.runs.tables import in_short, names_of

__all__ = ["RunFolder", "in_short", "names_of"]
