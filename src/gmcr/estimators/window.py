"""The estimator `GMCR`: checks what comes in, calls the window solver, and stores what it found."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from gmcr.calibration import Calibration
from gmcr.calibration.stored import pack as pack_calibration
from gmcr.calibration.stored import unpack as unpack_calibration
from gmcr.confidence.stated import why_not_stated
from gmcr.constrained import Fit, Rates, Table, constrained_fit
from gmcr.constraints import Closure, Constraint, Constraints, Layout, ReferenceProfile, constraint_of
from gmcr.constraints.closure import as_fractions, closure_scales
from gmcr.counting import weighed
from gmcr.decoder import Decoding
from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.estimators.base import Samples, Solver
from gmcr.estimators.by_run import areas_of, layout_of
from gmcr.estimators.fitted_on import FittedOn, at_count
from gmcr.estimators.labels import known_names, sample_names
from gmcr.estimators.parameters import (
    check_constraints,
    check_options,
    doubt_replicates,
    given_constraints,
    known_noise,
)
from gmcr.estimators.quantities import amounts_finder, calibrate_by_constraint, calibrated
from gmcr.estimators.steps import law_of_one, noise_after, noise_of_fit
from gmcr.estimators.stored import check_header, check_model, check_rates
from gmcr.metrics import r_squared
from gmcr.noise import Correlation, ErrorCovariance, NoiseLaw, Sigma, law_of
from gmcr.preprocessing import Step, check_steps, step_of
from gmcr.schema import maybe
from gmcr.storage import Arrays, Header
from gmcr.trust import Answer, Trust, trusted
from gmcr.validation import FloatArray, check_pool
from gmcr.window.checkpoint import Checkpoint, remembering
from gmcr.window.distinct_samples import check_sample_weight, distinct_samples
from gmcr.window.evidence import Evidence
from gmcr.window.frozen_pool import FrozenPool, Noise
from gmcr.window.listening import run
from gmcr.window.pool_confidence import Judge, are_training_samples
from gmcr.window.remembering import digest, remembered
from gmcr.window.search import Options
from gmcr.window.signs import Signs, refuse_negative, seen_signs
from gmcr.window.solver import Solution

INTERRUPTED = "The fit was interrupted before all evidence was there."
NOT_WEIGHED = "Some profiles were given: how likely other counts are is not known."

OBEYED = 1e-9  # relative violation of a constraint that is rounding
WITH_SAMPLES = ("decoding_", "_fitted_on", "_others")  # attributes that a copy does not hold
NOT_STORED = ("callback", "fixed_components")  # parameters that a model file's header does not hold


class GMCR(Solver):
    """Unmix samples: how many components, their profiles, which sample holds which, and the noise.

    Nothing needs to be told beforehand: neither the count nor the noise.

    Parameters
    ----------
    n_components : "auto", or the count to fit
    max_components : largest count to consider
    fixed_components : (F, channels) known profiles; they are kept, up to their norm, as the first F components
    signed : what may be negative. "auto": profiles, where negative values in the data are more than noise, as in
        derivative or difference spectra, which a warning then says; "profiles": these in any case; True:
        concentrations too; False: nothing, and data that need it are refused
    noise : "auto"; a law's name, "constant", "proportional", "poisson", "instrument" or "counts", whose terms are
        estimated; a law with its terms, an object of `gmcr.noise`; or the standard deviation of constant noise.
        Noise known per sample or per entry goes to `fit`
    k_max : most components in a sample
    random_state : seed, or a generator of random numbers; None is the seed 0, so that the same data give the
        same answer
    n_starts : number of starting pools; the first is the same for every seed
    n_jobs : number of threads, -1 for all; None takes one for a small table and all for a large one. The answer
        does not depend on it
    verbose : 0 is silent; 1 shows progress on standard error, where that is a terminal
    constraints : what else the answer must obey, one or several objects of `gmcr.constraints`; `signed`, `k_max`,
        `fixed_components` and `closure` stand for one each
    r2_band : (low, high); choose the cheapest solution of the path with R² in this band, whatever the evidence
        for the count says
    steps : what samples go through first, a list of objects of `gmcr.preprocessing` such as Crop(400, 1800) and
        Baseline("asls"). They are stored with the model and done to new samples as well, which come as measured
    background : number of smooth components (an offset, a slope, a curvature, …) that are fitted in every sample
        beside the others; they count for none and are in no support
    disturbances : what to do with what the detector did (`find_disturbances`): "keep" everything and do
        not look; "tell" all that is found; "mask" what is beyond doubt and can be masked, and tell the rest
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
    chain_ : Chain of the steps, as learned; its `did` says what each did to the training samples
    noise_correlation_ : Correlation of the noise along the channels, none where it is white, or ErrorCovariance
        where replicates tell how channels are off together; it makes amounts and
        supports less certain, and a sum of squares have fewer effective degrees of freedom
    usage_price_ : λ, what a selection costs in noise units
    path_ : DataFrame, the solutions met: level, stage, noise, count, r2, usage, cost, chosen
    count_ : Evidence, the count, a range, and what speaks for it
    decomposition_ : Decomposition, all of this in one object
    decoding_ : Decoding of the training samples, as `decode` gives it; a model from a file or a copy has none
    fractions_ : (samples, n_components_) with closure, rows sum to one, NaN for a sample that holds nothing;
        else None
    closure_scales_ : (n_components_,) with closure, what turns concentrations into fractions; else None
    violations_ : by constraint, how far the answer is from obeying it: 0 where it does; with closure, the answer
        is `fractions_`
    layout_ : Layout, the runs and the order of the training samples, as far as they were given
    areas_ : DataFrame, where runs or an order were given: runs × components, the area under the concentrations of
        a run over its order, or their sum where no order was given; else None
    rates_ : Rates of the reactions with a `Kinetic` constraint, with errors and `intervals`; else None
    interrupted_ : whether the fit was ended early
    resumed_ : whether the fit went on from a checkpoint
    calibration_ : Calibration, once known amounts were given to `calibrate` or as a constraint; else None
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    Negative values are fine as noise; where they are more than that they are never cut off without a word.

    A model decodes every sample by itself, with the noise its law gives the sample and the price of the training
    run: `transform` does not depend on which other samples are beside it, and the training samples are decoded
    by the same rule. A constraint that couples samples, such as a single maximum over time, holds in
    `concentrations_`, which is what `fit_transform` gives; `decode` leaves it out and says so (`left_out`).

    Examples
    --------
    >>> from gmcr import GMCR, make_mixtures
    >>> mix = make_mixtures(n_components=8, n_samples=48, snr_db=30, n_features=64, random_state=0)
    >>> model = GMCR(random_state=0).fit(mix.D)
    >>> model.n_components_
    8
    """

    decoding_: Decoding
    path_: pd.DataFrame
    closure_scales_: FloatArray | None
    violations_: dict[str, float]
    rates_: Rates | None
    layout_: Layout  # runs and order of the training samples
    _constraints: Constraints  # that the fit obeyed, whatever the parameters say since
    _decoded: FloatArray  # training samples as new ones are decoded, before what changes the answer alone
    _pool_covariance: FloatArray
    _judge: Judge
    calibration_: Calibration | None
    _fitted_on: FittedOn | None = None  # a model from a file or a copy has none
    _told_to_fit: Sequence[str] = ()  # names of what was given to fit beside the samples
    _others: dict[int, GMCR]  # the same at other counts

    def __init__(
        self,
        n_components: int | str = "auto",
        max_components: int | None = None,
        fixed_components: Any = None,
        signed: bool | str = "auto",
        noise: str | float | NoiseLaw = "auto",
        k_max: int | None = None,
        random_state: Any = None,
        n_starts: int = 1,
        n_jobs: int | None = None,
        verbose: int = 0,
        *,
        constraints: Sequence[Constraint] | Constraint | None = None,
        r2_band: tuple[float, float] | None = None,
        closure: bool = False,
        steps: Sequence[Step] | Step | None = None,
        background: int = 0,
        disturbances: str = "keep",
        callback: Callable[[Any], object] | None = None,
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
        self.constraints = constraints
        self.r2_band = r2_band
        self.closure = closure
        self.steps = steps
        self.background = background
        self.disturbances = disturbances
        self.callback = callback

    def fit(
        self,
        D: Samples,
        y: Any = None,
        *,
        noise: ArrayLike | NoiseLaw | None = None,
        sample_weight: ArrayLike | None = None,
        replicates: ArrayLike | None = None,
        runs: ArrayLike | None = None,
        order: ArrayLike | None = None,
        warm_start: Decomposition | Samples | None = None,
        checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    ) -> GMCR:
        """Unmix the samples.

        Parameters
        ----------
        D : (samples, channels) samples; NaN means missing. Of a DataFrame, numeric column names are the channel
            axis and the index names the samples; what `gmcr.read` returns brings both along
        y : ignored
        noise : standard deviation of the noise where it is known, one per sample or one per entry
        sample_weight : (samples,) how often each sample counts; zero leaves it out of the fit
        replicates : (samples,) labels; samples with the same label are measurements of one thing, whose spread
            tells the noise; None or NaN for a sample measured once
        runs : (samples,) labels of the runs that samples belong to, for constraints that go by run and for
            `areas_`; by default the files or sheets that `gmcr.read` found several samples in
        order : (samples,) place of each sample in its run, such as a time, for constraints that go by order; no
            order is taken for granted where none is given
        warm_start : profiles to start from: a Decomposition, or spectra (profiles, channels) of any scale
        checkpoint : file that holds what was found out so far while the fit runs, up to 1 GB. If it is there
            already, left by a run on the same data with the same options that was ended, the fit goes on from it,
            says so, and comes to the same answer as if it had never been ended. When it is done the file goes
        """
        beside = noise, sample_weight, replicates, runs, order, warm_start
        with self._kept_if_refused(), remembering(checkpoint) as saved:
            raw, samples, spread = self._learned_samples(D, replicates)
            noise = noise_of_fit(self.chain_, noise, spread, raw)
            replicates = replicates if self.chain_.averaging is None else None
            noise_after(self.chain_, self.noise, samples)  # refused where a step changes it
            weight = check_sample_weight(sample_weight, len(samples))
            signs = seen_signs(samples[weight > 0])
            self._constraints = check_constraints(self, samples.shape[1], signs)
            self._tell_signs(signs)
            known = known_noise(self.noise, noise, replicates, samples, weight)
            layout = self.layout_ = layout_of(self.chain_, D, runs, order, len(samples))
            rows, repeats = distinct_samples(samples, weight, known.sigma, layout)
            if len(rows) < 2:
                raise InputError(
                    f"D has {len(rows)} sample(s) to learn from, copies and empty ones aside; give at least 2."
                )
            training = np.ascontiguousarray(samples[rows])
            options = check_options(self, known, rows, layout[rows], warm_start, samples.shape[1])
            if saved is not None:
                saved.is_of(digest([version("gmcr"), training, repeats, vars(options), self.r2_band]))
            solve = partial(
                run,
                repeats=repeats,
                r2_band=self.r2_band,
                callback=self.callback,
                shown=bool(self.verbose),
                n_jobs=self.n_jobs,
            )
            solution = solve(training, options)
            solution = _at_the_likeliest_count(training, options, solution, solve)
            self.resumed_ = saved is not None and saved.resumed
            if self.resumed_:
                told = "the fit went on from the checkpoint of a run that was ended, to the same answer."
                warnings.warn(told, stacklevel=2)
            if solution.interrupted:
                warnings.warn("the fit was interrupted; this is the best found so far.", stacklevel=2)
            solution = replace(solution, law=law_of_one(self.chain_, solution.law))
            asked, count = options.n_components, solution.state.count
            if asked is not None and count != asked:
                all_there_are = ", as many as the table has samples or channels" * (
                    count == min(samples.shape)
                )
                told = f"{asked} components were asked for, but only {count} were found{all_there_are}."
                warnings.warn(told, stacklevel=2)
            fitted = constrained_fit(Table(samples, weight, layout), self._constraints, solution)
            self.rates_ = None if fitted is None else fitted.rates
            self._learn(D, samples, rows, layout, known.sigma, solution, fitted)
            if replicates is not None:
                doubt_replicates(samples, self.n_components_, self.noise_)
            self._fitted_on = FittedOn(D, self.get_params(deep=False), *beside)
            self._told_to_fit, self._others = self._fitted_on.told, {}
            calibrate_by_constraint(self)
            if saved is not None and saved is not checkpoint and not self.interrupted_:
                saved.remove()
        return self

    def fit_transform(
        self,
        D: Samples,
        y: Any = None,
        *,
        noise: ArrayLike | NoiseLaw | None = None,
        sample_weight: ArrayLike | None = None,
        replicates: ArrayLike | None = None,
        runs: ArrayLike | None = None,
        order: ArrayLike | None = None,
        warm_start: Decomposition | Samples | None = None,
        checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    ) -> FloatArray:
        """The concentrations that the fit found, under all constraints: (samples, n_components_).

        Parameters are those of `fit`. Without constraints that couple samples it is what `transform` gives.
        """
        self.fit(
            D,
            noise=noise,
            sample_weight=sample_weight,
            replicates=replicates,
            runs=runs,
            order=order,
            warm_start=warm_start,
            checkpoint=checkpoint,
        )
        return self.concentrations_.copy()

    def at(self, n_components: int, D: Samples | None = None) -> GMCR:
        """The model at another count, complete: what GMCR with this count and the same options finds.

        Parameters
        ----------
        n_components : the count
        D : (samples, channels) the samples that were fitted, for a model from a file, which does not hold them

        Returns
        -------
        GMCR, fitted when it is first asked for, in the time of a fit that is told the count, not calibrated
        """
        check_is_fitted(self)
        return at_count(self, n_components, D)

    def calibrate(
        self,
        known: Any,
        D: Samples | None = None,
        *,
        units: Any = None,
        replicates: ArrayLike | None = None,
        runs: ArrayLike | None = None,
        components: dict[str, int] | None = None,
    ) -> Calibration:
        """Learn amounts in units from samples whose amounts are known; `decode` gives amounts from then on.

        Parameters
        ----------
        known : (samples, known) amounts, NaN where one is not known: a DataFrame or dict with names, or an array.
            There may be fewer columns than components
        D : (samples, channels) the samples of known amounts; by default those that were fitted
        units : of the amounts, such as "g/L", or by name, {"glucose": "g/L"}
        replicates : (samples,) labels; samples with the same label are measurements of one mixture, of known
            amount or not; their differences tell noise. By default samples of a run with the same known
            amounts are
        runs : (samples,) labels of runs whose slopes may differ (matrix effects)
        components : which component a name is, {"glucose": 2}, where the known amounts do not tell

        Returns
        -------
        Calibration, which prints slopes, errors and limits; it is kept as `calibration_`
        """
        check_is_fitted(self)
        self.calibration_, find = calibrated(self, known, D, units, replicates, runs, components)
        if D is None:
            self.decoding_ = replace(self.decoding_, find_amounts=find)
        return self.calibration_

    def decode(
        self, D: Samples, *, noise: ArrayLike | NoiseLaw | None = None, runs: ArrayLike | None = None
    ) -> Decoding:
        """What samples hold, and whether the learned pool explains them.

        Parameters
        ----------
        D : (samples, channels) samples; NaN means missing
        noise : standard deviation of their noise, where it is known better than by the learned law: one number,
            one per sample or one per entry; or a law, or the name of one that is estimated on these samples
        runs : (samples,) labels of runs, for a model calibrated with runs; in a run that it has not seen, amounts
            are as unsure as slopes differ between runs

        Returns
        -------
        Decoding, with `amounts` in units if the model is calibrated. Its `known` allows for the pool's
        uncertainty: the residual variance of a sample is the noise's times one plus the leverage of its
        concentrations among those of the training samples. So do its `errors` and its `confidence`, which takes
        the law of supports and concentrations from the training samples; both, and amounts, are computed when
        they are first asked for
        """
        check_is_fitted(self)
        raw = self._raw(D)
        samples, order = self.chain_.apply(raw), self._channel_order(D)
        if isinstance(noise, np.ndarray) and noise.ndim == 2 and order is not None:
            noise = noise[:, order]  # it was told by entry of D as it came
        given = self.noise_law_ if noise is None else noise_after(self.chain_, noise, raw)
        if isinstance(given, str):
            given = self._frozen().estimated_law(samples, given)
        known = given if isinstance(given, NoiseLaw) else Sigma.given(given, samples)
        out = self._judged(samples, self._frozen().decode(samples, known), known)
        find = amounts_finder(self.calibration_, self.components_, samples, out, runs)
        return replace(out, find_amounts=find)

    def trust(self, D: Samples) -> Trust:
        """Whether the answer may be used: a verdict in three words, the checks it rests on, and what to do.

        Parameters
        ----------
        D : (samples, channels) the samples that were fitted
        """
        check_is_fitted(self)
        return trusted(self.answer(D), self.decomposition_.names)

    def answer(self, D: Samples) -> Answer:
        """The answer as `trust` judges it, with the samples that were fitted."""
        samples, found, law = self._training_samples(D), self.decomposition_, self.noise_law_
        out = self._judged(samples, self._frozen().decode(samples, law), law)
        S, C = found.components, found.concentrations
        if why_not_stated((samples - C @ S) / out.noise[:, None], out.known):
            out = replace(out, find_confidence=None)
        return Answer(samples, C, S, self.count_, out, self.n_fixed_, found.signed)

    @property
    def areas_(self) -> pd.DataFrame | None:
        """Runs × components: the area under the concentrations of a run, or None without runs and order."""
        return areas_of(self.layout_, self.concentrations_, self.decomposition_.component_names)

    @property
    def n_fixed_(self) -> int:
        """How many components, the first ones, have profiles that were known beforehand."""
        return self._constraints.n_fixed

    def learn_confidence(self) -> None:
        """Learn how sure supports are, which takes a while, now and not when that is first asked for.

        A model that is saved before holds the training samples that it is learned from.
        """
        check_is_fitted(self)
        self._judge.learn()

    def fractions(self, D: Samples) -> FloatArray:
        """Fractions of samples, summing to one: (samples, n_components_); for a model fitted with closure."""
        check_is_fitted(self)
        return self._as_fractions(self.decode(D).concentrations)

    # The work

    def _tell_signs(self, signs: Signs) -> None:
        """Say what was made of negative values that are more than noise, or refuse them."""
        if not signs.beyond_noise:
            return
        if self._constraints.signed:
            if self.signed != "auto":
                return
            told = "profiles may be negative; signed=True allows concentrations to be, signed=False refuses both."
            warnings.warn(f"{signs}: {told}", stacklevel=3)
        else:
            refuse_negative(signs)
            told = "too small to matter: nothing may be negative; signed=True allows it."
            warnings.warn(f"{signs}, but {told}", stacklevel=3)

    def _learn(
        self,
        D: Samples,
        samples: FloatArray,
        rows: NDArray[np.intp],
        layout: Layout,
        sigma: Sigma | None,
        solution: Solution,
        fitted: Fit | None,
    ) -> None:
        """Freeze the pool and the noise law, and decode the training samples as `transform` will.

        fitted : what a fit under constraints made of the solution, where there are such
        """
        self.n_components_ = solution.state.count
        self.components_ = solution.state.S if fitted is None else fitted.profiles
        self.usage_price_ = float(solution.usage_price)
        self.noise_law_ = solution.law
        self.noise_correlation_ = solution.correlation
        noise = solution.law if sigma is None else sigma
        self.count_ = solution.evidence
        self.interrupted_ = bool(solution.interrupted)
        self._pool_covariance = np.zeros((self.n_components_, self.n_components_))
        out = self._frozen().decode_plain(samples, noise)
        frozen = self._frozen().with_errors_of(out.concentrations[rows], out.noise[rows])
        self._pool_covariance = frozen.covariance
        out = frozen.allow_for_errors(samples, noise, out)
        self._judge = Judge(frozen)
        self._judge.keep(samples, out.concentrations, self._sigma(samples, out, noise), rows)
        self.decoding_ = self._judged(samples, out, noise)
        C = out.concentrations if fitted is None else fitted.concentrations
        C = self._constraints.on_answer(C, self.components_, layout)
        path = pd.DataFrame([vars(row) for row in solution.path])
        path.insert(0, "level", np.arange(len(path)))
        path["chosen"] = path["level"] == solution.chosen
        self._keep(
            Decomposition(
                self.components_,
                C,
                noise=out.noise,
                noise_law=self.noise_law_.as_dict(),
                path=path,
                axis=self.chain_.axis_after,
                channels=self.chain_.channels_after,
                sample_names=self.chain_.names_after or sample_names(D),
                component_names=known_names(self.fixed_components, self.n_components_),
                settings=self._changed_parameters(),
                fit={"r2": r_squared(samples, C @ self.components_), "usage_price": self.usage_price_},
                signed=self._constraints.signed,
            )
        )
        self._decoded = self.concentrations_ if C is out.concentrations else out.concentrations
        self.calibration_ = None
        if not out.supports.any():
            warnings.warn("no component stands above the noise in any sample.", stacklevel=3)
        closure = self._constraints.find(Closure)
        if closure is None or (fitted is not None and closure.when == "fit"):
            self._close(None if closure is None or fitted is None else fitted.scales)
        else:
            self._close(closure_scales(self.concentrations_, closure.total))
        self._check_answer(layout)

    def _keep(self, found: Decomposition) -> None:
        super()._keep(found)
        if found.path is None:
            raise InputError("a GMCR model needs its path.")
        self.path_ = found.path

    def _close(self, scales: FloatArray | None) -> None:
        self.closure_scales_ = scales
        self.fractions_ = None if scales is None else self._as_fractions(self.concentrations_)

    def _as_fractions(self, C: FloatArray) -> FloatArray:
        closure = self._constraints.find(Closure)
        if closure is None or self.closure_scales_ is None:
            raise InputError("fractions need a model fitted with closure=True.")
        summed = closure.speaks_of(len(self.closure_scales_))
        return as_fractions(C, self.closure_scales_, summed) * np.where(summed, closure.total, 1.0)

    def _check_answer(self, layout: Layout) -> None:
        """Whether what is returned obeys what was asked for."""
        told, S = self._constraints, self.components_
        self.violations_ = told.violations(self.concentrations_, S, layout)
        if self.fractions_ is not None and (closure := told.find(Closure)) is not None:
            self.violations_[closure.kind] = closure.violation(np.nan_to_num(self.fractions_), S)
        for name, violation in self.violations_.items():
            if not violation <= OBEYED:
                raise InputError(
                    f"the answer violates the constraint {name}, by {violation:.2g}; leave it out."
                )

    def _frozen(self) -> FrozenPool:
        learned = self.components_, self._pool_covariance, self.usage_price_
        return FrozenPool(*learned, self._constraints, self.noise_correlation_)

    def _sigma(self, samples: FloatArray, out: Decoding, noise: Noise) -> Sigma:
        """The noise that samples were decoded with, as large as it is for the amounts of smooth profiles."""
        sigma = noise.sigma(samples, out.concentrations @ self.components_ if noise.per_entry else None)
        inflation = self._frozen().inflation
        return sigma if inflation == 1.0 else sigma * float(np.sqrt(inflation))

    def _judged(self, samples: FloatArray, out: Decoding, noise: Noise) -> Decoding:
        """The decoding `out` of samples, with confidence and errors for whoever asks for them."""
        asked = samples, out, noise
        find = partial(self._confidence, *asked), partial(self._errors, *asked)
        left_out = self._constraints.left_out
        return replace(out, find_confidence=find[0], find_errors=find[1], left_out=left_out)

    def _confidence(self, samples: FloatArray, out: Decoding, noise: Noise) -> FloatArray:
        """Confidence in decoded supports over the learned pool, with its errors: (samples,)."""
        sigma = self._sigma(samples, out, noise)
        return self._judge.confidence(samples, out.concentrations, sigma, self._decoded)

    def _errors(self, samples: FloatArray, out: Decoding, noise: Noise) -> FloatArray:
        """Standard errors of decoded concentrations over the learned pool, with its errors: (samples, slots)."""
        sigma = self._sigma(samples, out, noise).where_present(samples)
        C = out.concentrations
        return self._frozen().errors(C, sigma, are_training_samples(C, self._decoded))

    # Files

    def __getstate__(self) -> dict[str, Any]:
        """Without what holds all of the training samples."""
        state = {name: value for name, value in super().__getstate__().items() if name not in WITH_SAMPLES}
        return state | ({"_others": {}} if "n_components_" in state else {})

    def _storable_parameters(self) -> dict[str, Any]:
        """Parameters as JSON types; one that a file cannot hold is left out."""
        own = self.get_params(deep=False)  # one step alone has parameters of its own
        parameters = {name: value for name, value in own.items() if name not in NOT_STORED}
        if isinstance(self.noise, NoiseLaw):
            parameters["noise"] = self.noise.as_dict()
        if self.constraints is not None:
            parameters["constraints"] = [one.as_dict() for one in given_constraints(self)]
        if self.steps is not None:
            parameters["steps"] = [one.as_dict() for one in check_steps(self.steps)]
        if not isinstance(self.random_state, int | np.integer | None):
            del parameters["random_state"]
        return parameters

    def _changed_parameters(self) -> dict[str, Any]:
        """What the solver was asked to do beyond the defaults."""
        defaults = type(self)().get_params(deep=False)
        given = self._storable_parameters()
        if self.steps is not None:  # what a file stores of them may be long
            given["steps"] = [one.sentence() for one in check_steps(self.steps)]
        return {name: value for name, value in given.items() if value != defaults[name]}

    def _pack(self) -> tuple[Arrays, Header]:
        arrays = {"pool_covariance": self._pool_covariance} | self._judge.pack()
        arrays |= {} if self.layout_.order is None else {"order": self.layout_.order}
        if self.closure_scales_ is not None:
            arrays["closure_scales"] = self.closure_scales_
        if self.fixed_components is not None:
            arrays["fixed_components"] = check_pool(self.fixed_components)
        if self._constraints.fixed is not None:
            arrays["reference"] = self._constraints.fixed
        if self._decoded is not self.concentrations_:
            arrays["decoded"] = self._decoded
        exact = self._constraints.find(ReferenceProfile) if self._constraints.n_fixed else None  # in `arrays`
        obeyed = [one.as_dict() for one in self._constraints.given if one is not exact]
        along: list[float] = []
        if isinstance(self.noise_correlation_, ErrorCovariance):
            arrays |= self.noise_correlation_.as_arrays()
        else:
            along = list(self.noise_correlation_.along)
        calibration: Header = {}
        if self.calibration_ is not None:
            own, calibration = pack_calibration(self.calibration_)
            arrays |= own
        return arrays, {
            "calibration": calibration,
            "told_to_fit": list(self._told_to_fit),
            "runs": self.layout_.labels,
            "parameters": self._storable_parameters(),
            "constraints": obeyed,
            "usage_price": self.usage_price_,
            "evidence": self.count_.as_dict(),
            "noise_correlation": along,
            "interrupted": self.interrupted_,
            "resumed": self.resumed_,
            "violations": self.violations_,
            "rates": None if self.rates_ is None else self.rates_.as_dict(),
        }

    @classmethod
    def _unpack(cls, arrays: Arrays, header: Header) -> GMCR:
        check_header(header)
        parameters = header["parameters"]
        if parameters["r2_band"] is not None:
            parameters["r2_band"] = tuple(parameters["r2_band"])
        if isinstance(parameters["noise"], dict):
            parameters["noise"] = law_of(parameters["noise"])
        if parameters.get("constraints") is not None:  # older files have none
            parameters["constraints"] = [constraint_of(one) for one in parameters["constraints"]]
        if parameters.get("steps") is not None:  # the same
            parameters["steps"] = [step_of(one) for one in parameters["steps"]]
        model = cls(**parameters, fixed_components=arrays.get("fixed_components"))
        stored, fixed = header.get("constraints"), arrays.get("reference")  # older files have neither
        obeyed = [constraint_of(one) for one in stored or ()]
        obeyed += [] if fixed is None else [ReferenceProfile(fixed)]
        model._constraints = check_constraints(model) if stored is None else Constraints(()).also(*obeyed)
        model._keep(Decomposition.unpack(arrays, header["decomposition"]))
        check_model(model.decomposition_, model._constraints, arrays, header)
        model._decoded = arrays.get("decoded", model.concentrations_)
        model._pool_covariance = arrays["pool_covariance"]
        model.usage_price_ = header["usage_price"]
        model.noise_correlation_ = (
            ErrorCovariance.of_arrays(arrays)
            if "noise_own" in arrays
            else Correlation(tuple(header.get("noise_correlation", ())))  # older files: none
        )
        model._judge = Judge.unpack(arrays, model._frozen(), model.concentrations_)
        model.noise_law_ = law_of(header["noise_law"])
        model.count_ = Evidence.of_dict(header["evidence"])
        model.interrupted_ = header["interrupted"]
        model.resumed_ = header.get("resumed", False)  # older files do not tell
        model._close(arrays.get("closure_scales"))
        model.violations_ = header.get("violations", {})
        known = header.get("calibration")  # older files have none
        model.calibration_ = unpack_calibration(arrays, known) if known else None
        # Older files have neither runs nor order; an axis of channels is with the decomposition.
        model.layout_ = Layout.of(
            header.get("runs"), arrays.get("order"), len(model.concentrations_), model.decomposition_.axis
        )
        model._told_to_fit, model._others = header.get("told_to_fit", ()), {}
        rates = header.get("rates")  # older files have none
        maybe(check_rates)(rates, "rates")
        model.rates_ = None if rates is None else Rates.of_dict(rates)
        return model


def _at_the_likeliest_count(
    D: FloatArray, options: Options, found: Solution, solve: Callable[[FloatArray, Options], Solution]
) -> Solution:
    """The solution at the count that all evidence speaks for: the one found, or another that is told."""
    if found.interrupted:
        return replace(found, evidence=replace(found.evidence, caution=INTERRUPTED))
    if options.constraints.n_fixed:  # of tables with known profiles nothing was learned
        return replace(found, evidence=replace(found.evidence, caution=NOT_WEIGHED))
    evidence = remembered(weighed)(D, found.evidence, options.max_components)
    if evidence.count != found.state.count and evidence.decided_by != "you":
        own = replace(evidence, count=found.state.count, decided_by=found.evidence.decided_by, doubt="")
        try:
            told = solve(D, replace(options, n_components=evidence.count))
        except KeyboardInterrupt:
            return replace(found, evidence=replace(own, caution=INTERRUPTED), interrupted=True)
        if told.state.count == evidence.count:
            path = [*found.path, *told.path]
            return replace(told, evidence=evidence, path=path, chosen=len(found.path) + told.chosen)
        evidence = own
    return replace(found, evidence=evidence)
