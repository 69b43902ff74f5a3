"""What estimators share: `Unmixer`, the scikit-learn transformer; `Solver`, the contract of GMCR and EBgMCR."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gmcr.decoder import Decoding
from gmcr.decomposition import Decomposition
from gmcr.errors import FileError, InputError, NotInstalled
from gmcr.estimators.labels import channel_axis, channel_names, labelled_as, labels_of, sample_names
from gmcr.estimators.steps import learned_chain
from gmcr.estimators.stored import check_chain
from gmcr.io.table import Table
from gmcr.metrics import r_squared
from gmcr.noise import NoiseLaw
from gmcr.preprocessing import Chain
from gmcr.reporting.files import report
from gmcr.schema import many, maybe, text
from gmcr.storage import Arrays, Header, read_model, write_model
from gmcr.theory.certificate import Certificate, certify
from gmcr.validation import (
    BoolArray,
    FloatArray,
    channel_order,
    check_complete,
    check_same_axis,
    check_samples,
    is_lazy,
)

Samples = ArrayLike | pd.DataFrame | Table  # (samples, channels); the last two bring their axis and names


class Unmixer(TransformerMixin, BaseEstimator):
    """Learns a pool, `components_` (n_components_, channels), and gives samples concentrations over it."""

    takes_missing = True  # whether entries may be NaN
    takes_lazy = False  # whether samples may be dask arrays

    signed: Any
    decomposition_: Decomposition
    components_: FloatArray
    concentrations_: FloatArray
    supports_: BoolArray
    noise_: FloatArray
    n_components_: int

    def inverse_transform(self, C: ArrayLike) -> FloatArray:
        """The samples that concentrations C (samples, n_components_) stand for, without noise."""
        check_is_fitted(self)
        concentrations = check_samples(C, "C")
        if concentrations.shape[1] != self.n_components_:
            raise InputError(
                f"C has {concentrations.shape[1]} columns and the model has {self.n_components_} components."
            )
        return concentrations @ self.components_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the components: "component 0", or as `rename` and named profiles have them."""
        check_is_fitted(self)
        return np.array(self.decomposition_.names, dtype=object)

    def rename(self, names: Mapping[Any, str] | Sequence[str]) -> Self:
        """Give components names, which every table, frame, file and report then has.

        Parameters
        ----------
        names : one per component, or {2: "lactose"} by number or by the name it has; the others keep theirs
        """
        check_is_fitted(self)
        self.decomposition_ = self.decomposition_.renamed(names)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_missing
        tags.input_tags.positive_only = not self.signed
        return tags

    def _samples(self, D: Samples, *, reset: bool) -> FloatArray:
        """The samples checked; with `reset`, their channels are those to be learned, else those that were."""
        if not reset and hasattr(D, "columns"):
            self._check_names(D)
        try:
            samples = check_samples(D, allow_constant=not reset, copy=False)
        except InputError as error:
            if isinstance(error.__context__, TypeError):  # scikit-learn's contract for entries of other types
                raise TypeError(f"{error} ({error.__context__})") from error
            raise
        if not self.takes_missing:
            cannot = f"{type(self).__name__} cannot leave entries out (NaN)"
            check_complete(samples, "D", f"{cannot}: fill it in, or remove that sample or channel")
        if not reset and (came := samples.shape[1]) != (known := self.n_features_in_):
            raise InputError(  # in scikit-learn's words too, which its contract asks for
                f"the samples have {came} channels and the model has {known}; put both on the same channel axis "
                f"(X has {came} features, but {type(self).__name__} is expecting {known} features as input)."
            )
        validate_data(self, samples if isinstance(D, Table) else D, reset=reset, skip_check_array=True)
        return samples

    def _check_names(self, D: Any) -> None:
        """Refuse columns of other names than the training samples had, in scikit-learn's words and in ours."""
        try:
            validate_data(self, D, reset=False, skip_check_array=True)
        except ValueError as error:  # its sentence stays, letter by letter: other tools know it by that
            raise InputError(
                "the samples do not have the channels of the model, by the names or the number of their columns; "
                f"give the same ones in the same order, or an array without names ({error})."
            ) from error

    @contextmanager
    def _kept_if_refused(self) -> Iterator[None]:
        """Within this, a fit that fails leaves everything as it was."""
        before = vars(self).copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _keep(self, found: Decomposition) -> None:
        """The learned attributes, from the decomposition of the training samples."""
        if found.noise is None:
            raise InputError(f"a {type(self).__name__} model needs the noise of its samples.")
        self.decomposition_ = found
        self.n_components_ = found.n_components
        self.components_ = found.components
        self.concentrations_ = found.concentrations
        self.supports_ = found.supports
        self.noise_ = found.noise


