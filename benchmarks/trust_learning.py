"""A net that tells right answers from wrong ones by their numbers, learned from answers whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import nn

from counting_tables import scales
from gmcr.counting.net import at_one_scale
from gmcr.trust.learned import Judge

SEEN, MEMBERS = 32, 8
EPOCHS, BATCH, RATE, DECAY = 60, 32, 3e-3, 1e-2
LEFT_OUT, NUMBERS_LEFT_OUT = 0.4, 0.1


class Member(nn.Module):
    """What `gmcr.trust.learned.Judge` evaluates, with what is left out at random while learning."""

    def __init__(self, numbers: int):
        super().__init__()
        self.own, self.last = nn.Linear(2 * numbers, SEEN), nn.Linear(SEEN, 3)
        self.dropped = nn.Dropout(LEFT_OUT)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        if self.training:
            kept = (torch.rand(len(seen), seen.shape[1] // 2) >= NUMBERS_LEFT_OUT).float()
            seen = seen * torch.cat([kept, kept], dim=1)
        return self.last(self.dropped(torch.relu(self.own(seen))))


def taught(
    values: np.ndarray,
    labels: np.ndarray,
    names: Sequence[str],
    members: int = MEMBERS,
    sharpness: float = 1.0,
) -> Judge:
    """values : (rows, numbers);  labels : (rows,) 0 right, 1 in between, 2 wrong."""
    middle, scale = scales(values)
    seen = torch.tensor(np.concatenate(at_one_scale(values, middle, scale), axis=1), dtype=torch.float32)
    nets = [_member(seen, torch.tensor(labels), seed) for seed in range(members)]

    def stacked(weights: Sequence[torch.Tensor]) -> np.ndarray:
        return np.stack([one.detach().numpy().T.astype(np.float32) for one in weights])

    return Judge(
        names=np.array(names),
        middle=middle.astype(np.float32),
        half_range=scale.astype(np.float32),
        own=stacked([net.own.weight for net in nets]),
        own_bias=stacked([net.own.bias for net in nets]),
        last=stacked([net.last.weight for net in nets]),
        last_bias=stacked([net.last.bias for net in nets]),
        sharpness=np.array(sharpness),
    )


def sharpness_of(logs: np.ndarray, labels: np.ndarray) -> float:
    """The factor of logarithms of chances under which what was left out is the likeliest."""

    def surprise(factor: float) -> float:
        scaled = factor * logs
        return -float((scaled[np.arange(len(labels)), labels] - np.logaddexp.reduce(scaled, axis=1)).mean())

    return float(minimize_scalar(surprise, bounds=(0.2, 3.0), method="bounded").x)


def _member(seen: torch.Tensor, labels: torch.Tensor, seed: int) -> Member:
    torch.manual_seed(seed)
    net = Member(seen.shape[1] // 2)
    optimiser = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    steps = EPOCHS * -(-len(seen) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(seen)).split(BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(seen[batch]), labels[batch]).backward()
            optimiser.step()
            schedule.step()
    return net.eval()
