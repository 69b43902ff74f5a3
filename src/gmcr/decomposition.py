"""The result every solver returns: profiles, who holds which and how much, and the noise."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from gmcr import metrics, text
from gmcr.errors import FileError, InputError, NotInstalled
from gmcr.noise import law_of
from gmcr.storage import Arrays, Header, as_json, pack_table, read_model, unpack_table, write_model
from gmcr.validation import (
    LARGEST,
    BoolArray,
    FloatArray,
    as_numbers,
    check_axis,
    check_complete,
    check_not_negative,
    check_per_sample,
    check_pool,
    require,
)

NORM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Decomposition:
    """Samples as non-negative combinations of a few unit-norm profiles: D ≈ concentrations @ components.

    It checks itself when made, and its arrays are read-only copies. For factors whose profiles do not have
    unit norm, use `Decomposition.from_factors`.

    Parameters
    ----------
    components : (K, channels) profiles of unit ℓ2 norm, at least one
    concentrations : (samples, K); a component is in a sample's support where this is not zero
    noise : (samples,) standard deviation σ_m of each sample's noise, or one number for all
    noise_law : {"kind": "constant" | "proportional" | "poisson" | "given", "level": float, ...}
    path : the solutions met from coarse to fine noise, one row per level
    axis : (channels,) position of each channel, such as wavelengths
    sample_names, component_names, channels : one text each; channels where they have names instead of positions
    settings : what the solver was asked to do; JSON types
    fit : facts computed at fit time, such as {"r2": 0.98}; JSON types
    signed : whether profiles and concentrations may be negative

    Examples
    --------
    >>> import numpy as np
    >>> from gmcr.decomposition import Decomposition
    >>> found = Decomposition(components=np.eye(2, 3), concentrations=[[1.0, 0.0], [2.0, 3.0]])
    >>> found.n_components, found.usage
    (2, 3)
    """

    components: FloatArray
    concentrations: FloatArray
    _: KW_ONLY
    noise: FloatArray | None = None
    noise_law: dict[str, Any] | None = None
    path: pd.DataFrame | None = None
    axis: FloatArray | None = None
    sample_names: tuple[str, ...] | None = None
    component_names: tuple[str, ...] | None = None
    channels: tuple[str, ...] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    fit: dict[str, Any] = field(default_factory=dict)
    signed: bool = False

    def __post_init__(self) -> None:
        components = _check_profiles(self.components)
        concentrations = _check_concentrations(self.concentrations, len(components))
        if not self.signed:
            check_not_negative(components, "components")
            check_not_negative(concentrations, "concentrations")
        n_samples, n_channels = len(concentrations), components.shape[1]
        checked = {
            "components": components,
            "concentrations": concentrations,
            "noise": None if self.noise is None else _check_noise(self.noise, n_samples),
            "noise_law": None if self.noise_law is None else _check_noise_law(self.noise_law, n_channels),
            # Through the storage form and back, so that a saved and loaded path is the very same table.
            "path": None if self.path is None else unpack_table(*pack_table(self.path, "path")),
            "axis": None if self.axis is None else check_axis(self.axis, n_channels),
            "sample_names": _check_names(self.sample_names, n_samples, "sample_names"),
            "component_names": _check_names(self.component_names, len(components), "component_names"),
            "channels": _check_names(self.channels, n_channels, "channels"),
            "settings": _check_facts(self.settings, "settings"),
            "fit": _check_facts(self.fit, "fit"),
            "signed": bool(self.signed),
        }
        self.__setstate__(checked)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Store the fields; also how pickle and copy rebuild the object, whose arrays stay read-only."""
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def from_factors(
        cls, C: Any, S: Any, *, supports: BoolArray | None = None, **fields: Any
    ) -> Decomposition:
        """A decomposition from factors of any scale, D ≈ C S: the norm of each profile moves into C.

        Parameters
        ----------
        C : (samples, K) concentrations
        S : (K, channels) profiles, none of them zero
        supports : (samples, K) bool; if given, it must be where C is not zero
        **fields : the other fields of `Decomposition`
        """
        profiles = check_pool(S)
        concentrations = _check_concentrations(C, len(profiles), "C")
        peaks = np.abs(profiles).max(axis=1, keepdims=True)  # dividing by it first keeps squares in range
        norms = np.linalg.norm(profiles / peaks, axis=1, keepdims=True)
        found = cls(profiles / peaks / norms, concentrations * (peaks * norms).T, **fields)
        if supports is not None and not np.array_equal(found.supports, supports):
            raise InputError("supports must be true exactly where the concentrations C are not zero.")
        return found

    @property
    def signed_amounts(self) -> bool:
        """Whether concentrations may be negative: whether any is."""
        return self.signed and bool((self.concentrations < 0).any())

    @property
    def n_components(self) -> int:
        return self.components.shape[0]

    @property
    def n_samples(self) -> int:
        return self.concentrations.shape[0]

    @property
    def n_channels(self) -> int:
        return self.components.shape[1]

    @property
    def supports(self) -> BoolArray:
        """(samples, K) which components each sample holds."""
        return self.concentrations != 0

    @property
    def usage(self) -> int:
        """Total number of (sample, component) selections."""
        return int(np.count_nonzero(self.concentrations))

    @property
    def names(self) -> tuple[str, ...]:
        """What the components are called, in tables, frames and the report; "component 0" without a name."""
        return self.component_names or tuple(f"component {j}" for j in range(self.n_components))

    def renamed(self, names: Mapping[Any, str] | Sequence[str]) -> Decomposition:
        """The same with other names of components.

        Parameters
        ----------
        names : one per component, or {2: "lactose"} by number or by the name it has; the others keep theirs
        """
        if isinstance(names, Mapping):
            given, names = names, list(self.names)
            numbers = {name: j for j, name in enumerate(self.names)} | {
                j: j for j in range(self.n_components)
            }
            for which, name in given.items():
                if which not in numbers:
                    raise InputError(
                        f"there is no component {which!r:.40}; they are {', '.join(self.names)}, numbered from 0."
                    )
                names[numbers[which]] = name
        told = _check_names(names, self.n_components, "names") or ()
        texts = tuple(name.strip() for name in told)
        if not all(texts) or len(set(texts)) < len(texts):
            raise InputError(
                f"names must be distinct and not empty, but would be {', '.join(map(repr, texts))}."
            )
        return replace(self, component_names=texts)

    def reconstruct(self) -> FloatArray:
        """(samples, channels) the samples without their noise."""
        return self.concentrations @ self.components

    def r2(self, D: Any) -> float:
        """R² on the samples D (samples, channels), about the column means; NaN entries are left out."""
        return metrics.r_squared(D, self.reconstruct())

    def nmse(self, D: Any) -> float:
        """‖D − reconstruction‖² / ‖D‖²; NaN entries are left out."""
        return metrics.nmse(D, self.reconstruct())

    def lack_of_fit(self, D: Any) -> float:
        """100 ‖D − reconstruction‖ / ‖D‖, in per cent; NaN entries are left out."""
        return metrics.lack_of_fit(D, self.reconstruct())

    def select(self, indices: Any) -> Decomposition:
        """The same decomposition with the chosen components only, in the order given.

        Parameters
        ----------
        indices : component numbers, a boolean mask or a slice; none twice
        """
        try:
            chosen = np.atleast_1d(np.arange(self.n_components)[indices])
        except IndexError as error:
            raise InputError(
                f"indices must pick from {self.n_components} components, numbered from 0: {error}."
            ) from None
        if len(np.unique(chosen)) != len(chosen):
            raise InputError(f"indices must name each component once, but are {chosen.tolist()}.")
        names = self.component_names
        return replace(
            self,
            components=self.components[chosen],
            concentrations=self.concentrations[:, chosen],
            component_names=None if names is None else tuple(names[j] for j in chosen),
            # What was measured at fit time no longer holds once a component is gone.
            fit=self.fit if len(chosen) == self.n_components else {},
        )

    def sorted_by_usage(self) -> Decomposition:
        """The components in the order of how many samples hold them, most used first."""
        return self.select(np.argsort(-self.supports.sum(axis=0), kind="stable"))

    def table(self) -> pd.DataFrame:
        """One row per component: name, samples that hold it, mean concentration, strongest channel."""
        return text.component_table(self)

    def __repr__(self) -> str:
        return (
            f"<Decomposition: {self.n_components} components, {self.n_samples} samples, "
            f"{self.n_channels} channels>"
        )

    def __str__(self) -> str:
        return text.as_text(self)

    def _repr_html_(self) -> str:
        return text.as_html(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a model file such as "run.gmcr", whole or not at all."""
        arrays, section = self.pack()
        write_model(path, arrays, {"kind": "decomposition", "decomposition": section})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Decomposition:
        """Read from a model file: one written by `save`, or an estimator's, which holds one too."""
        arrays, header = read_model(path)
        if "decomposition" not in header:
            raise FileError(f"{path} holds no decomposition; it is a model file of kind {header['kind']!r}.")
        try:
            return cls.unpack(arrays, header["decomposition"])
        except (InputError, KeyError, TypeError, ValueError) as error:
            missing = isinstance(error, NotInstalled)
            why = "needs what is not installed" if missing else "holds a decomposition that is not valid"
            raise FileError(f"{path} {why}: {error}") from error

    def pack(self) -> tuple[Arrays, Header]:
        """Its arrays and the rest as JSON, for a model file; `unpack` turns both into an equal object."""
        arrays: Arrays = {"components": self.components, "concentrations": self.concentrations}
        arrays |= {name: value for name in ("noise", "axis") if (value := getattr(self, name)) is not None}
        columns = None
        if self.path is not None:
            path_arrays, columns = pack_table(self.path, "path")
            arrays |= path_arrays
        plain = ("noise_law", "sample_names", "component_names", "settings", "fit", "signed")
        section = {"path": columns} | {name: getattr(self, name) for name in plain}
        # Only where there are any: other files stay as readable to older versions as they are.
        return arrays, section if self.channels is None else section | {"channels": self.channels}

    @classmethod
    def unpack(cls, arrays: Arrays, section: Header) -> Decomposition:
        """The object that `pack` took apart; arrays of other names are ignored."""
        columns = section["path"]
        return cls(
            arrays["components"],
            arrays["concentrations"],
            noise=arrays.get("noise"),
            axis=arrays.get("axis"),
            **(section | {"path": None if columns is None else unpack_table(arrays, columns)}),
        )


def _check_profiles(components: Any) -> FloatArray:
    components = check_pool(components, name="components")
    norms = np.linalg.norm(components, axis=1)
    off = np.flatnonzero(np.abs(norms - 1) > NORM_TOLERANCE)
    if off.size:
        raise InputError(
            f"components row {off[0]} has norm {norms[off[0]]:.6g} where 1 is needed; "
            "Decomposition.from_factors(C, S) moves the norms into the concentrations."
        )
    return components


def _check_concentrations(values: Any, n_components: int, name: str = "concentrations") -> FloatArray:
    array = as_numbers(values, name)
    if array.ndim != 2 or len(array) == 0 or array.shape[1] != n_components:
        raise InputError(
            f"{name} must have shape (samples, {n_components}), at least one sample and one column "
            f"per component, but has shape {array.shape}."
        )
    check_complete(array, name, "an absent component is 0")
    require(np.abs(array).max() <= LARGEST, name, f"at most {LARGEST:g} in size", float(np.abs(array).max()))
    return array


def _check_noise(noise: Any, n_samples: int) -> FloatArray:
    array = check_per_sample(noise, n_samples, "noise")
    require(array.max() <= LARGEST, "noise", f"at most {LARGEST:g}", float(array.max()))
    return array


def _check_facts(facts: Any, name: str) -> dict[str, Any]:
    require(isinstance(facts, dict), name, "a dict", facts)
    return as_json(facts, name)


def _check_noise_law(law: Any, n_channels: int) -> dict[str, Any]:
    law = as_json(law, "noise_law")
    if not isinstance(law, dict) or not isinstance(law.get("kind"), str):
        raise InputError(f'noise_law must be a dict with a "kind", but is {law!r}.')
    if law["kind"] != "given":  # noise given per sample follows no law
        law_of(law).sigma(np.ones((1, n_channels)))  # refused where it is one of other channels
    return law


def _check_names(names: Iterable[Any] | None, count: int, name: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray | pd.Index | pd.Series):
        raise InputError(f"{name} must be a list of texts, but is {names!r:.60}.")
    texts = tuple(str(text) for text in names)
    if len(texts) != count:
        raise InputError(f"{name} must have {count} entries, but has {len(texts)}.")
    return texts
