"""The cases of same.py: small ones of every regime, through gmcr's public names alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from scipy.ndimage import gaussian_filter

import gmcr

Data = Any  # D (samples, channels), and where they are known C, S, sigma, clean and truth
Arguments = dict[str, Any]  # by name; functions among them are called with the data

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("GMCR_DATA", ROOT.parent / "shared" / "data"))
HOMES = {  # of public names that gmcr itself does not hold: where they are, or may come to be
    "feasible_bands": ("gmcr.theory.ambiguity", "gmcr.theory"),
    "support_posterior": ("gmcr.confidence.supports", "gmcr.theory.confidence"),
}


def public(name: str) -> Any:
    """A public name of gmcr, wherever it lives."""
    for home in ("gmcr", *HOMES.get(name, ())):
        try:
            module = import_module(home)
        except ModuleNotFoundError as error:
            if error.name != home and not home.startswith(f"{error.name}."):
                raise  # it is there, but something that it needs is not
            continue
        if hasattr(module, name):
            return getattr(module, name)
    raise ImportError(f"{name} is not in gmcr nor in any of {HOMES.get(name, ())}; add its home to HOMES.")


@dataclass(frozen=True)
class Case:
    """What is called, and with what.

    data : makes the samples; told : arguments beside them, GMCR's parameters for a fit
    given : arguments of the method `fit`; what : an estimator or a function
    threads : how many it runs on
    """

    data: Callable[[], Data]
    told: Arguments = field(default_factory=dict)
    given: Arguments = field(default_factory=dict)
    what: str = "GMCR"
    threads: int = 1

    def fit(self, data: Data) -> Any:
        """The fitted estimator."""
        return public(self.what)(**self._from(self.told, data)).fit(data.D, **self._from(self.given, data))

    def call(self, data: Data) -> Any:
        """What the function returns."""
        return public(self.what)(data.D, **self._from(self.told, data))

    @property
    def lacks(self) -> str:
        """What it needs and this machine has not; empty where it can run."""
        if self.what == "EBgMCR" and find_spec("torch") is None:
            return "torch"
        file = DATA / f"{self.data.args[0]}.npz" if getattr(self.data, "func", None) is measured else None
        return "" if file is None or file.exists() else str(file)

    @staticmethod
    def _from(arguments: Arguments, data: Data) -> dict[str, Any]:
        return {name: value(data) if callable(value) else value for name, value in arguments.items()}


# Data, made when a case runs


def mixtures(n_components: int, gaps: float = 0.0, copies: int = 0, **settings: Any) -> Data:
    """Synthetic samples; gaps : share of entries that are missing; copies : number of samples that come twice."""
    usual = {"n_samples": 6 * n_components, "snr_db": 30, "n_features": 64, "random_state": 0}
    mix = SimpleNamespace(**vars(gmcr.make_mixtures(n_components, **usual | settings)))
    mix.truth = gmcr.Decomposition.from_factors(mix.C, mix.S, signed=settings.get("signed", False))
    mix.D = np.vstack([mix.D, mix.D[:copies]])
    mix.D[np.random.default_rng(1).random(mix.D.shape) < gaps] = np.nan
    return mix


def dense(n_components: int, **settings: Any) -> Callable[[], Data]:
    """A handful of components, all of them in every sample."""
    usual = {"n_samples": 30, "n_features": 80, "profiles": "peaks", "active": (n_components, n_components)}
    return partial(mixtures, n_components, **usual | settings)


def image(size: int, n_components: int) -> Data:
    """Pixels of an image with smooth maps that overlap."""
    random, S = np.random.default_rng(0), dense(n_components, n_features=64)().S
    maps = np.stack([gaussian_filter(random.normal(size=(size, size)), size / 12) for _ in S], axis=-1)
    clean = np.maximum(maps / maps.std(axis=(0, 1)) + 0.3, 0.0) @ S
    cube = clean + random.normal(0.0, 0.03 * np.sqrt(np.square(clean).mean()), clean.shape)
    return SimpleNamespace(D=gmcr.unfold(cube)[0])


def frame() -> Data:
    """A table with names: its columns are the channel axis, its index names the samples."""
    D = mixtures(14).D
    axis, names = np.linspace(400.0, 700.0, D.shape[1]), [f"s{m}" for m in range(len(D))]
    return SimpleNamespace(D=pd.DataFrame(D, index=names, columns=axis))


def measured(name: str) -> Data:
    with np.load(DATA / f"{name}.npz") as file:
        return SimpleNamespace(D=file["D"])


# Arguments that follow from the data

sigma, pool, truth = attrgetter("sigma"), attrgetter("S"), attrgetter("truth")


def one_sigma(mix: Data) -> float:
    return float(mix.sigma[0])


def entry_sigma(mix: Data) -> np.ndarray:
    """Standard deviation of each entry of counts."""
    one_count = np.median(mix.sigma**2 / mix.clean.mean(axis=1))
    return np.sqrt(one_count * np.maximum(mix.clean, one_count))


def law(kind: str) -> Callable[[Data], Any]:
    """A noise law, as a fit returns it."""
    return lambda mix: gmcr.GMCR(n_components=len(mix.S), noise=kind).fit(mix.D).noise_law_


def blurred(mix: Data) -> Any:
    """The true profiles, blurred, as a solution to start from."""
    return gmcr.Decomposition.from_factors(mix.C, gaussian_filter(mix.S, (0, 1)))


def decoded(mix: Data) -> np.ndarray:
    return gmcr.decode(mix.D, mix.S, noise=mix.sigma).concentrations


def every_third(mix: Data) -> np.ndarray:
    """Weights of the channels; a third of them are left out."""
    return np.arange(mix.D.shape[1]) % 3.0


def stopper(mix: Data) -> Callable[[Any], None]:
    """A callback that ends the fit after eight rows of the path."""
    seen = count(1)

    def stop(row: Any) -> None:
        if next(seen) == 8:
            raise KeyboardInterrupt

    return stop


# The table


def call(what: str, data: Callable[[], Data], **told: Any) -> Case:
    """A case that calls a function, with what it always needs beside the samples."""
    needs = {
        "decode": {"S": pool},
        "certify": {"decomposition": truth},
        "feasible_bands": {"decomposition": truth},
        "support_posterior": {"S": pool, "C": decoded, "noise": sigma, "presence": True},
    }
    return Case(data, needs.get(what, {}) | told, what=what)


sparse = partial(partial, mixtures)  # many components, one to four in a sample
counts = {"noise": "poisson", "counts": 200.0}
few_epochs = {"pool_size": 16, "max_epochs": 60, "learning_rate": "scaled", "device": "cpu"}

CASES: dict[str, Case] = {
    "sparse": Case(sparse(14, random_state=2)),
    "sparse-6": Case(sparse(6)),
    "sparse-16-20db": Case(sparse(16, n_features=128, snr_db=20)),
    "sparse-32-20db": Case(sparse(32, n_features=128, snr_db=20)),
    "sparse-64": Case(sparse(64, n_features=96)),
    "overcomplete": Case(sparse(24, n_samples=240, n_features=16, active=(1, 2))),
    "overcomplete-20db": Case(sparse(28, n_samples=300, n_features=24, active=(1, 2), snr_db=20)),
    "noiseless": Case(sparse(14, snr_db=None)),
    "dense": Case(dense(3, random_state=2)),
    "dense-4-20db": Case(dense(4, snr_db=20)),
    "dense-5": Case(dense(5, n_samples=40)),
    "dense-6": Case(dense(6, n_samples=60)),
    "broad": Case(dense(3, profiles="bands")),
    "broad-sparse": Case(sparse(5, n_samples=60, profiles="bands")),
    "signed": Case(sparse(14, signed=True), {"signed": True}),
    "signed-warm": Case(sparse(14, signed=True), {"signed": True}, {"warm_start": truth}),
    "signed-dense": Case(dense(3, signed=True), {"signed": True}),
    "missing": Case(sparse(14, gaps=0.05, random_state=9)),
    "missing-dense": Case(dense(3, gaps=0.1)),
    "copies": Case(sparse(14, copies=20)),
    "frame": Case(frame),
    "many": Case(sparse(14, n_samples=2400, n_features=48, snr_db=25)),
    "many-dense": Case(dense(3, n_samples=2200, n_features=40)),
    "image": Case(partial(image, 60, 4)),
    "image-small": Case(partial(image, 12, 2)),
    "poisson": Case(sparse(14, **counts), {"noise": "poisson"}),
    "poisson-auto": Case(sparse(14, **counts)),
    "poisson-dense": Case(dense(3, **counts)),
    "constant": Case(sparse(14, noise="constant"), {"noise": "constant"}),
    "constant-auto": Case(sparse(14, noise="constant")),
    "proportional": Case(sparse(14), {"noise": "proportional"}),
    "noise-number": Case(sparse(14, noise="constant"), {"noise": one_sigma}),
    "noise-samples": Case(sparse(14), given={"noise": sigma}),
    "noise-entries": Case(sparse(14, noise="poisson", counts=5000.0), given={"noise": entry_sigma}),
    "fixed": Case(sparse(14, random_state=8), {"fixed_components": lambda mix: 3.0 * mix.S[:3]}),
    "fixed-dense": Case(dense(4, random_state=1), {"fixed_components": lambda mix: mix.S[:2]}),
    "closure": Case(dense(3, closure=True), {"closure": True}),
    "closure-sparse": Case(sparse(14, closure=True), {"closure": True}),
    "k-max": Case(sparse(14, snr_db=20), {"k_max": 3}),
    "told-count": Case(sparse(14), {"n_components": 12}),
    "told-count-dense": Case(dense(4), {"n_components": 3}),
    "max-components": Case(sparse(14), {"max_components": 10}),
    "weights": Case(sparse(14), given={"sample_weight": lambda mix: np.arange(len(mix.D)) % 4.0}),
    "warm-start": Case(sparse(14, snr_db=20), given={"warm_start": blurred}),
    "starts": Case(sparse(14, snr_db=20), {"n_starts": 2, "random_state": 7}),
    "r2-band": Case(sparse(14), {"r2_band": (0.9, 0.97)}),
    "interrupted": Case(sparse(14), {"callback": stopper}),
    "two-threads": Case(sparse(16, n_features=128), {"n_jobs": 2}, threads=2),
    "two-threads-many": Case(sparse(14, n_samples=2400, n_features=48), {"n_jobs": 2}, threads=2),
    "carbs": Case(partial(measured, "carbs")),
    "als2004": Case(partial(measured, "als2004")),
    "claus": Case(partial(measured, "claus_eem")),
    "simdata": Case(partial(measured, "simdata_uv_noisy")),
    "hplc": Case(partial(measured, "hplc_pesticides_bdata")),
    "nir": Case(partial(measured, "nir"), {"signed": True}),
    "mir": Case(partial(measured, "mir_ethanol_glucose"), {"signed": True}),
    "eb": Case(sparse(4, n_samples=32), few_epochs, what="EBgMCR"),
    "eb-signed": Case(dense(3, signed=True), few_epochs | {"signed": True, "usage": "window"}, what="EBgMCR"),
    "decode": call("decode", sparse(12)),
    "decode-number": call("decode", sparse(12, noise="constant"), noise=one_sigma),
    "decode-samples": call("decode", sparse(12), noise=sigma),
    "decode-entries": call("decode", sparse(12, **counts), noise=entry_sigma),
    **{
        f"decode-{kind}-{how}": call("decode", sparse(6, noise=kind), noise=told)
        for kind in ("constant", "proportional", "poisson")
        for how, told in (("level", kind), ("law", law(kind)))
    },
    "decode-channels": call("decode", sparse(12), weights=every_third),
    "decode-weights": call("decode", sparse(12), noise=sigma, weights=lambda mix: 1.0 + (mix.D > 0.5)),
    "decode-missing": call("decode", sparse(12, gaps=0.1), noise=sigma),
    "decode-signed": call("decode", sparse(12, signed=True), noise=sigma, signed=True, k_max=3),
    "decode-price": call("decode", sparse(12, snr_db=10), noise=sigma, price=4.0),
    "decode-unknown": call("decode", sparse(12), S=lambda mix: mix.S[:-2]),
    "two-threads-decode": replace(call("decode", sparse(20, n_samples=3000), noise=sigma), threads=2),
    "rank": call("estimate_rank", sparse(16)),
    "rank-poisson": call("estimate_rank", dense(4, **counts)),
    "rank-missing": call("estimate_rank", dense(4, gaps=0.05)),
    "certify": call("certify", sparse(12), noise=sigma),
    "certify-known": call("certify", sparse(8, snr_db=55, n_features=512), noise=sigma, known_pool=True),
    "certify-large": call("certify", sparse(40, n_features=256), k=3, c_min=1.0, c_max=10.0),
    "bands-2": call("feasible_bands", dense(2)),
    "bands-3": call("feasible_bands", dense(3), supports="all", noise=sigma),
    "bands-closure": call("feasible_bands", dense(3, closure=True), closure=True),
    "bands-sparse": call("feasible_bands", sparse(5, n_samples=12), c_min=1.0),
    "confidence": call("support_posterior", sparse(12, snr_db=15)),
    "confidence-learned": call("support_posterior", sparse(12, snr_db=15), learned=True),
}
