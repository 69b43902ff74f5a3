"""Measured data with known truth, from the files their authors publish; fetched once, checked, and cached.

The environment variable GMCR_DATA points at a folder that holds the original files already.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gmcr.errors import FileError, GMCRError
from gmcr.io.opening import read_bytes
from gmcr.io.rdata import load_objects
from gmcr.validation import FloatArray

FOLDER_VARIABLE = "GMCR_DATA"
_RAW = "https://raw.githubusercontent.com"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Measured samples, and what is known of them.

    Attributes
    ----------
    name : of the set
    D : (samples, channels)
    C : (samples, components) known concentrations, in their own units
    S : (components, channels) known profiles, or None
    axis : (channels,); axis_unit : its unit
    labels : one per component
    sample_names : one per sample
    signed : whether the samples are negative by more than noise
    citation, licence, source : whom to cite, and where the file comes from
    """

    name: str
    D: FloatArray
    C: FloatArray
    S: FloatArray | None
    axis: FloatArray
    axis_unit: str
    labels: tuple[str, ...]
    sample_names: tuple[str, ...]
    signed: bool
    citation: str
    licence: str
    source: str

    def __repr__(self) -> str:
        return (
            f"<Dataset {self.name}: {self.D.shape[0]} samples x {self.D.shape[1]} channels "
            f"({self.axis[0]:g} to {self.axis[-1]:g} {self.axis_unit}); known: {', '.join(self.labels)}>"
        )


@dataclass(frozen=True)
class _File:
    """An original file, its checksum, and addresses to try in turn; only bytes with this checksum are used."""

    name: str
    sha256: str
    addresses: tuple[str, ...]


CARBS = _File(
    "carbs.RData",
    "be3d27d9d68e7b0281925c55aa75b2799db13111df508b0491e76a653f2ee6bb",
    (
        f"{_RAW}/svkucheryavski/mdatools/a22571f84be366a3c7ea6b3ff0d39ff627b1616d/data/carbs.RData",
        f"{_RAW}/svkucheryavski/mdatools/master/data/carbs.RData",
        f"{_RAW}/cran/mdatools/master/data/carbs.RData",
    ),
)
NIR = _File(
    "NIR.rda",
    "889f05cce6aa63bed2a79b85f1a4d8e8abd47f0dee08517e9eefdb5a94cdf0f2",
    (
        f"{_RAW}/cran/chemometrics/1.4.4/data/NIR.rda",
        f"{_RAW}/cran/chemometrics/7cfab643ba947806e92b7f9676d62e53f5ee15c5/data/NIR.rda",
        f"{_RAW}/cran/chemometrics/master/data/NIR.rda",
    ),
)


def load_carbs() -> Dataset:
    """Raman spectra of mixtures of fructose, lactose and ribose: 21 samples, 1401 shifts, all truth known.

    The concentrations are fractions of the pure spectra, which the profiles `S` are.
    """
    carbs = _objects(CARBS)["carbs"]
    D, C, S = carbs["D"], carbs["C"], carbs["S"]
    return Dataset(
        "carbs",
        np.array(D.values, dtype=float),
        np.array(C.values, dtype=float),
        np.array(S.values.T, dtype=float, order="C"),
        np.array([float(label) for label in _labels(D, 1)]),
        "cm⁻¹",
        _labels(S, 1),
        _labels(D, 0),
        False,
        "S. B. Engelsen, SPECARB: database on Raman spectra of carbohydrates, University of Copenhagen; "
        "S. Kucheryavskiy, mdatools, Chemometrics and Intelligent Laboratory Systems 198 (2020) 103937.",
        "MIT (R package mdatools)",
        CARBS.addresses[0],
    )


def load_nir() -> Dataset:
    """Near infrared spectra of fermentation mashes: 166 samples, 235 wavelengths, first derivative (signed).

    Known are glucose and ethanol in g/L; the spectra hold more than these two.
    """
    nir = _objects(NIR)["NIR"]
    spectra, known = nir["xNIR"], nir["yGlcEtOH"]
    names = {"glucose": "Glucose", "ethanol": "Ethanol"}
    return Dataset(
        "nir",
        spectra.to_numpy(dtype=float),
        known[list(names.values())].to_numpy(dtype=float),
        None,
        np.array([float(str(column).lstrip("X")) for column in spectra.columns]),
        "nm",
        tuple(names),
        tuple(map(str, spectra.index)),
        True,
        "B. Liebmann, A. Friedl, K. Varmuza, Analytica Chimica Acta 642 (2009) 171, "
        "doi 10.1016/j.aca.2008.10.069.",
        "GPL-3 (R package chemometrics)",
        NIR.addresses[0],
    )


def _objects(file: _File) -> dict[str, Any]:
    try:
        return load_objects(_fetched(file))  # its checksum is known, so that it need not be read apart
    except ModuleNotFoundError as error:
        told = f"data sets need {error.name}; install it with: pip install 'gmcr[datasets]'."
        raise GMCRError(told) from error


def _fetched(file: _File) -> Path:
    """The original file: from the folder that GMCR_DATA names, else from the cache or the network."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        path = Path(folder) / file.name
        if hashlib.sha256(read_bytes(path)).hexdigest() != file.sha256:
            raise FileError(f"{path} is not the original {file.name}: its checksum differs; fetch it again.")
        return path
    import pooch

    failures = []
    for address in file.addresses:
        try:
            return Path(pooch.retrieve(address, f"sha256:{file.sha256}", file.name, pooch.os_cache("gmcr")))
        except (ValueError, OSError) as error:  # another content; no such address, or no network
            failures.append(f"{address}: {type(error).__name__}")
    raise FileError(
        f"{file.name} could not be fetched ({'; '.join(failures)}); fetch it by hand and let {FOLDER_VARIABLE} "
        "name its folder."
    )


def _labels(array: Any, dimension: int) -> tuple[str, ...]:
    return tuple(str(label) for label in array.coords[array.dims[dimension]].values)
