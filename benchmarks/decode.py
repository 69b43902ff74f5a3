"""Speed and memory of the decoder, as ratios measured in one run.

    python benchmarks/decode.py                  # 100,000 samples x 512 channels, pool of 256
    python benchmarks/decode.py --samples 10000

Time is compared with the matrix product D S' alone, which any decoder must pay, and with a loop of
scipy.optimize.nnls over the samples; memory is what the process needs beyond the input.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys

import numpy as np
from scipy.optimize import nnls

from common import Cell, Result, best_times, check, measure, parser, report, timed
from gmcr import decode, make_mixtures
from gmcr.threads import n_threads

CHUNK = 2_000  # samples generated at a time, so that making the data leaves no peak of its own
SIZE = ("samples", "channels", "pool")


def make_data(n_samples: int, n_channels: int, pool_size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples, pool and noise: make_mixtures at 20 dB, chunk by chunk over one pool."""
    S = make_mixtures(pool_size, 1, n_features=n_channels, random_state=0).S
    D, sigma = np.empty((n_samples, n_channels)), np.empty(n_samples)
    for first in range(0, n_samples, CHUNK):
        part = slice(first, min(first + CHUNK, n_samples))
        mix = make_mixtures(pool_size, part.stop - first, profiles=S, random_state=first + 1)
        D[part], sigma[part] = mix.D, mix.sigma
    return D, S, sigma


def nnls_time(D: np.ndarray, S: np.ndarray, n_tried: int) -> float:
    """Seconds that a loop of scipy's nnls would take over all samples, from the first n_tried of them."""
    columns = np.ascontiguousarray(S.T)
    tried = D[:n_tried]
    return timed(lambda: [nnls(columns, x) for x in tried])[1] * len(D) / len(tried)


def memory_beyond_input(*size: int) -> float:
    """Growth of a fresh process's largest resident set while it decodes, in GB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_memory_growth, size)


def _memory_growth(*size: int) -> float:
    D, S, sigma = make_data(*size)
    decode(D[:100], S, noise=sigma[:100])  # the compiled code is loaded before the measurement
    before = _peak_memory()
    decode(D, S, noise=sigma)
    return (_peak_memory() - before) / 1e9


def _peak_memory() -> int:
    """Largest resident set of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(cell: Cell) -> Result:
    size = [cell[name] for name in SIZE]
    # First, while this process is small: a new one inherits the peak of the one that started it.
    memory = memory_beyond_input(*size)
    D, S, sigma = make_data(*size)
    decode(D[:100], S, noise=sigma[:100])  # compiles, or loads the compiled code
    product, decoding = best_times([lambda: D @ S.T, lambda: decode(D, S, noise=sigma)], cell["repeats"])
    return {
        "threads": n_threads(),
        "product": product,
        "decode": decoding,
        "nnls": nnls_time(D, S, cell["nnls_samples"]),
        "memory": memory,
    }


def main() -> None:
    options = parser(__doc__, "decode")
    options.add_argument("--samples", type=int, default=100_000)
    options.add_argument("--channels", type=int, default=512)
    options.add_argument("--pool", type=int, default=256)
    options.add_argument("--repeats", type=int, default=3, help="the best of so many timings counts")
    options.add_argument("--nnls", type=int, default=500, help="samples in the loop of scipy's nnls")
    given = options.parse_args()
    size = (2_000, 64, 16) if given.smoke else (given.samples, given.channels, given.pool)
    cell = dict(zip(SIZE, size)) | {"repeats": given.repeats, "nnls_samples": given.nnls}
    runs = measure([{"row": "decode"} | cell], run, given)
    (one,) = runs.table.to_dict("records")
    line = {
        "samples": f"{one['samples']:,}",
        "channels": one["channels"],
        "pool": one["pool"],
        "threads": one["threads"],
        "D S', s": f"{one['product']:.3g}",
        "decode, s": f"{one['decode']:.3g}",
        "nnls loop, s (extrapolated)": f"{one['nnls']:.3g}",
    }
    asked = [
        check("decode over D S'", one["decode"] / one["product"], "<=", 4.0, "{:.3g}"),
        check("nnls loop over decode", one["nnls"] / one["decode"], ">=", 50.0, "{:.3g}"),
        check("memory beside the samples, GB", one["memory"], "<=", 1.5, "{:.3g}"),
    ]
    report([[line], asked], runs, given)


if __name__ == "__main__":
    main()
