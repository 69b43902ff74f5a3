"""A lazy cube whose truth is known, of any size: no part of it is made before it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np

from gmcr.mixtures import make_mixtures
from gmcr.validation import FloatArray

OVERLAP = 0.25  # of a region's side, by which it reaches into its neighbours
AMOUNTS = (1.0, 10.0)


@dataclass(frozen=True, eq=False)
class Cube:
    """An image of mixtures.

    data : dask array (y, x, channels);  C : dask array (y, x, components) of their concentrations
    S : (components, channels) profiles, the rare component's last;  noise : standard deviation
    """

    data: Any
    C: Any
    S: FloatArray
    noise: float


def make_cube(
    shape: tuple[int, int] = (2000, 2000),
    n_channels: int = 128,
    *,
    n_components: int = 8,
    rare: float = 1 / 40,
    snr_db: float = 30.0,
    lines: int = 16,
    random_state: int = 0,
) -> Cube:
    """An image with components in regions of their own, and one in a few pixels all over it.

    Parameters
    ----------
    shape : (y, x) of the image
    n_components : those with regions, which lie side by side and overlap at their edges
    rare : share of the pixels that hold the last component
    snr_db : mean square of the signal over that of the noise, which is constant, in dB
    lines : of the image in a block; what a pixel holds does not depend on them
    """
    S = make_mixtures(n_components + 1, 2 * n_components, n_features=n_channels, random_state=random_state).S
    chunks = (min(lines, shape[0]), shape[1])
    held = da.map_blocks(
        _amounts,
        da.arange(shape[0], chunks=chunks[0])[:, None, None],
        shape=shape,
        n_components=n_components,
        rare=rare,
        seed=random_state,
        chunks=(da.core.normalize_chunks(chunks[:1], shape[:1])[0], (shape[1],), (n_components + 1,)),
        dtype=float,
        meta=np.empty((0, 0, 0)),
    )
    some = _amounts(
        np.arange(0, shape[0], max(shape[0] // 32, 1))[:, None, None], shape, n_components, rare, 0
    )
    noise = float(np.sqrt(np.mean(np.square(some @ S))) * 10 ** (-snr_db / 20))
    data = da.map_blocks(
        _mixed,
        held,
        S=S,
        noise=noise,
        seed=random_state,
        chunks=(*held.chunks[:-1], (n_channels,)),
        dtype=float,
        meta=np.empty((0, 0, 0)),
    )
    return Cube(data, held, S, noise)


def _amounts(lines: Any, shape: tuple[int, int], n_components: int, rare: float, seed: int) -> FloatArray:
    """Concentrations in some lines (n, 1, 1) of the image, each line drawn by itself: (n, x, components)."""
    columns = -(-n_components // 2)  # two rows of regions
    centres = np.array(
        [((j // columns + 0.5) / 2, (j % columns + 0.5) / columns) for j in range(n_components)]
    )
    reach = (0.5 + OVERLAP) / np.array([2, columns])
    x = (np.arange(shape[1]) + 0.5) / shape[1]
    out = np.zeros((len(lines), shape[1], n_components + 1))
    for place, line in enumerate(lines[:, 0, 0]):
        random = np.random.default_rng([seed, int(line), 0])
        y = (line + 0.5) / shape[0]
        inside = (abs(y - centres[:, 0]) < reach[0]) & (abs(x[:, None] - centres[:, 1]) < reach[1])
        held = np.column_stack([inside, random.random(shape[1]) < rare])
        out[place] = held * random.uniform(*AMOUNTS, held.shape)
    return out


def _mixed(C: FloatArray, S: FloatArray, noise: float, seed: int, block_info: Any = None) -> FloatArray:
    first = block_info[0]["array-location"][0][0]
    out: FloatArray = C @ S
    for place in range(len(C)):
        out[place] += np.random.default_rng([seed, first + place, 1]).normal(0.0, noise, out.shape[1:])
    return out
