"""Unmixing spectra: how many components, their profiles, and which sample holds which.

The public names are imported when first used, so that `import gmcr` and `gmcr --help` are quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gmcr.caching import provide_cache

if TYPE_CHECKING:
    from gmcr.decoder import decode as decode
    from gmcr.decomposition import Decomposition as Decomposition
    from gmcr.disturbances import find_disturbances as find_disturbances
    from gmcr.estimators.eb import EBgMCR as EBgMCR
    from gmcr.estimators.window import GMCR as GMCR
    from gmcr.io.cube import unfold as unfold
    from gmcr.io.reading import read as read
    from gmcr.mixtures import make_measured as make_measured
    from gmcr.mixtures import make_mixtures as make_mixtures
    from gmcr.rank import estimate_rank as estimate_rank
    from gmcr.reporting.files import report as report
    from gmcr.theory.certificate import certify as certify

    __version__: str

_HOME = {
    "EBgMCR": "gmcr.estimators.eb",
    "GMCR": "gmcr.estimators.window",
    "Decomposition": "gmcr.decomposition",
    "certify": "gmcr.theory.certificate",
    "decode": "gmcr.decoder",
    "estimate_rank": "gmcr.rank",
    "find_disturbances": "gmcr.disturbances",
    "make_measured": "gmcr.mixtures",
    "make_mixtures": "gmcr.mixtures",
    "read": "gmcr.io.reading",
    "report": "gmcr.reporting.files",
    "unfold": "gmcr.io.cube",
}
provide_cache()  # before anything is compiled
__all__ = ["__version__"]
__all__ += list(_HOME)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("gmcr")
    if name == "datasets":  # a module, for gmcr.datasets.load_carbs()
        return import_module("gmcr.io.datasets")
    if name not in _HOME:
        raise AttributeError(f"module 'gmcr' has no attribute {name!r}")
    try:
        home = import_module(_HOME[name])
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(f"{name} needs torch; install it with: pip install 'gmcr[eb]'") from None
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
