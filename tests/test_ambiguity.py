"""Feasible bands: against brute force, against the truth, and what closes or opens them."""

import json
import warnings

import numpy as np
import pytest
from sklearn.decomposition import NMF

from gmcr import Decomposition, make_mixtures
from gmcr.errors import InputError
from gmcr.noise import Proportional
from gmcr.theory import ambiguity as module
from gmcr.theory.ambiguity import feasible_bands
from gmcr.theory.extremes import Problem
from gmcr.theory.feasible_plane import is_corner
from gmcr.theory.transformations import Balanced, find_directions, find_errors, group


def together(n_components, n_samples=20, n_channels=40, seed=0):
    """Components that all samples hold."""
    rng = np.random.default_rng(seed)
    S = np.abs(rng.standard_normal((n_components, n_channels)))
    C = rng.uniform(1, 10, (n_samples, n_components))
    return Decomposition.from_factors(C, S)


def from_supports(rows, seed=0, n_channels=40):
    rng = np.random.default_rng(seed)
    supports = np.array(rows, dtype=bool)
    S = np.abs(rng.standard_normal((supports.shape[1], n_channels)))
    return Decomposition.from_factors(supports * rng.uniform(1, 10, supports.shape), S)


def bands_of(found, **options):
    return feasible_bands(found.reconstruct(), found, **({"noise": 0.0} | options))


def block_of(found, noise=0.0, closure=None, c_min=None):
    C, held = found.concentrations, found.supports
    sizes = np.linalg.norm(C, axis=0)
    balanced, profiles = C / sizes, found.components * sizes[:, None]
    floor = np.full(len(C), max(noise, 1e-6))
    directions = find_directions(balanced, held, sizes, floor, 4.0)
    errors = find_errors(balanced, profiles, held, np.full(len(C), noise), 1 / floor)
    solution = Balanced(
        C=balanced,
        S=profiles,
        held=held,
        weights=1 / floor,
        directions=directions,
        errors=errors,
        spread=np.ones(found.n_channels),
        closure=closure,
        z=4.0,
        c_min=c_min,
        signed=False,
    )
    (members,) = group(directions)
    return solution.block(members)


# Two components


