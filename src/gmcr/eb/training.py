"""Algorithm 1: train, evaluate, test for the end, adapt the schedules, keep checkpoints; resumable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from gmcr.eb import states
from gmcr.eb.beyond import noise_variance, started
from gmcr.eb.checkpoints import Bands, Checkpoint, Termination
from gmcr.eb.log import COLUMNS, FolderLog, MemoryLog
from gmcr.eb.loss import total_loss
from gmcr.eb.networks import Inside, Model
from gmcr.eb.settings import Settings
from gmcr.eb.stepping import AdamW

EVALUATED = 2048  # samples evaluated at a time


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation pass over the training samples finds.

    count : slots selected for at least one sample; usage : selections in all; single_users : slots selected for
    exactly one sample, the trap of one slot per sample
    mean_energy : Ē over samples, slots and both states; mean_gaps : (slots,) Δ̂_j
    """

    nmse: float
    r2: float
    mse: float
    count: int
    usage: int
    single_users: int
    mean_energy: float
    mean_gaps: np.ndarray


@dataclass
class Run:
    """A run in progress: everything that a continuation needs to be the same as no interruption.

    ahead : what the networks as they are now see of the samples, known from the last evaluation
    spare : tensors for the next checkpoint: memory does not grow, and what is kept is never half another
    """

    model: Model
    optimiser: AdamW
    settings: Settings
    bands: Bands
    termination: Termination
    random: torch.Generator  # of the noise, on the model's device
    order: torch.Generator  # of the samples
    size: float  # sum of squares of the samples
    spread: float  # the same about the column means
    log: MemoryLog | FolderLog
    usage_schedule: str = "paper"
    noise: float = 0.0  # σ², where a price needs it
    epoch: int = 0
    usage_weight: float = 0.0
    slot_weight: float = 0.0
    ended: bool = False
    ahead: Inside | None = None
    spare: dict[str, Tensor] = field(default_factory=dict)


def start(
    X: Tensor,
    n_slots: int,
    settings: Settings,
    *,
    signed: bool = False,
    lowest_band: float = 0.97,
    usage_schedule: str = "paper",
    seed: int = 0,
    folder: Path | None = None,
) -> Run:
    """A run at its beginning, for samples X on their device; or where the folder's run of the same stands."""
    order = torch.Generator().manual_seed(seed)
    model = Model(X.shape[1], n_slots, settings, signed)
    model.initialise(order)
    if settings.start != "random":
        model.profile.data = started(model.profile.data, X.cpu(), settings.start)
    model.to(X.device, X.dtype)
    centred = X - X.mean(dim=0)
    run = Run(
        model,
        AdamW(model),
        settings,
        bands=Bands(lowest_band, settings.band_width),
        termination=Termination(settings),
        random=torch.Generator(device=X.device).manual_seed(seed + 1),
        order=order,
        size=float(X.square().sum(dtype=torch.float64)),
        spread=float(centred.square().sum(dtype=torch.float64)),
        log=MemoryLog(n_slots) if folder is None else FolderLog(folder, n_slots),
        usage_schedule=usage_schedule,
        noise=noise_variance(X) if usage_schedule == "noise" or settings.slot_price else 0.0,
    )
    if isinstance(run.log, FolderLog):
        states.resume(run, X, run.log)
    return run


def train(
    run: Run,
    X: Tensor,
    max_epochs: int,
    *,
    save_every: int = 500,
    listener: Callable[[dict[str, float]], object] | None = None,
) -> Run:
    """Train until the termination rule fires or `max_epochs` have been run in all.

    In a folder, the run's state is saved now and then, and at the end, unless that is in the middle of an epoch.
    """
    log = run.log if isinstance(run.log, FolderLog) else None
    begun, whole = run.epoch, True
    try:
        while run.epoch < max_epochs and not run.ended:
            whole = False
            row = one_epoch(run, X)
            whole = True
            if log is not None and run.epoch % save_every == 0:
                states.save(run, X, log)
            if listener is not None:
                listener(row)
    finally:
        if log is not None:
            if whole and run.epoch > begun:
                states.save(run, X, log)
            log.close()
    return run


