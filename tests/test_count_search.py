"""The count search: Algorithm 3 as printed, the counts it tries, and the times of the runtime table."""

import numpy as np
import pytest

from gmcr import make_mixtures
from gmcr.errors import InputError
from gmcr.metrics import r_squared
from gmcr_paper.baselines import (
    NMF,
    SEARCH_INTERVALS,
    SPA,
    SUCCESS_BANDS,
    Fit,
    choose,
    counts_near,
    counts_up_to,
    search_count,
    search_seconds,
)


def as_printed(fits, band):
    """Algorithm 3, line by line."""
    low, high = band
    r2_sel, k_sel, hit = -np.inf, None, False
    for fit in fits:
        if low <= fit.r2 < high:
            hit, r2_sel, k_sel = True, fit.r2, fit.count
        elif not hit and fit.r2 > r2_sel:
            r2_sel, k_sel = fit.r2, fit.count
    return k_sel, r2_sel, hit


@pytest.mark.parametrize("seed", range(20))
def test_choice_is_algorithm_3(seed):
    rng = np.random.default_rng(seed)
    counts = counts_near(64)
    # Coarse values, so that ties, hits below misses and searches without a hit all occur.
    fits = [Fit(count, float(r2), 0.0) for count, r2 in zip(counts, rng.integers(95, 100, len(counts)) / 100)]
    for band in [(0.98, 0.985), (0.96, 0.98), (0.2, 0.3)]:  # 0.98 itself is in the first alone
        best, hit = choose(fits, band)
        assert (best.count, best.r2, hit) == as_printed(fits, band)


def test_counts_of_algorithm_3():
    assert counts_near(64) == (76, 73, 70, 67, 64, 60, 57, 54, 51)
    assert counts_near(16) == (19, 18, 17, 16, 15, 14, 13, 12)  # 16.8 and 16 are one count
    assert counts_near(20)[1] == 23  # 1.15 · 20 is below 23 in binary
    assert counts_near(1) == (1,)


def test_counts_of_the_runtime_table():
    assert counts_up_to(256, 32) == (256, 224, 192, 160, 128, 96, 64, 32)
    assert counts_up_to(10, 4) == (8, 4)
    assert len(counts_up_to(256, 2)) == 128


def test_times_of_the_runtime_table_come_from_one_search():
    fits = [Fit(count, 0.5, 1.0 / 3600) for count in counts_up_to(256, 2)]
    seconds = search_seconds(fits)
    assert list(seconds) == list(SEARCH_INTERVALS)
    for interval in SEARCH_INTERVALS:
        assert seconds[interval] * 3600 == pytest.approx(256 / interval)
    assert np.isnan(search_seconds(fits[:-1])[2])
    assert not np.isnan(search_seconds(fits[:-1])[4])


def test_bands_are_the_papers():
    assert SUCCESS_BANDS[4, 20] == (0.98, 0.985)
    assert SUCCESS_BANDS[4, 30] == (0.99, 0.995)
    assert SUCCESS_BANDS[8, 20] == (0.975, 0.98)


def test_search_finds_a_known_count():
    """Four components and little noise: three cannot fit, four do."""
    D = make_mixtures(4, 40, snr_db=40, n_features=60, random_state=0).D
    found = search_count(D, NMF, counts_near(4), band=(0.999, 1.0))
    assert found.hit
    assert found.count == 4
    assert [fit.count for fit in found.fits] == [4, 3]
    assert found.fits[1].r2 < 0.99
    table = found.table()
    assert table["chosen"].tolist() == [True, False]
    assert table["in_band"].tolist() == [True, False]
    assert found.seconds == pytest.approx(table["cumulative_seconds"].iloc[-1])
    assert "4 components" in str(found)


def test_search_without_a_hit_returns_the_best_fit():
    D = make_mixtures(6, 40, snr_db=20, n_features=60, random_state=0).D
    found = search_count(D, SPA, (4, 5, 6, 7), band=(0.9999, 1.0))
    assert not found.hit
    assert found.r2 == max(fit.r2 for fit in found.fits)
    model = SPA(found.count).fit(D)
    assert found.r2 == r_squared(D, model.decomposition_.reconstruct())


def test_counts_are_tried_once_and_largest_first():
    tried = []

    def make(count):
        tried.append(count)
        return SPA(count)

    D = make_mixtures(6, 40, snr_db=20, n_features=60, random_state=0).D
    search_count(D, make, [3, 5, 3, 4], band=(0.98, 0.985))
    assert tried == [5, 4, 3]


@pytest.mark.parametrize(
    ("counts", "band", "message"),
    [
        ([], (0.9, 1.0), "counts is empty"),
        ([0], (0.9, 1.0), "counts must be"),
        ([2], (1.0, 0.9), "band must be"),
    ],
)
def test_bad_search(counts, band, message):
    with pytest.raises(InputError, match=message):
        search_count(np.eye(4), NMF, counts, band)
