"""One epoch of the paper's solver against the least work that it could be, measured in one run.

    OMP_NUM_THREADS=1 python benchmarks/eb_epoch.py

Pool 1024, 512 channels, 64 samples in batches of 64 and of 16, one thread, CPU seconds, in turn. The least work:
the matrix products of the networks and of the reconstruction, forward and backward, for every batch, into memory
that is there; one pass of the optimiser over all weights per batch, its gradients there; and the products of one
evaluation. The ambiguity term has products of its own, of the slots in use, nearly all of them at the start: the
least work is without them, and so is the epoch of the second ratio. Also the largest tensor that an epoch makes,
which must not be one of batch × pool × channels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import median
from time import thread_time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from common import Cell, Result, check, measure, parser, report
from fits import mixtures, setting
from gmcr.eb import training
from gmcr.eb.settings import Settings

REPEATS = 25
ASKED = 1.15

Work = Callable[[], object]


class LargestTensor(TorchDispatchMode):
    """Within this, the number of entries of the largest tensor that any operation returns."""

    entries = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else [out]:
            if isinstance(tensor, torch.Tensor):
                self.entries = max(self.entries, tensor.numel())
        return out


def least(run: training.Run, X: torch.Tensor) -> Work:
    """Products of all batches forward and backward, the optimiser's passes, products of an evaluation."""
    size = min(run.settings.batch_size, len(X))
    steps, train, evaluate, update = (
        -(-len(X) // size),
        _products(run, size, True),
        _products(run, len(X)),
        _update(run),
    )

    @torch.inference_mode()
    def work() -> None:
        for _ in range(steps):
            train()
            update()
        evaluate()

    return work


def _products(run: training.Run, n: int, backward: bool = False) -> Work:
    """The matrix products of n samples."""
    model = run.model
    layers = [
        layer for net in (model.energy, model.concentration) for layer in net if hasattr(layer, "weight")
    ]
    weights = [layer.weight.detach() for layer in layers] + [model.pool().detach().T.contiguous()]
    first = {0, 3}  # the samples need no gradient
    ins = [torch.rand(n, weight.shape[1]) for weight in weights]
    outs = [torch.rand(n, weight.shape[0]) for weight in weights]
    below = [torch.empty_like(value) for value in ins]
    gradients = [torch.empty_like(weight) for weight in weights] if backward else []

    def work() -> None:
        for value, weight, out in zip(ins, weights, outs):
            torch.mm(value, weight.T, out=out)
        for place, gradient in enumerate(gradients):
            if place not in first:
                torch.mm(outs[place], weights[place], out=below[place])
            torch.mm(outs[place].T, ins[place], out=gradient)

    return work


def _update(run: training.Run) -> Work:
    """One pass of torch's own optimiser over weights like those of the run."""
    weights = [torch.nn.Parameter(parameter.detach().clone()) for parameter in run.model.parameters()]
    for weight in weights:
        weight.grad = torch.full_like(weight, 1e-3)
    optimiser = torch.optim.AdamW(weights, fused=True)
    return optimiser.step


def cpu_seconds(works: list[Work]) -> list[list[float]]:
    """CPU seconds of this thread for each, in turn, many times."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(REPEATS):
        for work, own in zip(works, times):
            start = thread_time()
            work()
            own.append(thread_time() - start)
    return times


def run(cell: Cell) -> Result:
    torch.set_num_threads(1)
    X = torch.as_tensor(mixtures(cell).D, dtype=torch.float32)
    settings = replace(Settings(), batch_size=cell["batch"])
    state = training.start(X, cell["pool"], settings, seed=0)
    plain = training.start(X, cell["pool"], replace(settings, ambiguity_weight=0.0), seed=0)
    with LargestTensor() as largest:
        training.one_epoch(state, X)
    bare = least(state, X)
    works: list[Work] = [lambda: training.one_epoch(state, X), bare, lambda: training.one_epoch(plain, X)]
    for work in works:
        work()
    epoch, alone, without = cpu_seconds(works)
    return {
        "epoch": min(epoch),
        "least": min(alone),
        "ratio": min(epoch) / min(alone),
        "median_ratio": median(one / other for one, other in zip(epoch, alone)),
        "ratio_without": min(without) / min(alone),
        "median_without": median(one / other for one, other in zip(without, alone)),
        "largest": largest.entries,
        "expanded": min(cell["batch"], len(X)) * cell["pool"] * X.shape[1],
    }


def main() -> None:
    given = parser(__doc__, "eb_epoch").parse_args()
    pool = 64 if given.smoke else 1024
    cells = [
        {"row": f"batch {batch}", **setting(16, 64, 30, random_state=100), "pool": pool, "batch": batch}
        for batch in (64, 16)
    ]
    runs = measure(cells, run, given)
    lines = [
        {
            "pool": one["pool"],
            "batch": one["batch"],
            "epoch, CPU ms": f"{1e3 * one['epoch']:.0f}",
            "least work, ms": f"{1e3 * one['least']:.0f}",
            "ratio: best, median": f"{one['ratio']:.2f}, {one['median_ratio']:.2f}",
            "without the ambiguity term": f"{one['ratio_without']:.2f}, {one['median_without']:.2f}",
            "largest tensor": f"{one['largest']:,}",
            "batch × pool × channels": f"{one['expanded']:,}",
        }
        for one in runs.table.to_dict("records")
    ]
    asked = [
        check(f"epoch over its least work, batch {one['batch']}", one["ratio"], "<=", ASKED, "{:.2f}")
        for one in runs.table.to_dict("records")
    ]
    report([lines, asked], runs, given)


if __name__ == "__main__":
    main()