def one_epoch(run: Run, X: Tensor) -> dict[str, float]:
    """One epoch of Algorithm 1, in the implementation's order: train, evaluate, end?, λ, checkpoint."""
    settings = run.settings
    temperature = settings.temperature(run.epoch)
    train_once(run, X, temperature)
    found, run.ahead = evaluate(run.model, X, run.size, run.spread)
    run.ended = run.termination.update(found.nmse, found.mean_energy)
    facts = vars(found) | {"epoch": run.epoch, "usage_weight": run.usage_weight, "temperature": temperature}
    facts["smallest_margin"] = float(np.abs(found.mean_gaps).min())
    row = {name: facts[name] for name in COLUMNS}
    reprice(run, found, X)
    if run.bands.wants(found.r2, found.count):
        before = run.bands.at(found.r2)
        tensors = copied(run.model, run.spare)
        run.bands.keep(Checkpoint(run.epoch, found.count, found.r2, found.usage, tensors))
        run.spare = {} if before is None else before.tensors
    run.log.append(row, found.mean_gaps)
    run.epoch += 1
    return row


def reprice(run: Run, found: Evaluation, X: Tensor) -> None:
    """Move the prices of usage and of slots towards what the schedule asks for."""
    settings, n_slots = run.settings, run.model.n_slots
    shape = (n_slots, X.shape[1], found.count, len(X))
    if run.usage_schedule == "window":
        target = settings.window_target(found.nmse, found.mse, *shape)
    elif run.usage_schedule == "noise":  # from when the run reconstructs, whatever the noise is
        target = replace(settings, usage_from=settings.entry).window_target(found.nmse, run.noise, *shape)
    else:
        target = settings.usage_target(found.nmse, found.mse, found.mean_energy, n_slots)
    run.usage_weight = settings.smoothed(run.usage_weight, target)
    slots = settings.slot_target(found.nmse, run.noise, n_slots, len(X))
    run.slot_weight = settings.smoothed(run.slot_weight, slots)


def train_once(run: Run, X: Tensor, temperature: float) -> None:
    """One optimiser step per minibatch, in a new order of the samples.

    The weights of the first step are those of the last evaluation: its pass through the networks serves both.
    """
    if run.ahead is None and len(X) <= EVALUATED:
        run.ahead = run.model.inside(X)
    order = torch.randperm(len(X), generator=run.order).to(X.device)
    for rows in order.split(run.settings.batch_size):
        batch = X[rows]
        inside = run.model.inside(batch) if run.ahead is None else run.ahead.of(rows)
        run.ahead = None
        learn(run, batch, inside, temperature)


def learn(run: Run, batch: Tensor, inside: Inside, temperature: float) -> None:
    """One optimiser step: the loss and its gradients by what the gate was given, then back through the layers."""
    given = (inside.energy[-1], inside.concentration[-1], run.model.pool().detach())
    energy, concentration, pool = (tensor.requires_grad_() for tensor in given)
    out = run.model.gated(energy, concentration, pool, temperature, run.random)
    value = total_loss(batch, out, run.usage_weight, run.settings, run.slot_weight)
    gradients = torch.autograd.grad(value, given, materialize_grads=True)
    run.optimiser.step(inside, pool.detach(), *gradients)


@torch.no_grad()
def evaluate(model: Model, X: Tensor, size: float, spread: float) -> tuple[Evaluation, Inside | None]:
    """The model in evaluation mode over samples X, whose sums of squares are `size` and, centred, `spread`.

    Also what the networks see of all samples, where these were evaluated at once.
    """
    squares = energy = 0.0
    gaps = torch.zeros(model.n_slots, dtype=torch.float64)
    users = torch.zeros(model.n_slots, dtype=torch.long)
    for batch in X.split(EVALUATED):
        inside = model.inside(batch)
        out = model.decided(inside.energy[-1], inside.concentration[-1])
        squares += float((batch - out.fit).square().sum(dtype=torch.float64))
        energy += float(out.energies.sum(dtype=torch.float64))
        gaps += out.gap.sum(dim=0, dtype=torch.float64).cpu()
        users += out.gate.sum(dim=0, dtype=torch.float64).long().cpu()
    found = Evaluation(
        nmse=squares / size,
        r2=1.0 - squares / spread if spread > 0 else float("nan"),
        mse=squares / X.numel(),
        count=int((users > 0).sum()),
        usage=int(users.sum()),
        single_users=int((users == 1).sum()),
        mean_energy=energy / (2 * model.n_slots * len(X)),
        mean_gaps=(gaps / len(X)).numpy().astype(np.float32),
    )
    return found, inside if len(X) <= EVALUATED else None


def copied(model: Model, into: dict[str, Tensor] | None = None) -> dict[str, Tensor]:
    """The model's tensors, as they are now, in main memory; in the place of older ones where there are such."""
    tensors = model.state_dict()
    if into:
        return {name: into[name].copy_(tensor) for name, tensor in tensors.items()}
    return {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}
