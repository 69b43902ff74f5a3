"""The certificate: proved where it can be, never on a wrong solution, and never against the truth."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gmcr import Decomposition, certify, make_mixtures
from gmcr.decoding.prices import usage_price
from gmcr.errors import InputError
from gmcr.theory import conditions
from gmcr.theory.facts import gather
from gmcr.theory.spark import SparkMargin
from solutions import WRONG, dropped, merged, rotated, split, true_solution

CONDITIONS = {f"C{number}" for number in range(1, 12)}
NOTHING_GIVEN = dict.fromkeys(("k", "c_min", "c_max", "eps_fit", "floor", "diversity"))


def status(certificate, name):
    return certificate.conditions.set_index("name").loc[name, "status"]


@pytest.fixture(scope="module")
def clean():
    return make_mixtures(16, 64, 55, random_state=7)


# Known pool


@pytest.mark.parametrize("seed", range(10))
def test_the_truth_over_a_known_pool_is_proved_at_55_db(seed):
    mix = make_mixtures(16, 64, 55, random_state=seed)
    certificate = certify(mix.D, true_solution(mix), noise=mix.sigma, known_pool=True)
    assert certificate.verdict == "proved"
    assert status(certificate, "C1") == status(certificate, "C2") == "holds"


def test_the_proved_error_bound_holds(clean):
    certificate = certify(clean.D, true_solution(clean), noise=clean.sigma, known_pool=True)
    found = np.zeros_like(clean.C)
    for m, held in enumerate(clean.supports):
        found[m, held] = np.linalg.lstsq(clean.S[held].T, clean.D[m], rcond=None)[0]
    assert np.linalg.norm(found - clean.C, axis=1).max() <= certificate.concentration_error


def test_what_is_left_without_a_component_is_least_squares(clean):
    C = clean.C * np.random.default_rng(0).uniform(
        0.9, 1.1, clean.C.shape
    )  # any concentrations on the supports
    solution = Decomposition.from_factors(C, clean.S)
    facts = gather(clean.D, solution, clean.sigma, 0.05, NOTHING_GIVEN, 0.1)
    for m in range(20):
        for i in np.flatnonzero(clean.supports[m]):
            others = clean.S[[j for j in np.flatnonzero(clean.supports[m]) if j != i]]
            best = np.linalg.lstsq(others.T, clean.D[m], rcond=None)[0]
            assert facts.without[m, i] == pytest.approx(np.linalg.norm(clean.D[m] - best @ others), rel=1e-6)
    assert np.isnan(facts.without[~clean.supports]).all()


def test_a_spare_component_is_not_proved_however_the_spark_margin_turns_out(clean, monkeypatch):
    C = clean.C.copy()
    m = int(np.argmin(clean.supports.sum(axis=1)))
    C[m, np.flatnonzero(C[m] == 0)[0]] = 1e-4
    larger = Decomposition.from_factors(C, clean.S)
    # A margin of which only the upper end opens the window.
    wide = SparkMargin(1e-6, 0.5, 8, tuple(range(8)), "relaxation")
    monkeypatch.setattr("gmcr.theory.facts.spark_margin", lambda *args, **kwargs: wide)
    given = {"noise": clean.sigma, "c_min": 1.0, "known_pool": True}
    assert certify(clean.D, true_solution(clean), **given).verdict == "conditional"
    assert certify(clean.D, larger, **given).verdict == "consistent"


def test_an_enlarged_support_fails_c2():
    mix = make_mixtures(16, 64, 55, random_state=3)
    C = mix.C.copy()
    held = np.flatnonzero(mix.supports.sum(axis=1) < 4)
    extra = np.argmax(C[held] == 0, axis=1)
    C[held, extra] = 1e-4
    larger = Decomposition.from_factors(C, mix.S)
    certificate = certify(mix.D, larger, noise=mix.sigma, k=4, c_min=1.0, known_pool=True)
    assert certificate.verdict == "unsupported"
    assert status(certificate, "C2") == "fails"
    assert "C2" in certificate.sentence


def test_at_20_db_it_says_what_is_missing():
    mix = make_mixtures(16, 64, 20, random_state=0)
    certificate = certify(mix.D, true_solution(mix), noise=mix.sigma, known_pool=True)
    assert certificate.verdict == "consistent"
    assert "dB more SNR would open it" in certificate.sentence
    better = make_mixtures(16, 64, 45, random_state=0)
    assert certify(better.D, true_solution(better), noise=better.sigma, known_pool=True).verdict == "proved"


def test_a_closed_window_opens_at_the_stated_snr():
    mix = make_mixtures(16, 64, 30, random_state=0)
    facts = gather(mix.D, true_solution(mix), mix.sigma, 0.05, NOTHING_GIVEN, 0.1)
    window = conditions.fixed_pool_window(facts)
    missing = conditions.decibels(window.value, window.threshold)
    scale, clean = 10 ** (-(missing + 0.01) / 20), mix.C @ mix.S
    D = clean + scale * (mix.D - clean)
    quieter = gather(D, true_solution(mix), scale * mix.sigma, 0.05, NOTHING_GIVEN, 0.1)
    assert window.status == "fails"
    assert conditions.fixed_pool_window(quieter).status == "holds"


# Learned pool


def test_a_learned_pool_is_never_proved(clean):
    certificate = certify(clean.D, true_solution(clean), noise=clean.sigma)
    assert certificate.verdict == "consistent"
    assert {"C4", "C7", "C9", "C11"} <= set(certificate.conditions.query("status == 'unchecked'")["name"])


def test_without_noise_and_with_pairs_a_learned_pool_is_proved_if():
    mix = make_mixtures(8, 200, None, random_state=1)
    certificate = certify(mix.D, true_solution(mix), noise=0.0)
    assert certificate.verdict == "conditional"
    assert "C4 and C7" in certificate.sentence
    assert certificate.profile_error == 0.0


def test_the_robust_window_says_how_far_away_it_is():
    mix = make_mixtures(8, 400, 20, active=(1, 2), random_state=1)
    facts = gather(mix.D, true_solution(mix), mix.sigma, 0.05, NOTHING_GIVEN, 0.1)
    robust = conditions.robust_window(facts)
    assert not robust.is_open
    assert 20 < robust.missing_db < 200
    # At that SNR, and only from there on, it is open.
    for change, is_open in ((0.1, True), (-0.2, False)):
        scaled = conditions._robust(facts, facts.diversity, 10 ** (-(robust.missing_db + change) / 20))
        assert scaled.is_open is is_open


def test_an_open_robust_window_is_conditional_and_keeps_its_promises():
    mix = make_mixtures(4, 200, 150, active=(1, 2), random_state=1)
    certificate = certify(mix.D, true_solution(mix), noise=mix.sigma)
    assert certificate.verdict == "conditional"
    assert "C9 and C11" in certificate.sentence
    assert 0 < certificate.profile_error < 1
    assert certificate.concentration_error < 1


# The truth is not spoken against


@pytest.mark.parametrize("known_pool", [True, False])
@pytest.mark.parametrize("snr_db", [15, 20, 30, 55])
def test_the_truth_is_hardly_ever_unsupported(snr_db, known_pool):
    wrong = 0
    for seed in range(25):
        mix = make_mixtures(12, 60, snr_db, n_features=128, random_state=seed)
        verdict = certify(mix.D, true_solution(mix), noise=mix.sigma, known_pool=known_pool).verdict
        wrong += verdict == "unsupported"
    assert wrong <= 4  # of 25 at α = 0.05: more than 4 has a chance of 0.7 %


def test_correlated_noise_does_not_speak_against_the_truth():
    for seed in range(10):
        mix = make_mixtures(8, 100, None, n_features=96, random_state=seed)
        rng = np.random.default_rng(seed)
        noise = np.apply_along_axis(np.convolve, 1, rng.normal(size=(100, 104)), np.ones(9) / 3, mode="valid")
        certificate = certify(mix.D + 0.05 * noise, true_solution(mix), noise=0.05)
        assert certificate.verdict == "consistent"
        assert certificate.constants["noise correlation"] > 2


# Wrong solutions


@pytest.mark.parametrize("corrupt", WRONG.values())
@pytest.mark.parametrize("known_pool", [True, False])
@pytest.mark.parametrize("snr_db", [20, 40, 55])
def test_wrong_solutions_are_never_proved(corrupt, known_pool, snr_db):
    for seed in range(5):
        mix = make_mixtures(10, 60, snr_db, n_features=128, random_state=seed)
        for given in ({}, {"c_min": 1.0, "k": 4}):
            certificate = certify(mix.D, corrupt(mix), noise=mix.sigma, known_pool=known_pool, **given)
            assert certificate.verdict not in ("proved", "conditional")


@pytest.mark.parametrize(
    ("corrupt", "known_pool", "name"),
    [(dropped, True, "C1"), (merged, False, "C8"), (rotated, False, "C8"), (split, False, "C10")],
)
def test_the_failing_condition_is_named(corrupt, known_pool, name):
    mix = make_mixtures(10, 60, 40, n_features=128, random_state=0)
    certificate = certify(mix.D, corrupt(mix), noise=mix.sigma, known_pool=known_pool)
    assert certificate.verdict == "unsupported"
    assert f"{name} fails" in certificate.sentence


# What it says


def test_all_conditions_are_listed_and_the_forms_agree(clean):
    for known_pool in (True, False):
        certificate = certify(clean.D, true_solution(clean), noise=clean.sigma, known_pool=known_pool)
        assert set(certificate.conditions["name"]) >= CONDITIONS
        assert set(certificate.conditions["status"]) <= {"holds", "fails", "unchecked"}
        json.dumps(certificate.to_dict(), allow_nan=False)
        assert certificate.sentence in str(certificate)
        assert "<table>" in certificate._repr_html_()


def test_text_is_escaped_in_html(clean):
    certificate = certify(clean.D, true_solution(clean), noise=clean.sigma)
    marked = replace(
        certificate,
        sentence="<b>s</b>",
        conditions=certificate.conditions.assign(note="<b>x</b>"),
        constants={"<b>k</b>": 1.0},
    )
    html = marked.to_html()
    assert "&lt;b&gt;x" in html
    assert not any(text in html for text in ("<b>x", "<b>s</b>", "<b>k"))


def test_at_the_detection_limit_a_removal_costs_the_price(clean):
    certificate = certify(clean.D, true_solution(clean), noise=clean.sigma, known_pool=True)
    price, table = usage_price(16, 64, 0.05), certificate.components
    for i in range(16):
        own = []
        for m in np.flatnonzero(clean.supports[:, i]):
            others = clean.S[clean.supports[m] & (np.arange(16) != i)]
            fit = others.T @ np.linalg.lstsq(others.T, clean.S[i], rcond=None)[0] if len(others) else 0.0
            own.append(np.sqrt(price) * clean.sigma[m] / np.linalg.norm(clean.S[i] - fit))
        own = np.array(own) * certificate.constants["noise correlation"]
        assert table["detection_limit"][i] == pytest.approx(np.median(own))
        assert table["worst_detection_limit"][i] == pytest.approx(own.max())


def test_what_is_read_off_the_solution_is_said(clean):
    certificate = certify(clean.D, true_solution(clean), noise=clean.sigma, k=4)
    assert "c_min" in certificate.read_off
    assert "k" not in certificate.read_off
    assert "noise" in certify(clean.D, true_solution(clean)).read_off


def test_correlated_noise_raises_the_proxy():
    rng = np.random.default_rng(0)
    mix = make_mixtures(8, 200, None, n_features=96, random_state=0)
    white = 0.01 * rng.normal(size=mix.D.shape)
    smooth = np.apply_along_axis(lambda row: np.convolve(row, np.ones(9) / 3, mode="same"), 1, white)
    plain = gather(mix.D + white, true_solution(mix), 0.01, 0.05, NOTHING_GIVEN, 0.1)
    correlated = gather(mix.D + smooth, true_solution(mix), 0.01, 0.05, NOTHING_GIVEN, 0.1)
    assert plain.correlated == 1.0
    # The covariance of a running sum of nine, divided by three: its largest eigenvalue is about nine.
    assert 2.5 < correlated.correlated < 4.0


def test_missing_entries_are_at_most_consistent(clean):
    D = clean.D.copy()
    D[3, 7] = np.nan
    assert certify(D, true_solution(clean), noise=clean.sigma, known_pool=True).verdict == "consistent"


def test_the_verdict_does_not_depend_on_order_or_scale(clean):
    rng = np.random.default_rng(1)
    rows, slots = rng.permutation(64), rng.permutation(16)
    moved = Decomposition.from_factors(3.0 * clean.C[rows][:, slots], clean.S[slots])
    first = certify(clean.D, true_solution(clean), noise=clean.sigma, known_pool=True)
    second = certify(3.0 * clean.D[rows], moved, noise=3.0 * clean.sigma[rows], known_pool=True)
    assert (first.verdict, first.concentration_error * 3) == (
        second.verdict,
        pytest.approx(second.concentration_error),
    )


@pytest.mark.parametrize("wrong", [{"alpha": 1.5}, {"k": 0}, {"c_min": -1.0}, {"eps_fit": np.nan}])
def test_arguments_are_checked(clean, wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        certify(clean.D, true_solution(clean), **wrong)
    with pytest.raises(InputError, match="samples that were decomposed"):
        certify(clean.D[1:], true_solution(clean))
