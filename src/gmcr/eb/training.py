"""Algorithm 1: train, evaluate, test for the end, adapt the schedules, keep checkpoints; resumable."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gmcr.eb.checkpoints import Bands, Checkpoint, Termination
from gmcr.eb.networks import Model, Pass
from gmcr.eb.settings import Settings
from gmcr.errors import FileError

STATE_FILE, HISTORY_FILE, MARGINS_FILE = "state.pt", "history.csv", "margins.f32"
REACHED = ("epoch", "usage_weight", "ended", "history")  # what a run has come to, beside its networks
EVALUATED = 2048  # samples evaluated at a time
COLUMNS = (
    "epoch", "nmse", "r2", "count", "usage", "single_users", "mean_energy", "usage_weight", "temperature",
    "smallest_margin",
)  # fmt: skip


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
    """A run in progress: everything that a continuation needs to be the same as no interruption."""

    model: Model
    optimiser: torch.optim.Optimizer
    settings: Settings
    bands: Bands
    termination: Termination
    random: torch.Generator  # of the noise, on the model's device
    order: torch.Generator  # of the samples
    size: float  # sum of squares of the samples
    spread: float  # the same about the column means
    usage_schedule: str = "paper"
    epoch: int = 0
    usage_weight: float = 0.0
    ended: bool = False
    history: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    mean_gaps: list[np.ndarray] = field(default_factory=list)


def start(
    X: Tensor,
    n_slots: int,
    settings: Settings,
    *,
    signed: bool = False,
    lowest_band: float = 0.97,
    usage_schedule: str = "paper",
    seed: int = 0,
) -> Run:
    """A run at its beginning, for samples X on their device."""
    order = torch.Generator().manual_seed(seed)
    model = Model(X.shape[1], n_slots, settings, signed)
    model.initialise(order)
    model.to(X.device, X.dtype)
    optimiser = torch.optim.AdamW(
        model.parameters(),
        lr=settings.learning_rate,
        betas=settings.betas,
        eps=settings.epsilon,
        weight_decay=settings.weight_decay,
        fused=X.device.type in ("cpu", "cuda"),
    )
    centred = X - X.mean(dim=0)
    return Run(
        model,
        optimiser,
        settings,
        bands=Bands(lowest_band, settings.band_width),
        termination=Termination(settings),
        random=torch.Generator(device=X.device).manual_seed(seed + 1),
        order=order,
        size=float(X.square().sum(dtype=torch.float64)),
        spread=float(centred.square().sum(dtype=torch.float64)),
        usage_schedule=usage_schedule,
    )


def train(
    run: Run,
    X: Tensor,
    max_epochs: int,
    *,
    folder: Path | None = None,
    save_every: int = 500,
    listener: Callable[[dict[str, float]], object] | None = None,
) -> Run:
    """Train until the termination rule fires or `max_epochs` have been run in all.

    With a folder, the run's state is saved there now and then, and its history and margins are appended to files.
    """
    log = None if folder is None else _Log(folder, run)
    try:
        while run.epoch < max_epochs and not run.ended:
            row = one_epoch(run, X)
            if log is not None:
                log.append(row, run.mean_gaps[-1])
                run.mean_gaps.clear()  # they are in the file; memory stays flat
                if run.epoch % save_every == 0:
                    log.flush()
                    save(run, X, folder / STATE_FILE)  # type: ignore[operator]
            if listener is not None:
                listener(row)
    finally:
        if log is not None:
            log.close()
            save(run, X, folder / STATE_FILE)  # type: ignore[operator]
    return run


def one_epoch(run: Run, X: Tensor) -> dict[str, float]:
    """One epoch of Algorithm 1, in the implementation's order: train, evaluate, end?, λ, checkpoint."""
    settings = run.settings
    temperature = settings.temperature(run.epoch)
    train_once(run, X, temperature)
    found = evaluate(run.model, X, run.size, run.spread)
    run.ended = run.termination.update(found.nmse, found.mean_energy)
    facts = vars(found) | {"epoch": run.epoch, "usage_weight": run.usage_weight, "temperature": temperature}
    facts["smallest_margin"] = float(np.abs(found.mean_gaps).min())
    row = {name: facts[name] for name in COLUMNS}
    n_slots = run.model.n_slots
    if run.usage_schedule == "window":
        shape = (n_slots, X.shape[1], found.count, len(X))
        target = settings.window_target(found.nmse, found.mse, *shape)
    else:
        target = settings.usage_target(found.nmse, found.mse, found.mean_energy, n_slots)
    run.usage_weight = settings.smoothed(run.usage_weight, target)
    if run.bands.wants(found.r2, found.count):
        run.bands.keep(Checkpoint(run.epoch, found.count, found.r2, found.usage, copied(run.model)))
    for name, value in row.items():
        run.history[name].append(value)
    run.mean_gaps.append(found.mean_gaps)
    run.epoch += 1
    return row


