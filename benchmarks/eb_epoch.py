"""One epoch of the paper's solver against its own matrix products, measured in one run.

    python benchmarks/eb_epoch.py

Pool 1024, 512 channels, 64 samples in one batch: training step, optimiser and evaluation. The matrix products are
those of the networks and of the reconstruction, forward and backward, and of the evaluation, on the same tensors;
nothing smaller could do the same work. Also the largest tensor that an epoch makes, which must not be one of
batch × pool × channels.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from common import Cell, Result, best_times, check, measure, parser, report
from fits import mixtures, setting
from gmcr.eb import training
from gmcr.eb.settings import Settings

REPEATS = 8


class LargestTensor(TorchDispatchMode):
    """Within this, the number of entries of the largest tensor that any operation returns."""

    entries = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else [out]:
            if isinstance(tensor, torch.Tensor):
                self.entries = max(self.entries, tensor.numel())
        return out


def products(run: training.Run, X: torch.Tensor) -> Callable[[], None]:
    """The matrix products of one epoch, and nothing else."""
    model = run.model
    inputs = []
    for network in (model.energy, model.concentration):
        value = X
        for layer in network:
            if hasattr(layer, "weight"):
                inputs.append((value.detach(), layer.weight.detach()))
            value = layer(value)
    gated, pool = torch.rand(len(X), model.n_slots), model.pool().detach()
    pairs = [*inputs, (gated, pool.T.contiguous())]

    @torch.inference_mode()
    def work() -> None:
        for value, weight in pairs:
            out = value @ weight.T  # forward
            out @ weight  # gradient of the input
            out.T @ value  # gradient of the weight
            value @ weight.T  # evaluation

    return work


def run(cell: Cell) -> Result:
    mix = mixtures(cell)
    X = torch.as_tensor(mix.D, dtype=torch.float32)
    state = training.start(X, cell["pool"], Settings(), seed=0)
    with LargestTensor() as largest:
        training.one_epoch(state, X)
    epoch, alone = best_times([lambda: training.one_epoch(state, X), products(state, X)], REPEATS)
    return {
        "epoch_seconds": epoch,
        "product_seconds": alone,
        "ratio": epoch / alone,
        "largest": largest.entries,
        "expanded": len(X) * cell["pool"] * X.shape[1],
        "threads": torch.get_num_threads(),
    }


def main() -> None:
    given = parser(__doc__, "eb_epoch").parse_args()
    pool = 64 if given.smoke else 1024
    cell = {"row": f"pool {pool}", **setting(16, 64, 20, random_state=100), "pool": pool}
    runs = measure([cell], run, given)
    lines = [
        {
            "pool": one["pool"],
            "threads": one["threads"],
            "epoch, ms": f"{1e3 * one['epoch_seconds']:.1f}",
            "products, ms": f"{1e3 * one['product_seconds']:.1f}",
            "ratio": f"{one['ratio']:.2f}",
            "largest tensor": f"{one['largest']:,}",
            "batch × pool × channels": f"{one['expanded']:,}",
        }
        for one in runs.table.to_dict("records")
    ]
    asked = [check("epoch over its matrix products", runs.table["ratio"].max(), "<=", 2.5, "{:.2f}")]
    report([lines, asked], runs, given)


if __name__ == "__main__":
    main()
