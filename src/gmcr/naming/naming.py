"""Who is who: recovered profiles against a library, one-to-one, and none where nothing is alike enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from gmcr.confidence.standard_errors import profile_errors
from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.io.mutations import mutation_types
from gmcr.naming import scores
from gmcr.naming.library import Library
from gmcr.naming.result import NAMED, NONE, SEVERAL, Matches
from gmcr.validation import FloatArray, as_numbers, check_axis, check_pool, check_whole, evenly

ALPHA = 0.05  # probability that an unrelated library reaches the chance level
CROWD = 400  # spectra whose neighbours in the library are looked for; their median hardly moves beyond that
MOST_NOISE = 0.5  # share of a profile's variance up to which its noise is allowed for
MOST_SHIFTED = 50  # channels; a spectrum that is further off is another one
FLAT = 1e-9  # of its size: a spectrum that varies by less is constant

IntArray = NDArray[np.intp]
Compared = dict[str, FloatArray]  # profiles x spectra: what decides, what is reported, and at which shift


def match(
    profiles: Any,
    library: Any,
    *,
    axis: Any = None,
    channels: tuple[str, ...] | None = None,
    errors: Any = None,
    shift: float | None = None,
    derivative: bool = False,
    top: int = 5,
) -> Matches:
    """Name profiles from a spectral library.

    Spectra are compared by their correlation (hit quality index, HQI = 100 r²), so that offset and scale do not
    matter. A profile takes a name if the correlation reaches a level that nobody has to choose:

    - as alike as only one spectrum in twenty of this library is to its nearest neighbour of another name, since
      that is what a substance which is not in the library would reach, and within half the median angle to that
      neighbour;
    - times the correlation that the profile's own noise allows, √(1 − noise variance / variance);
    - and never less than the best of as many unrelated spectra of that smoothness reaches by chance (5 %).

    No name is given twice: the assignment as a whole is the best one. Spectra of one name are one substance.

    Parameters
    ----------
    profiles : (components, channels), a Decomposition, or a fitted model that holds one
    library : Library, or a table with a spectrum per row; it is put through the steps of a fitted model
    axis : (channels,) positions of the profiles' channels; a decomposition brings its own. Spectra that stand
        elsewhere are interpolated. Where either side has none, channels are compared one by one
    channels : names of the profiles' channels, where they have names instead; a decomposition brings its own. A
        library that names its channels is put in their order
    errors : (components,) or (components, channels) standard errors of the profiles; a decomposition with noise
        brings its own
    shift : largest shift along the axis, in its unit, that counts as the same spectrum; one channel by default
    derivative : whether the first derivative decides (Savitzky-Golay), which slopes and broad backgrounds do not
        move; both are reported
    top : number of hits to report for each profile

    Returns
    -------
    Matches

    Examples
    --------
    >>> import numpy as np
    >>> from gmcr.naming import Library, match
    >>> spectra = np.random.default_rng(0).random((3, 50))
    >>> match(spectra[[2, 0]] + 1.0, Library.of(spectra, ["a", "b", "c"])).names
    ('c', 'a')
    """
    chain = getattr(profiles, "chain_", None)
    found = profiles if isinstance(profiles, Decomposition) else getattr(profiles, "decomposition_", None)
    if found is not None:
        n_fixed = getattr(profiles, "n_fixed_", 0)
        profiles = found.components
        axis = found.axis if axis is None else axis
        channels = found.channels if channels is None else channels
        if errors is None and found.noise is not None and (found.noise > 0).all():
            errors = profile_errors(found.concentrations, found.noise, n_fixed=n_fixed)
    P = check_pool(profiles, name="profiles")
    errors = _check_errors(errors, P)
    shelf = library if isinstance(library, Library) else Library.of(library)
    notes: list[str] = []
    if chain:
        shelf = shelf.after(chain)
        notes += shelf.notes[-1:]
    shelf = shelf.ordered_as(channels, "the profiles")
    positions, shelf = _positions(axis, P.shape[1], shelf, notes)
    step = shelf.step(positions)
    usual = 0.0 if mutation_types(shelf.channels or ()) else step  # a mutation type is next to no other
    furthest = usual if shift is None else float(shift)
    if not 0 <= furthest <= MOST_SHIFTED * step:
        raise InputError(
            f"shift must be a length along the axis, up to {MOST_SHIFTED} channels "
            f"({MOST_SHIFTED * step:g}), not {shift!r}."
        )
    shifts = np.linspace(-furthest, furthest, 2 * int(np.ceil(furthest / step - 1e-9)) + 1)
    at = _Shifted([shelf.on_axis(positions + one) for one in shifts], shifts, derivative)
    _leave_out(at, shelf, notes)

    compared = at.compare(P)
    decisive = scores.derivative(P) if derivative else P
    noise = scores.derivative_noise(errors) if derivative else errors
    reachable = np.maximum(scores.reachable(decisive, noise), np.sqrt(1.0 - MOST_NOISE))
    alike = _alike(at, shelf.names)
    levels = np.array([_library_level(alike, one) for one in reachable])
    level = np.maximum(levels * reachable, scores.chance_level(decisive, at.decisive(), ALPHA))
    table, hits = _tables(compared, level, shelf.names, check_whole(top, "top"))
    return Matches(table, hits, furthest, derivative, tuple(notes))


@dataclass(frozen=True)
class _Shifted:
    """A library on the profiles' axis, (spectra, channels) for each shift, and whether its derivative decides."""

    spectra: list[FloatArray]
    shifts: FloatArray
    derivative: bool

    @property
    def unshifted(self) -> FloatArray:
        return self.spectra[len(self.shifts) // 2]

    def decisive(self) -> FloatArray:
        """What decides, unshifted: the spectra that can be compared, or their derivatives."""
        there = self.unshifted[~np.isnan(self.unshifted).all(axis=1)]
        return scores.derivative(there) if self.derivative else there

    def compare(self, P: FloatArray) -> Compared:
        """Each pair at the shift where they are most alike; shifts that gain nothing are not made."""
        slopes = scores.derivative(P)
        best: Compared = {}
        for place in np.argsort(np.abs(self.shifts), kind="stable"):
            L = self.spectra[place]
            r, r_slope = scores.correlations(P, L), scores.correlations(slopes, scores.derivative(L))
            new = {
                "decisive": r_slope if self.derivative else r,
                "hqi": scores.hqi(r),
                "hqi_derivative": scores.hqi(r_slope),
                "cosine": scores.cosines(P, L),
                "shift": np.full(r.shape, self.shifts[place]),
            }
            if best:
                was, now = (np.nan_to_num(one["decisive"], nan=-1.0) for one in (best, new))
                new = {name: np.where(now > was, values, best[name]) for name, values in new.items()}
            best = new
        return best


def _alike(at: _Shifted, names: tuple[str, ...]) -> FloatArray:
    """Correlations of spectra of the library, spread over it, with all those of another name: (some, spectra)."""
    some = evenly(len(names), CROWD)
    keys = np.array([name.casefold() for name in names])
    form = scores.derivative if at.derivative else np.asarray
    own, alike = form(at.unshifted[some]), np.zeros((len(some), len(names)))
    for L in at.spectra:
        np.maximum(alike, np.nan_to_num(scores.correlations(own, form(L))), out=alike)
    return np.where(keys[some][:, None] != keys, alike, 0.0)


def _library_level(alike: FloatArray, reachable: float) -> float:
    """The correlation that a substance which is not in the library reaches with probability α at most.

    If it resembles the library as much as the library's own substances resemble each other, the best hit of a
    stranger is one more draw from the correlations with the nearest neighbour (a conformal bound). Spectra that
    are more alike than is `reachable` the profile could not tell apart; they count as one. Few draws bound
    nothing, so that half the typical angle to the neighbour is asked for as well: nearer than that, nothing else
    is as near.
    """
    nearest = np.sort(np.where(alike < reachable, alike, 0.0).max(axis=1))
    rank = int(np.ceil((len(nearest) + 1) * (1.0 - ALPHA)))
    half_angle = np.sqrt((1.0 + np.median(nearest)) / 2.0)
    return float(max(nearest[min(rank, len(nearest)) - 1], half_angle))


def _tables(
    compared: Compared, level: FloatArray, names: tuple[str, ...], top: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row per profile, and the best hits of each."""
    alike = np.nan_to_num(compared["decisive"], nan=-1.0)
    given = _assign(alike, level, names)
    order = np.argsort(-alike, axis=1, kind="stable")
    rows, hits = [], []
    for k, assigned in enumerate(given):
        passing = {names[j].casefold() for j in np.flatnonzero(alike[k] >= level[k])}
        shown = assigned if assigned >= 0 else order[k, 0]
        rivals = [j for j in order[k] if names[j].casefold() != names[shown].casefold()][:1]
        rows.append(
            {
                "component": k,
                "name": names[assigned] if assigned >= 0 else "",
                "verdict": NONE if assigned < 0 else NAMED if len(passing) == 1 else SEVERAL,
                "hit": names[shown],
                **_scores(compared, k, shown),
                "level": 100.0 * level[k] ** 2,
                "next": names[rivals[0]] if rivals else "",
                "next_hqi": float(compared["hqi"][k, rivals[0]]) if rivals else np.nan,
            }
        )
        for rank, j in enumerate(order[k, :top], start=1):
            hits.append({"component": k, "rank": rank, "hit": names[j], **_scores(compared, k, j)})
    return pd.DataFrame(rows), pd.DataFrame(hits)


def _scores(compared: Compared, k: int, j: int) -> dict[str, float]:
    return {name: float(values[k, j]) for name, values in compared.items() if name != "decisive"}


def _assign(alike: FloatArray, level: FloatArray, names: tuple[str, ...]) -> IntArray:
    """The spectrum of each profile, −1 for none: no name twice, and best in total above the levels."""
    substance = np.unique([name.casefold() for name in names], return_inverse=True)[1]
    order = np.argsort(substance, kind="stable")
    starts = np.searchsorted(substance[order], np.arange(substance.max() + 1))
    best = np.maximum.reduceat(alike[:, order], starts, axis=1)
    n_profiles, n_names = best.shape
    gains = np.full((n_profiles, n_names + n_profiles), -1e3)
    gains[:, :n_names] = np.where(best >= level[:, None], best - level[:, None], -1e3)
    gains[np.arange(n_profiles), n_names + np.arange(n_profiles)] = -1e-9  # none, rather than below its level
    chosen = linear_sum_assignment(-gains)[1]
    own = np.where(substance == chosen[:, None], alike, -np.inf).argmax(axis=1)
    return np.where(chosen < n_names, own, -1)


# Checks


def _check_errors(errors: Any, P: FloatArray) -> FloatArray:
    if errors is None:
        return np.zeros(len(P))
    numbers = as_numbers(errors, "errors")
    if numbers.shape not in ((len(P),), P.shape) or not (numbers >= 0).all():
        raise InputError(
            f"errors must be one per profile ({len(P)}) or one per entry {P.shape}, not negative, "
            f"but came with shape {numbers.shape}."
        )
    return numbers


def _positions(axis: Any, n_channels: int, library: Library, notes: list[str]) -> tuple[FloatArray, Library]:
    """The profiles' axis, and the library with one of the same kind."""
    if axis is None or not library.has_axis:
        if axis is not None or any(block.axis is not None for block in library.blocks):
            notes.append("Profiles and library do not both have an axis; channels were compared one by one.")
        return np.arange(float(n_channels)), library.by_channel(n_channels)
    positions = check_axis(axis, n_channels)
    if library.differs(positions):
        notes.append("Spectra of the library were interpolated onto the axis of the profiles.")
    return positions, library


def _leave_out(at: _Shifted, library: Library, notes: list[str]) -> None:
    """Blank the spectra that cannot be compared, and say so."""
    L = at.unshifted
    present = ~np.isnan(L)
    short = present.mean(axis=1) < scores.SHARED
    size = np.abs(np.where(present, L, 0.0)).max(axis=1)
    flat = ~short & (np.abs(scores.centred(L)).max(axis=1) <= FLAT * size)
    too_short = f"cover less than {scores.SHARED:.0%} of the profiles' axis"
    for which, why in ((short, too_short), (flat, "are constant")):
        if which.any():
            first = library.names[int(np.flatnonzero(which)[0])]
            notes.append(f"{int(which.sum())} spectra {why} and were left out, {first!r} among them.")
    if (short | flat).all():
        raise InputError(
            "no spectrum of the library can be compared: all are constant or end before the profiles' axis; "
            "check that both are in the same unit."
        )
    for spectra in at.spectra:
        spectra[short | flat] = np.nan
