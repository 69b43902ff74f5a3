"""The count as a distribution: the evidence, what was learned from it, and what is said."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from gmcr import GMCR, make_measured, make_mixtures
from gmcr.counting import Gathered, gather, weighed
from gmcr.counting.by_sample import of_samples
from gmcr.counting.cleaning import cleaned
from gmcr.counting.distribution import smallest_range
from gmcr.counting.few import of_few
from gmcr.counting.left_over import of_blocks, of_law
from gmcr.counting.likeness import of_likeness
from gmcr.counting.neighbours import of_neighbours
from gmcr.counting.net import Net, stored
from gmcr.counting.numbers import cheap_numbers
from gmcr.counting.weighing import doubt, not_to_be_sure
from gmcr.noise import Instrument
from gmcr.window.evidence import Evidence
from gmcr.window.first_guess import unit_rows


def evidence(count=3, **facts):
    return Evidence(count, count, count, "cost", count, count, count, True, by_rule=count, **facts)


@pytest.fixture(scope="module")
def made():
    return make_measured(3, 60, 80, random_state=1, concentrations="lognormal", disturbed=False)


@pytest.fixture(scope="module")
def model(made):
    return GMCR(random_state=0).fit(made.D)


# The distribution


@settings(max_examples=100)
@given(weights=st.lists(st.floats(0.001, 1), min_size=1, max_size=7), mass=st.floats(0.05, 0.99))
def test_the_smallest_range_against_all_ranges(weights, mass):
    chances = {k: w / sum(weights) for k, w in enumerate(weights, 2)}
    low, high = smallest_range(chances, mass)
    assert sum(p for k, p in chances.items() if low <= k <= high) >= mass - 1e-9
    for a, b in [*combinations(chances, 2), *((k, k) for k in chances)]:
        if b - a < high - low:
            assert sum(p for k, p in chances.items() if a <= k <= b) < mass + 1e-9


# What was learned


def made_up_net(members=2, columns=3, seen=4, about=3, sharpness=0.7):
    rng = np.random.default_rng(0)
    return Net(
        names=np.array(list("abcdefgh")[:columns]),
        middle=rng.normal(size=columns),
        half_range=rng.uniform(0.5, 2.0, columns),
        own=rng.normal(size=(members, 2 * columns, seen)),
        own_bias=rng.normal(size=(members, seen)),
        about=rng.normal(size=(members, 2, about, seen, seen)),
        about_bias=rng.normal(size=(members, 2, seen)),
        last=rng.normal(size=(members, 2 * seen)),
        sharpness=np.array([sharpness, 1.0, 1.0]),
    )


def test_a_net_against_its_sums_by_hand():
    """Each number of each candidate as a sum over its neighbours, one at a time."""
    net, rng = made_up_net(), np.random.default_rng(1)
    values = np.where(rng.random((5, 3)) < 0.2, np.nan, rng.normal(size=(5, 3)) * 4)
    seen = np.zeros((5, 6))
    for i, j in np.ndindex(5, 3):
        missing = np.isnan(values[i, j])
        seen[i, 3 + j] = missing and not np.isnan(values[:, j]).all()
        scaled = (values[i, j] - net.middle[j]) / net.half_range[j]
        seen[i, j] = 0.0 if missing else min(max(scaled, -3.0), 3.0)

    def about(z, weights, bias):
        found = np.tile(bias, (5, 1))
        for i, step in np.ndindex(5, 3):
            if 0 <= i + step - 1 < 5:
                found[i] += z[i + step - 1] @ weights[step]
        return np.maximum(found, 0.0)

    logs = np.zeros(5)
    for n in range(2):
        z = np.maximum(seen @ net.own[n] + net.own_bias[n], 0.0)
        first = about(z, net.about[n, 0], net.about_bias[n, 0])
        c = first + about(first, net.about[n, 1], net.about_bias[n, 1])
        scores = z @ net.last[n, :4] + c @ net.last[n, 4:]
        logs += np.log(np.exp(scores) / np.exp(scores).sum()) / 2
    expected = np.exp(0.7 * logs) / np.exp(0.7 * logs).sum()
    assert_allclose(net.chances(values), expected)


def test_each_regime_has_its_own_sharpness():
    net = replace(
        made_up_net(), names=np.array(["count", "whole numbers", "c"]), sharpness=np.array([0.5, 1, 2])
    )
    values = np.array([[1.0, 0.0, 0.3], [2.0, 0.0, -0.5]])
    few, plain = net.chances(values), replace(net, sharpness=np.ones(3)).chances(values)
    assert_allclose(few, plain**0.5 / (plain**0.5).sum())
    for change, sharpness in (((0, 26.0), 1.0), ((1, 1.0), 2.0)):
        column, value = change
        values[:, column] = value
        plain = replace(net, sharpness=np.ones(3)).chances(values)
        assert_allclose(net.chances(values), plain**sharpness / (plain**sharpness).sum())


@given(values=st.lists(st.floats(allow_infinity=True, allow_nan=True), min_size=12, max_size=12))
def test_whatever_the_evidence_the_chances_are_a_distribution(values):
    chances = made_up_net().chances(np.array(values).reshape(4, 3))
    assert chances.sum() == pytest.approx(1.0)
    assert chances.min() >= 0


def test_what_is_stored_is_plain_and_fits_what_is_gathered(made):
    found = gather(made.D, evidence())
    assert set(stored().names.tolist()) == set(found.names)
    arrays = stored().as_arrays()
    assert all(np.asarray(value).dtype != object for value in arrays.values())
    again = Net.of_arrays(arrays)
    order = [found.names.index(name) for name in again.names.tolist()]
    np.testing.assert_array_equal(
        again.chances(found.values[:, order]), stored().chances(found.values[:, order])
    )


# The evidence


@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e6])
def test_numbers_do_not_know_the_unit(made, factor):
    plain, scaled = cheap_numbers(made.D, 8), cheap_numbers(factor * made.D, 8)
    for name, values in plain.items():
        np.testing.assert_allclose(scaled[name], values, rtol=1e-5, atol=1e-6, err_msg=name)


def test_a_few_huge_samples_of_counts_do_not_decide():
    """As many singular values stand out of the noise as there are components: that of a few samples is none."""
    rng = np.random.default_rng(0)
    mean = 300 * rng.dirichlet(np.ones(4), 150) @ rng.dirichlet(np.full(40, 0.3), 4)
    mean[:3] *= 300
    numbers = cheap_numbers(rng.poisson(mean).astype(float), 8, counts=True)
    assert (numbers["plain: over the edge"] > 0).tolist() == [True] * 4 + [False] * 4


def test_candidates_around_what_the_solver_found_beyond_those_looked_at(made):
    assert gather(made.D, evidence()).counts.tolist() == list(range(1, 26))
    assert (
        gather(made.D, replace(evidence(), by_rank=50)).counts[-1] == 25
    )  # which was no edge of white noise
    assert gather(made.D, replace(evidence(), by_rank=50, white_rank=True)).counts[-1] == 59
    found = gather(made.D, replace(evidence(), by_cost=50))
    assert found.counts[-19:].tolist() == list(range(41, 60))
    assert found.counts[0] == 1
    assert np.isnan(found.values[-1, found.names.index("plain: gap")])
    assert found.values[-1, found.names.index("count")] == 59


def test_what_is_left_under_its_law_is_noise_from_the_count_on():
    """Noise of two kinds at once, which no scaling by sample and channel makes white."""
    made = make_measured(
        3, 90, 80, random_state=4, profiles="peaks", concentrations="lognormal", disturbed=False,
        law=Instrument(1e-3, 0.0, 0.02),
    )  # fmt: skip
    parts = np.linalg.svd(made.D, full_matrices=False)
    left = of_law(made.D, parts, 6, 0)["left under the law"]
    assert (left[:2] > 0.5).all()
    assert (np.abs(left[2:]) < 0.15).all()


def test_neighbours_are_alike_along_signal_and_not_along_noise():
    """Elution: what a sample holds goes with what the next like it holds, in whatever order they come."""
    rng = np.random.default_rng(0)
    time, channels = np.linspace(0, 1, 60)[:, None], np.linspace(0, 1, 50)
    C = np.exp(-0.5 * ((time - [0.35, 0.5, 0.65]) / 0.1) ** 2)
    S = np.exp(-0.5 * ((channels - np.array([[0.3], [0.5], [0.7]])) / 0.15) ** 2)
    D = C @ S + 0.01 * rng.standard_normal((60, 50))
    found = of_neighbours(np.linalg.svd(D, full_matrices=False), 3, 6)
    assert found["neighbours: next by amounts"][1] > 0.9  # the third direction, by the first two
    along = found["neighbours: by other amounts"]
    assert along[[0, 2]].min() > 0.5  # along the second, early and late are mirrored
    assert np.abs(along[3:]).max() < 0.4
    shuffled = of_neighbours(np.linalg.svd(D[rng.permutation(60)], full_matrices=False), 3, 6)
    for name, values in found.items():
        assert_allclose(shuffled[name], values, atol=1e-9, err_msg=name)


def test_a_law_without_a_constant_is_judged_where_nothing_is_fitted():
    """Noise that goes with the signal alone has no variance before the first direction is fitted."""
    made = make_measured(2, 40, 50, 0, law=Instrument(0, 0, 0.1), disturbed=False)
    for scale in (1.0, 1e-160):
        D = made.D * scale
        parts = np.linalg.svd(D, full_matrices=False)
        with np.errstate(all="raise", under="ignore"):
            found = of_law(D, parts, 5, 0)
        assert all(np.isfinite(values).all() for values in found.values())


def test_held_out_blocks_against_a_loop():
    """Each block from the pseudo-inverse of the rest at the same rank (Owen & Perry 2009, Eq. 6)."""
    rng = np.random.default_rng(0)
    X = rng.random((24, 3)) @ rng.random((3, 32)) + 0.01 * rng.standard_normal((24, 32))
    found = of_blocks(X, 5, seed=1)
    rows = np.random.default_rng(1).permutation(24) < 12
    columns = np.arange(32) * 8 // 32 % 2 == 0
    errors = np.zeros(7)
    for k in range(7):
        for r in (rows, ~rows):
            for c in (columns, ~columns):
                U, values, Vt = np.linalg.svd(X[~r][:, ~c], full_matrices=False)
                inverse = (Vt[:k].T / values[:k]) @ U[:, :k].T
                errors[k] += np.square(X[r][:, c] - X[r][:, ~c] @ inverse @ X[~r][:, c]).sum()
    np.testing.assert_allclose(found["held out: fall"], np.log(errors[:5] / errors[1:6]))
    assert found["held out: beyond the best"][np.argmin(errors) - 1] == 0
    assert np.argmin(errors) == 3


@pytest.mark.parametrize("kind", ["shift", "tilt", "saturation", "baseline"])
def test_directions_are_like_the_disturbance_that_made_them(kind):
    x = np.linspace(-1, 1, 120)
    profile = np.exp(-((x - 0.2) ** 2) / 0.02) + 0.5 * np.exp(-((x + 0.4) ** 2) / 0.05)
    rng = np.random.default_rng(2)
    size, strange = rng.uniform(1, 2, (50, 1)), 0.01 * rng.standard_normal((50, 1))
    made = {
        "shift": np.gradient(profile),
        "tilt": profile * x,
        "saturation": profile**2,
        "baseline": 1 + x**2,
    }[kind]
    D = size * profile + strange * made / np.linalg.norm(made)
    D += 1e-4 * rng.standard_normal(D.shape)
    found = of_likeness(np.linalg.svd(D, full_matrices=False), 3, 0)
    assert found[f"like a {kind}"][1] > 0.99
    assert found["fall without the like"][0] > 1  # one component and the disturbance leave noise


@pytest.mark.parametrize("kind", ["shifts", "bends", "baselines"])
def test_what_samples_leave_is_like_the_disturbance_that_made_it(kind):
    rng, x = np.random.default_rng(0), np.linspace(-1.0, 1.0, 100)
    profile = np.exp(-0.5 * ((x - 0.1) / 0.12) ** 2) + 0.5 * np.exp(-0.5 * ((x + 0.5) / 0.1) ** 2)
    amounts, size = rng.uniform(0.5, 2.0, (40, 1)), 0.02 * rng.standard_normal((40, 1))
    clean = amounts * profile
    disturbed = {
        "shifts": clean + size * np.gradient(clean, axis=1) * 10,
        "bends": clean * (1 + size * (x + x**3)),
        "baselines": clean + size * x**2,
    }[kind] + 1e-5 * rng.standard_normal(clean.shape)
    second = clean + rng.uniform(0, 0.05, (40, 1)) * (np.abs(x - 0.8) < 0.05)
    for table, least, most in ((disturbed, 0.9, 1.0), (second, 0.0, 0.5)):
        found = of_samples(table, np.linalg.svd(table, full_matrices=False), 2, 0)
        assert least <= found[f"left like {kind}"][0] <= most
        assert found["left like any"][0] >= found[f"left like {kind}"][0] - 1e-6
    assert (
        of_samples(disturbed, np.linalg.svd(disturbed, full_matrices=False), 2, 0)["fall without these"][0]
        > 1
    )


@pytest.mark.parametrize("side", ["samples", "channels"])
def test_a_few_that_make_a_component_by_themselves(side):
    """Without them there is one fewer; where many have it, none of them decide."""
    rng = np.random.default_rng(0)
    C = rng.lognormal(0, 0.3, (40, 3))
    for rare in (True, False):
        C[:, 2] = np.where(np.arange(40) < 2, 3.0, 0.0) if rare else rng.lognormal(0, 0.3, 40)
        D = C @ rng.random((3, 50)) + 1e-3 * rng.standard_normal((40, 50))
        parts = np.linalg.svd(D if side == "samples" else D.T, full_matrices=False)
        by_count = of_few(parts, 5)[f"few {side} for themselves"]
        assert by_count[2] > 2.0 if rare else by_count[2] < 1.0


def test_a_few_against_all_that_could_be_left_out():
    """The largest cosine that any three samples have with the first directions, all of them tried."""
    rng = np.random.default_rng(1)
    U, values, Vt = np.linalg.svd(
        rng.standard_normal((9, 12)) * rng.lognormal(0, 1, (9, 1)), full_matrices=False
    )
    found = of_few((U, values, Vt), 4)["few samples for themselves"]
    for k in range(1, 5):
        likely = np.argsort(np.square(U[:, :k]).sum(axis=1))[-8:]
        most = max(np.linalg.svd(U[list(some), :k])[1][0] ** 2 for some in combinations(likely, 3))
        assert found[k - 1] == pytest.approx(-np.log10(1.0 - most))


def test_scores_of_chance_have_neither_mean_nor_skewness():
    """Of signal that is never negative, of noise, and of a single spike."""
    rng = np.random.default_rng(2)
    parts = np.linalg.svd(np.outer(rng.random(200), rng.random(150)) + 1e-3 * rng.standard_normal((200, 150)))
    found = cheap_numbers((parts[0][:, :150] * parts[1]) @ parts[2], 4)
    assert found["mean of samples"][0] > 0.8
    assert found["mean of samples"][1:].max() < 0.3
    assert found["skewness of samples"][1:].max() < 0.6
    np.testing.assert_allclose(found["tails of samples"][1:], np.log(3.0), atol=0.4)
    np.testing.assert_allclose(found["where signal is of channels"][1:], 1.0, atol=0.3)


def test_spikes_and_odd_samples_are_cleaned_away():
    rng = np.random.default_rng(3)
    x = np.linspace(0, 1, 70)
    clean = rng.lognormal(0, 0.5, (60, 2)) @ np.exp(-((x - np.array([[0.3], [0.6]])) ** 2) / 0.02)
    D = clean + 1e-3 * rng.standard_normal(clean.shape)
    for disturbed in (D.copy(), D.copy()):
        disturbed.flat[rng.choice(D.size, 6, replace=False)] += 2.0
        disturbed[7] += np.sin(9 * x) ** 2  # which two directions do not span
        left = cleaned(disturbed)
        assert 54 <= len(left) < 60
        assert np.linalg.svd(disturbed, compute_uv=False)[2] > 1
        assert np.linalg.svd(left, compute_uv=False)[2] < 0.1
    np.testing.assert_array_equal(cleaned(D[:5]), D[:5])  # too few to tell what is odd


def test_the_doubt_names_what_a_component_could_be_instead():
    names = ("like a baseline", "one sample")
    found = Gathered(np.array([1, 2, 3]), names, np.array([[0, 0], [0.1, 0.2], [0.9, 0.95]]))
    assert doubt(found, {1: 0.1, 2: 0.6, 3: 0.3}, 2) == "the third could be a drift of the baseline"
    assert doubt(found, {1: 0.1, 2: 0.3, 3: 0.6}, 3) == "the third could be a drift of the baseline"
    assert doubt(found, {1: 0.3, 2: 0.6, 3: 0.1}, 2) == ""  # nothing speaks against the second
    assert doubt(found, {1: 0.0, 2: 0.97, 3: 0.03}, 2) == ""  # there is no doubt
    said = replace(evidence(2), probabilities={2: 0.6, 3: 0.4}, doubt="the third could be scatter")
    assert str(said).splitlines()[0].endswith("60 % sure, 3 with 40 %: the third could be scatter.")


# What is said


def test_what_is_said_of_a_clear_count(model):
    assert model.count_.count == model.n_components_ == 3
    assert sum(model.count_.probabilities.values()) == pytest.approx(1.0)
    assert model.count_.low <= 3 <= model.count_.high
    assert model.count_.firm == (model.count_.probabilities[3] >= 0.95)
    assert "sure" in str(model.count_)
    assert "all evidence agrees" not in str(model.count_)


def test_it_is_stored(model, tmp_path):
    model.save(tmp_path / "model.gmcr")
    assert GMCR.load(tmp_path / "model.gmcr").count_ == model.count_


def test_a_count_that_was_asked_for_is_not_weighed(made):
    told = GMCR(n_components=2, random_state=0).fit(made.D).count_
    assert (told.count, told.decided_by, told.probabilities, told.firm) == (2, "you", {}, False)


def test_no_more_than_are_allowed(made):
    found = weighed(made.D, evidence(2), most=2)
    assert set(found.probabilities) == {1, 2}
    assert "not allowed" in found.caution  # there are three
    assert not found.firm
    assert weighed(made.D, replace(evidence(2), decided_by="you")).probabilities == {}
    model = GMCR(max_components=1, random_state=0).fit(made.D)
    assert (model.n_components_, model.count_.firm) == (1, False)


def test_given_profiles_are_not_weighed(made):
    foreign = np.vstack([made.S[:1], np.random.default_rng(0).random((2, 80))])
    found = GMCR(fixed_components=foreign, random_state=0).fit(made.D)
    assert found.n_components_ == 5  # three, and two that are not there
    assert found.components_[:3] == pytest.approx(unit_rows(foreign), abs=1e-12)
    assert (found.count_.probabilities, found.count_.firm) == ({}, False)
    assert "given" in str(found.count_)


@pytest.mark.parametrize("shape", [(3, 80), (60, 3)])
def test_too_small_to_be_firm(made, shape):
    channels = np.linspace(0, 79, shape[1]).astype(int)
    found = GMCR(random_state=0).fit(made.D[: shape[0], channels]).count_
    assert (found.firm, "too few" in found.caution) == (False, True)


def test_an_interrupted_fit_is_not_firm(made):
    def stop(row):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        found = GMCR(callback=stop, random_state=0).fit(made.D).count_
    assert (found.firm, "interrupted" in str(found)) == (False, True)


def test_five_samples_are_never_firm():
    made = make_measured(2, 5, 60, random_state=0, disturbed=False)
    found = GMCR(random_state=0).fit(made.D).count_
    assert not found.firm
    assert "too few" in str(found)


@pytest.mark.parametrize(
    ("facts", "count", "words"),
    [
        ({"excess": {3: 5.0}, "white": False}, 3, "5.0 times what 3 directions would"),
        ({"excess": {3: 5.0}, "white": True}, 3, ""),  # few components leave noise that directions fit
        ({"excess": {3: 1.5}, "white": False}, 3, ""),
        ({"held": 0.9}, 59, "cannot tell so many"),
        ({"held": 0.2}, 59, ""),  # of few in each sample there may be more than channels
    ],
)
def test_why_no_count_is_sure(made, facts, count, words):
    said = not_to_be_sure(made.D, replace(evidence(), **facts), count)
    assert words in said
    assert bool(said) == bool(words)


def test_a_count_by_a_fit_far_below_its_rank_is_not_firm(made):
    found = weighed(made.D, replace(evidence(), excess=dict.fromkeys(range(1, 60), 9.0), white=False))
    assert "9.0 times" in found.caution
    assert not found.firm


@pytest.mark.parametrize("factor", [1.0001, 1e5])
def test_the_unit_does_not_change_the_count(made, model, factor):
    again = GMCR(random_state=0).fit(factor * made.D).count_
    assert again.count == model.count_.count
    assert again.probabilities[3] == pytest.approx(model.count_.probabilities[3], abs=1e-3)


def test_few_of_many():
    mix = make_mixtures(20, 120, 25, n_features=100, random_state=3)
    found = GMCR(random_state=0).fit(mix.D).count_
    assert found.count == 20
    assert max(found.probabilities, key=lambda k: found.probabilities[k]) == 20
