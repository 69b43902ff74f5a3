"""The real data, which are not in the repository: beside it, in ../shared, or not here at all."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"
DATA = SHARED / "data"
ORIGINALS = DATA / "originals"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real data are not at ../shared/data")
needs_originals = pytest.mark.skipif(
    not ORIGINALS.is_dir(), reason="the original files are not at ../shared/data/originals"
)
