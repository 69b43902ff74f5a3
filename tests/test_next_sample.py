"""What to measure next: promises that are kept when the sample is measured, whichever solution is true."""

import json

import numpy as np
import pytest

from gmcr import GMCR, Decomposition
from gmcr.constraints import Kinetic, Layout, Unimodal
from gmcr.errors import InputError
from gmcr.theory.ambiguity import as_fitted, feasible_bands
from gmcr.theory.further_samples import kinds_of
from gmcr.theory.next_sample import NextSample, what_next

NOISE = 1e-2


@pytest.fixture(scope="module")
def mixed():
    """Two components that all samples hold."""
    rng = np.random.default_rng(3)
    x = np.linspace(0, 1, 40)
    S = np.exp(-0.5 * ((x - np.array([[0.35], [0.65]])) / 0.15) ** 2) + 0.05
    return Decomposition.from_factors(rng.uniform(1, 6, (15, 2)), S)


@pytest.fixture(scope="module")
def proposed(mixed):
    (one,) = what_next(mixed.reconstruct(), mixed, NOISE, supports="all")
    return one


def closed_by(truth, further, absent, one, noise=NOISE):
    """The share of the named band that is gone once samples of such concentrations were measured."""
    n, k = truth.concentrations.shape
    held = np.ones((n + len(further), k), dtype=bool)
    for row, own in enumerate(absent):
        held[n + row, list(own)] = False
    C = np.vstack([truth.concentrations, further]) * held
    found = Decomposition.from_factors(C, truth.components)
    out = feasible_bands(found.reconstruct(), found, noise, supports=held, counted=np.arange(len(C)) < n)
    band = out.bands[one.component]
    return 1.0 - (band.max - band.min) / one.width


def test_the_promise_is_kept_and_a_random_sample_does_worse(mixed, proposed):
    assert proposed.kind == "without"
    assert proposed.promise >= 0.4
    band = feasible_bands(mixed.reconstruct(), mixed, NOISE, supports="all").bands[proposed.component]
    assert proposed.width == pytest.approx(band.max - band.min, rel=1e-3)
    closes = closed_by(mixed, proposed.concentrations, proposed.absent, proposed)
    assert closes >= proposed.promise
    another = np.random.default_rng(0).uniform(1, 6, (1, 2))
    assert closed_by(mixed, another, (), proposed) < 0.5 * closes


def test_the_promise_is_kept_wherever_in_the_band_the_truth_is(mixed, proposed):
    """Halfway to either end of the band, where amounts and profiles are others."""
    D = mixed.reconstruct()
    band = feasible_bands(D, mixed, NOISE, supports="all").bands[proposed.component]
    for profile in band.profiles:
        S = mixed.components.copy()
        S[proposed.component] = 0.5 * (S[proposed.component] + profile)
        C = np.linalg.lstsq(S.T, D.T, rcond=None)[0].T
        truth = Decomposition.from_factors(np.maximum(C, 0.0), S)
        typical = np.median(truth.concentrations, axis=0)[None]
        assert closed_by(truth, typical, proposed.absent, proposed) >= proposed.promise


def test_the_sentence_and_the_dictionary(proposed):
    ((b,),) = proposed.absent
    a = 1 - b
    assert str(proposed) == (
        f"A sample with component {a} and without component {b} would close the band of "
        f"component {proposed.component} by {proposed.promise:.0%} or more."
    )
    assert json.loads(json.dumps(proposed.to_dict()))["absent"] == [[b]]
    without_bound = NextSample(0, "a", "a sample of a alone", 1.0, np.inf, np.ones((1, 1)), ((),), "alone")
    assert str(without_bound) == "A sample of a alone would bound the band of a, which nothing bounds now."


def test_nothing_where_nothing_is_open():
    rng = np.random.default_rng(0)
    C = rng.uniform(1, 5, (9, 2))
    C[:3, 0] = C[3:6, 1] = 0
    found = Decomposition.from_factors(C, np.abs(rng.standard_normal((2, 30))))
    assert what_next(found.reconstruct(), found, 1e-3) == ()


def test_which_samples_come_into_question():
    """The cheapest first: another time, a dilution of what a constant component is in, then what lacks one."""
    C = np.column_stack([np.exp(-np.arange(8.0)), 1 - np.exp(-np.arange(8.0)) / 9])
    layout = Layout.of(None, np.arange(8.0) * 10, 8)
    kinds = list(kinds_of(C, np.arange(2), ["a", "b"], layout))
    singles = ["time", "time", "diluted", "without", "without"]
    assert [one.kind for one in kinds] == [*singles, "alone and without", "alone and without"]
    assert [one.cost for one in kinds] == sorted(one.cost for one in kinds)
    assert kinds[0].words == "an earlier time, -20,"
    np.testing.assert_allclose(kinds[1].samples[0].of(C)[0], C[-1, 0] / 3)  # at most so much less
    np.testing.assert_allclose(kinds[2].samples[0].of(C), np.median(C, axis=0) / [10, 1])
    assert kinds[3].words == "a sample with b and without a"
    np.testing.assert_array_equal(kinds[3].samples[0].of(C), [0, np.median(C[:, 1])])
    alone, without = kinds[-1].samples
    np.testing.assert_array_equal([alone.of(C), without.of(C)], [[0, C[:, 1].max()], [np.median(C[:, 0]), 0]])
    assert not [one for one in kinds_of(C, np.arange(2), ["a", "b"], Layout()) if one.kind == "time"]