@pytest.mark.parametrize("seed", range(4))
def test_two_components_match_a_scan(seed):
    found = together(2, seed=seed)
    out = bands_of(found)
    C, S = found.concentrations, found.components
    (plane,) = out.planes
    # Independent of the code: the closed form of Lawton and Sylvestre
    assert plane.a == pytest.approx((-np.min(C[:, 0] / C[:, 1]), np.min(S[1] / S[0])))
    assert plane.b == pytest.approx((-np.min(C[:, 1] / C[:, 0]), np.min(S[0] / S[1])))
    shares = []
    for a in np.linspace(*plane.a, 60):
        for b in np.linspace(*plane.b, 60):
            T = np.array([[1, b], [a, 1]])
            new_C, new_S = C @ T, np.linalg.solve(T, S)
            assert min(new_C.min(), new_S.min()) > -1e-12
            shares.append(np.linalg.norm(new_C, axis=0) * np.linalg.norm(new_S, axis=1))
    shares = np.array(shares) / np.linalg.norm(C @ S)
    assert [band.min for band in out.bands] == pytest.approx(shares.min(axis=0))
    assert [band.max for band in out.bands] == pytest.approx(shares.max(axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_the_optimiser_agrees_with_the_closed_form(seed):
    found = together(2, seed=seed)
    rng = np.random.default_rng(seed)
    D = found.reconstruct() + 0.1 * rng.standard_normal((20, 40))
    exact = feasible_bands(D, found, noise=0.1)
    optimised = feasible_bands(D, found, noise=0.1, c_min=0.0)  # which the closed form does not know
    for one, other in zip(exact.bands, optimised.bands):
        assert (one.min, one.max) == pytest.approx((other.min, other.max), abs=1e-5)
    assert exact.planes[0].a == pytest.approx(optimised.planes[0].a, abs=1e-5)


@pytest.mark.parametrize("n_components", [2, 3])
def test_the_band_does_not_depend_on_which_solution_is_given(n_components):
    found = together(n_components, seed=1)
    out = bands_of(found)
    C, S = found.concentrations, found.components
    # Part of the way from the solution to an end of the first band
    end = out.bands[0]
    profiles = np.vstack([0.5 * (end.profiles[0] + S[0]), S[1:]])
    T = np.linalg.inv(profiles @ np.linalg.pinv(S))
    moved = C @ T
    assert (moved >= 0).all()
    again = bands_of(Decomposition.from_factors(moved, np.maximum(profiles, 0)))
    for one, other in zip(out.bands, again.bands):
        assert (one.min, one.max) == pytest.approx((other.min, other.max), abs=1e-4)


@pytest.mark.parametrize("profiles", ["random", "peaks"])
@pytest.mark.parametrize("snr_db", [20, 40])
def test_the_true_share_lies_within_the_band(profiles, snr_db):
    for seed in range(100, 108):
        rng = np.random.default_rng(seed)
        S = np.abs(rng.standard_normal((2, 60)))
        if profiles == "peaks":
            S = make_mixtures(2, 2, n_features=60, profiles="peaks", random_state=rng).S
        C = rng.uniform(1, 10, (20, 2)) / np.linalg.norm(S, axis=1)
        clean = C @ S
        D = clean + np.sqrt((clean**2).mean() * 10 ** (-snr_db / 10)) * rng.standard_normal(clean.shape)
        model = NMF(2, init="nndsvda", max_iter=500, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = Decomposition.from_factors(model.fit_transform(np.maximum(D, 0)), model.components_)
        out = feasible_bands(D, found, supports="all")
        share = np.linalg.norm(C, axis=0) * np.linalg.norm(S, axis=1) / np.linalg.norm(clean)
        cosines = found.components @ (S / np.linalg.norm(S, axis=1, keepdims=True)).T
        bands = out.bands if np.trace(cosines) >= np.trace(cosines[::-1]) else out.bands[::-1]
        assert all(band.min <= value <= band.max for band, value in zip(bands, share))
        assert all(band.max - band.min < 0.75 for band in bands)  # a band that holds everything says nothing


# Supports


def test_spanned_isolating_pairs_close_the_bands():
    rows = [[1, 1, 0]] * 2 + [[1, 0, 1]] * 2 + [[0, 1, 1]] * 2
    assert bands_of(from_supports(rows)).closed
    noisy = from_supports(rows)
    assert feasible_bands(noisy.reconstruct(), noisy, noise=0.02).closed


def test_plain_isolating_pairs_leave_a_continuum():
    found = from_supports([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    out = bands_of(found)
    assert not any(band.closed for band in out.bands)
    for band in out.bands:
        assert band.max - band.min > 0.005
        assert band.profiles.min() > -1e-5
        assert band.concentrations.min() > -1e-5
        assert (band.concentrations[:, found.concentrations[:, band.component] == 0] == 0).all()


def test_the_papers_data_are_closed():
    mix = make_mixtures(n_components=16, n_samples=64, snr_db=20, random_state=0)
    assert feasible_bands(mix.D, Decomposition(mix.S, mix.C, noise=mix.sigma)).closed


def test_only_what_never_separates_is_open():
    rows = (
        [[1, 1, 0, 0]] * 6 + [[1, 1, 1, 0]] * 4 + [[0, 0, 1, 1]] * 3 + [[0, 0, 0, 1]] * 2 + [[0, 0, 1, 0]] * 2
    )
    out = bands_of(from_supports(rows))
    assert [band.closed for band in out.bands] == [False, False, True, True]
    assert out.bands[0].partners == (1,)
    assert "supports" in out.bands[2].why


def test_a_companion_keeps_its_profile_and_changes_its_concentrations():
    # Wherever 0 is, 1 is too, and not the other way round
    out = bands_of(from_supports([[1, 1]] * 5 + [[0, 1]] * 5))
    assert out.bands[1].alike == pytest.approx(1.0)
    assert out.bands[0].alike < 0.9999


def test_a_trace_below_notice_does_not_pin():
    """Samples without component 0 hold so little of 1 that noise hides what a transformation leaves there."""
    found = from_supports([[1, 1]] * 10 + [[0, 1]] * 2, seed=3)
    C = found.concentrations.copy()
    C[10:] *= 1e-3
    faint = Decomposition(found.components, C)
    D = faint.reconstruct()
    clear, hidden = (feasible_bands(D, faint, noise=noise) for noise in (1e-6, 0.05))
    assert hidden.bands[0].min < clear.bands[0].min
    full = feasible_bands(D, faint, noise=0.05, supports="all")
    assert hidden.bands[0].max <= full.bands[0].max + 1e-6


def test_supports_can_be_given():
    found = from_supports([[1, 0], [0, 1], [1, 1], [1, 1]])
    fixed = bands_of(found)
    assert fixed.closed
    assert any("wrong support" in note for note in fixed.notes)
    free = bands_of(found, supports="all")
    assert not any("wrong support" in note for note in free.notes)
    np.testing.assert_allclose(
        [(band.min, band.max) for band in free.bands],
        [(band.min, band.max) for band in bands_of(found, supports=np.ones((4, 2))).bands],
    )


# Three components


def test_nothing_feasible_lies_outside_the_bands():
    found = together(3, n_samples=8, n_channels=12, seed=2)
    out = bands_of(found)
    C, S = found.concentrations, found.components
    total = np.linalg.norm(C @ S)
    rng = np.random.default_rng(0)
    shares, T = [], np.eye(3)
    for _ in range(20_000):  # a random walk through the feasible region
        new = T + 0.02 * rng.standard_normal((3, 3)) * (1 - np.eye(3))
        new_C, new_S = C @ new, np.linalg.inv(new) @ S
        if min(new_C.min(), new_S.min()) >= 0:
            T = new
            shares.append(np.linalg.norm(new_C, axis=0) * np.linalg.norm(new_S, axis=1) / total)
    low, high = np.min(shares, axis=0), np.max(shares, axis=0)
    for band, least, most in zip(out.bands, low, high):
        assert band.min <= least + 1e-6
        assert band.max >= most - 1e-6
        assert most - least > 0.5 * (band.max - band.min)


def test_the_area_holds_the_solution_and_the_ends():
    found = together(3, seed=4)
    out = bands_of(found)
    (area,) = out.planes
    assert all(0 < share < 1 for share in area.areas)
    for k, band in enumerate(out.bands):
        x, y = area.grids[k]
        profiles = np.vstack([band.profiles, found.components[k]])
        coordinates = profiles @ area.axes.T
        places = coordinates[:, 1:] / coordinates[:, :1]
        for place in places:
            near = (np.abs(x - place[0])[None, :] <= 2 * (x[1] - x[0])) & (
                np.abs(y - place[1])[:, None] <= 2 * (y[1] - y[0])
            )
            assert (area.masks[k] & near).any()


def test_corners_against_brute_force():
    """A point is feasible when some triangle from it to the rim of the square holds the inner polygon."""
    walls = np.array([[1.0, 0, -1], [-1, 0, -1], [0, 1, -1], [0, -1, -1]])
    inner = 0.45 * np.array([[1.0, 0.2], [-0.3, 1.0], [-0.8, -0.7], [0.5, -0.6]])
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (40, 2))
    side = np.linspace(-1, 1, 81)
    edge = np.full_like(side, 1.0)
    rim = np.vstack(
        [np.column_stack(pair) for pair in ((side, edge), (side, -edge), (edge, side), (-edge, side))]
    )
    others = np.array([(u, v) for u in rim for v in rim])
    answers = is_corner(points, inner, walls)
    for point, answer in zip(points, answers):
        u, v = others[:, 0] - point, others[:, 1] - point
        det = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        good = np.abs(det) > 1e-9
        u, v, det = u[good], v[good], det[good]
        slack = np.full(len(u), np.inf)
        for corner in inner - point:
            s = (corner[0] * v[:, 1] - corner[1] * v[:, 0]) / det
            t = (u[:, 0] * corner[1] - u[:, 1] * corner[0]) / det
            slack = np.minimum(slack, np.minimum(np.minimum(s, t), 1 - s - t))
        if slack.max() >= 0:
            assert answer
        elif slack.max() < -0.03:  # clearly none, finer than the rim's steps
            assert not answer
    assert 5 < np.count_nonzero(answers) < 35


def test_derivatives_are_those_of_the_values():
    found = from_supports([[1, 1, 1]] * 6 + [[0, 1, 1]] * 2 + [[0, 0.0, 1]] * 2, seed=5)
    block = block_of(found, noise=0.3, closure=np.array([1.0, 2.0, 3.0]), c_min=0.5)
    problem = Problem(block)
    rng = np.random.default_rng(0)
    x = 0.1 * rng.standard_normal(block.n_variables)
    everything = [np.arange(len(kind)) for kind in problem.values(x)]
    slopes = np.vstack(problem.derivatives(x, everything))
    gradient = problem.log_share(x, 1)[1]
    for k, step in enumerate(1e-6 * np.eye(len(x))):
        change = np.concatenate(problem.values(x + step)) - np.concatenate(problem.values(x - step))
        np.testing.assert_allclose(slopes[:, k], change / 2e-6, rtol=1e-4, atol=1e-5)
        difference = problem.log_share(x + step, 1)[0] - problem.log_share(x - step, 1)[0]
        assert gradient[k] == pytest.approx(difference / 2e-6, rel=1e-4, abs=1e-6)


def test_a_search_ends_with_its_time():
    found = from_supports([[1, 1, 1]] * 10, seed=5)
    with pytest.raises(TimeoutError):
        feasible_bands(found.reconstruct(), found, noise=0.1, seconds=0.0)
    assert len(feasible_bands(found.reconstruct(), found, noise=0.1, seconds=60.0).bands) == 3


@pytest.mark.parametrize("seed", range(6))
def test_a_band_within_noise_says_so_in_words_and_by_itself(seed):
    found = from_supports([[1, 1, 1]] * 6 + [[0, 1, 1]] * 2 + [[0, 0.0, 1]] * 2, seed=seed)
    for noise in (0.01, 0.3, 3.0):
        for band in feasible_bands(found.reconstruct(), found, noise=noise).bands:
            assert band.within_noise == ("no more than noise" in band.why)


# Further constraints and awkward input


def test_what_is_known_narrows_the_bands():
    found = together(2, seed=6)
    plain = bands_of(found)
    floor = 0.9 * found.concentrations.min()
    for narrow in (bands_of(found, c_min=floor), bands_of(found, closure=True)):
        for one, other in zip(narrow.bands, plain.bands):
            assert other.min - 1e-6 <= one.min <= one.share + 1e-6
            assert one.share - 1e-6 <= one.max <= other.max + 1e-6
    assert bands_of(found, c_min=floor).bands[0].max < plain.bands[0].max


def test_noise_widens_the_bands():
    found = together(2, seed=7)
    widths = [
        [band.max - band.min for band in bands_of(found, noise=noise).bands] for noise in (0.0, 0.05, 0.2)
    ]
    assert (np.diff(widths, axis=0) > 0).all()


def test_signed_components_that_never_separate_are_unbounded():
    rng = np.random.default_rng(0)
    found = Decomposition.from_factors(rng.standard_normal((9, 2)), rng.standard_normal((2, 30)), signed=True)
    D = found.reconstruct()
    out = feasible_bands(D, found, noise=0.0)
    assert [band.max for band in out.bands] == [np.inf, np.inf]
    # The least part that can be taken away to leave rank one (Eckart and Young)
    values = np.linalg.svd(D, compute_uv=False)
    assert out.bands[0].min == pytest.approx(values[1] / np.linalg.norm(D), rel=1e-4)
    assert "unbounded" in str(out)


def test_missing_entries_and_noise_laws():
    found = together(2)
    D = found.reconstruct()
    D[::3, ::4] = np.nan
    for noise in (None, Proportional(0.01), np.full(20, 0.1)):
        out = feasible_bands(D, found, noise=noise)
        assert all(band.min < band.share < band.max for band in out.bands)


def test_components_that_always_come_in_the_same_proportion():
    S = together(2).components
    C = np.outer(np.arange(1.0, 7.0), [1.0, 2.0])
    out = feasible_bands(C @ S, Decomposition(S, C), noise=0.0)
    assert not out.closed
    assert any("rank" in note for note in out.notes)
    for band in out.bands:  # one of them can be all there is
        assert (band.min, band.max) == pytest.approx((0.0, 1.0))


def test_a_component_in_no_sample():
    found = from_supports([[1, 0, 0], [0, 1, 0], [1, 1, 0]])
    out = bands_of(found)
    assert (out.bands[2].share, out.bands[2].closed) == (0.0, False)


def test_a_large_block_is_not_followed(monkeypatch):
    monkeypatch.setattr(module, "MAX_VARIABLES", 5)
    out = bands_of(together(3))
    assert all(np.isnan(band.max) and not band.closed for band in out.bands)
    assert any("too many" in note for note in out.notes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"c_min": -1.0}, "c_min"),
        ({"supports": "some"}, "supports"),
        ({"supports": np.ones((3, 2))}, "supports"),
        ({"supports": np.zeros((20, 2))}, "supports"),
        ({"noise": -1.0}, "noise"),
    ],
)
def test_what_cannot_be_used_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        bands_of(together(2), **options)


def test_samples_of_another_shape_are_refused():
    with pytest.raises(InputError, match="shape"):
        feasible_bands(np.ones((3, 4)), together(2))


# Pages


def test_it_prints_and_packs():
    out = bands_of(together(3))
    text = str(out)
    assert "3 of 3 components could" in text
    assert f"{out.bands[0].max:.4f}" in text
    packed = json.loads(json.dumps(out.to_dict()))
    assert packed["bands"][1]["partners"] == [0, 2]
    assert len(packed["planes"][0]["regions"]) == 3
    assert list(out.table()["name"]) == ["0", "1", "2"]


def test_the_command(run, tmp_path):
    found = together(2)
    found.save(tmp_path / "model.gmcr")
    np.save(tmp_path / "data.npy", found.reconstruct())
    command = ["ambiguity", tmp_path, tmp_path / "data.npy"]
    code, out, err = run(*command, "--noise", "0.05", "-o", tmp_path / "ends.csv")
    assert code == 0, err
    assert "Could it look different" in out
    assert len((tmp_path / "ends.csv").read_text().splitlines()) == 5
    assert json.loads(run(*command, "--any-support", "--json")[1])["closed"] is False
    assert run(*command, "--c-min", "-1")[0] == 2
