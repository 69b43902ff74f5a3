"""Naming profiles from a spectral library.

Here live libraries (`library.py`: read from a table or a folder, put on one axis), how alike two spectra are
(`scores.py`), and who is who (`naming.py`, whose result is `result.py`). Nothing here may fit anything.
"""

from gmcr.naming.library import Library, read_library
from gmcr.naming.naming import match
from gmcr.naming.result import Matches
