"""Speed and memory of the decoder, as ratios measured in one run.

    python benchmarks/decode.py                  # 100,000 samples x 512 channels, pool of 256
    python benchmarks/decode.py --samples 10000 --json

Time is compared with the matrix product D S' alone, which any decoder must pay, and with a loop of
scipy.optimize.nnls over the samples; memory is what the process needs beyond the input.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import nnls

from gmcr import decode, make_mixtures
from gmcr.threads import n_threads

CHUNK = 2_000  # samples generated at a time, so that making the data leaves no peak of its own
TARGETS = {"time over D S'": ("<=", 4.0), "speed-up over nnls": (">=", 50.0), "memory, GB": ("<=", 1.5)}


def make_data(n_samples: int, n_channels: int, pool_size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples, pool and noise: make_mixtures at 20 dB, chunk by chunk over one pool."""
    S = make_mixtures(pool_size, 1, n_features=n_channels, random_state=0).S
    D, sigma = np.empty((n_samples, n_channels)), np.empty(n_samples)
    for first in range(0, n_samples, CHUNK):
        part = slice(first, min(first + CHUNK, n_samples))
        mix = make_mixtures(pool_size, part.stop - first, profiles=S, random_state=first + 1)
        D[part], sigma[part] = mix.D, mix.sigma
    return D, S, sigma


def best_times(runs: list[Callable[[], Any]], repeats: int) -> list[float]:
    """The shortest of several timings of each, in seconds; in turn, so that all see the same machine."""
    times = [[_time(run) for run in runs] for _ in range(repeats)]
    return [min(column) for column in zip(*times)]


def _time(run: Callable[[], Any]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def nnls_time(D: np.ndarray, S: np.ndarray, n_tried: int) -> float:
    """Seconds that a loop of scipy's nnls would take over all samples, from the first n_tried of them."""
    columns = np.ascontiguousarray(S.T)
    tried = D[:n_tried]
    return _time(lambda: [nnls(columns, x) for x in tried]) * len(D) / len(tried)


def memory_beyond_input(n_samples: int, n_channels: int, pool_size: int) -> float:
    """Growth of a fresh process's largest resident set while it decodes, in GB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_memory_growth, (n_samples, n_channels, pool_size))


def _memory_growth(n_samples: int, n_channels: int, pool_size: int) -> float:
    D, S, sigma = make_data(n_samples, n_channels, pool_size)
    decode(D[:100], S, noise=sigma[:100])  # the compiled code is loaded before the measurement
    before = _peak_memory()
    decode(D, S, noise=sigma)
    return (_peak_memory() - before) / 1e9


def _peak_memory() -> int:
    """Largest resident set of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(n_samples: int, n_channels: int, pool_size: int, repeats: int, n_nnls: int) -> dict[str, Any]:
    # First, while this process is small: a new one inherits the peak of the one that started it.
    memory = memory_beyond_input(n_samples, n_channels, pool_size)
    D, S, sigma = make_data(n_samples, n_channels, pool_size)
    decode(D[:100], S, noise=sigma[:100])  # compiles, or loads the compiled code
    product, decoding = best_times([lambda: D @ S.T, lambda: decode(D, S, noise=sigma)], repeats)
    loop = nnls_time(D, S, n_nnls)
    return {
        "samples": n_samples,
        "channels": n_channels,
        "pool": pool_size,
        "threads": n_threads(),
        "product, s": product,
        "decode, s": decoding,
        "nnls loop, s (extrapolated)": loop,
        "time over D S'": decoding / product,
        "speed-up over nnls": loop / decoding,
        "memory, GB": memory,
    }


def show(result: dict[str, Any]) -> None:
    table = Table(
        title=f"decode: {result['samples']:,} samples x {result['channels']} channels, "
        f"pool {result['pool']}, {result['threads']} threads"
    )
    for heading in ("measured", "value", "target", "met"):
        table.add_column(heading, justify="left" if heading == "measured" else "right")
    for name, value in result.items():
        if not isinstance(value, float):
            continue
        sign, target = TARGETS.get(name, ("", None))
        met = "" if target is None else ("yes" if (value <= target) == (sign == "<=") else "NO")
        table.add_row(name, f"{value:.3g}", "" if target is None else f"{sign} {target:g}", met)
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--channels", type=int, default=512)
    parser.add_argument("--pool", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=3, help="the best of so many timings counts")
    parser.add_argument("--nnls", type=int, default=500, help="samples in the loop of scipy's nnls")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    result = run(given.samples, given.channels, given.pool, given.repeats, given.nnls)
    print(json.dumps(result, indent=2)) if given.json else show(result)


if __name__ == "__main__":
    main()
