"""The rank rules against simulation, known ranks and what must not change the answer."""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from gmcr.errors import InputError
from gmcr.mixtures import make_mixtures
from gmcr.noise import balanced
from gmcr.rank import (
    RULES,
    WHITE_MISFIT,
    Answer,
    Rule,
    estimate_rank,
    levelled,
    marchenko_pastur,
    misfit,
    noise_edge,
    scalings,
    whitened_counts,
)
from gmcr.rank.gap import eigengap
from gmcr.rank.indicator import malinowski
from gmcr.rank.threshold import gavish_donoho
from gmcr.rank.white_noise import marchenko_pastur_quantiles, noise_level


def low_rank(n, p, rank, strength, seed=0):
    """White noise plus `rank` orthogonal components `strength` times the edge of the noise."""
    rng = np.random.default_rng(seed)
    U, V = (scipy.linalg.qr(rng.standard_normal((side, rank)), mode="economic")[0] for side in (n, p))
    return strength * (np.sqrt(n) + np.sqrt(p)) * U @ V.T + rng.standard_normal((n, p))


# The count of the paper's mixtures


@pytest.mark.parametrize("snr_db", [20, 30])
@pytest.mark.parametrize("n_components", [16, 64, 128])
def test_edge_with_rows_scaled_finds_the_count(n_components, snr_db):
    for seed in range(100, 110):
        mix = make_mixtures(n_components, 4 * n_components, snr_db, random_state=seed)
        # Seed 105 at N = 64 draws one component into no sample at all: 63 is what there is to find.
        occurring = mix.supports.any(axis=0).sum()
        assert occurring == n_components - ((n_components, seed) == (64, 105))
        scaled = scalings(mix.D)["rows scaled"]
        answer, noise = marchenko_pastur(scipy.linalg.svdvals(scaled), scaled.shape)
        assert answer.count == occurring, f"seed {seed}"
        assert abs(noise * np.sqrt(1 + 10 ** (snr_db / 10)) - 1) < 0.03


@pytest.mark.parametrize(
    ("noise", "scaling"),
    [("proportional", "rows scaled"), ("constant", "as is"), ("poisson", "poisson scaled")],
)
def test_rules_find_the_count_under_the_scaling_that_whitens_the_noise(noise, scaling):
    report = estimate_rank(make_mixtures(20, 120, 25, 300, noise=noise, random_state=1).D)
    assert report.scaling == scaling
    assert report.white
    assert report.count == 20
    counts = {rule: report.counts[rule, scaling] for rule in RULES}
    assert counts.pop("parallel") in (20, 21)  # its twenty permutations give it one false alarm in twenty
    assert set(counts.values()) == {20}


@pytest.mark.parametrize("profiles", ["peaks", "bands"])
def test_smooth_profiles(profiles):
    report = estimate_rank(make_mixtures(6, 60, 30, profiles=profiles, random_state=1).D)
    assert report.count == 6


def test_signed_data_have_no_poisson_scaling():
    report = estimate_rank(make_mixtures(10, 60, 25, 200, signed=True, random_state=0).D)
    assert set(report.singular_values) == {"as is", "rows scaled"}
    assert report.count == 10


def test_every_component_in_every_sample():
    assert estimate_rank(make_mixtures(4, 40, 30, active=(4, 4), random_state=0).D).count == 4


def test_a_single_component():
    report = estimate_rank(make_mixtures(1, 40, 25, active=(1, 1), random_state=0).D)
    assert report.agree
    assert report.count == 1


def test_data_without_noise_have_their_exact_rank():
    report = estimate_rank(make_mixtures(12, 50, None, random_state=0).D)
    assert report.agree
    assert report.count == 12


def test_correlated_noise_is_not_taken_for_white():
    mix = make_mixtures(3, 60, None, 200, active=(3, 3), profiles="peaks", random_state=0)
    drift = np.cumsum(np.random.default_rng(0).normal(0, 0.01, mix.D.shape), axis=1)
    report = estimate_rank(mix.D + drift)
    assert not report.white
    assert not report.agree
    assert "little weight" in str(report)
    assert report.count <= min(report.counts[rule, report.scaling] for rule in ("eigengap", "malinowski"))


# White noise against simulation


