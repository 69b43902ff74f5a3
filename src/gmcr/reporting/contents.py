"""Everything a report shows: a decomposition, and what was found out about it as the objects that tell it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gmcr.calibration import Calibration
from gmcr.decomposition import Decomposition
from gmcr.io.words import is_time
from gmcr.rank import RankReport
from gmcr.theory.certificate import Certificate
from gmcr.theory.feasible_bands import Ambiguity
from gmcr.trust import Trust
from gmcr.validation import BoolArray, FloatArray
from gmcr.window.evidence import Evidence

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class LibraryMatch:
    """What a library says about a component: its name (empty for none), a verdict, the nearest hit, its score."""

    name: str = ""
    verdict: str = ""
    hit: str = ""
    score: float | None = None


@dataclass(frozen=True, eq=False)
class Contents:
    """What a report shows. Whatever is None was not found out, and `left_out` may say why."""

    NOT_KEPT: ClassVar[str] = "nothing was kept of it: gmcr report RUN DATA judges it."

    found: Decomposition
    source: str = "samples"  # name of the data file
    made: str = ""  # when
    axis_label: str = "channel axis"  # what the channels are, with unit, such as "Raman shift (cm⁻¹)"
    row_label: str = ""  # what the samples follow one another by, such as "time (min)", where a file says
    notes: tuple[str, ...] = ()  # what the reader of the file inferred, a sentence each
    warnings: tuple[str, ...] = ()  # of the solver
    count: Evidence | None = None
    rank: RankReport | None = None
    trust: Trust | None = None
    certificate: Certificate | None = None
    ambiguity: Ambiguity | None = None
    calibration: Calibration | None = None
    groups: list[list[int]] = field(default_factory=list)  # components that the samples never separate
    names: dict[int, LibraryMatch] = field(default_factory=dict)  # by component
    left_out: dict[str, str] = field(default_factory=dict)  # why, by what: the keys are those of `collect`
    reproduce: dict[str, str] = field(default_factory=dict)  # what it takes to do it again, by label
    steps: tuple[str, ...] = ()  # what each step before unmixing did, a sentence or two each
    runs: tuple[str, ...] | None = None  # (samples,) the run that each sample belongs to
    shape: tuple[int, int] | None = None  # (rows, columns) of an image whose pixels the samples are
    order: FloatArray | None = None  # (samples,) place of each sample in its run, such as a time
    ratio: FloatArray | None = None  # (samples,) root mean square of what is left, over the noise
    known: BoolArray | None = None  # (samples,) whether the pool explains the sample within its noise
    confidence: FloatArray | None = None  # (samples,) probability that the support is right
    profile_errors: FloatArray | None = None  # (components,) or (components, channels) standard errors
    concentration_errors: FloatArray | None = None  # (samples, components) standard errors
    worst: IntArray | None = None  # (shown,) the samples that fit worst
    worst_data: FloatArray | None = None  # (shown, channels) what was measured there
    sizes: FloatArray | None = None  # (samples,) root mean square
    pair_counts: IntArray | None = None  # (components,) isolating pairs
    pair_examples: IntArray | None = None  # (components, 2) two samples of one, or −1
    before: FloatArray | None = None  # (shown, channels as measured) a few samples before the steps
    before_axis: FloatArray | None = None  # (channels as measured,)
    before_rows: IntArray | None = None  # (shown,) which samples they are
    after: FloatArray | None = None  # (shown, channels) the same after the steps
    after_axis: FloatArray | None = None  # (channels,)
    pixels: IntArray | None = None  # (samples,) place of each sample in the image, row by row

    def __post_init__(self) -> None:
        """Refuse what does not belong to the decomposition."""
        M, K, d = self.found.n_samples, self.found.n_components, self.found.n_channels
        shown = 0 if self.worst is None else len(self.worst)
        wanted: dict[str, tuple[int, ...]] = {"concentration_errors": (M, K), "worst_data": (shown, d)}
        wanted |= {"pair_counts": (K,), "pair_examples": (K, 2)}
        wanted |= dict.fromkeys(("ratio", "known", "confidence", "sizes", "pixels", "order"), (M,))
        for name, shape in wanted.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} must have shape {shape}, but has {array.shape}")
        if self.runs is not None and len(self.runs) != M:
            raise ValueError(f"runs must name the run of each of {M} samples, but names {len(self.runs)}")
        errors = self.profile_errors
        if errors is not None and errors.shape not in ((K,), (K, d)):
            raise ValueError(f"profile_errors must have shape {(K,)} or {(K, d)}, but has {errors.shape}")
        if self.worst is not None and self.worst.size and not 0 <= self.worst.min() <= self.worst.max() < M:
            raise ValueError("worst names a sample that is not there")
        if self.ambiguity is not None and len(self.ambiguity.bands) != K:
            raise ValueError(f"ambiguity must have {K} bands, but has {len(self.ambiguity.bands)}")

    @cached_property
    def row(self) -> str:
        """What the page calls a sample: a pixel, a time point, a point of another order, or a sample."""
        if self.shape is not None:
            return "pixel"
        if is_time(self.row_label):
            return "time point"
        return "sample" if self.order is None and not self.row_label else "point"

    def named(self, text: str) -> str:
        """A sentence that speaks of samples, with their own word; not for texts that hold names from files."""
        return re.sub("[Ss]ample", lambda one: _as(one[0], self.row), text) if self.row != "sample" else text

    @cached_property
    def places(self) -> FloatArray | None:
        """(samples,) where samples stand in their order: as given, or by their names where the file says so."""
        if self.order is not None or not self.row_label or self.found.sample_names is None:
            return self.order
        try:
            return np.array([float(name) for name in self.found.sample_names])
        except ValueError:
            return None

    @cached_property
    def sample_names(self) -> tuple[str, ...]:
        return self.found.sample_names or tuple(str(m) for m in range(self.found.n_samples))

    @cached_property
    def component_names(self) -> tuple[str, ...]:
        """A name from a library where there is one, with the component's number; else its own."""
        own = self.found.names
        named = {j: match.name for j, match in self.names.items() if match.name and match.name != own[j]}
        return tuple(f"{named[j]} ({j})" if j in named else name for j, name in enumerate(own))

    @cached_property
    def by_signal(self) -> IntArray:
        """(components,) numbers of the components, the one with the most signal first."""
        return np.argsort(-self.shares, kind="stable")

    @cached_property
    def shares(self) -> FloatArray:
        """(components,) how much of all signal that was found is each component's: they sum to one.

        Of signed profiles or amounts, signal is what there is without its sign.
        """
        own = np.abs(self.found.concentrations).sum(axis=0) * np.abs(self.found.components).sum(axis=1)
        return own / max(float(own.sum()), np.finfo(float).tiny)

    @cached_property
    def axis(self) -> tuple[FloatArray, str, bool]:
        """Positions of channels, what they are, and whether they fall; numbers where an axis goes to and fro."""
        axis = self.found.axis
        steps = np.zeros(1) if axis is None else np.diff(axis)
        if axis is None or not ((steps > 0).all() or (steps < 0).all()):
            return np.arange(self.found.n_channels, dtype=float), "channel", False
        return axis, self.axis_label, bool(len(steps) and steps[0] < 0)


def _as(word: str, other: str) -> str:
    """Another word, with a capital where the word has one."""
    return other.capitalize() if word[0].isupper() else other
