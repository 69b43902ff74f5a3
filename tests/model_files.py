"""Model files of every kind, and all that is done with a model from one; for the tests and benchmarks/fuzz.py."""

import warnings
from pathlib import Path

import numpy as np

from gmcr import GMCR, Decomposition, certify, decode, make_mixtures
from gmcr.constraints import Kinetic
from gmcr.io.table import Table
from gmcr.preprocessing import Crop, SavitzkyGolay
from gmcr.reporting.files import report
from gmcr.runs import in_short
from gmcr.runs.tables import tables_of

SECONDS = 0.5  # for the bands of a report
LEARNED = {"plain.gmcr", "decomposition.gmcr"}  # have no confidence to learn, which takes seconds


def write_models(folder):
    """Model files that hold all that one may hold; the samples that go with each, by its name."""
    mix = make_mixtures(3, 12, snr_db=30, n_features=24, random_state=0, profiles="peaks", closure=True)
    twice = _measured_twice(mix.D)
    steps = [Crop(2, 22), SavitzkyGolay(5, 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {
            "plain": GMCR(3, n_jobs=1).fit(mix.D),
            "blind": GMCR(n_jobs=1).fit(mix.D),
            "closed": GMCR(3, closure=True, k_max=3, noise="constant", n_jobs=1).fit(mix.D),
            "stepped": GMCR(3, steps=steps, fixed_components=mix.S[:1], n_jobs=1).fit(mix.D),
            "calibrated": GMCR(3, n_jobs=1).fit(mix.D),
            "replicated": GMCR(3, n_jobs=1).fit(
                _measured_twice(mix.D), replicates=np.repeat(np.arange(12), 2)
            ),
        }
    models["calibrated"].calibrate({"a": mix.C[:, 0], "b": mix.C[:, 1]}, units="g/L")
    times = np.linspace(0.0, 4.0, 12)
    reacting = np.stack([np.exp(-times), 1 - np.exp(-times)], axis=1) @ mix.S[:2]
    reacting += 0.001 * np.random.default_rng(0).standard_normal(reacting.shape)
    models["kinetic"] = GMCR(2, constraints=[Kinetic("A > B")], n_jobs=1).fit(reacting, order=times)
    samples = {}
    for name, model in models.items():
        if name == "plain":  # the others hold what confidence is to be learned from
            model.learn_confidence()
        model.save(folder / f"{name}.gmcr")
        samples[f"{name}.gmcr"] = {"kinetic": reacting, "replicated": twice}.get(name, mix.D)
    models["plain"].decomposition_.save(folder / "decomposition.gmcr")
    return samples | {"decomposition.gmcr": mix.D}


def use(path, D, folder, *, whole=True):
    """Load a model file and do all that can be done with it; whole : what takes longer too."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = Decomposition.load(path)
        texts = str(found), repr(found), found._repr_html_()
        assert all(texts)
        found.table(), found.sorted_by_usage()
        if Path(path).name.startswith("decomposition"):
            certify(D, found), decode(D, found.components), found.r2(D)
            if whole:
                report(D, found, folder / "report.html", seconds=SECONDS)
            return
        model = GMCR.load(path)
        in_short(model), str(model.count_), model._repr_html_(), str(model.rates_), str(model.calibration_)
        model.count_.as_dict(), str(model.noise_correlation_.sentence())
        out = model.decode(D)
        if whole or model._judge.law is not None:  # learning takes longer
            assert out.confidence.shape == (len(D),)
        out.errors, out.intervals(), model.certify(D), model.transform(D)
        model.inverse_transform(out.concentrations)
        if model.closure_scales_ is not None:
            model.fractions(D)
        for _, rows in tables_of(model, model.prepared(Table(D))).values():
            list(rows)
        model.save(folder / "again.gmcr")
        if whole:
            report(D, model.decomposition_, folder / "report.html", model=model, seconds=SECONDS)


def _measured_twice(D):
    """Each sample twice, with a baseline that goes up and down in all channels together."""
    random = np.random.default_rng(1)
    twice = np.repeat(D, 2, axis=0)
    together = 0.05 * D.max() * random.standard_normal((len(twice), 1))
    return twice + together + 0.01 * random.standard_normal(twice.shape)
