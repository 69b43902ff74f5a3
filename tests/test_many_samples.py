"""Tables with many more samples than the search needs: it runs on some of them and finishes on all."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gmcr import GMCR, decode, make_mixtures
from gmcr.scoring import compare
from gmcr.window import solver
from gmcr.window.first_guess import guesses
from gmcr.window.search import Options, prepare

MIX = make_mixtures(n_components=14, n_samples=2400, n_features=48, snr_db=25, random_state=3)


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture
def searched(monkeypatch):
    """How many samples each search ran on, as it comes."""
    sizes = []

    def counted(D, *arguments):
        sizes.append(len(D))
        return real(D, *arguments)

    real = solver._searched
    monkeypatch.setattr(solver, "_searched", counted)
    return sizes


def fit(D, **options):
    return GMCR(n_jobs=1, **options).fit(D)


def test_all_samples_are_learned_from(searched):
    model = fit(MIX.D)
    assert searched[0] == 2400
    assert 1000 <= searched[1] < 1200
    compared = compare(model, MIX)
    assert model.n_components_ == 14
    truth = decode(MIX.D, MIX.S, noise=MIX.sigma).supports == MIX.supports
    assert compared.exact >= truth.all(axis=1).mean() - 0.005
    assert model.concentrations_.shape == (2400, 14)
    assert set(model.path_["stage"]) >= {"all samples", "chosen"}
    # As good as least squares on the true supports of all samples allows, and better than of a thousand.
    best = np.linalg.lstsq(MIX.C, MIX.D, rcond=None)[0]
    best /= np.linalg.norm(best, axis=1, keepdims=True)
    errors = [1 - compared.cosines.min(), 1 - (best * MIX.S).sum(axis=1).min()]
    assert errors[0] <= 1.5 * errors[1]


def test_a_component_of_a_few_samples_is_found():
    random = np.random.default_rng(0)
    D, rare = MIX.D.copy(), random.random(48)
    holders = random.choice(len(D), 5, replace=False)
    D[holders] += 4.0 * rare
    model = fit(D)
    assert model.n_components_ == 15
    cosines = model.components_ @ (rare / np.linalg.norm(rare))
    slot = int(np.argmax(cosines))
    assert cosines[slot] > 0.995
    assert set(np.flatnonzero(model.supports_[:, slot])) == set(holders)


def test_the_order_of_samples_does_not_matter():
    order = np.random.default_rng(1).permutation(len(MIX.D))
    one, other = fit(MIX.D), fit(MIX.D[order])
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-9)
    np.testing.assert_allclose(one.concentrations_[order], other.concentrations_, atol=1e-7)


def test_what_is_known_of_samples_goes_with_them(searched):
    sigma = np.repeat(MIX.sigma[:, None], 48, axis=1)
    weight = np.where(np.arange(2400) % 7 == 0, 3.0, 1.0)
    model = GMCR(n_jobs=1).fit(MIX.D, noise=sigma, sample_weight=weight)
    assert len(searched) == 2
    assert model.n_components_ == 14


def test_a_count_that_was_asked_for_is_kept(searched):
    model = fit(MIX.D, n_components=13)
    assert len(searched) == 2
    assert (model.n_components_, model.count_.decided_by) == (13, "you")


def test_a_band_is_looked_for_among_all_samples(searched):
    model = fit(MIX.D, r2_band=(0.9, 1.0))
    assert searched == [2400]
    assert 0.9 <= model.decomposition_.fit["r2"] <= 1.0


def test_a_search_that_is_stopped_still_covers_all_samples():
    seen = []

    def stop(row):
        seen.append(row)
        if len(seen) == 8:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        model = fit(MIX.D, callback=stop)
    assert model.interrupted_
    assert model.concentrations_.shape == (2400, model.n_components_)


def test_a_thousand_samples_are_searched_whole(searched):
    fit(MIX.D[:1500])
    assert searched == [1500]


def test_more_samples_where_few_do_not_show_all_components():
    """A weak component in every sample: a thousand of them do not show it, all of them do."""
    random = np.random.default_rng(2)
    strong = np.abs(random.normal(size=(6, 40)))
    C = random.exponential(size=(16_000, 6)) * (random.random((16_000, 6)) < 0.4)
    weak = np.cos(np.linspace(0, 9, 40)) / np.sqrt(20)
    D = 3.0 + C @ strong + np.outer(random.normal(0, 0.3, 16_000), weak) + random.normal(0, 0.5, (16_000, 40))
    search = prepare(D, Options(), None, None)
    assert (search.guess.count, search.guess.white) == (8, True)
    assert guesses(D[::16])[0].count == 7
    rows = solver._enough_samples(search)
    assert 2000 < len(rows) <= 9000
    assert guesses(D[rows])[0].count == 8
