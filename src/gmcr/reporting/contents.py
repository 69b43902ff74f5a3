"""Everything a report shows, as plain data: a decomposition and what was found out about it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.decomposition import Decomposition
from gmcr.errors import FileError
from gmcr.storage import read_model, write_model
from gmcr.validation import BoolArray, FloatArray

KIND = "report"
IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Contents:
    """What a report shows. Whatever is None was not found out, and `left_out` may say why.

    Attributes
    ----------
    found : the decomposition
    source : name of the data file
    made : when, as text
    axis_label : what the channels are, with unit, such as "Raman shift (cm⁻¹)"
    notes : what the reader of the file inferred, a sentence each
    warnings : what the solver warned of
    count : what speaks for the count, as the fields of `gmcr.window.evidence.Evidence`
    rank : the rank rules: count, agree, scaling, white, notes and counts (rule, scaling, count)
    certificate : as `Certificate.to_dict` gives it
    bands : ambiguity of each component: share, min, max, alike, closed, why
    groups : components that the samples never separate
    names : by component number, what a spectral library says: name (empty for none), verdict, nearest hit, score
    left_out : by section, why something is missing
    reproduce : by label, what it takes to do it again
    shape : (rows, columns) of an image whose pixels the samples are
    ratio : (samples,) root mean square of what is left of each sample, over its noise
    known : (samples,) whether the pool explains the sample within its noise
    confidence : (samples,) probability that the sample's support is right
    profile_errors : (components,) or (components, channels) standard errors
    concentration_errors : (samples, components) standard errors
    worst, worst_data : (shown,) the samples that fit worst, and (shown, channels) what was measured there
    sizes : (samples,) root mean square of each sample
    band_profiles : (components, 2, channels) profile at both ends of its band, NaN where it has none
    pair_counts, pair_examples : (components,) isolating pairs and (components, 2) two samples of one, or −1
    singular_values : those that the rank rules look at, largest first
    pixels : (samples,) place of each sample in the image, row by row
    """

    found: Decomposition
    source: str = "samples"
    made: str = ""
    axis_label: str = "channel axis"
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    count: dict[str, Any] | None = None
    rank: dict[str, Any] | None = None
    certificate: dict[str, Any] | None = None
    bands: list[dict[str, Any]] | None = None
    groups: list[list[int]] = field(default_factory=list)
    names: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    reproduce: dict[str, str] = field(default_factory=dict)
    shape: tuple[int, int] | None = None
    ratio: FloatArray | None = None
    known: BoolArray | None = None
    confidence: FloatArray | None = None
    profile_errors: FloatArray | None = None
    concentration_errors: FloatArray | None = None
    worst: IntArray | None = None
    worst_data: FloatArray | None = None
    sizes: FloatArray | None = None
    band_profiles: FloatArray | None = None
    pair_counts: IntArray | None = None
    pair_examples: IntArray | None = None
    singular_values: FloatArray | None = None
    pixels: IntArray | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong to the decomposition."""
        M, K, d = self.found.n_samples, self.found.n_components, self.found.n_channels
        shown = 0 if self.worst is None else len(self.worst)
        wanted: dict[str, tuple[int, ...]] = {
            "ratio": (M,),
            "known": (M,),
            "confidence": (M,),
            "sizes": (M,),
            "pixels": (M,),
        }
        wanted |= {"concentration_errors": (M, K), "worst_data": (shown, d), "band_profiles": (K, 2, d)}
        wanted |= {"pair_counts": (K,), "pair_examples": (K, 2)}
        for name, shape in wanted.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} must have shape {shape}, but has {array.shape}")
        errors = self.profile_errors
        if errors is not None and errors.shape not in ((K,), (K, d)):
            raise ValueError(f"profile_errors must have shape {(K,)} or {(K, d)}, but has {errors.shape}")
        if self.worst is not None and self.worst.size and not 0 <= self.worst.min() <= self.worst.max() < M:
            raise ValueError("worst names a sample that is not there")

    @cached_property
    def sample_names(self) -> tuple[str, ...]:
        return self.found.sample_names or tuple(str(m) for m in range(self.found.n_samples))

    @cached_property
    def component_names(self) -> tuple[str, ...]:
        """A name from a library where there is one, with the component's number; else its own."""
        own = self.found.component_names or tuple(f"component {j}" for j in range(self.found.n_components))
        named = [self.names.get(str(j), {}).get("name") for j in range(len(own))]
        return tuple(f"{name} ({j})" if name else own[j] for j, name in enumerate(named))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all but the decomposition, which has a file of its own, whole or not at all."""
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "found"}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        plain = {name: value for name, value in values.items() if name not in arrays and value is not None}
        write_model(path, arrays, {"kind": KIND, "of": _digest(self.found), "facts": plain})

    @classmethod
    def load(cls, path: str | os.PathLike[str], found: Decomposition) -> Contents:
        """Read what `save` wrote about this very decomposition."""
        arrays, header = read_model(path)
        if header["kind"] != KIND or header.get("of") != _digest(found):
            raise FileError(f"{path} does not belong to the model beside it; give the data to make it anew.")
        try:
            facts = header["facts"]
            for name in ("notes", "warnings", "shape"):
                if name in facts:
                    facts[name] = tuple(facts[name])
            known = {item.name for item in fields(cls)} - {"found"}
            given = {name: value for name, value in (facts | arrays).items() if name in known}
            return replace(cls(found), **given)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FileError(f"{path} is not valid ({error}); give the data to make it anew.") from error


def _digest(found: Decomposition) -> str:
    """What tells one decomposition from another."""
    digest = hashlib.sha256(str((found.components.shape, found.concentrations.shape)).encode())
    for array in (found.components, found.concentrations):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def axis_of(contents: Contents) -> tuple[FloatArray, str, bool]:
    """Positions of the channels, what they are, and whether they fall; numbers where the axis goes to and fro."""
    axis, numbered = contents.found.axis, np.arange(contents.found.n_channels, dtype=float)
    if axis is None:
        return numbered, "channel", False
    steps = np.diff(axis)
    if not ((steps > 0).all() or (steps < 0).all()):
        return numbered, "channel", False
    return axis, contents.axis_label, bool(len(steps) and steps[0] < 0)


def by_signal(contents: Contents) -> IntArray:
    """(components,) numbers of the components, the one with the most signal first."""
    return np.argsort(-np.linalg.norm(contents.found.concentrations, axis=0), kind="stable")
