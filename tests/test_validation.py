"""Input that cannot be used is refused with a message that names the place and the remedy."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from gmcr import decode
from gmcr.errors import GMCRError, InputError
from gmcr.validation import (
    as_numbers,
    check_finite,
    check_per_sample,
    check_pool,
    check_samples,
)

D = np.arange(1.0, 13.0).reshape(3, 4)
S = np.array([[1.0, 2, 3, 4], [4, 1, 0, 1]])


def changed(value, row=1, column=2, dtype=float):
    table = D.astype(dtype)
    table[row, column] = value
    return table


BAD_SAMPLES = {
    "infinite": (
        changed(np.inf),
        r"D is infinite at row 1, column 2 .*mark it as missing with NaN or remove it",
    ),
    "minus infinity": (changed(-np.inf), r"D is infinite at row 1, column 2"),
    "no rows": (
        np.empty((0, 4)),
        r"D is empty: 0 sample\(s\) \(shape=\(0, 4\)\) while a minimum of 1 is required",
    ),
    "no columns": (np.empty((3, 0)), r"D is empty: 0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
    "one dimension": (
        D[0],
        r"2D array, samples x channels, .*shape \(4,\).*D.reshape\(1, -1\) is a single sample",
    ),
    "three dimensions": (D[None], r"D must be a 2D array, samples x channels, but has shape \(1, 3, 4\)"),
    "a number": (3.0, r"D must be a 2D array, samples x channels, but has shape \(\)"),
    "complex": (changed(1j, dtype=complex), r"D is complex; take its real part or its magnitude"),
    "text": (
        changed("abc", dtype=object),
        r"D holds 'abc' at row 1, column 2, which is no number; remove headers",
    ),
    "array of text": ([["1.5", "x"]], r"D holds 'x' at row 0, column 1, which is no number"),
    "long text": ([["y" * 99]], r"D holds 'y{30,36}\.\.\. at row 0, column 0"),
    "missing as NA": (
        changed(pd.NA, dtype=object),
        r"D holds <NA> at row 1, column 2.*mark missing entries with NaN",
    ),
    "dates": (
        np.array([["2020-01-01"]], dtype="datetime64[D]"),
        r"D holds dates or times; convert them to numbers",
    ),
    "sparse": (scipy.sparse.csr_matrix(D), r"D is a sparse matrix; pass a dense array, e.g. D.toarray\(\)"),
    "a row of NaN": (
        changed(np.nan, 2, slice(None)),
        r"D row 2 is missing in every entry \(NaN\); remove that sample",
    ),
    "ragged": ([[1.0, 2.0], [3.0]], r"D has rows of different lengths; give every row the same number"),
}


@pytest.mark.parametrize("case", BAD_SAMPLES)
def test_samples_that_cannot_be_used(case):
    table, message = BAD_SAMPLES[case]
    for use in (check_samples, lambda table: decode(table, S, noise=1.0)):
        with pytest.raises(InputError, match=message):
            use(table)


CONSTANT = {
    "constant": (
        np.full((3, 4), 2.5),
        r"D is constant: every row and column is 2.5; check that the right data",
    ),
    "all zero": (np.zeros((3, 4)), r"D is zero in every row and column; check that the right data were read"),
    "constant with gaps": (
        np.array([[1.0, np.nan], [1.0, 1.0]]),
        r"D is constant: every row and column is 1",
    ),
    "a column of NaN": (
        changed(np.nan, slice(None), 3),
        r"D column 3 is missing in every entry .*remove that channel",
    ),
}


@pytest.mark.parametrize("case", CONSTANT)
def test_samples_that_cannot_be_unmixed(case):
    """They decode, but nothing can be learned from them."""
    table, message = CONSTANT[case]
    with pytest.raises(InputError, match=message):
        check_samples(table, allow_constant=False)
    assert check_samples(table).shape == table.shape
    assert decode(table, S[:, : table.shape[1]], noise=1.0).concentrations.shape == (len(table), 2)


@pytest.mark.parametrize(
    "table",
    [
        D,
        D.tolist(),
        D.astype(np.float32),
        D.astype(int),
        np.asfortranarray(D),
        D[::-1, ::-1],
        pd.DataFrame(D),
    ],
    ids=["array", "list", "float32", "int", "fortran", "view", "pandas"],
)
def test_samples_that_can_be_used(table):
    checked = check_samples(table)
    assert checked.dtype == np.float64
    assert checked.flags.c_contiguous
    np.testing.assert_array_equal(checked, np.asarray(table))
    np.testing.assert_array_equal(check_samples(table, copy=False), checked)


def test_missing_and_negative_entries_pass():
    table = changed(np.nan)
    table[0, 0] = -1
    np.testing.assert_array_equal(check_samples(table, allow_constant=False), table)


def test_copies_are_made_unless_told_otherwise():
    assert not np.shares_memory(check_samples(D), D)
    assert not np.shares_memory(as_numbers(D, "D"), D)
    assert np.shares_memory(check_samples(D, copy=False), D)


@pytest.mark.parametrize(
    ("scale", "size"), [(1e160, "large"), (1e61, "large"), (1e-300, "small"), (5e-324, "small")]
)
@pytest.mark.parametrize("missing", [False, True])
def test_values_that_cannot_be_squared_are_refused(scale, size, missing):
    table = np.where(np.median(D) < D, scale, 0.0)
    if missing:
        table[1, 1] = np.nan
    with pytest.raises(
        InputError, match=rf"the largest value of D is .*, too {size} to be squared; divide D by 1e"
    ):
        check_samples(table, allow_constant=False)
    if size == "small":  # what has all but nothing may still be decoded
        np.testing.assert_array_equal(check_samples(table), table)
    else:
        with pytest.raises(InputError, match="too large"):
            check_samples(table)


def test_small_values_beside_others_pass():
    table = changed(1e-310)
    np.testing.assert_array_equal(check_samples(table, allow_constant=False), table)
    table = changed(1e59)
    np.testing.assert_array_equal(check_samples(table, allow_constant=False), table)


BAD_POOLS = {
    "other channels": (
        S[:, :3],
        r"S has 3 channels and the samples have 4; put both on the same channel axis",
    ),
    "one dimension": (S[0], r"S must be a 2D array, slots x channels, .* but has shape \(4,\)"),
    "no slots": (np.empty((0, 4)), r"S must be a 2D array, .*at least one of each, but has shape \(0, 4\)"),
    "missing": (
        np.array([[1, np.nan, 1, 1]]),
        r"S is missing a value at row 0, column 1; profiles must be complete",
    ),
    "infinite": (np.array([[1, 1, np.inf, 1]]), r"S is infinite at row 0, column 2"),
    "empty profile": (
        np.array([[1, 1, 1, 1], [0, 0, 0, 0]]),
        r"S row 1 is zero in every column; remove that profile",
    ),
    "text": ([["a", "b", "c", "d"]], r"S holds 'a' at row 0, column 0"),
    "complex": (S * 1j, r"S is complex"),
    "sparse": (scipy.sparse.csr_matrix(S), r"S is a sparse matrix; pass a dense array, e.g. S.toarray\(\)"),
}


@pytest.mark.parametrize("case", BAD_POOLS)
def test_pools_that_cannot_be_used(case):
    pool, message = BAD_POOLS[case]
    for use in (lambda pool: check_pool(pool, 4), lambda pool: decode(D, pool, noise=1.0)):
        with pytest.raises(InputError, match=message):
            use(pool)


BAD_OPTIONS = {
    "negative noise": ({"noise": -1.0}, r"noise must be finite and not negative, but is -1.0 for sample 0"),
    "noise that is NaN": (
        {"noise": [1, np.nan, 1]},
        r"noise must be finite and not negative, but is nan for sample 1",
    ),
    "infinite noise": (
        {"noise": [1, 1, np.inf]},
        r"noise must be finite and not negative, but is inf for sample 2",
    ),
    "noise of too many": (
        {"noise": [1.0, 2.0]},
        r"noise must be one number or 3, one per sample, but has shape \(2,\)",
    ),
    "noise of other shape": (
        {"noise": np.ones((4, 3))},
        r"one per entry \(shape \(3, 4\)\), .*\(4, 3\)",
    ),
    "noise of zero at an entry": (
        {"noise": changed(0.0)},
        r"noise is 0.0 at row 1, column 2, but must be positive and at most 1e\+60; .*NaN in D",
    ),
    "noise that is NaN at an entry": (
        {"noise": changed(np.nan)},
        r"noise is nan at row 1, column 2, but must be positive",
    ),
    "noise of unknown law": (
        {"noise": "pink"},
        r"the noise law 'pink' is not known here",
    ),
    "complex noise": ({"noise": 1j}, r"noise is complex"),
    "negative price": ({"price": -2.0}, r"price must be finite and not negative, but is -2.0 for sample 0"),
    "price that is text": ({"price": "cheap"}, r"price holds 'cheap' at its only entry, which is no number"),
    "prices of too many": (
        {"price": [1.0] * 4},
        r"price must be one number or 3, one per sample, but has shape \(4,\)",
    ),
    "alpha of zero": ({"alpha": 0.0}, r"alpha must lie between 0 and 1, not 0.0"),
    "alpha of two": ({"alpha": 2}, r"alpha must lie between 0 and 1, not 2"),
    "k_max of zero": ({"k_max": 0}, r"k_max must be a whole number of at least 1, not 0"),
    "k_max with a fraction": ({"k_max": 1.5}, r"k_max must be a whole number of at least 1, not 1.5"),
    "k_max that is text": ({"k_max": "2"}, r"k_max must be a whole number of at least 1, not '2'"),
    "k_max that is NaN": ({"k_max": np.nan}, r"k_max must be a whole number of at least 1, not nan"),
    "negative weight": (
        {"weights": [1, 1, -1, 1]},
        r"weights must be finite and not negative, one per channel \(4,\)",
    ),
    "weight that is NaN": ({"weights": [1, 1, np.nan, 1]}, r"weights must be finite and not negative"),
    "weights of too many": (
        {"weights": np.ones(3)},
        r"weights .* one per entry \(3, 4\), but came with shape \(3,\)",
    ),
    "no weight at all": (
        {"weights": np.zeros(4)},
        r"weights are zero on every present entry of sample 0; remove",
    ),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_options_that_cannot_be_used(case):
    options, message = BAD_OPTIONS[case]
    with pytest.raises(InputError, match=message):
        decode(D, S, **({"noise": 1.0} | options))


def test_weights_that_leave_a_sample_without_entries():
    table = changed(np.nan, 1, slice(0, 3))
    with pytest.raises(InputError, match="weights are zero on every present entry of sample 1"):
        decode(table, S, noise=1.0, weights=[1, 1, 1, 0])


def test_noise_may_be_unknown_where_entries_are_missing():
    table = changed(np.nan)
    decode(table, S, noise=changed(np.nan))


def test_a_number_for_all_samples_or_one_each():
    np.testing.assert_array_equal(check_per_sample(2, 3, "price"), [2, 2, 2])
    np.testing.assert_array_equal(check_per_sample([1, 2, 3], 3, "price"), [1, 2, 3])


def test_infinite_entry_of_a_list():
    with pytest.raises(InputError, match="axis is infinite at entry 1"):
        check_finite(np.array([0.0, np.inf]), "axis")


def test_errors_are_value_errors_too():
    """scikit-learn and users expect a ValueError."""
    with pytest.raises(ValueError, match="2D array"):
        check_samples(D[0])
    assert issubclass(InputError, GMCRError)
