"""The estimator `GMCR`: checks what comes in, calls the window solver, and stores what it found."""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gmcr.decoder import Decoding, check_noise, where_present
from gmcr.decomposition import Decomposition
from gmcr.errors import FileError, InputError
from gmcr.estimators.base import Unmixer
from gmcr.estimators.labels import channel_axis, check_axis, sample_names
from gmcr.estimators.parameters import check_options, known_noise
from gmcr.io.table import Table
from gmcr.metrics import r_squared
from gmcr.noise import NoiseLaw
from gmcr.reporting.files import report
from gmcr.storage import read_model, write_model
from gmcr.theory.certificate import Certificate, certify
from gmcr.validation import FloatArray, check_pool, refuse_negative
from gmcr.window.closure import as_fractions, closure_scales
from gmcr.window.count import Evidence
from gmcr.window.frozen import FrozenPool
from gmcr.window.judge import Judge, learned_from
from gmcr.window.running import run
from gmcr.window.samples import check_sample_weight, count_above_noise, distinct_samples
from gmcr.window.solver import Solution

KIND = "GMCR"
NOT_STORED = ("callback", "fixed_components")  # parameters that a model file's header does not hold


class GMCR(Unmixer):
    """Unmix samples: how many components, their profiles, which sample holds which, and the noise.

    Nothing needs to be told beforehand: neither the count nor the noise.

    Parameters
    ----------
    n_components : "auto", or the count to fit
    max_components : largest count to consider
    fixed_components : (F, channels) known profiles; they are kept, up to their norm, as the first F components
    signed : whether profiles and concentrations may be negative, as for derivative spectra
    noise : "auto"; a law, "constant", "proportional" or "poisson", whose level is estimated; or the standard
        deviation of constant noise. Noise known per sample or per entry goes to `fit`
    k_max : most components in a sample
    random_state : seed, or a generator of random numbers; None is the seed 0, so that the same data give the
        same answer
    n_starts : number of starting pools; the first is the same for every seed
    n_jobs : number of threads, -1 for all; None takes one for a small table and all for a large one. The answer
        does not depend on it
    verbose : 0 is silent; 1 shows progress on standard error, where that is a terminal
    r2_band : (low, high); choose the cheapest solution of the path with R² in this band, whatever the evidence
        for the count says
    closure : whether to express concentrations as fractions that sum to one as well: `fractions_`
    callback : function called with each row of the path as it comes (stage, noise, count, r2, usage, cost); by
        raising KeyboardInterrupt it ends the fit with the best found so far

    Attributes
    ----------
    n_components_ : the count
    components_ : (n_components_, channels) profiles of unit norm
    concentrations_ : (samples, n_components_) of the training samples
    supports_ : (samples, n_components_) bool, which component each training sample holds
    noise_ : (samples,) standard deviation of each training sample's noise
    noise_law_ : NoiseLaw, the noise of new samples
    usage_price_ : λ, what a selection costs in noise units
    path_ : DataFrame, the solutions met: level, stage, noise, count, r2, usage, cost, chosen
    count_ : Evidence, the count, a range, and what speaks for it
    decomposition_ : Decomposition, all of this in one object
    fractions_ : (samples, n_components_) with closure, rows sum to one, NaN for a sample that holds nothing;
        else None
    closure_scales_ : (n_components_,) with closure, what turns concentrations into fractions; else None
    interrupted_ : whether the fit was ended early
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    Negative values are fine as noise. Where they are more than that, `fit` asks for `signed=True`.

    A model decodes every sample by itself, with the noise its law gives the sample and the price of the training
    run: `transform` does not depend on which other samples are beside it, and the training samples are decoded
    by the same rule.

    Examples
    --------
    >>> from gmcr import GMCR, make_mixtures
    >>> mix = make_mixtures(n_components=8, n_samples=48, snr_db=30, n_features=64, random_state=0)
    >>> model = GMCR(random_state=0).fit(mix.D)
    >>> model.n_components_
    8
    """

    decomposition_: Decomposition
    components_: FloatArray
    concentrations_: FloatArray
    noise_: FloatArray
    path_: pd.DataFrame
    closure_scales_: FloatArray | None
    _pool_covariance: FloatArray
    _judge: Judge

    def __init__(
        self,
        n_components: int | str = "auto",
        max_components: int | None = None,
        fixed_components: Any = None,
        signed: bool = False,
        noise: str | float = "auto",
        k_max: int | None = None,
        random_state: Any = None,
        n_starts: int = 1,
        n_jobs: int | None = None,
        verbose: int = 0,
        *,
        r2_band: tuple[float, float] | None = None,
        closure: bool = False,
        callback: Any = None,
    ) -> None:
        self.n_components = n_components
        self.max_components = max_components
        self.fixed_components = fixed_components
        self.signed = signed
        self.noise = noise
        self.k_max = k_max
        self.random_state = random_state
        self.n_starts = n_starts
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.r2_band = r2_band
        self.closure = closure
        self.callback = callback

    def fit(
        self,
        D: Any,
        y: Any = None,
        *,
        noise: Any = None,
        sample_weight: Any = None,
        warm_start: Decomposition | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> GMCR:
        """Unmix the samples.

        Parameters
        ----------
        D : (samples, channels) samples; NaN means missing. Of a DataFrame, numeric column names are the channel
            axis and the index names the samples
        y : ignored
        noise : standard deviation of the noise where it is known, one per sample or one per entry
        sample_weight : (samples,) how often each sample counts; zero leaves it out of the fit
        warm_start : Decomposition whose profiles are the starting pool
        checkpoint : file that holds the best pool so far while the fit runs. If it is there already, left by a
            run on the same data with the same options that was ended, the fit goes on from it
        """
        samples = self._samples(D, reset=True)
        if not self.signed:
            refuse_negative(samples, count_above_noise)
        noise = known_noise(self.noise, noise)
        sigma = None if noise is None else check_noise(noise, samples)
        rows, repeats = distinct_samples(samples, check_sample_weight(sample_weight, len(samples)), sigma)
        if len(rows) < 2:
            raise InputError(
                f"D has {len(rows)} sample(s) to learn from, copies and empty ones aside; give at least 2."
            )
        training = np.ascontiguousarray(samples[rows])
        options = check_options(self, samples.shape[1], None if sigma is None else sigma[rows], warm_start)
        solution = run(
            training,
            options,
            repeats,
            r2_band=self.r2_band,
            checkpoint=checkpoint,
            callback=self.callback,
            shown=bool(self.verbose),
            n_jobs=self.n_jobs,
        )
        if solution.interrupted:
            warnings.warn("the fit was interrupted; this is the best found so far.", stacklevel=2)
        asked, count = options.n_components, solution.state.count
        if asked is not None and count != asked:
            warnings.warn(f"{asked} components were asked for, but only {count} were found.", stacklevel=2)
        self._learn(D, samples, rows, noise, solution)
        return self

    def transform(self, D: Any) -> FloatArray:
        """Concentrations of samples over the learned pool: (samples, n_components_)."""
        check_is_fitted(self)
        return self._decode(self._samples(D, reset=False)).concentrations

    def decode(self, D: Any, *, noise: Any = None) -> Decoding:
        """What samples hold, and whether the learned pool explains them.

        Parameters
        ----------
        D : (samples, channels) samples; NaN means missing
        noise : standard deviation of their noise, where it is known better than by the learned law: one number,
            one per sample or one per entry

        Returns
        -------
        Decoding. Its `known` allows for the uncertainty of the pool: the residual variance of a sample is the
        noise's times one plus the leverage of its concentrations among those of the training samples. So do its
        `errors` and its `confidence`, which takes the law of supports and concentrations from the training
        samples; both are computed when they are first asked for
        """
        check_is_fitted(self)
        samples = self._samples(D, reset=False)
        out = self._decode(samples, noise)
        judge, spread = (
            partial(self._confidence, samples, out, noise),
            partial(self._errors, samples, out, noise),
        )
        return replace(out, judge=judge, spread=spread)

    def certify(self, D: Any, alpha: float = 0.05, **given: Any) -> Certificate:
        """What is proved about the answer, under which conditions, and what speaks against it.

        Parameters
        ----------
        D : (samples, channels) the samples that were fitted
        alpha : probability that the noise is larger than assumed anywhere
        given : noise, k, c_min and the other arguments of `gmcr.certify`
        """
        check_is_fitted(self)
        return certify(self._samples(D, reset=False), self.decomposition_, alpha=alpha, **given)

    def report(self, D: Any, path: str | os.PathLike[str], *, source: str = "samples") -> None:
        """Write the report of the fit, one HTML file to read and to send on: what `gmcr fit` writes.

        Parameters
        ----------
        D : (samples, channels) the samples that were fitted, or the table that `gmcr.read` gave
        path : the file to write, such as "report.html"
        source : what the report calls the data, such as the name of their file
        """
        check_is_fitted(self)
        samples = D if isinstance(D, Table) else self._samples(D, reset=False)
        report(samples, self.decomposition_, path, model=self, source=source)

    def fractions(self, D: Any) -> FloatArray:
        """Fractions of samples, summing to one: (samples, n_components_); for a model fitted with closure."""
        check_is_fitted(self)
        if self.closure_scales_ is None:
            raise InputError("fractions need a model fitted with closure=True.")
        return as_fractions(self.decode(D).concentrations, self.closure_scales_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file such as "run.gmcr", whole or not at all.

        Of the parameters, a callback and a `random_state` that is no number are not kept.
        """
        check_is_fitted(self)
        arrays, section = self.decomposition_.pack()
        arrays["pool_covariance"] = self._pool_covariance
        arrays |= self._judge.pack()
        if self.closure_scales_ is not None:
            arrays["closure_scales"] = self.closure_scales_
        if self.fixed_components is not None:
            arrays["fixed_components"] = check_pool(self.fixed_components)
        header = {
            "kind": KIND,
            "decomposition": section,
            "parameters": self._storable_parameters(),
            "usage_price": self.usage_price_,
            "noise_law": self.noise_law_.as_dict(),
            "evidence": {
                name: list(value.items()) if isinstance(value, dict) else value
                for name, value in asdict(self.count_).items()
            },
            "feature_names": getattr(self, "feature_names_in_", None),
            "interrupted": self.interrupted_,
        }
        write_model(path, arrays, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GMCR:
        """Read a fitted model that `save` wrote."""
        arrays, header = read_model(path)
        if header["kind"] != KIND:
            raise FileError(f"{path} holds no {KIND} model; it is a model file of kind {header['kind']!r}.")
        try:
            return cls._unpack(arrays, header)
        except (AttributeError, IndexError, InputError, KeyError, TypeError, ValueError) as error:
            raise FileError(f"{path} holds a model that is not valid: {error}") from error

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's diagram and, once fitted, what was found."""
        found = self.decomposition_._repr_html_() if hasattr(self, "decomposition_") else ""
        return str(super()._html_repr()) + found

    # Checks

    def _samples(self, D: Any, *, reset: bool) -> FloatArray:
        samples = super()._samples(D, reset=reset)
        if not reset:
            check_axis(channel_axis(D), self.decomposition_.axis)
        return samples

    # The work

    def _learn(
        self, D: Any, samples: FloatArray, rows: NDArray[np.intp], noise: Any, solution: Solution
    ) -> None:
        """Freeze the pool and the noise law, and decode the training samples as `transform` will."""
        self.n_components_ = solution.state.count
        self.components_ = solution.state.S
        self.usage_price_ = float(solution.usage_price)
        self.noise_law_ = solution.law
        if noise is not None and np.ndim(noise) == 0:
            self.noise_law_ = NoiseLaw("constant", float(noise))
        self.count_ = solution.evidence
        self.interrupted_ = bool(solution.interrupted)
        self._pool_covariance = np.zeros((self.n_components_, self.n_components_))
        out = self._decode(samples, noise)
        self._pool_covariance = (
            self._frozen().learned_from(out.concentrations[rows], out.noise[rows]).covariance
        )
        out = self._decode(samples, noise)
        self._judge = Judge(self._frozen())
        self._judge.keep(samples, out.concentrations, self._sigma(samples, out, noise), rows)
        path = pd.DataFrame([vars(row) for row in solution.path])
        path.insert(0, "level", np.arange(len(path)))
        path["chosen"] = path["level"] == solution.chosen
        self._store(
            Decomposition(
                self.components_,
                out.concentrations,
                noise=out.noise,
                noise_law=self.noise_law_.as_dict(),
                path=path,
                axis=channel_axis(D),
                sample_names=sample_names(D),
                settings=self._changed_parameters(),
                fit={
                    "r2": r_squared(samples, out.concentrations @ self.components_),
                    "usage_price": self.usage_price_,
                },
                signed=bool(self.signed),
            )
        )
        if not out.supports.any():
            warnings.warn("no component stands above the noise in any sample.", stacklevel=3)
        self._close(closure_scales(self.concentrations_) if self.closure else None)

    def _store(self, decomposition: Decomposition) -> None:
        if decomposition.noise is None or decomposition.path is None:
            raise InputError("a GMCR model needs the noise of its samples and its path.")
        self.decomposition_ = decomposition
        self.n_components_ = decomposition.n_components
        self.components_ = decomposition.components
        self.concentrations_ = decomposition.concentrations
        self.supports_ = decomposition.supports
        self.noise_ = decomposition.noise
        self.path_ = decomposition.path

    def _close(self, scales: FloatArray | None) -> None:
        self.closure_scales_ = scales
        self.fractions_ = None if scales is None else as_fractions(self.concentrations_, scales)

    def _decode(self, samples: FloatArray, noise: Any = None) -> Decoding:
        """Decode over the learned pool."""
        return self._frozen().decode(samples, self.noise_law_ if noise is None else noise)

    def _frozen(self) -> FrozenPool:
        n_fixed = 0 if self.fixed_components is None else len(self.fixed_components)
        return FrozenPool(
            self.components_, self._pool_covariance, self.usage_price_, self.k_max, bool(self.signed), n_fixed
        )

    def _sigma(self, samples: FloatArray, out: Decoding, noise: Any) -> FloatArray:
        """The noise that samples were decoded with: (samples,), or (samples, channels) where it is per entry."""
        if np.ndim(noise) == 2:
            return check_noise(noise, samples)
        if noise is None and self.noise_law_.per_entry:
            return self.noise_law_.sigma(samples, out.concentrations @ self.components_)
        return out.noise

    def _confidence(self, samples: FloatArray, out: Decoding, noise: Any) -> FloatArray:
        """Confidence in decoded supports over the learned pool, with its errors: (samples,)."""
        sigma = self._sigma(samples, out, noise)
        return self._judge.confidence(samples, out.concentrations, sigma, self.concentrations_)

    def _errors(self, samples: FloatArray, out: Decoding, noise: Any) -> FloatArray:
        """Standard errors of decoded concentrations over the learned pool, with its errors: (samples, slots)."""
        sigma = where_present(self._sigma(samples, out, noise), samples)
        C = out.concentrations
        return self._frozen().errors(C, sigma, learned_from(C, self.concentrations_))

    # Files

    def _storable_parameters(self) -> dict[str, Any]:
        """Parameters as JSON types; one that a file cannot hold is left out."""
        parameters = {name: value for name, value in self.get_params().items() if name not in NOT_STORED}
        if not isinstance(self.random_state, int | np.integer | None):
            del parameters["random_state"]
        return parameters

    def _changed_parameters(self) -> dict[str, Any]:
        """What the solver was asked to do beyond the defaults."""
        defaults = type(self)().get_params()
        return {name: value for name, value in self._storable_parameters().items() if value != defaults[name]}

    @classmethod
    def _unpack(cls, arrays: dict[str, NDArray[Any]], header: dict[str, Any]) -> GMCR:
        parameters = header["parameters"]
        if parameters["r2_band"] is not None:
            parameters["r2_band"] = tuple(parameters["r2_band"])
        model = cls(**parameters, fixed_components=arrays.get("fixed_components"))
        model._store(Decomposition.unpack(arrays, header["decomposition"]))
        model._pool_covariance = arrays["pool_covariance"]
        model.usage_price_ = header["usage_price"]
        model._judge = Judge.unpack(arrays, model._frozen(), model.concentrations_)
        model.noise_law_ = NoiseLaw(**header["noise_law"])
        evidence: dict[str, Any] = {
            name: dict(value) if isinstance(value, list) else value
            for name, value in header["evidence"].items()
        }
        model.count_ = Evidence(**evidence)
        model.interrupted_ = header["interrupted"]
        model.n_features_in_ = model.components_.shape[1]
        if header["feature_names"] is not None:
            model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        model._close(arrays.get("closure_scales"))
        return model