@pytest.mark.parametrize("ratio", [0.05, 0.4, 1.0])
def test_quantiles_against_integration_of_the_density(ratio):
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    for level in (0.1, 0.5, 0.9):
        x = marchenko_pastur_quantiles(np.array([level]), ratio)[0]
        mass, _ = scipy.integrate.quad(
            lambda y: np.sqrt((high - y) * (y - low)) / (2 * np.pi * ratio * y), low, x, limit=200
        )
        assert abs(mass - level) < 1e-5


@pytest.mark.parametrize("shape", [(400, 40), (200, 200)])
def test_quantiles_against_simulated_noise(shape):
    n, p = shape
    values = scipy.linalg.svdvals(np.random.default_rng(0).standard_normal(shape))
    levels = (np.arange(p) + 0.5) / p
    expected = np.sqrt(n * marchenko_pastur_quantiles(levels, p / n))
    np.testing.assert_allclose(values[::-1], expected, atol=0.03 * expected[-1])


def test_noise_edge_has_its_false_alarm_rate():
    rng = np.random.default_rng(0)
    top = [scipy.linalg.svdvals(rng.standard_normal((60, 25)))[0] for _ in range(1500)]
    for rate in (0.5, 0.1, 0.02):
        assert abs(np.mean(np.array(top) > noise_edge(60, 25, rate)) - rate) < 4 * np.sqrt(rate / 1500)


@pytest.mark.parametrize("shape", [(300, 100), (150, 150), (40, 300)])
@pytest.mark.parametrize("rank", [0, 5, 30])
def test_noise_level_with_components_taken_out(shape, rank):
    values = scipy.linalg.svdvals(7.0 * low_rank(*shape, rank, 5.0))
    assert abs(noise_level(values, rank, shape) / 7 - 1) < 0.06
    assert noise_level(values, rank // 2, shape) >= 0.98 * noise_level(values, rank, shape)


@pytest.mark.parametrize("shape", [(60, 20), (120, 120)])
def test_misfit_of_white_noise_is_small(shape):
    rng = np.random.default_rng(0)
    for _ in range(50):
        values = scipy.linalg.svdvals(rng.standard_normal(shape))
        assert misfit(values, 0, noise_level(values, 0, shape), shape) < WHITE_MISFIT


def test_levelling_whitens_noise_that_goes_by_sample_and_channel():
    """With a tenth of a per cent of the counts far off, which must not decide."""
    rng = np.random.default_rng(6)
    clean = rng.random((120, 3)) @ rng.random((3, 90))
    noise = np.outer(rng.lognormal(0, 0.3, 120), rng.lognormal(0, 0.3, 90)) * rng.standard_normal((120, 90))
    D = clean + 0.02 * noise
    D.flat[rng.choice(D.size, 10, replace=False)] += 0.3
    scaled = levelled(D)
    left = scaled - (lambda U, s, V: (U[:, :3] * s[:3]) @ V[:3])(*np.linalg.svd(scaled, full_matrices=False))
    usual = np.median(np.abs(left), axis=0)
    assert usual.max() / usual.min() < 2
    assert 3 <= marchenko_pastur(np.linalg.svd(scaled, compute_uv=False), D.shape)[0].count <= 4
    np.testing.assert_allclose(levelled(5 * D) @ scaled.T, scaled @ scaled.T, rtol=1e-6)


def test_a_channel_that_is_all_signal_keeps_its_scale():
    """What a direction of its own leaves of it is next to nothing: taken for noise, it grew with each round."""
    rng = np.random.default_rng(0)
    clean = rng.lognormal(0, 1, (200, 3)) @ rng.dirichlet(np.full(30, 0.5), 3)
    clean[:, 4] += 500 * rng.lognormal(0, 1, 200)
    scaled = levelled(clean + 0.05 * rng.standard_normal(clean.shape))
    power = np.linalg.norm(scaled, axis=0) / np.linalg.norm(clean, axis=0)
    assert power[4] < 3 * np.median(power)


@pytest.mark.parametrize("s", [0.0, 0.005, 0.1])
def test_counts_that_vary_beyond_chance_are_whitened(s):
    rng = np.random.default_rng(5)
    mean = 3000 * rng.lognormal(0, 0.8, (150, 4)) @ rng.dirichlet(np.full(80, 0.3), 4)
    beyond = rng.gamma(1 / s, s, mean.shape) if s else 1.0
    scaled, found = whitened_counts(rng.poisson(mean * beyond).astype(float))
    assert found == pytest.approx(s, rel=0.2, abs=1e-4)
    edge, noise = marchenko_pastur(np.linalg.svd(scaled, compute_uv=False), scaled.shape)
    assert edge.count == 4
    assert noise == pytest.approx(1.0, abs=0.06)


def test_poisson_scaling_gives_every_row_and_column_the_same_variance():
    mean = make_mixtures(8, 60, None, 90, profiles="peaks", random_state=0).clean + 0.01
    variance = mean / np.outer(*balanced(mean))
    np.testing.assert_allclose(variance.mean(axis=0), 1, atol=1e-6)
    np.testing.assert_allclose(variance.mean(axis=1), 1, atol=1e-3)


# Each rule on a known rank


@pytest.mark.parametrize("shape", [(200, 80), (80, 200), (120, 120)])
@pytest.mark.parametrize("rank", [2, 10, 40])
def test_rules_on_orthogonal_components_in_white_noise(shape, rank):
    values = scipy.linalg.svdvals(low_rank(*shape, rank, 4.0, seed=rank))
    assert marchenko_pastur(values, shape)[0].count == rank
    assert gavish_donoho(values, shape).count == rank
    assert eigengap(values, shape).count == rank
    assert malinowski(values, shape).count == rank


def test_pure_noise_has_no_component():
    shape = (90, 60)
    values = scipy.linalg.svdvals(np.random.default_rng(3).standard_normal(shape))
    assert marchenko_pastur(values, shape)[0].count == 0
    assert gavish_donoho(values, shape).count == 0
    assert eigengap(values, shape).count == 1


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0])
def test_gavish_donoho_is_their_median_rule_when_the_count_is_small(ratio):
    n = 600
    shape = (n, int(ratio * n))
    values = scipy.linalg.svdvals(low_rank(*shape, 2, 4.0))
    omega = 0.56 * ratio**3 - 0.95 * ratio**2 + 1.82 * ratio + 1.43  # their approximation, good to 0.02
    assert abs(gavish_donoho(values, shape).threshold / (omega * np.median(values)) - 1) < 0.03