class Solver(Unmixer, ABC):
    """A solver as an estimator: what can be asked of a fitted one, whichever it is.

    A subclass fits, decodes, and says what a file holds of it (`_pack`, `_unpack`).
    """

    callback: Callable[[Any], object] | None
    noise_law_: NoiseLaw
    chain_: Chain  # the steps that samples go through first, as learned

    @abstractmethod
    def decode(self, D: Samples) -> Decoding:
        """What samples hold, and whether the learned pool explains them."""

    def transform(self, D: Samples) -> FloatArray:
        """Concentrations of samples over the learned pool: (samples, n_components_).

        Those of an xarray.DataArray (samples, channels) are one too, with the coordinates of its samples. GMCR
        takes dask arrays, and DataArrays of such, and gives dask arrays.
        """
        if is_lazy(D) and self.takes_lazy:
            from gmcr.estimators import lazily  # dask is there by now

            check_is_fitted(self)
            return lazily.transform(self, D)
        return labelled_as(D, self.decode(D).concentrations, self.decomposition_.names)

    def score(self, D: Samples, y: Any = None) -> float:
        """R² of samples decoded over the learned pool, about their column means; y is ignored."""
        concentrations = self.decode(D).concentrations
        return float(r_squared(self._samples(D, reset=False), concentrations @ self.components_))

    def certify(
        self,
        D: Samples,
        alpha: float = 0.05,
        *,
        noise: ArrayLike | None = None,
        k: int | None = None,
        c_min: float | None = None,
        c_max: float | None = None,
        eps_fit: float | None = None,
        floor: float | None = None,
        diversity: float | None = None,
        known_pool: bool = False,
    ) -> Certificate:
        """What is proved about the answer, under which conditions, and what speaks against it.

        Parameters
        ----------
        D : (samples, channels) the samples that were fitted
        alpha : probability that the noise is larger than assumed anywhere
        noise, k, c_min, c_max, eps_fit, floor, diversity, known_pool : as in `gmcr.certify`; what is None is read
            off the solution
        """
        check_is_fitted(self)
        samples, found = self._training_samples(D), self.decomposition_
        return certify(samples, found, noise, alpha, k, c_min, c_max, eps_fit, floor, diversity, known_pool)

    def report(self, D: Samples, path: str | os.PathLike[str], *, source: str = "samples") -> None:
        """Write the report, one HTML file to read and to send on: what `gmcr fit` writes.

        Parameters
        ----------
        D : (samples, channels) the samples that were fitted; what `gmcr.read` gave also tells units and pixels
        path : the file to write, such as "report.html"
        source : what the report calls the data, such as the name of their file
        """
        check_is_fitted(self)
        self._raw(D)
        report(D, self.decomposition_, path, model=self, source=source)

    def prepared(self, D: Samples) -> Table:
        """The samples that were fitted, after the model's steps: what its answer is to be compared with."""
        check_is_fitted(self)
        raw = self._raw(D)
        table = D if isinstance(D, Table) else Table(raw, channel_axis(D), sample_names(D))
        return table.after(self.chain_, training=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file such as "run.gmcr", whole or not at all.

        Of the parameters, a callback and a `random_state` that is no number are not kept.
        """
        check_is_fitted(self)
        arrays, section = self.decomposition_.pack()
        own_arrays, header = self._pack()
        common = {
            "kind": type(self).__name__,
            "decomposition": section,
            "noise_law": self.noise_law_.as_dict(),
            "feature_names": getattr(self, "feature_names_in_", None),
        }
        # Only where there are any: other files stay as readable to older versions as they are.
        steps = {"steps": self.chain_.as_dict()} if self.chain_ else {}
        write_model(path, arrays | own_arrays, common | header | steps)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a fitted model that `save` wrote."""
        arrays, header = read_model(path)
        if header["kind"] != cls.__name__:
            raise FileError(
                f"{path} holds no {cls.__name__} model; it is a model file of kind {header['kind']!r}."
            )
        try:
            model = cls._unpack(arrays, header)
            found = model.decomposition_
            own = Chain((), found.n_channels, found.axis, found.channels)
            model.chain_ = check_chain(header["steps"], found) if "steps" in header else own
            model.n_features_in_ = model.chain_.n_channels
            maybe(many(text, model.n_features_in_))(header["feature_names"], "feature_names")
            if header["feature_names"] is not None:
                model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        except (AttributeError, ArithmeticError, LookupError, InputError, TypeError, ValueError) as error:
            missing = isinstance(error, NotInstalled)
            why = "needs what is not installed" if missing else "holds a model that is not valid"
            raise FileError(f"{path} {why}: {error}") from error
        return model

    @abstractmethod
    def _pack(self) -> tuple[Arrays, Header]:
        """What a file holds of the model beside its decomposition and noise law."""

    @classmethod
    @abstractmethod
    def _unpack(cls, arrays: Arrays, header: Header) -> Self:
        """The model that `save` took apart."""

    def _samples(self, D: Samples, *, reset: bool) -> FloatArray:
        """The samples, checked, after the model's steps."""
        if not reset:
            return self.chain_.apply(self._raw(D))
        raw = self._as_measured(D)
        self.chain_, samples, _ = learned_chain(self, labels_of(D), raw)
        return samples

    def _as_measured(self, D: Samples) -> FloatArray:
        """Training samples, checked, before any step; their channels are those to be learned."""
        return super()._samples(D, reset=True)

    def _training_samples(self, D: Samples) -> FloatArray:
        """The samples that were fitted, after the model's steps, replicates averaged as they were."""
        return self.chain_.apply_to_training(self._raw(D))

    def _raw(self, D: Samples) -> FloatArray:
        """New samples as they were measured, checked, in the order of the training samples' channels."""
        samples = super()._samples(D, reset=False)
        check_same_axis(channel_axis(D), self.chain_.axis, "the training samples")
        order = self._channel_order(D)
        return samples if order is None else samples[:, order]

    def _channel_order(self, D: Samples) -> NDArray[np.intp] | None:
        """Where the channels of the training samples stand in samples that name theirs; None to leave them so."""
        return channel_order(channel_names(D), self.chain_.channels, "the training samples")

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's diagram and, once fitted, what was found."""
        found = self.decomposition_._repr_html_() if hasattr(self, "decomposition_") else ""
        return str(super()._html_repr()) + found
