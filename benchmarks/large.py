"""A cube that is read in parts: passes, time and memory, against the size and against a slice in memory.

    python benchmarks/large.py                            # 4·10⁵ pixels
    python benchmarks/large.py --side 2000 --memory 1GB   # the 4 GB cube; takes 4 GB of disk in --folder

Written to zarr first, which is not timed; then `GMCR().fit` and `decode` by --workers threads, in a process of
its own. Seconds are those of the processor over all threads, so that they do not depend on what else the machine
does; memory is the proportional set size beyond that of the process before it reads anything.
"""

from __future__ import annotations

import argparse
import time
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import numpy as np

SLICE = 40_000  # pixels that are fitted and decoded in memory


def pss() -> float:
    """MB that this process has to itself or shares, each share counted once."""
    told = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in told if line.startswith("Pss:"))


class Watch:
    """Seconds of the processor, and the most memory, while something runs."""

    def __enter__(self) -> Watch:
        self.before, self.most, self.over = pss(), 0.0, Event()
        self.thread = Thread(target=self._look, daemon=True)
        self.thread.start()
        self.started = time.process_time()
        return self

    def __exit__(self, *details: object) -> None:
        self.seconds = time.process_time() - self.started
        self.over.set()
        self.thread.join()

    def _look(self) -> None:
        while not self.over.wait(0.02):
            self.most = max(self.most, pss() - self.before)


def written(folder: Path, side: int, channels: int, seed: int) -> Path:
    """The cube as zarr, made once."""
    import dask
    import zarr

    from gmcr.large.cubes import make_cube

    path = folder / f"cube-{side}-{channels}-{seed}.zarr"
    if not (path / "done").exists():
        cube = make_cube((side, side), channels, random_state=seed)
        group = zarr.open_group(path, mode="w")
        array = group.create_array("cube", shape=cube.data.shape, chunks=cube.data.chunksize, dtype="f8")
        with dask.config.set(scheduler="threads", num_workers=1):
            cube.data.store(array, lock=False)
        (path / "done").touch()
    return path


def fitted(path: Path, side: int, channels: int, seed: int, memory: str, workers: int) -> dict[str, Any]:
    """What a fit of the cube came to, and what it took."""
    import dask.array as da

    from gmcr import GMCR
    from gmcr.io.limits import as_memory
    from gmcr.large import reductions
    from gmcr.large.cubes import make_cube
    from gmcr.large.reading import BLOCK, read_lazily
    from gmcr.large.running import block_size, working_on

    cube = make_cube((side, side), channels, random_state=seed)
    block = block_size(as_memory(memory) or 0, workers, BLOCK)
    samples, passes = read_lazily(path, block=block), dict[str, list[float]]()
    over = reductions.LazyRows.over

    def timed(rows: Any, what: str, task: Any) -> Any:
        started = time.process_time()
        told = over(rows, what, task)
        passes.setdefault(what, []).append(time.process_time() - started)
        return told

    reductions.LazyRows.over = timed  # type: ignore[method-assign]
    n = side * side
    with working_on(workers):
        rows = samples.data[: -(-SLICE // side)].compute().reshape(-1, channels)
        with Watch() as reading:
            samples.data.map_blocks(
                lambda b: np.zeros((1, 1, 1)), chunks=(1, 1, 1), dtype=float
            ).sum().compute()
        with Watch() as fit:
            model = GMCR(n_jobs=1, random_state=0).fit(samples)
        with Watch() as decode:
            da.store(
                [model.concentrations_, model.noise_],
                [np.lib.format.open_memmap(path.parent / f"{name}.npy", "w+", float, shape)
                 for name, shape in (("C", (side, side, model.n_components_)), ("noise", (side, side)))],
                lock=False,
            )  # fmt: skip
        with Watch() as own:
            model._frozen().decode(rows, model.noise_law_)
    cosines = cube.S @ model.components_.T
    truth = cube.C[:64].compute().reshape(-1, len(cube.S))
    found = np.load(path.parent / "C.npy", mmap_mode="r")[:64].reshape(len(truth), -1)[
        :, cosines.argmax(axis=1)
    ]
    errors = (found - truth)[(truth > 0) & (found > 0)] / cube.noise
    per_row = {what: 1e6 * np.mean(taken) / n for what, taken in passes.items()}
    return {
        "rows": n,
        "count": model.n_components_,
        "smallest cosine": cosines.max(axis=1).min(),
        "rare held": (found[truth[:, -1] > 0, -1] > 0).mean(),
        "error / noise": float(np.sqrt(np.mean(np.square(errors)))),
        "passes": model.of_all_["passes"],
        "fit MB": fit.most,
        "decode MB": decode.most,
        "block MB": block / 2**20,
        "reading µs": 1e6 * reading.seconds / n,
        **{f"{what} µs": value for what, value in per_row.items()},
        "decode µs": 1e6 * decode.seconds / n,
        "in memory µs": 1e6 * own.seconds / len(rows),
        "fit s": fit.seconds,
    }


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--side", type=int, nargs="+", default=[632], help="pixels along each side")
    options.add_argument("--channels", type=int, default=128)
    options.add_argument("--memory", default="1GB")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--seed", type=int, default=100)
    options.add_argument("--folder", type=Path)
    asked = options.parse_args()
    with TemporaryDirectory() as spare:
        folder = asked.folder or Path(spare)
        folder.mkdir(parents=True, exist_ok=True)
        for side in asked.side:
            path = written(folder, side, asked.channels, asked.seed)
            told = (path, side, asked.channels, asked.seed, asked.memory, asked.workers)
            with get_context("spawn").Pool(1) as pool:
                result = pool.apply(fitted, told)
            for name, value in result.items():
                print(f"{name:>18}  {value:,.4g}" if isinstance(value, float) else f"{name:>18}  {value:,}")
            print(flush=True)


if __name__ == "__main__":
    main()
