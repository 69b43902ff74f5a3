"""Nothing on a report page contradicts anything else on it: its statements are read back, and compared."""

import numpy as np
import pytest

from gmcr import GMCR, make_mixtures
from gmcr.confidence.stated import why_not_stated
from gmcr.reporting.collect import collect
from gmcr.reporting.page import render
from page_kinds import KINDS, page_of
from statements import contradictions


@pytest.fixture(scope="module")
def sparse_page():
    return page_of("sparse", 100)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_does_not_contradict_itself(kind, request):
    page = request.getfixturevalue("sparse_page") if kind == "sparse" else page_of(kind, 100)
    found, compared = contradictions(page)
    assert not found
    assert compared >= 25


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("3 components, over 99 % sure", "3 components, 71 % sure"),
        ("24 samples hold 3 components", "24 samples hold 4 components"),
        ("24 samples hold", "23 samples hold"),
        ("no sample leaves more than noise", "2 samples of 24 leave more than noise"),
        ("<h2>Use it</h2>", "<h2>Use with care</h2>"),
        ("24 of 24.", "22 of 24."),
        (
            "No component could look different and fit as well",
            "component 1 could look different and fit as well",
        ),
        ("supports right, expected", "supports right, perhaps"),
        ('"label":"chosen"', '"label":"taken"'),
    ],
)
def test_a_contradiction_is_found(sparse_page, said, instead):
    assert said in sparse_page
    try:
        found, _ = contradictions(sparse_page.replace(said, instead, 1))
    except StopIteration:  # a statement that is gone
        return
    assert found


# How sure supports are, where noise is not white


def correlated(rho, seed):
    """Mixtures whose noise is correlated along the channels by rho; everything else is as in theory."""
    mix = make_mixtures(4, 40, snr_db=22, n_features=60, active=(1, 3), profiles="peaks", random_state=seed)
    noise = np.random.default_rng(seed).standard_normal(mix.D.shape)
    for k in range(1, noise.shape[1]):
        noise[:, k] = rho * noise[:, k - 1] + np.sqrt(1 - rho**2) * noise[:, k]
    return mix, mix.C @ mix.S + mix.sigma[:, None] * noise


def test_confidence_is_stated_for_white_noise_alone():
    _, white = correlated(0.0, 100)
    _, red = correlated(0.8, 100)
    for D, stated in ((white, True), (red, False)):
        model = GMCR(4, random_state=0).fit(D)
        contents = collect(model.decomposition_, D, model=model, seconds=5.0)
        page = render(contents)
        assert (contents.confidence is not None) == stated
        assert ("supports right, expected" in page) == stated
        assert ("should be wrong on average" in page) == stated
        assert ("correlated along the channels" in page) != stated
        supports = model.trust(D).checks.set_index("name")["number"]["supports"]
        assert (supports != "not there") == stated


def test_confidence_is_not_stated_where_samples_are_not_explained():
    residual = np.random.default_rng(0).standard_normal((100, 50))
    known = np.arange(100) > 0
    assert not why_not_stated(residual, known)
    assert why_not_stated(residual, known & (np.arange(100) > 1)).startswith("2 of 100 samples leave more")
    assert not why_not_stated(np.where(residual > 2, np.nan, residual), known)
