"""A net that tells the count from evidence on it, learned from tables whose count is known.

Members differ by their random beginnings; whole columns are left out at random while they learn, so that none is
relied on alone. How sharp their chances are is set by tables that they never saw.
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

from counting_tables import NOT_SOUGHT, scales
from gmcr.counting.net import REGIMES, Net, inputs, regime

Table = dict[str, Any]
Judged = tuple[Net, list[Table]]  # a net, and tables that it never saw
SEEN, ABOUT = 64, 5  # numbers that a member sees in a count's evidence, and counts that it looks at together
EPOCHS, BATCH, SORTED = 30, 128, 16  # batches, and how many of them are sorted by length together
RATE, DECAY = 3e-3, 1e-2
BY_SEARCH = "of many", "counts"  # kinds of which the search tells most,
SHOWN = 4  # and how often each of them is shown
LEFT_OUT, COLUMNS_LEFT_OUT = 0.2, 0.3
MEMBERS = 6
BY_MEMBER = "own", "own_bias", "about", "about_bias", "last"
LEAST = 1e-4  # probability whose logarithm is taken, in scores


class Member(nn.Module):
    """What `gmcr.counting.net` evaluates, with what is left out at random while learning."""

    def __init__(self, columns: int):
        super().__init__()
        self.own = nn.Linear(2 * columns, SEEN)
        self.about = nn.ModuleList(nn.Conv1d(SEEN, SEEN, ABOUT, padding=ABOUT // 2) for _ in range(2))
        self.last = nn.Linear(2 * SEEN, 1, bias=False)

    def forward(self, seen: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
        if self.training:
            kept = kept_of((len(seen), 1, seen.shape[2] // 2), COLUMNS_LEFT_OUT)
            seen = seen * torch.cat([kept, kept], dim=2)
        z = self.dropped(torch.relu(self.own(seen))) * there[..., None]
        c = self.of_those_about(z, 0) * there[..., None]
        c = c + self.of_those_about(c, 1) * there[..., None]
        return self.last(torch.cat([z, c], dim=2))[..., 0].masked_fill(~there, -1e9)

    def of_those_about(self, z: torch.Tensor, time: int) -> torch.Tensor:
        return self.dropped(torch.relu(self.about[time](z.transpose(1, 2))).transpose(1, 2))

    def dropped(self, z: torch.Tensor) -> torch.Tensor:
        return z * kept_of(z.shape, LEFT_OUT) / (1.0 - LEFT_OUT) if self.training else z

    def as_arrays(self) -> dict[str, np.ndarray]:
        return {
            "own": _array(self.own.weight).T,
            "own_bias": _array(self.own.bias),
            "about": np.stack([_array(conv.weight).transpose(2, 1, 0) for conv in self.about]),
            "about_bias": np.stack([_array(conv.bias) for conv in self.about]),
            "last": _array(self.last.weight)[0],
        }


def kept_of(shape: Sequence[int], left_out: float) -> torch.Tensor:
    """One where a number is kept, 0 where it is left out at random."""
    return (torch.rand(*shape) >= left_out).float()


def _array(weights: torch.Tensor) -> np.ndarray:
    return weights.detach().numpy().astype(np.float16)  # three digits are enough, and half the space


def halves(tables: Sequence[Table]) -> list[tuple[list[Table], list[Table]]]:
    """To learn from and to judge: tables with a search by parity of their seeds, others to learn from only."""
    quick = [t for t in tables if t["rule"] == NOT_SOUGHT]
    one, other = ([t for t in tables if t["rule"] != NOT_SOUGHT and t["seed"] % 2 == n] for n in range(2))
    return [(one + quick, other), (other + quick, one)]


def in_turn(tables: Sequence[Table], columns: np.ndarray, members: int = MEMBERS) -> list[Judged]:
    """What each half of the tables teaches, with the other half."""
    parts = halves(tables)
    with ProcessPoolExecutor(len(parts)) as pool:
        teach = partial(taught, columns=columns, members=range(members))
        nets = list(pool.map(teach, [learn for learn, _ in parts]))
    return [(net, judge) for net, (_, judge) in zip(nets, parts)]


def sharpened(found: Sequence[Judged]) -> list[Judged]:
    """Each half's net as sharp as what the other half's said of tables that it never saw bears out."""
    nets = [replace(net, sharpness=borne_out(found[:n] + found[n + 1 :])) for n, (net, _) in enumerate(found)]
    return [(net, judge) for net, (_, judge) in zip(nets, found)]


def of_all(
    tables: Sequence[Table], columns: np.ndarray, found: Sequence[Judged], members: int = MEMBERS
) -> Net:
    """What all tables teach, as sharp as what halves of them said of the others bears out."""
    with ProcessPoolExecutor(2) as pool:
        own = [range(members)[part::2] for part in range(2)]
        parts = list(pool.map(partial(taught, tables, columns), own))
    weights = {name: np.concatenate([part.as_arrays()[name] for part in parts]) for name in BY_MEMBER}
    return replace(parts[0], sharpness=borne_out(found), **weights)


def borne_out(found: Sequence[Judged]) -> np.ndarray:
    """(regimes,) the factor of logarithms of chances under which the truth is the least surprise."""
    by_regime: list[list[tuple[np.ndarray, int]]] = [[] for _ in REGIMES]
    for net, judge in found:
        for table in (t for t in judge if t["true"] in t["counts"]):
            values = table["values"][:, [table["names"].index(name) for name in net.names]].astype(float)
            logs, place = np.log(np.maximum(net.chances(values), 1e-30)), table["counts"] == table["true"]
            by_regime[regime(net.names, values)].append((logs, int(np.argmax(place))))
    return np.array([_least_surprise(own) for own in by_regime])


def _least_surprise(found: list[tuple[np.ndarray, int]]) -> float:
    """found : logarithms of the chances of a table, and the place of the truth among them"""

    def surprise(sharpness: float) -> float:
        logs = [sharpness * logs[place] - np.logaddexp.reduce(sharpness * logs) for logs, place in found]
        return -float(np.mean(np.maximum(logs, np.log(LEAST))))

    return float(minimize_scalar(surprise, bounds=(0.2, 3.0), method="bounded").x) if found else 1.0


def taught(tables: Sequence[Table], columns: np.ndarray, members: Sequence[int]) -> Net:
    """Members, each of its own seed, learned from the tables whose true count is a candidate."""
    tables = [t for t in tables if t["true"] in t["counts"] for _ in range(times_shown(t))]
    values = np.concatenate([t["values"][:, columns] for t in tables]).astype(float)
    middle, scale = scales(values)
    seen = [
        torch.tensor(inputs(t["values"][:, columns].astype(float), middle, scale), dtype=torch.float32)
        for t in tables
    ]
    true = torch.tensor([int(np.argmax(t["counts"] == t["true"])) for t in tables])
    parts = [member(seen, true, seed).as_arrays() for seed in members]
    return Net(
        names=np.array(tables[0]["names"])[columns],
        middle=middle.astype(np.float32),
        half_range=scale.astype(np.float32),
        sharpness=np.ones(len(REGIMES)),
        **{name: np.stack([part[name] for part in parts]) for name in BY_MEMBER},
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
    optimiser = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY, fused=True)
    steps = EPOCHS * -(-len(seen) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, steps)
    # All candidates one under the other, and a row of zeros that fills up what is shorter.
    lengths = np.array([len(one) for one in seen])
    first, rows = np.cumsum(lengths) - lengths, torch.cat([*seen, torch.zeros_like(seen[0][:1])])
    for _ in range(EPOCHS):
        for batch in batches(lengths, rng):
            place = np.arange(lengths[batch].max())
            there = place < lengths[batch, None]
            chosen = np.where(there, first[batch, None] + place, len(rows) - 1)
            scores = net(rows[torch.as_tensor(chosen)], torch.as_tensor(there))
            optimiser.zero_grad()
            nn.functional.cross_entropy(scores, true[batch]).backward()
            optimiser.step()
            schedule.step()
    return net.eval()


def batches(lengths: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """All tables in random batches of about the same number of candidates."""
    order = rng.permutation(len(lengths))
    groups = np.split(order, range(SORTED * BATCH, len(order), SORTED * BATCH))
    by_length = np.concatenate([group[np.argsort(lengths[group], kind="stable")] for group in groups])
    found = np.split(by_length, range(BATCH, len(order), BATCH))
    return [found[n] for n in rng.permutation(len(found))]