def train_once(run: Run, X: Tensor, temperature: float) -> None:
    """One optimiser step per minibatch, in a new order of the samples."""
    order = torch.randperm(len(X), generator=run.order)
    for rows in order.split(run.settings.batch_size):
        batch = X[rows.to(X.device)]
        out = run.model(batch, temperature, run.random)
        value = total_loss(batch, out, run.usage_weight, run.settings)
        run.optimiser.zero_grad(set_to_none=True)
        value.backward()
        run.optimiser.step()


@torch.inference_mode()
def evaluate(model: Model, X: Tensor, size: float, spread: float) -> Evaluation:
    """The model in evaluation mode over samples X, whose sums of squares are `size` and, centred, `spread`."""
    squares = energy = 0.0
    gaps = torch.zeros(model.n_slots, dtype=torch.float64)
    users = torch.zeros(model.n_slots, dtype=torch.long)
    for batch in X.split(EVALUATED):
        out = model.evaluate(batch)
        squares += float((batch - out.fit).square().sum(dtype=torch.float64))
        energy += float(out.energies.sum(dtype=torch.float64))
        gaps += out.gap.sum(dim=0, dtype=torch.float64).cpu()
        users += out.gate.sum(dim=0, dtype=torch.float64).long().cpu()
    return Evaluation(
        nmse=squares / size,
        r2=1.0 - squares / spread if spread > 0 else float("nan"),
        mse=squares / X.numel(),
        count=int((users > 0).sum()),
        usage=int(users.sum()),
        single_users=int((users == 1).sum()),
        mean_energy=energy / (2 * model.n_slots * len(X)),
        mean_gaps=(gaps / len(X)).numpy().astype(np.float32),
    )


def copied(model: Model) -> dict[str, Tensor]:
    """The model's tensors, as they are now, in main memory."""
    return {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}


# The loss


def ambiguity_term(pool: Tensor, gating: Tensor, membership: float, width: float) -> Tensor:
    """R(B) (Eq. 8): the RBF kernel averaged over unordered pairs of slots in use in the minibatch.

    A slot is in use when its gate probability exceeds `membership` for at least one sample.
    """
    used = pool[(gating > membership).any(dim=0)]
    n = len(used)
    if n < 2:
        return pool.new_zeros(())
    squares = used.square().sum(dim=1)
    distances = (squares[:, None] + squares[None, :] - 2.0 * used @ used.T).clamp_min(0.0)
    kernel = torch.exp(-distances / (2.0 * width**2))
    return (kernel.sum() - kernel.diagonal().sum()) / (n * (n - 1))


def total_loss(X: Tensor, out: Pass, usage_price: float, settings: Settings) -> Tensor:
    """Eq. 7: fit, usage, energy and ambiguity, each a mean over a minibatch; none is computed at weight zero.

    Usage is C(x) = (1/N) Σ_i [f_e(x)]_i; the energies are those that the gate sees, perturbed, of both states.
    """
    terms = settings.fit_weight * (X - out.fit).square().mean()
    if settings.usage_weight and usage_price:
        terms = terms + settings.usage_weight * usage_price * out.gate.mean()
    if settings.energy_weight:
        terms = terms + settings.energy_weight * out.energies.square().mean()
    if settings.ambiguity_weight:
        ambiguity = ambiguity_term(out.pool, out.gate, settings.membership, settings.kernel_width)
        terms = terms + settings.ambiguity_weight * ambiguity
    return terms