def test_gavish_donoho_known_noise_constant_for_a_square_table():
    values = scipy.linalg.svdvals(low_rank(400, 400, 1, 4.0))
    assert abs(gavish_donoho(values, (400, 400)).threshold / (4 / np.sqrt(3) * 20) - 1) < 0.02


def test_malinowski_is_the_formula_in_a_loop():
    values = scipy.linalg.svdvals(low_rank(30, 12, 3, 3.0))
    indicator = []
    for k in range(1, 10):
        real_error = np.sqrt(sum(values[j] ** 2 for j in range(k, 12)) / (30 * (12 - k)))
        indicator.append(real_error / (12 - k) ** 2)
    assert malinowski(values, (30, 12)).count == int(np.argmin(indicator)) + 1 == 3


# What must not change the answer


@pytest.fixture(scope="module")
def mixture():
    D = make_mixtures(8, 48, 20, 120, random_state=2).D
    return D, estimate_rank(D)


def deterministic(report):
    return {key: count for key, count in report.counts.items() if key[0] != "parallel"}


@pytest.mark.parametrize("factor", [1000.0, 1e-9])
def test_scaling_the_data_changes_nothing(mixture, factor):
    D, report = mixture
    scaled = estimate_rank(factor * D)
    assert scaled.counts == report.counts
    assert scaled.scaling == report.scaling
    np.testing.assert_allclose(scaled.noise["as is"], factor * report.noise["as is"])
    np.testing.assert_allclose(scaled.noise["rows scaled"], report.noise["rows scaled"])


def test_order_of_samples_and_channels_changes_nothing(mixture):
    D, report = mixture
    rng = np.random.default_rng(0)
    shuffled = estimate_rank(D[rng.permutation(len(D))][:, rng.permutation(D.shape[1])])
    assert deterministic(shuffled) == deterministic(report)
    assert shuffled.count == report.count


def test_transposing_changes_nothing_as_is(mixture):
    D, report = mixture
    turned = estimate_rank(D.T)
    for rule in set(RULES) - {"parallel"}:
        assert turned.counts[rule, "as is"] == report.counts[rule, "as is"]


def test_empty_samples_and_channels_change_nothing(mixture):
    D, report = mixture
    padded = np.zeros((len(D) + 3, D.shape[1] + 5))
    padded[2:-1, 4:-1] = D
    assert estimate_rank(padded).counts == report.counts


