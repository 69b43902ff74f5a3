"""What the paper's solver does not do, off by default: prices from the noise, and starts other than a random one.

The noise and the number of components above it are read off the singular values of the samples, each scaled to
unit power, before the run knows anything.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gmcr.rank.edge import marchenko_pastur

APART = 0.1  # share of the random start that is left, so that slots with the same start differ


def noise_variance(X: Tensor) -> float:
    """σ², the mean over samples X (samples, channels)."""
    _, _, noise = _singular(X)
    return noise**2 * float(X.double().square().sum(dim=1).mean())


def started(profile: Tensor, X: Tensor, start: str) -> Tensor:
    """Profiles (slots, channels) to start from, as long as the random ones given and, if these are, not negative.

    start : "samples", every slot a sample; "singular", a positive or negative part of a singular vector above the
        noise. Slots beyond their number start from the same again
    """
    towards = X.double() if start == "samples" else torch.from_numpy(_parts(X))
    towards = towards[torch.arange(len(profile)) % len(towards)].to(profile)
    towards = torch.nn.functional.normalize(towards, dim=1) * profile.norm(dim=1, keepdim=True)
    return (1.0 - APART) * towards + APART * profile


def _parts(X: Tensor) -> np.ndarray:
    """Positive and negative parts of the right singular vectors above the noise: (parts, channels)."""
    vectors, count, _ = _singular(X)
    leading = vectors[: max(count, 1)]
    signs = np.stack([leading, -leading], axis=1).reshape(-1, leading.shape[1])
    parts = np.maximum(signs, 0.0)
    norms = np.linalg.norm(parts, axis=1)
    return parts[norms > APART * norms.max()]  # the first vector has one sign


def _singular(X: Tensor) -> tuple[np.ndarray, int, float]:
    """Right singular vectors of the samples at unit power, how many are above the noise, and the noise."""
    rows = torch.nn.functional.normalize(X.detach().cpu().double(), dim=1).numpy()
    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    answer, noise = marchenko_pastur(values, rows.shape)
    return vectors, answer.count, noise
