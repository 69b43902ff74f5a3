"""Disturbances: one that is put into a table is found where it is, and nothing is found in a clean one."""

import numpy as np
import pytest

from gmcr import GMCR, find_disturbances, make_measured

SEEDS = range(100, 106)


def table(seed):
    return make_measured(3, 40, 80, random_state=seed, disturbed=False, concentrations="lognormal")


def free(shape, directions, sigma):
    """Length in standard deviations of what of a shape the directions do not explain."""
    Q = np.linalg.qr((directions / sigma).T)[0]
    white = shape / sigma
    return np.linalg.norm(white - Q @ (Q.T @ white))


def places(D, kind):
    return {(one.sample, one.channel) for one in find_disturbances(D) if one.kind == kind}


def test_nothing_is_found_in_clean_tables():
    for seed in range(100, 130):
        assert str(find_disturbances(table(seed).D)) == "No disturbance was found."


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spike(seed):
    made = table(seed)
    D, sigma = made.D.copy(), np.broadcast_to(made.sigma, made.D.shape)
    D[7, 33] += 20 / free(np.eye(80)[33], made.S, sigma[7])
    assert places(D, "spike") == {(7, 33)}
    out = find_disturbances(D).masked(D)
    assert np.isnan(out[7, 33])
    assert np.isnan(out).sum() == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hot_channel(seed):
    made = table(seed)
    D, sigma = made.D.copy(), np.broadcast_to(made.sigma, made.D.shape)
    D[:, 50] += 20 / free(np.ones(40), made.C.T, sigma[:, 50])
    assert (None, 50) in places(D, "hot channel")
    found = find_disturbances(D)
    assert not found.kept[50]
    assert found.masked(D).shape == (40, int(found.kept.sum()))


@pytest.mark.parametrize("seed", [101, 109])
def test_a_strong_hot_channel(seed):
    """Entries differ in noise, and so a strong offset once seemed to leave something beside it."""
    made = table(seed)
    D, sigma = made.D.copy(), np.broadcast_to(made.sigma, made.D.shape)
    D[:, 50] += 60 / free(np.ones(40), made.C.T, sigma[:, 50])
    assert places(D, "hot channel") == {(None, 50)}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_foreign_sample(seed):
    made = table(seed)
    D, sigma = made.D.copy(), np.broadcast_to(made.sigma, made.D.shape)
    band = np.exp(-0.5 * ((np.arange(80) - 31.0) / 4.0) ** 2)
    D[3] += 25 / free(band, made.S, sigma[3]) * band
    assert (3, None) in places(D, "foreign sample")
    assert not find_disturbances(D).mask.any()  # told, not masked


def test_a_shifted_sample():
    """It is always told; most often by its name, where the others tell well what it would be unshifted."""
    named = 0
    for seed in SEEDS:
        made = table(seed)
        D, slopes = made.D.copy(), -np.gradient(made.C @ made.S, axis=1)
        sigma = np.broadcast_to(made.sigma, made.D.shape)
        told = np.array([free(slope, made.S, one) for slope, one in zip(slopes, sigma)])
        m = int(told.argmax())
        D[m] += 25 / told[m] * slopes[m]
        kinds = {one.kind for one in find_disturbances(D) if one.sample == m}
        assert kinds & {"shifted axis", "foreign sample"}
        named += "shifted axis" in kinds
    assert named >= 5


def test_a_dead_channel_and_clipped_readings():
    made = table(100)
    D = made.D.copy()
    D[:, 12] = 0.0
    assert places(D, "dead channel") == {(None, 12)}
    clipped = np.minimum(made.D, 0.9 * made.D.max())
    found = find_disturbances(clipped)
    np.testing.assert_array_equal(found.mask, clipped == clipped.max())
    assert (found.table()["kind"] == "clipped").any()


def test_readings_in_steps_are_not_clipped():
    D = table(101).D
    step = D.max() / 50
    assert not places(np.round(D / step) * step, "clipped")


def test_what_was_masked_can_be_unmixed():
    made = table(102)
    D = made.D.copy()
    D[4, 20] += D.max()
    D[:, 60] = 0.0
    found = find_disturbances(D)
    model = GMCR(3, random_state=0).fit(found.masked(D))
    twin = GMCR(3, random_state=0).fit(made.D)
    cosines = np.abs(model.components_ @ twin.components_[:, found.kept].T)
    assert np.sort(cosines.max(axis=1)).min() > 0.99


def test_missing_entries_stay_missing():
    D = table(103).D.copy()
    D[2, 5] = np.nan
    D[9, 40] += D[np.isfinite(D)].max()
    found = find_disturbances(D)
    assert (9, 40) in {(one.sample, one.channel) for one in found}
    assert not found.mask[2, 5]


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_a_jump(seed):
    """A band that all samples have from one on; amounts have no order."""
    made = table(seed)
    band = np.exp(-0.5 * ((np.arange(80) - 52.0) / 4.0) ** 2)
    D = made.D + 3.0 * float(np.median(made.sigma)) * np.outer(np.arange(40) >= 22, band)
    found = [one for one in find_disturbances(D) if one.kind == "jump"]
    assert len(found) == 1
    assert abs(found[0].sample - 22) <= 2
    assert not find_disturbances(D).mask.any()


def test_a_wide_jump():
    """A band over half of the channels once passed for noise."""
    made = table(110)
    band = np.exp(-0.5 * ((np.arange(80) - 52.0) / 8.0) ** 2)
    D = made.D + 6.0 * float(np.median(made.sigma)) * np.outer(np.arange(40) >= 22, band)
    assert (22, None) in places(D, "jump")


def test_samples_normalised_to_their_largest_reading_are_not_clipped():
    D = table(100).D
    assert not places(D / D.max(axis=1, keepdims=True), "clipped")


def test_the_order_of_samples_does_not_matter_to_what_is_masked():
    made, order = table(104), np.random.default_rng(0).permutation(40)
    D = made.D.copy()
    D[7, 33] += 20 / free(np.eye(80)[33], made.S, np.broadcast_to(made.sigma, D.shape)[7])
    np.testing.assert_array_equal(find_disturbances(D).mask[order], find_disturbances(D[order]).mask)


def test_a_fit_masks_what_it_is_asked_to(tmp_path):
    """And tells it; a file brings it along; training samples decode as they were fitted; clean ones as ever."""
    made = table(102)
    D = made.D.copy()
    D[4, 20] += D.max()
    D[:, 60] = 0.3
    with pytest.warns(UserWarning, match="masked"):
        model = GMCR(3, random_state=0, disturbances="mask").fit(D)
    assert model.components_.shape == (3, 79)
    assert "sample 4 channel 20" in model.chain_.did[0]
    model.save(tmp_path / "run.gmcr")
    np.testing.assert_array_equal(GMCR.load(tmp_path / "run.gmcr").transform(D), model.concentrations_)
    with pytest.warns(UserWarning, match="spike: sample 4, channel 20"):
        told = GMCR(3, random_state=0, disturbances="tell").fit(D)
    assert not told.chain_
    plain, clean = (GMCR(3, random_state=0, disturbances=way).fit(made.D) for way in ("keep", "mask"))
    np.testing.assert_array_equal(plain.concentrations_, clean.concentrations_)
    with pytest.raises(ValueError, match="disturbances must be mask or tell or keep"):
        GMCR(3, disturbances="hide").fit(D)


def test_tables_too_small_to_tell():
    D = np.random.default_rng(0).random((4, 5))
    assert len(find_disturbances(D)) == 0
