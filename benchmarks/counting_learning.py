"""A net that tells the count from evidence on it, learned from tables whose count is known.

Members differ by their random beginnings; whole columns are left out at random while they learn, so that none is
relied on alone. How sharp their chances are is set by tables that were left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from counting_tables import NOT_SOUGHT, scales
from gmcr.counting.net import REGIMES, Net, inputs, regime

Table = dict[str, Any]
SEEN, ABOUT = 32, 5  # numbers that a member sees in a count's evidence, and counts that it looks at together
EPOCHS, BATCH, SORTED = 20, 128, 16  # batches, and how many of them are sorted by length together
RATE, DECAY = 3e-3, 1e-2
BY_SEARCH = "of many", "counts"  # kinds of which the search tells most,
SHOWN = 4  # and how often each of them is shown
LEFT_OUT, COLUMNS_LEFT_OUT = 0.2, 0.3
MEMBERS, FOLDS = 3, 2
LEAST = 1e-4  # probability whose logarithm is taken, in scores


class Member(nn.Module):
    """What `gmcr.counting.net` evaluates, with what is left out at random while learning."""

    def __init__(self, columns: int):
        super().__init__()
        self.own = nn.Linear(2 * columns, SEEN)
        self.about = nn.ModuleList(nn.Conv1d(SEEN, SEEN, ABOUT, padding=ABOUT // 2) for _ in range(2))
        self.last = nn.Linear(2 * SEEN, 1, bias=False)
        self.dropped = nn.Dropout(LEFT_OUT)

    def forward(self, seen: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
        if self.training:
            kept = (torch.rand(len(seen), 1, seen.shape[2] // 2) >= COLUMNS_LEFT_OUT).float()
            seen = seen * torch.cat([kept, kept], dim=2)
        z = self.dropped(torch.relu(self.own(seen))) * there[..., None]
        c = self.of_those_about(z, 0) * there[..., None]
        c = c + self.of_those_about(c, 1) * there[..., None]
        return self.last(torch.cat([z, c], dim=2))[..., 0].masked_fill(~there, -1e9)

    def of_those_about(self, z: torch.Tensor, time: int) -> torch.Tensor:
        return self.dropped(torch.relu(self.about[time](z.transpose(1, 2))).transpose(1, 2))

    def as_arrays(self) -> dict[str, np.ndarray]:
        return {
            "own": _array(self.own.weight).T,
            "own_bias": _array(self.own.bias),
            "about": np.stack([_array(conv.weight).transpose(2, 1, 0) for conv in self.about]),
            "about_bias": np.stack([_array(conv.bias) for conv in self.about]),
            "last": _array(self.last.weight)[0],
        }


def _array(weights: torch.Tensor) -> np.ndarray:
    return weights.detach().numpy().astype(np.float32)


def learned(tables: Sequence[Table], columns: np.ndarray, members: int = MEMBERS, jobs: int = 1) -> Net:
    """What all tables teach, as sharp as those that were left out in turn bear out.

    Tables without a search are never left out: in use there is one.
    """
    # Halves are judged by parity.
    folds = np.array([t["seed"] // 2 % FOLDS if t["rule"] != NOT_SOUGHT else -1 for t in tables])
    parts = [[t for t, f in zip(tables, folds) if f != fold] for fold in range(FOLDS)]
    teach = partial(taught, columns=columns, members=members)
    with ProcessPoolExecutor(jobs) as pool:
        *nets, model = (pool.map if jobs > 1 else map)(teach, [*parts, list(tables)])
    left_out: list[list[tuple[np.ndarray, int]]] = [[] for _ in REGIMES]
    for fold, net in enumerate(nets):
        for table in (t for t, f in zip(tables, folds) if f == fold and t["true"] in t["counts"]):
            values = table["values"][:, columns].astype(float)
            logs, place = np.log(np.maximum(net.chances(values), 1e-30)), table["counts"] == table["true"]
            left_out[regime(net.names, values)].append((logs, int(np.argmax(place))))
    return replace(model, sharpness=np.array([borne_out(own) for own in left_out]))


def borne_out(left_out: list[tuple[np.ndarray, int]]) -> float:
    """The factor of logarithms of chances under which the truth, whose place is told, is the least surprise."""

    def surprise(sharpness: float) -> float:
        found = [sharpness * logs[place] - np.logaddexp.reduce(sharpness * logs) for logs, place in left_out]
        return -float(np.mean(np.maximum(found, np.log(LEAST))))

    return float(minimize_scalar(surprise, bounds=(0.2, 3.0), method="bounded").x) if left_out else 1.0


def taught(
    tables: Sequence[Table],
    columns: np.ndarray,
    members: int,
    sharpness: Sequence[float] = (1.0,) * len(REGIMES),
) -> Net:
    """Members learned from the tables whose true count is a candidate."""
    tables = [t for t in tables if t["true"] in t["counts"] for _ in range(times_shown(t))]
    values = np.concatenate([t["values"][:, columns] for t in tables]).astype(float)
    middle, scale = scales(values)
    seen = [
        torch.tensor(inputs(t["values"][:, columns].astype(float), middle, scale), dtype=torch.float32)
        for t in tables
    ]
    true = torch.tensor([int(np.argmax(t["counts"] == t["true"])) for t in tables])
    parts = [member(seen, true, seed).as_arrays() for seed in range(members)]
    weights = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    return Net(
        names=np.array(tables[0]["names"])[columns],
        middle=middle.astype(np.float32),
        half_range=scale.astype(np.float32),
        sharpness=np.array(sharpness),
        **weights,
    )


def times_shown(table: Table) -> int:
    """Tables without a search outnumber the others, and must not teach to do without it where it tells most."""
    by_search = table["rule"] != NOT_SOUGHT and any(kind in table["kinds"] for kind in BY_SEARCH)
    return SHOWN if by_search else 1


def member(seen: list[torch.Tensor], true: torch.Tensor, seed: int) -> Member:
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = Member(seen[0].shape[1] // 2)
    optimiser = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    steps = EPOCHS * -(-len(seen) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, steps)
    for _ in range(EPOCHS):
        for batch in batches([len(one) for one in seen], rng):
            there = pad_sequence(
                [torch.ones(len(seen[n]), dtype=torch.bool) for n in batch], batch_first=True
            )
            scores = net(pad_sequence([seen[n] for n in batch], batch_first=True), there)
            optimiser.zero_grad()
            nn.functional.cross_entropy(scores, true[batch]).backward()
            optimiser.step()
            schedule.step()
    return net.eval()


def batches(lengths: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
    """All tables in random batches of about the same number of candidates."""
    order = rng.permutation(len(lengths))
    groups = np.split(order, range(SORTED * BATCH, len(order), SORTED * BATCH))
    by_length = np.concatenate(
        [group[np.argsort(np.array(lengths)[group], kind="stable")] for group in groups]
    )
    found = np.split(by_length, range(BATCH, len(order), BATCH))
    return [found[n] for n in rng.permutation(len(found))]