def test_same_seed_same_report(mixture):
    D, report = mixture
    assert estimate_rank(D).counts == report.counts
    assert estimate_rank(D, random_state=np.random.default_rng(0)).counts == report.counts


@settings(max_examples=25)
@given(rank=st.integers(1, 8), n=st.integers(40, 90), p=st.integers(40, 90), seed=st.integers(0, 10**6))
def test_rank_of_exact_products(rank, n, p, seed):
    rng = np.random.default_rng(seed)
    D = rng.uniform(0.1, 1, (n, rank)) @ rng.uniform(0, 1, (rank, p))
    values = scipy.linalg.svdvals(D)
    values = np.maximum(values, values[0] * np.finfo(float).eps * max(n, p))
    assert marchenko_pastur(values, D.shape)[0].count == rank
    assert malinowski(values, D.shape).count == rank


# Missing entries, size, report


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_missing_entries(share, signed):
    D = make_mixtures(10, 60, 25, 200, signed=signed, random_state=0).D
    D[np.random.default_rng(0).random(D.shape) < share] = np.nan
    before = D.copy()
    report = estimate_rank(D)
    np.testing.assert_array_equal(D, before)
    assert report.count == 10
    assert "were filled from the others" in str(report)


def test_large_tables_skip_what_is_slow(monkeypatch):
    D = make_mixtures(5, 200, 25, 60, random_state=0).D
    monkeypatch.setattr("gmcr.rank.estimate.MOST_TO_PERMUTE", 5000)
    monkeypatch.setattr("gmcr.rank.preparation.MOST_TO_DECOMPOSE", 6000)
    report = estimate_rank(D)
    assert report.count == 5
    assert ("parallel", "as is") not in report.counts
    assert report.table.loc[report.table["rule"] == "parallel", "count"].isna().all()
    assert "100 of 200 samples were drawn at random" in str(report)
    assert "Parallel analysis was skipped" in str(report)
    assert "skipped" in str(report).splitlines()[5]


def test_report_reads_well(mixture):
    _, report = mixture
    text = str(report)
    assert 'All rules agree on 8 under "rows scaled"' in text
    assert all(rule.title in text for rule in RULES.values())
    assert list(report.table.columns) == ["rule", "scaling", "count", "threshold", "kept", "dropped"]
    assert len(report.table) == len(list(RULES)) * 3
    edge = report.table.query("rule == 'marchenko-pastur' and scaling == 'rows scaled'").iloc[0]
    assert edge["kept"] > edge["threshold"] > edge["dropped"]


def test_a_rule_that_is_added_takes_part(mixture):
    D, plain = mixture
    try:
        RULES.add(
            "own", Rule("three medians", lambda seen: Answer(int((seen.values > 1e9).sum())), slow=True)
        )
        report = estimate_rank(D)
        assert report.counts["own", "as is"] == 0
        assert not report.agree
        assert report.count == plain.count  # the median of six
        assert "three medians" in str(report)
        assert "Three medians was skipped" in str(estimate_rank(D, most_to_permute=10))
        RULES.add("wrong", Rule("too many", lambda seen: Answer(len(seen.values))))
        with pytest.raises(InputError, match=r"the rank rule 'wrong' counts (\d+) of \1 values; leave one"):
            estimate_rank(D)
    finally:
        RULES._forget(f"the module {__name__}")
    assert "three medians" not in str(plain)


def test_disagreement_is_said():
    report = estimate_rank(make_mixtures(32, 128, 10, random_state=100).D)
    assert not report.agree
    assert "do not agree" in str(report)


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.ones((5, 5)), "D is constant"),
        (np.zeros((5, 5)), "D is zero in every row and column"),
        (np.eye(3), "need more than 3 of each"),
        (np.full((4, 4), np.inf), "infinite at row 0, column 0"),
        (np.arange(4.0), "must be a 2D array"),
    ],
    ids=["constant", "zero", "small", "infinite", "one row"],
)
def test_bad_tables_are_refused(D, message):
    with pytest.raises(InputError, match=message):
        estimate_rank(D)


def test_levelling_of_a_table_that_has_no_noise():
    """As of readings in coarse steps: most samples and channels have nothing left at all."""
    clean = np.outer(np.arange(1.0, 9.0), np.r_[np.zeros(3), 1.0:8.0])
    for scale in (1.0, 1e-150, 1e150):
        assert np.isfinite(levelled(scale * clean)).all()