# Files


def save(run: Run, X: Tensor, path: Path) -> None:
    """Write the run's whole state, whole or not at all."""
    state = _given(run, X) | {name: getattr(run, name) for name in REACHED}
    state |= {
        "model": run.model.state_dict(),
        "optimiser": run.optimiser.state_dict(),
        "random": run.random.get_state(),
        "order": run.order.get_state(),
        "termination": {
            name: getattr(run.termination, name) for name in ("epoch", "entered", "oscillated", "energy_sum")
        },
        "recent": list(run.termination.recent),
        "bands": {band: asdict(checkpoint) for band, checkpoint in run.bands.kept.items()},
    }
    part = path.with_name(path.name + ".part")
    torch.save(state, part)
    os.replace(part, path)


def resume(run: Run, X: Tensor, path: Path) -> Run:
    """Put a run at its beginning into the state that was saved for the same data and settings."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        same = all(_plain(state[name]) == _plain(value) for name, value in _given(run, X).items())
    except Exception as error:
        raise FileError(
            f"{path} is not the state of a run ({type(error).__name__}); remove it to start anew."
        ) from error
    if not same:
        raise FileError(f"{path} belongs to a run with other data or settings; choose another folder.")
    for name in REACHED:
        setattr(run, name, state[name])
    run.model.load_state_dict(state["model"])
    run.optimiser.load_state_dict(state["optimiser"])
    run.random.set_state(state["random"])
    run.order.set_state(state["order"])
    for name, value in state["termination"].items():
        setattr(run.termination, name, value)
    run.termination.recent.clear()
    run.termination.recent.extend(state["recent"])
    run.bands.kept = {band: Checkpoint(**checkpoint) for band, checkpoint in state["bands"].items()}
    return run


def read_margins(folder: Path, n_slots: int) -> np.ndarray:
    """The mean gaps of every epoch that a run has logged: (epochs, slots)."""
    return np.fromfile(folder / MARGINS_FILE, dtype=np.float32).reshape(-1, n_slots)


class _Log:
    """History as CSV, margins as single-precision numbers, and TensorBoard events where that is installed."""

    def __init__(self, folder: Path, run: Run) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # What was logged after the last saved state will be logged again.
        table = [",".join(COLUMNS)]
        table += [",".join(map(repr, values)) for values in zip(*run.history.values(), strict=True)]
        (folder / HISTORY_FILE).write_text("\n".join(table) + "\n")
        margins = folder / MARGINS_FILE
        margins.touch()
        os.truncate(margins, min(margins.stat().st_size, 4 * run.model.n_slots * run.epoch))
        self._history = (folder / HISTORY_FILE).open("a")
        self._margins = margins.open("ab")
        self._events = _tensorboard(folder)

    def append(self, row: dict[str, float], mean_gaps: np.ndarray) -> None:
        self._history.write(",".join(repr(row[name]) for name in COLUMNS) + "\n")
        self._margins.write(mean_gaps.astype(np.float32).tobytes())
        if self._events is not None:
            for name in COLUMNS[1:]:
                self._events.add_scalar(name, row[name], int(row["epoch"]))

    def flush(self) -> None:
        self._history.flush()
        self._margins.flush()

    def close(self) -> None:
        self._history.close()
        self._margins.close()
        if self._events is not None:
            self._events.close()


def _tensorboard(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / "events"))


def _given(run: Run, X: Tensor) -> dict[str, Any]:
    """What a run is given; of the data, enough to tell whether they are the same."""
    values = X.detach().double().cpu()
    weights = torch.linspace(1.0, 2.0, values.numel(), dtype=torch.float64)
    return {
        "data": [*map(float, values.shape), float(values.sum()), float(values.flatten() @ weights)],
        "settings": asdict(run.settings),
        "pool_size": run.model.n_slots,
        "signed": run.model.signed,
        "usage_schedule": run.usage_schedule,
        "lowest_band": run.bands.lowest,
    }


def _plain(given: Any) -> Any:
    """With lists for tuples, which are the same here."""
    if isinstance(given, dict):
        return {name: _plain(value) for name, value in given.items()}
    return list(given) if isinstance(given, tuple) else given
