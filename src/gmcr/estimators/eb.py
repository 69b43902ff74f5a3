"""The estimator of the paper's solver: `EBgMCR`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.utils.validation import check_is_fitted

from gmcr.decoder import Decoding, decode, decoded_as
from gmcr.decomposition import Decomposition
from gmcr.eb import anchor, training
from gmcr.eb.checkpoints import Bands, Checkpoint
from gmcr.eb.networks import Model
from gmcr.eb.progress import listening
from gmcr.eb.settings import Settings, scaled_rate
from gmcr.errors import InputError
from gmcr.estimators.base import Samples, Solver
from gmcr.estimators.labels import channel_axis, channel_names, sample_names
from gmcr.estimators.parameters import check_band
from gmcr.estimators.window import GMCR
from gmcr.metrics import r_squared
from gmcr.noise import degrees_of_freedom, estimate_noise, law_of
from gmcr.storage import Arrays, Header, pack_table, unpack_table
from gmcr.validation import FloatArray, check_number, check_seed, check_whole, require
from gmcr.window.signs import refuse_negative, seen_signs

DECODERS = ("gate", "floor", "exact")
FLOOR = 0.5  # ϑ: concentrations above it are the certificate's support
SCHEDULES = ("paper", "window", "noise")
NOT_STORED = ("callback", "settings")  # parameters that a model file's header does not hold as they are
LEARNED = (
    "n_epochs_", "terminated_", "_n_samples", "_lipschitz", "_n_gate_parameters", "_energy_bound", "_radius",
)  # fmt: skip
FINAL = "final"  # the name of the last state; those of bands are their numbers
STOOD = ("epoch", "count", "r2", "usage")  # what a checkpoint tells of the run when it was kept
TENSOR = "tensor."  # what the names of a network's arrays start with there


@dataclass(frozen=True)
class Band:
    """A checkpoint: the band of R² it was kept in, where the run stood, and its answer on the training samples.

    slots : which slots of the pool the decomposition holds, those in use
    """

    low: float
    high: float
    epoch: int
    count: int
    r2: float
    usage: int
    decomposition: Decomposition
    slots: tuple[int, ...]

    def __repr__(self) -> str:
        return (
            f"<Band [{self.low:g}, {self.high:g}): {self.count} components, R² {self.r2:.4f}, "
            f"usage {self.usage}, epoch {self.epoch}>"
        )


@dataclass(frozen=True)
class _State:
    """The tensors of the networks, their answer on the training samples, and the slots of the pool it holds."""

    tensors: dict[str, torch.Tensor]
    answer: Decomposition
    slots: tuple[int, ...]


@dataclass(frozen=True)
class Refinement:
    """A run's pool finished by the window solver, and what is left of that pool.

    model : the fitted GMCR
    start : the decomposition it started from
    survived : (components,) cosine of each refined profile with the nearest one it started from
    scratch : the window solver's answer on the same data from nothing, to tell its merit from the run's
    """

    model: GMCR
    start: Decomposition
    survived: FloatArray
    scratch: GMCR | None


class EBgMCR(Solver):
    """EB-gMCR as the paper specifies it: an energy-based gate, trained by gradient, with checkpoints by R².

    Parameters
    ----------
    pool_size : number of slots
    max_epochs : iteration limit; the termination rule may end the run before it
    device : "auto" (CUDA, then MPS, then the processor) or a torch device
    random_state : seed
    signed : whether profiles and concentrations may be negative; removes the absolute values
    learning_rate : None takes the paper's 5e-4; "scaled" multiplies it by 1024 over the pool size, up to four
        times, for small pools; or a number
    lowest_band : lower edge of the lowest band of R²: the paper's 0.97 for synthetic, 0.95 for real data
    usage : "paper"; "window" for a usage price inside the window of Theorem 1, with the present misfit for the
        noise; or "noise" for the same with the noise that the samples' singular values tell
    folder : where to keep state, history (CSV) and margins while the run goes on; a run killed there goes on
        from its last saved state when `fit` is called again with the same data and settings
    save_every : epochs between two saved states
    settings : `gmcr.eb.settings.Settings`, every other constant
    callback : function called with each row of the history as it comes (epoch, count, r2, usage, …); by raising
        KeyboardInterrupt it ends the run with what there is
    verbose : 1 shows progress on standard error, where that is a terminal

    Attributes
    ----------
    bands_ : list of Band, one per band of R² entered
    final_ : Decomposition, the state at the end of the run
    history_ : DataFrame, per epoch: nmse, r2, count, usage, single_users, mean_energy, usage_weight, temperature,
        smallest_margin
    terminated_ : whether the termination rule ended the run
    n_epochs_ : epochs run
    n_components_, components_, concentrations_, supports_, noise_, noise_law_, decomposition_ : of the checkpoint
        that `transform` uses, as in `GMCR`

    Notes
    -----
    The gate decides without the reparameterisation noise when it evaluates: an answer should not change when it
    is asked for twice.

    Examples
    --------
    >>> from gmcr import EBgMCR, make_mixtures
    >>> mix = make_mixtures(n_components=4, n_samples=32, snr_db=30, n_features=32, random_state=0)
    >>> eb = EBgMCR(pool_size=16, max_epochs=20, learning_rate="scaled").fit(mix.D)
    >>> len(eb.history_)
    20
    """

    takes_missing = False

    bands_: list[Band]
    final_: Decomposition
    history_: pd.DataFrame

    def __init__(
        self,
        pool_size: int = 1024,
        max_epochs: int = 100_000,
        device: str = "auto",
        random_state: int = 0,
        *,
        signed: bool = False,
        learning_rate: float | str | None = None,
        lowest_band: float = 0.97,
        usage: str = "paper",
        folder: str | os.PathLike[str] | None = None,
        save_every: int = 500,
        settings: Settings | None = None,
        callback: Callable[[Any], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self.pool_size = pool_size
        self.max_epochs = max_epochs
        self.device = device
        self.random_state = random_state
        self.signed = signed
        self.learning_rate = learning_rate
        self.lowest_band = lowest_band
        self.usage = usage
        self.folder = folder
        self.save_every = save_every
        self.settings = settings
        self.callback = callback
        self.verbose = verbose

    def fit(self, D: Samples, y: Any = None) -> EBgMCR:
        """Train on samples D (samples, channels); on Ctrl-C the run so far is what is kept."""
        with self._kept_if_refused():
            return self._fit(D)

    def _fit(self, D: Samples) -> EBgMCR:
        samples = self._samples(D, reset=True)
        if not self.signed:
            refuse_negative(seen_signs(samples))
        settings = self._settings()
        fine = self.folder is None or isinstance(self.folder, str | os.PathLike)
        require(fine, "folder", "the name of a folder", self.folder)
        folder = None if self.folder is None else Path(self.folder)
        X = torch.as_tensor(samples, dtype=torch.float32, device=chosen_device(self.device))
        seed = check_seed(self.random_state)
        run = training.start(
            X,
            self.pool_size,
            settings,
            signed=self.signed,
            lowest_band=self.lowest_band,
            usage_schedule=self.usage,
            seed=seed,
            folder=folder,
        )
        with listening(self.callback, bool(self.verbose), self.max_epochs, run.epoch) as listener:
            try:
                training.train(run, X, self.max_epochs, save_every=self.save_every, listener=listener)
            except KeyboardInterrupt:
                warnings.warn("the run was interrupted; this is its state so far.", stacklevel=3)
        self._learn(run, X, D, samples, seed)
        return self

    # Answers

    def select(self, rule: str = "fewest", band: tuple[float, float] | None = None) -> Decomposition:
        """A checkpoint's answer: with the fewest components (ties: highest R²), of a band, or the final one."""
        return self._chosen(rule, band).answer

    def decode(
        self,
        D: Samples,
        by: str = "gate",
        *,
        rule: str | None = None,
        band: tuple[float, float] | None = None,
        floor: float = FLOOR,
    ) -> Decoding:
        """What samples hold over a checkpoint's pool, and whether that explains them.

        Parameters
        ----------
        D : (samples, channels) samples
        by : "gate", the frozen gate and concentration network, as in the paper; "floor", the same with
            concentrations up to `floor` (ϑ) left out, the certificate's support; "exact", the exact decoder over
            the learned pool, with nothing of the networks
        rule, band : which checkpoint, as in `select`; by default the one that `transform` uses: that with the
            fewest components, or the final state where no band was entered

        Returns
        -------
        Decoding, over the components of that checkpoint. A gate knows no margin: it is NaN
        """
        check_is_fitted(self)
        require(by in DECODERS, "by", f"one of {', '.join(DECODERS)}", by)
        samples = self._samples(D, reset=False)
        state = self._chosen(self._usual_rule if rule is None else rule, band)
        S, law = state.answer.components, state.answer.noise_law
        if by == "exact":
            return decode(samples, S, signed=state.answer.signed)
        C = _gated(self._model(state.tensors, state.answer.signed), samples)[:, list(state.slots)]
        C = np.where(np.abs(C) > check_number(floor, "floor"), C, 0.0) if by == "floor" else C
        return decoded_as(samples, S, C, law_of(law or {}), signed=state.answer.signed)

    def refine(
        self,
        D: Samples,
        band: tuple[float, float] | str = "complete",
        *,
        compare: bool = True,
        **options: Any,
    ) -> Refinement:
        """Finish a checkpoint's pool by the window solver: the pool the run learned, with minimal supports.

        band : "complete", the band with the most components in use, "fewest", "final", or the edges of a band
        compare : whether to solve from scratch as well, so that nobody takes one merit for the other
        **options : parameters of GMCR
        """
        check_is_fitted(self)
        if band == "complete" and self.bands_:
            start = max(self.bands_, key=lambda kept: kept.count).decomposition
        elif isinstance(band, str):
            start = self.select(FINAL if band == "complete" else band)
        else:
            start = self.select(band=band)
        model = GMCR(signed=self.signed, **options).fit(D, warm_start=start)
        cosines = np.abs(model.components_ @ start.components.T).max(axis=1)
        scratch = GMCR(signed=self.signed, **options).fit(D) if compare else None
        return Refinement(model, start, cosines, scratch)

    def anchors(self, level: float, lipschitz: float | None = None, alpha: float = 0.05) -> pd.DataFrame:
        """Anchor events at level γ: epoch, margin, certified horizon T(γ), observed length, and r_M(α).

        lipschitz : L_e, by default a bound computed at the final parameters
        """
        check_is_fitted(self)
        bound = self._lipschitz if lipschitz is None else lipschitz
        n_parameters, n_slots = self._n_gate_parameters, self._mean_gaps.shape[1]
        steps = anchor.horizon(level, bound, n_parameters, self._settings().learning_rate)
        deviation = anchor.deviation_level(
            self._energy_bound, bound, self._radius, n_parameters, n_slots, self._n_samples, alpha
        )
        events = anchor.anchors(self._mean_gaps, level)
        rows = [(event.epoch, event.margin, steps, event.held, deviation) for event in events]
        columns = ["epoch", "margin", "certified_steps", "held_epochs", "deviation_level"]
        return pd.DataFrame(rows, columns=columns)

    # The work

    @property
    def _usual_rule(self) -> str:
        """The checkpoint that `transform` uses."""
        return "fewest" if self.bands_ else FINAL

    def _keep(self, found: Decomposition) -> None:
        super()._keep(found)
        self.noise_law_ = law_of(found.noise_law or {})

    def _settings(self) -> Settings:
        settings = self.settings or Settings()
        require(self.usage in SCHEDULES, "usage", f"one of {', '.join(SCHEDULES)}", self.usage)
        for name in ("pool_size", "max_epochs", "save_every"):
            check_whole(getattr(self, name), name)
        require(self.callback is None or callable(self.callback), "callback", "a function", self.callback)
        below = check_number(self.lowest_band, "lowest_band") < 1
        require(below, "lowest_band", "below 1, the largest R²", self.lowest_band)
        if (rate := self.learning_rate) is None:
            return settings
        if isinstance(rate, str):
            require(rate == "scaled", "learning_rate", 'a number or "scaled"', rate)
            return replace(settings, learning_rate=scaled_rate(self.pool_size, settings))
        return replace(settings, learning_rate=check_number(rate, "learning_rate"))

    def _learn(self, run: training.Run, X: torch.Tensor, D: Samples, samples: FloatArray, seed: int) -> None:
        """Keep the checkpoints' answers and what the anchors need."""
        self.n_epochs_ = run.epoch
        self.terminated_ = run.ended
        self.history_ = run.log.history()
        self._n_samples = len(samples)
        tensors = {str(band): kept.tensors for band, kept in sorted(run.bands.kept.items())}
        tensors = {FINAL: training.copied(run.model)} | tensors
        self._take({name: self._state(own, D, samples) for name, own in tensors.items()}, run.bands)
        self._mean_gaps = run.log.mean_gaps()
        self._lipschitz = anchor.lipschitz_bound(run.model.energy, X)
        with torch.inference_mode():
            self._energy_bound = float(run.model.evaluate(X).energies.abs().max())
        first = Model(X.shape[1], self.pool_size, run.settings, self.signed)
        first.initialise(torch.Generator().manual_seed(seed))  # as the run began
        start, end = _gate_tensors(first), _gate_tensors(run.model)
        self._n_gate_parameters, self._radius = start.numel(), float((end - start).norm())

    def _take(self, states: dict[str, _State], bands: Bands) -> None:
        """Keep the states by name, and the answer of the checkpoint that `transform` uses."""
        self._states, self._bands, self.final_ = states, bands, states[FINAL].answer
        self.bands_ = []
        for band, kept in sorted(bands.kept.items()):
            stood = {name: getattr(kept, name) for name in STOOD}
            answer, slots = states[str(band)].answer, states[str(band)].slots
            self.bands_.append(Band(*bands.edges(band), **stood, decomposition=answer, slots=slots))
        self._keep(self.select(self._usual_rule))

    def _state(self, tensors: dict[str, torch.Tensor], D: Samples, samples: FloatArray) -> _State:
        """The pool in use with the gate's concentrations of the training samples."""
        model = self._model(tensors, self.signed)
        with torch.inference_mode():
            S = model.pool().double().numpy()
        C = _gated(model, samples)
        slots = np.flatnonzero(C.any(axis=0))
        slots = slots if slots.size else np.array([0])
        fit = C[:, slots] @ S[slots]
        law = estimate_noise(samples, fit, degrees_of_freedom(samples, C[:, slots]))
        answer = Decomposition.from_factors(
            C[:, slots],
            S[slots],
            noise=law.sigma(samples, fit).per_sample(samples),
            noise_law=law.as_dict(),
            axis=channel_axis(D),
            channels=channel_names(D),
            sample_names=sample_names(D),
            signed=self.signed,
            settings={"solver": "eb", "pool_size": self.pool_size, "usage": self.usage},
            fit={"r2": float(r_squared(samples, fit))},
        )
        return _State(tensors, answer, tuple(slots.tolist()))

    # Files

    def _pack(self) -> tuple[Arrays, Header]:
        """Every checkpoint with its answer and tensors, the history, and what the anchors need."""
        parameters = {name: value for name, value in self.get_params().items() if name not in NOT_STORED}
        parameters["device"] = str(self.device)
        if not isinstance(self.random_state, int | np.integer | None):
            del parameters["random_state"]
        parameters["folder"] = None if self.folder is None else os.fspath(self.folder)
        arrays, columns = pack_table(self.history_, "history")
        states = {}
        for name, state in self._states.items():
            packed, section = state.answer.pack()
            packed |= {TENSOR + key: tensor.cpu().numpy() for key, tensor in state.tensors.items()}
            arrays |= {f"{name}/{key}": array for key, array in packed.items()}
            states[name] = {"decomposition": section, "slots": state.slots}
        for band, kept in self._bands.kept.items():
            states[str(band)] |= {name: getattr(kept, name) for name in STOOD}
        arrays["mean_gaps"] = self._mean_gaps
        return arrays, {
            "parameters": parameters,
            "settings": None if self.settings is None else asdict(self.settings),
            "history": columns,
            "states": states,
            "learned": {name: getattr(self, name) for name in LEARNED},
        }

    @classmethod
    def _unpack(cls, arrays: Arrays, header: Header) -> EBgMCR:
        settings = header["settings"]
        if settings is not None:
            settings = Settings(**(settings | {"betas": tuple(settings["betas"])}))
        model = cls(**header["parameters"], settings=settings)
        model.history_ = unpack_table(arrays, header["history"])
        states, bands = {}, Bands(model.lowest_band, model._settings().band_width)
        for name, stored in header["states"].items():
            start = f"{name}/"
            own = {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}
            tensors = {
                key.removeprefix(TENSOR): torch.from_numpy(array.copy())
                for key, array in own.items()
                if key.startswith(TENSOR)
            }
            answer = Decomposition.unpack(own, stored["decomposition"])
            states[name] = _State(tensors, answer, tuple(stored["slots"]))
            if name != FINAL:
                bands.kept[int(name)] = Checkpoint(**{key: stored[key] for key in STOOD}, tensors=tensors)
        model._take(states, bands)
        model._mean_gaps = arrays["mean_gaps"]
        for name in LEARNED:
            setattr(model, name, header["learned"][name])
        return model

    # Parts

    def _model(self, tensors: dict[str, torch.Tensor], signed: bool) -> Model:
        model = Model(self.n_features_in_, len(tensors["profile"]), self._settings(), signed)
        model.load_state_dict(tensors)
        return model

    def _chosen(self, rule: str, band: tuple[float, float] | None) -> _State:
        check_is_fitted(self)
        if band is None and rule == FINAL:
            return self._states[FINAL]
        require(band is not None or rule == "fewest", "rule", '"fewest" or "final"', rule)
        number = self._bands.fewest() if band is None else self._bands.with_edges(check_band(band, "band"))
        return self._states[str(number)]


def chosen_device(device: str) -> torch.device:
    """The device asked for; "auto" takes CUDA, then MPS, then the processor."""
    if device != "auto":
        try:
            return torch.empty(0, device=torch.device(device)).device
        except (AssertionError, RuntimeError, TypeError):
            raise InputError(f"device must be auto or one that torch has here, not {device!r:.60}.") from None
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _gated(model: Model, samples: FloatArray) -> FloatArray:
    """Concentrations of all slots by a frozen model's gate: (samples, pool)."""
    with torch.inference_mode():
        out = model.evaluate(torch.as_tensor(samples, dtype=torch.float32))
        return (out.gate * out.amounts).double().numpy()


def _gate_tensors(model: Model) -> torch.Tensor:
    """The gate's parameters in one vector, in main memory."""
    return torch.nn.utils.parameters_to_vector(model.energy.parameters()).detach().cpu().clone()