def test_three_components_take_a_pure_sample_and_one_without_it(monkeypatch):
    """Two samples are named where no single one closes as much as is asked, here three quarters."""
    monkeypatch.setattr("gmcr.theory.next_sample.HALF", 0.75)  # one component alone closes 0.55 here
    rng = np.random.default_rng(3)
    x = np.linspace(0, 1, 40)
    S = np.exp(-0.5 * ((x - np.array([[0.3], [0.5], [0.7]])) / 0.15) ** 2) + 0.05
    truth = Decomposition.from_factors(rng.uniform(1, 6, (15, 3)), S)
    (one,) = what_next(truth.reconstruct(), truth, NOISE, supports="all")
    assert one.kind == "alone and without"
    j = one.component
    assert one.absent == (tuple(i for i in range(3) if i != j), (j,))
    assert one.words == f"a sample of component {j} alone, and one without it,"
    assert one.promise >= 0.75
    assert closed_by(truth, one.concentrations, one.absent, one) >= one.promise
    for further, absent in zip(one.concentrations, one.absent):
        assert closed_by(truth, further[None], (absent,), one) < one.promise
    assert closed_by(truth, rng.uniform(1, 6, (2, 3)), (), one) < 0.5 * one.promise


def test_bands_of_the_samples_that_were_there(mixed):
    """A sample of one component alone adds to its share; that of the others is another matter."""
    C = np.vstack([mixed.concentrations, [[100.0, 0.0]]])
    held = C > 0
    found = Decomposition.from_factors(C, mixed.components)
    D, first = found.reconstruct(), np.arange(len(C)) < len(C) - 1
    own = feasible_bands(D, found, NOISE, supports=held, counted=first)
    before = feasible_bands(mixed.reconstruct(), mixed, NOISE, supports="all")
    assert [band.share for band in own.bands] == pytest.approx([band.share for band in before.bands])
    for band, wide, whole in zip(
        own.bands, before.bands, feasible_bands(D, found, NOISE, supports=held).bands
    ):
        assert wide.min - 1e-9 <= band.min <= band.share <= band.max <= wide.max + 1e-9
        assert whole.share != pytest.approx(band.share, rel=0.1)
    with pytest.raises(InputError, match="counted must be a yes or no for each of 16"):
        feasible_bands(D, found, NOISE, counted=[True])
    with pytest.raises(InputError, match="no sample that holds anything"):
        feasible_bands(D, found, NOISE, counted=np.zeros(16))


def test_wrong_calls(mixed):
    with pytest.raises(InputError, match="alpha"):
        what_next(mixed.reconstruct(), mixed, alpha=2.0)
    with pytest.raises(InputError, match="pass the samples it was made from"):
        what_next(mixed.reconstruct()[1:], mixed)


def test_the_command_says_it(run, mixed, tmp_path):
    mixed.save(tmp_path / "model.gmcr")
    np.save(tmp_path / "data.npy", mixed.reconstruct())
    command = ["ambiguity", tmp_path, tmp_path / "data.npy", "--noise", str(NOISE), "--any-support"]
    code, out, err = run(*command, "--next")
    assert code == 0, err
    assert "What to measure next:\nA sample with " in out
    packed = json.loads(run(*command, "--next", "--json")[1])
    assert packed["next"][0]["kind"] == "without"
    assert "next" not in json.loads(run(*command, "--json")[1])


def test_the_command_heeds_what_the_run_was_fitted_with(run, tmp_path):
    time = np.arange(16.0)
    C = np.exp(-0.5 * ((time[:, None] - [6, 10]) / 2.5) ** 2)
    S = np.exp(-0.5 * ((np.arange(20.0) - np.array([[6.0], [13]])) / 4) ** 2) + 0.1
    D = C @ S + 1e-3 * np.random.default_rng(0).standard_normal((16, 20))
    model = GMCR(n_components=2, constraints=[Unimodal("C")]).fit(D, order=time)
    model.save(tmp_path / "model.gmcr")
    np.save(tmp_path / "data.npy", D)
    out = json.loads(run("ambiguity", tmp_path, tmp_path / "data.npy", "--json")[1])
    own = feasible_bands(D, model.decomposition_, **as_fitted(model))
    assert [band["max"] for band in out["bands"]] == pytest.approx([band.max for band in own.bands])
    assert "Obeyed up to noise: unimodal C." in out["notes"]
    assert as_fitted(GMCR(n_components=2).fit(D)) == {}


def test_reactions_close_bands_and_leave_the_truth_in():
    times = np.linspace(0.5, 12, 15)
    kinetic = Kinetic("A > B")
    S = np.exp(-0.5 * ((np.arange(20.0) - np.array([[6.0], [13]])) / 4) ** 2) + 0.1
    C = kinetic.concentrations(np.array([0.2]), times)
    D = C @ S
    D += 1e-3 * np.random.default_rng(0).standard_normal(D.shape)
    model = GMCR(constraints=[kinetic]).fit(D, order=times)
    out = feasible_bands(D, model.decomposition_, **as_fitted(model))
    assert "Obeyed up to noise: kinetic." in out.notes
    norms = np.linalg.norm(S, axis=1)
    shares = np.linalg.norm(C, axis=0) * norms / np.linalg.norm(C @ S)
    places = np.argmax(model.components_ @ (S / norms[:, None]).T, axis=1)
    free = feasible_bands(D, model.decomposition_, supports="all")
    for band, wide, place in zip(out.bands, free.bands, places):
        assert band.min <= shares[place] <= band.max
        assert band.max - band.min < 0.2 * (wide.max - wide.min)
