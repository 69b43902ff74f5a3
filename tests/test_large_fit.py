"""Fits of lazy samples: the same whatever the blocks, the workers, and the order in which they end."""

import gc
import random
import time
import tracemalloc
import warnings
import weakref
from functools import partial, reduce

import numpy as np
import pytest

import large
from gmcr import GMCR
from gmcr.errors import GMCRError, InputError
from gmcr.window import by_passes
from gmcr.window.drawing import row_hashes
from gmcr.window.tallies import Asked, Block, Grid, looked_at, tallied

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
xarray = pytest.importorskip("xarray")

TABLES = large.tables()


@pytest.fixture(autouse=True)
def low_bounds():
    with large.low_bounds(), dask.config.set(scheduler="synchronous"):
        yield


def fit(D, **told):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return GMCR(n_jobs=1, random_state=0, **told).fit(D)


def blocks(D, n_blocks):
    return da.from_array(D, chunks=(-(-len(D) // n_blocks), -1))


def same(lazy, own):
    """Whether a fit of lazy samples came to what another one did."""
    (C, supports, noise), own_arrays = (
        dask.compute(one.concentrations_, one.supports_, one.noise_) for one in (lazy, own)
    )
    assert lazy.n_components_ == own.n_components_
    np.testing.assert_array_equal(supports, own_arrays[1])
    for found, expected in (
        (C, own_arrays[0]),
        (noise, own_arrays[2]),
        (lazy.components_, own.components_),
        (lazy._pool_covariance, own._pool_covariance),
        (lazy._decoded, own._decoded),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert lazy.usage_price_ == pytest.approx(own.usage_price_, rel=1e-12)
    equal(lazy.noise_law_.as_dict(), own.noise_law_.as_dict())
    assert lazy.count_.as_dict() == own.count_.as_dict()
    assert lazy.of_all_["usage"] == own.of_all_["usage"]


# Whatever the blocks are


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_passes_tell_the_same_of_one_block_and_of_many(number):
    """Twenty tables, each in other blocks, by other workers."""
    name, (D, told) = list(TABLES.items())[number]
    assert len(TABLES) == 20
    n_blocks, workers = (2, 3, 5, 7, 11, 20, 33, 50)[number % 8], 1 + number % 3
    own = fit(blocks(D, 1), **told)
    with dask.config.set(scheduler="threads", num_workers=workers):
        lazy = fit(blocks(D, n_blocks), **told)
        same(lazy, own)
    assert lazy.of_all_["samples"] == len(D), name
    # The pass leaves the pool's own errors aside.
    assert lazy.of_all_["usage"] == pytest.approx(np.count_nonzero(lazy.concentrations_.compute()), rel=0.01)
    assert lazy.of_all_["searched"] < 250
    assert lazy.of_all_["passes"] <= 8


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_as_in_memory(number, monkeypatch):
    """Below the bound that is for everybody, lazy samples are fitted as in memory, and decoded by blocks."""
    monkeypatch.setattr(by_passes, "WHOLE", large.WHOLE)
    D, told = list(TABLES.values())[number]
    n_blocks = (1, 2, 3, 5, 7, 11, 20, 33, 50)[number % 9]
    lazy, own = fit(blocks(D, n_blocks), **told), fit(D, **told)
    np.testing.assert_array_equal(lazy.components_, own.components_)
    C, supports, noise = dask.compute(lazy.concentrations_, lazy.supports_, lazy.noise_)
    np.testing.assert_array_equal(supports, own.supports_)
    np.testing.assert_allclose(C, own.concentrations_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(noise, own.noise_, rtol=1e-8)
    assert lazy.count_.as_dict() == own.count_.as_dict()


@pytest.mark.parametrize("name", ["plain", "poisson", "gaps", "rare"])
def test_passes_come_to_what_is_found_in_memory(name):
    D, told = TABLES[name]
    lazy, own = fit(blocks(D, 4), **told), fit(D, **told)
    assert lazy.n_components_ == own.n_components_
    cosines = lazy.components_ @ own.components_.T
    assert cosines.max(axis=1).min() > 0.998
    order = cosines.argmax(axis=0)
    assert np.mean(lazy.supports_.compute()[:, order] == own.supports_) > 0.96


@pytest.mark.parametrize("n_blocks", [4, 17, 50])
@pytest.mark.parametrize("name", ["told", "gaps by entry"])
def test_whatever_the_blocks(name, n_blocks):
    D, told = TABLES[name]
    same(fit(blocks(D, n_blocks), **told), fit(blocks(D, 1), **told))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_whatever_the_order(workers):
    """Blocks of any size end in any order."""
    D, told = TABLES["constant"]

    def late(block):
        time.sleep(random.Random(block.sum()).uniform(0, 0.02))
        return block

    cut = da.from_array(D, chunks=((1, 99, 0, 200, 37, 63, 150, 50), -1))
    slow = cut.map_blocks(late, dtype=float, meta=np.empty((0, 0)))
    own = fit(blocks(D, 1), **told)
    with dask.config.set(scheduler="threads", num_workers=workers):
        same(fit(slow, **told), own)


def test_on_processes_that_are_forked():
    D, told = TABLES["told"]
    own = fit(blocks(D, 1), **told)
    forked = {"scheduler": "processes", "num_workers": 2, "multiprocessing.context": "fork"}
    with dask.config.set(forked):
        same(fit(blocks(D, 4), **told), own)


def test_a_table_that_is_permuted_is_the_same_problem():
    D, told = TABLES["told"]
    order = np.random.default_rng(0).permutation(len(D))
    one, other = fit(blocks(D, 5), **told), fit(blocks(D[order], 3), **told)
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-9)
    np.testing.assert_allclose(
        one.concentrations_.compute()[order], other.concentrations_.compute(), atol=1e-8
    )


def test_a_rare_component_is_found():
    D, profile, rows = large.with_rare(8)
    lazy = fit(blocks(D, 7))
    cosines = lazy.components_ @ profile
    assert lazy.n_components_ == 4
    assert cosines.max() > 0.995
    assert set(np.flatnonzero(lazy.supports_[:, int(cosines.argmax())].compute())) == set(rows)
    assert lazy.count_.rare + fit(D[large.DRAWN * 2 :][:300]).n_components_ >= 4
    assert "rare" in str(lazy.count_) or lazy.count_.rare == 0


def test_refits_come_close_to_least_squares_on_the_truth():
    mix = large.mixed(11, n_samples=1500, snr_db=30.0)
    best = np.linalg.lstsq(mix.C, mix.D, rcond=None)[0]
    best /= np.linalg.norm(best, axis=1, keepdims=True)
    lazy = fit(blocks(mix.D, 4), n_components=3)

    def off(S):
        return 1.0 - (S @ mix.S.T).max(axis=0).min()

    assert off(lazy.components_) < 2.0 * off(best)
    part = fit(mix.D[: large.DRAWN], n_components=3)
    assert off(lazy.components_) < off(part.components_)


def test_a_small_table_is_solved_whole(monkeypatch):
    monkeypatch.setattr(by_passes, "WHOLE", large.WHOLE)
    D = TABLES["told"][0].copy()
    D[7] = np.nan
    own, lazy = fit(np.delete(D, 7, axis=0)), fit(blocks(D, 5))
    np.testing.assert_array_equal(lazy.components_, own.components_)
    assert isinstance(lazy.concentrations_, da.Array)
    assert np.isnan(lazy.concentrations_[7].compute()).all()
    np.testing.assert_allclose(
        np.delete(lazy.concentrations_.compute(), 7, axis=0), own.concentrations_, rtol=1e-9
    )
    assert lazy.of_all_["passes"] == 1
    assert lazy.decomposition_.n_samples == len(D) - 1


# Shapes, axes, what is shown


def test_an_image():
    D, told = TABLES["told"]
    cube = da.from_array(D.reshape(20, 30, 24), chunks=(7, 11, -1))
    lazy = fit(cube, **told)
    own = fit(blocks(D, 1), **told)
    assert lazy.concentrations_.shape == (20, 30, 3)
    expected = own.concentrations_.compute()
    np.testing.assert_allclose(lazy.concentrations_.compute().reshape(600, 3), expected, rtol=1e-8, atol=1e-8)
    assert lazy.transform(cube).shape == (20, 30, 3)
    assert lazy.shown_.pixels.shape == (20, 30)


def test_what_is_shown_is_spread_over_all(monkeypatch):
    from gmcr.estimators import lazily

    monkeypatch.setattr(lazily, "MOST_SHOWN", 100)
    D, told = TABLES["told"]
    cube = da.from_array(D.reshape(20, 30, 24), chunks=(7, 11, -1))
    lazy = fit(cube, **told)
    found = lazy.decomposition_
    assert found.n_samples == len(lazy.shown_.samples) == 100
    np.testing.assert_array_equal(lazy.shown_.samples, D.reshape(20, 30, 24)[::2, ::3].reshape(-1, 24))
    assert lazy.shown_.pixels.shape == (10, 10)
    assert lazy.shown_.sample_names[11] == "(2, 3)"
    expected = lazy.concentrations_.compute()[::2, ::3].reshape(-1, 3)
    np.testing.assert_allclose(found.concentrations, expected, rtol=1e-8, atol=1e-10)
    assert "100 of 600" in lazy.shown_.notes[0]
    assert fit(blocks(D, 4), **told).decomposition_.n_samples == 100


def test_a_grid_holds_what_slices_do():
    grid = Grid((7, 9), (3, 2))
    places = np.flatnonzero(grid.holds(np.arange(63)))
    np.testing.assert_array_equal(places, np.arange(63).reshape(7, 9)[::3, ::2].ravel())


def test_xarray_brings_its_axis():
    D, told = TABLES["told"]
    coords = {"nm": np.linspace(400, 500, 24)}
    lazy = fit(xarray.DataArray(blocks(D, 5), dims=("m", "nm"), coords=coords), **told)
    np.testing.assert_array_equal(lazy.decomposition_.axis, coords["nm"])
    C = lazy.transform(xarray.DataArray(blocks(D, 5), dims=("m", "nm"), coords=coords))
    assert isinstance(C.data, da.Array)
    np.testing.assert_allclose(C.values, lazy.concentrations_.compute(), rtol=1e-9)


def test_nothing_of_the_answer_is_computed_before_it_is_asked_for():
    D, told = TABLES["told"]
    seen = []

    def counted(block):
        seen.append(len(block))
        return block

    lazy = fit(blocks(D, 4).map_blocks(counted, dtype=float, meta=np.empty((0, 0))), **told)
    assert len(seen) == 4 * lazy.of_all_["passes"]
    assert "not computed" in repr(lazy.decoding_)
    assert len(seen) == 4 * lazy.of_all_["passes"]


# What a block may hold


@pytest.mark.parametrize("where", [slice(0, 100), slice(599, 600), slice(120, 480)])
def test_samples_without_any_entry(where):
    D, told = TABLES["told"]
    D = D.copy()
    D[where] = np.nan
    gone = np.isnan(D).all(axis=1)
    lazy, own = fit(blocks(D, 6), **told), fit(blocks(D, 1), **told)
    same(lazy, own)
    C = lazy.concentrations_.compute()
    assert np.isnan(C[gone]).all()
    np.testing.assert_allclose(C[~gone], lazy.decode(D[~gone]).concentrations, rtol=1e-8, atol=1e-8)
    assert lazy.of_all_["samples"] == len(D) - gone.sum()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda D: D.__setitem__((333, 4), np.inf), r"infinite at sample \(333\), channel 4"),
        (lambda D: D.__setitem__((333, 4), 1e200), r"too large to be squared, at sample \(333\), channel 4"),
        (lambda D: D.__setitem__((slice(None), 3), np.nan), "column 3 is missing"),
        (lambda D: D.fill(0.0), "zero in every row"),
        (lambda D: D.fill(2.0), "constant: 2"),
        (lambda D: D.__setitem__(slice(None), D[:1]), r"\(s\) to learn from, copies"),
    ],
)
def test_what_no_fit_can_use(change, told):
    D = TABLES["told"][0].copy()
    change(D)
    with pytest.raises(InputError, match=told):
        fit(blocks(D, 6))


@pytest.mark.parametrize(
    ("parameters", "beside", "told"),
    [
        ({}, {"noise": np.ones(600)}, "noise is told of every sample"),
        ({}, {"sample_weight": np.ones(600)}, "sample_weight is told"),
        ({}, {"runs": ["a"] * 600}, "runs is told"),
        ({"r2_band": (0.9, 1.0)}, {}, "r2_band"),
        ({"closure": True}, {}, "closure is of all samples"),
        ({"disturbances": "mask"}, {}, "disturbances='mask'"),
    ],
)
def test_what_binds_samples_is_refused(parameters, beside, told):
    with pytest.raises(InputError, match=f"{told}.*D is lazy"):
        GMCR(**parameters).fit(blocks(TABLES["told"][0], 4), **beside)


def test_a_refused_fit_leaves_the_model_as_it_was():
    D, told = TABLES["told"]
    model = GMCR(n_jobs=1, **told).fit(blocks(D, 4))
    before = model.components_
    with pytest.raises(InputError):
        model.fit(blocks(np.zeros((600, 24)), 4))
    assert model.components_ is before
    assert model.of_all_["samples"] == 600


# Memory


def test_a_task_holds_two_blocks_at_most():
    """Blocks that are alive at once, on any number of workers: two for each of them."""
    D, told = TABLES["gaps"]
    alive, most = set(), []

    class Source:
        shape, dtype, ndim = D.shape, D.dtype, 2

        def __getitem__(self, part):
            block = D[part].copy()
            if not block.size:  # looked at for the array's type
                return block
            key = id(block)
            alive.add(key)
            weakref.finalize(block, alive.discard, key)
            most.append(len(alive))
            return block

    for workers in (1, 3):
        most.clear()
        with dask.config.set(scheduler="threads", num_workers=workers):
            # The name spares dask a copy of the source, made to find one.
            source = da.from_array(Source(), chunks=(24, -1), asarray=False, name=f"source-{workers}")
            lazy = fit(source, **told)
            lazy.concentrations_.sum().compute()
        gc.collect()
        assert not alive
        assert len(most) >= 25 * lazy.of_all_["passes"]
        assert max(most) <= 2 * workers


def test_a_pass_takes_little_beside_its_block():
    D = np.random.default_rng(0).random((40_000, 24)) + 1.0
    own = fit(TABLES["told"][0], n_components=3)
    asked = Asked(own._frozen(), own.chain_, own.noise_law_, True, len(D))
    for task in (partial(looked_at, share=0.01), partial(tallied, asked=asked)):
        task(Block(D[:100], np.arange(100), 100))  # compiled
        tracemalloc.start()
        task(Block(D, np.arange(len(D)), len(D)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < D.nbytes  # with the block itself, two
    assert task(Block(D, np.arange(len(D)), len(D))).n_samples == len(D)


def test_the_pool_goes_to_the_scheduler_once():
    class Big:
        def __init__(self):
            self.n_pickled = 0

        def __reduce__(self):
            raise AssertionError("pickled")

        def __call__(self, block):
            return np.array([len(block.rows)])

    from gmcr.large.arrays import lazy_samples
    from gmcr.large.reductions import LazyRows

    rows = LazyRows(lazy_samples(blocks(TABLES["told"][0], 50)))
    graph = {}
    for part in rows._parts(Big()):
        graph |= dict(part.__dask_graph__())
    assert sum("gmcr-task" in str(key) for key in graph) == 1
    assert rows.over("", Big()) == 600


# What is added up


def test_tellings_add_up_in_any_order():
    D, told = TABLES["gaps"]
    own = fit(D, **told)
    asked = Asked(own._frozen(), own.chain_, own.noise_law_, True, len(D))
    whole = Block(D, np.arange(len(D)), len(D))
    for task in (partial(looked_at, share=0.2, grid=Grid((600,), (7,))), partial(tallied, asked=asked)):
        expected = task(whole)
        cuts = np.array_split(np.arange(600), 13)
        random.Random(0).shuffle(cuts)
        total = reduce(lambda a, b: a + b, [task(Block(D[cut], cut, len(cut))) for cut in cuts])
        equal(total, expected)
    assert expected.n_samples == 600
    assert expected.r2 == pytest.approx(own.decomposition_.fit["r2"], rel=1e-4)


def equal(one, other):
    if hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            equal(getattr(one, name), getattr(other, name))
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for name in one:
            equal(one[name], other[name])
    elif one is None or isinstance(one, str):
        assert one == other
    elif isinstance(one, np.ndarray):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    else:
        assert one == pytest.approx(other, rel=1e-9)


def test_samples_are_drawn_by_what_they_hold():
    D = np.random.default_rng(0).random((20_000, 8))
    seen = looked_at(Block(D, np.arange(20_000), 20_000), 0.1)
    assert len(seen.drawn) == pytest.approx(2000, abs=5 * np.sqrt(1800))
    np.testing.assert_array_equal(seen.drawn.rows, D[seen.drawn.places])
    assert (np.diff(seen.drawn.hashes.astype(float)) >= 0).all()
    # Spread evenly over everything that they were not drawn by.
    for column in (seen.drawn.places / 20_000, *seen.drawn.rows.T):
        assert abs(column.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 2000)
    twice = looked_at(Block(np.vstack([D, D]), np.arange(40_000), 40_000), 0.1)
    np.testing.assert_array_equal(twice.drawn.places, seen.drawn.places)
    assert (twice.drawn.counts == 2).all()


def test_hashes_tell_numbers_apart_and_nothing_else():
    D = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [np.nan, 1.0], [-np.nan, 1.0], [0.0, 1.0 + 2e-16]])
    D[4, 0] = np.frombuffer(np.uint64(0x7FF8000000000123).tobytes())[0]
    one = row_hashes(D)
    assert one[0] == one[1]
    assert one[3] == one[4]
    assert len(set(one.tolist())) == 4
    np.testing.assert_array_equal(one, row_hashes(np.asfortranarray(D)))
    whole = row_hashes(np.arange(400_000.0).reshape(-1, 4))
    assert len(np.unique(whole)) == 100_000
    bits = (whole[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert abs(bits.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(100_000)


# Faults


def broken(D, at, times):
    """Blocks of which one fails so many times."""
    left = [times]

    def sometimes(block):
        if left[0] and len(block) and block[0, 0] == D[at, 0]:
            left[0] -= 1
            raise OSError("the disk is gone")
        return block

    return blocks(D, 20).map_blocks(sometimes, dtype=float, meta=np.empty((0, 0)))


def test_a_block_that_fails_once_is_done_again():
    D, told = TABLES["told"]
    same(fit(broken(D, 90, 1), **told), fit(blocks(D, 1), **told))


def test_a_block_that_fails_twice_ends_the_fit_in_a_sentence():
    D, told = TABLES["told"]
    with pytest.raises(
        GMCRError, match=r"looking ended: .* begins at sample \(90\) failed twice.*disk is gone"
    ):
        fit(broken(D, 90, 2), **told)
