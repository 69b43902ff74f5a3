"""The gate's decision surface: four panels, computed from Eq. 5 and the constants of the solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, logit

from gmcr.eb.settings import Settings
from gmcr.validation import FloatArray
from gmcr_paper.experiment import Asked, Claim, Experiment, Found
from gmcr_paper.figures import Figure
from gmcr_paper.running import Run

LINES = "5978–6064"
TRAINING = 0.1  # the temperature of panel (a)
NODES = 2000
LEVELS = (0.01, 0.1, 0.5, 0.9, 0.99)


def probability(gap: Any, temperature: Any, noise: bool) -> FloatArray:
    """Expected selection probability at an energy gap E₀ − E₁; the arguments are broadcast.

    noise : whether the difference of two Gumbel variables, a logistic one, is added to the gap
    """
    gap, temperature = np.broadcast_arrays(np.asarray(gap, float), np.asarray(temperature, float))
    if not noise:
        return expit(gap / temperature)
    draws = logit((np.arange(NODES) + 0.5) / NODES)  # quantiles of the logistic law, all alike in weight
    out = np.empty(gap.size)
    for place, (g, t) in enumerate(zip(gap.ravel(), temperature.ravel())):
        out[place] = expit((g + draws) / t).mean()
    return out.reshape(gap.shape)


def ramp(temperature: float, noise: bool, low: float = 0.01, high: float = 0.99) -> float:
    """Width in the gap over which the probability goes from `low` to `high`."""
    gaps = np.linspace(-20, 20, 80_001) if not noise else np.linspace(-20, 20, 2_001)
    p = probability(gaps, temperature, noise)
    return float(np.interp(high, p, gaps) - np.interp(low, p, gaps))


def runs(asked: Asked) -> list[Run]:
    return []


def shows(found: Found) -> Sequence[Figure]:
    title = "Decision surface of the selection gate for one component"
    return [Figure("gate", title, _draw, (7.2, 6.2))]


def _draw(canvas: Any) -> None:
    settings = Settings()
    axes = canvas.subplots(2, 2)
    wide, near = np.linspace(-4, 4, 161), np.linspace(-0.5, 0.5, 401)
    gaps = np.linspace(-8, 8, 321)
    _energies(axes[0, 0], wide, probability(gaps, TRAINING, True), gaps)
    axes[0, 0].set_title(f"(a) training: τ = {TRAINING:g}, with noise", loc="left")
    fine = np.linspace(-1, 1, 801)
    _energies(axes[0, 1], near, probability(fine, settings.temperature_eval, False), fine)
    line = axes[0, 1].plot(near, near + settings.gap_floor, "k--", linewidth=1.4)[0]
    line.set_clip_on(True)
    axes[0, 1].set_title(f"(b) evaluation: τ = {settings.temperature_eval:g}, no noise", loc="left")
    axes[0, 1].annotate(
        f"decision line\ngap = {settings.gap_floor:.3f}",
        (0.1, 0.1 + settings.gap_floor),
        (-0.46, 0.36),
        arrowprops={"arrowstyle": "->"},
        bbox={"facecolor": "white", "edgecolor": "none"},
    )
    temperatures = np.logspace(-3, 0.5, 71)
    for panel, noise, letter in ((axes[1, 0], False, "c"), (axes[1, 1], True, "d")):
        span = np.linspace(-6, 6, 121 if noise else 961)  # without noise the ramp is narrow
        p = probability(span[None, :], temperatures[:, None], noise)
        image = panel.pcolormesh(
            span, np.log10(temperatures), p, cmap="Greys", vmin=0, vmax=1.4, rasterized=True
        )
        panel.contour(span, np.log10(temperatures), p, levels=LEVELS, colors="k", linewidths=0.7)
        panel.axhline(np.log10(settings.temperature_eval), color="k")
        panel.axhline(np.log10(TRAINING), color="k", linestyle="--")
        panel.set(xlabel="energy gap E₀ − E₁", ylabel="log₁₀ τ")
        panel.set_title(
            f"({letter}) {'with' if noise else 'without'} noise; lines: {LEVELS[0]:g} to {LEVELS[-1]:g}",
            loc="left",
        )
        panel.grid(False)
    bar = canvas.colorbar(image, ax=axes, shrink=0.6, boundaries=np.linspace(0, 1, 101), ticks=(0, 0.5, 1))
    bar.set_label("selection probability")


def _energies(panel: Any, axis: FloatArray, values: FloatArray, gaps: FloatArray) -> None:
    """Probability over E₁ and E₀: it depends on their difference alone."""
    p = np.interp(axis[:, None] - axis[None, :], gaps, values)
    panel.pcolormesh(axis, axis, p, cmap="Greys", vmin=0, vmax=1.4, rasterized=True)
    panel.plot(axis, axis, "k:", linewidth=1.4)
    panel.set(
        xlabel="select energy E₁", ylabel="non-select energy E₀", xlim=axis[[0, -1]], ylim=axis[[0, -1]]
    )
    panel.set_aspect("equal")
    panel.grid(False)


def gate_claims(found: Found) -> list[Claim]:
    settings = Settings()
    floor, visible = settings.gap_floor, ramp(settings.temperature_eval, False)
    widths = [ramp(temperature, True) for temperature in (0.001, 0.01, 0.1)]
    return [
        Claim(
            "The threshold is an energy-gap floor",
            "5990",
            "≈ 0.14",
            f"{floor:.3f}",
            abs(floor - 0.14) < 0.005,
        ),
        Claim(
            "The visible ramp at evaluation, from 0.01 to 0.99",
            "6025",
            "about 0.05 wide in the gap",
            f"{visible:.3f}",
            abs(visible - 0.05) < 0.01,
            "the logistic function needs 2 logit(0.99) temperatures for it; the paper's figure is that of "
            "half the ramp",
        ),
        Claim(
            "With noise the ramp does not sharpen below τ ≈ 0.1",
            "6032",
            "saturates at unit scale",
            f"0.01 to 0.99 over {', '.join(f'{width:.2f}' for width in widths)} at τ = 0.001, 0.01, 0.1",
            max(widths) / min(widths) < 1.1,
        ),
    ]


EXPERIMENT = Experiment("gate", "Decision surface of the gate (figure)", LINES, runs, shows)
