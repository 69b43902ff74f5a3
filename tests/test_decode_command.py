"""`gmcr decode` end to end, intervals, and whether samples that hold something new are told from known ones."""

import json

import numpy as np
import pandas as pd
import pytest

from gmcr import GMCR, Decomposition, decode, make_mixtures
from gmcr.confidence.standard_errors import concentration_errors
from gmcr.decoding.prices import usage_price
from gmcr.errors import InputError
from gmcr.noise import Poisson

N = 8


@pytest.fixture(scope="module")
def mix():
    """Samples of nine components, the last of which is in every fifth sample only."""
    rng = np.random.default_rng(0)
    supports = rng.random((60, N + 1)).argsort(axis=1) < 2
    supports[:, N] = np.arange(60) % 5 == 0
    return make_mixtures(N + 1, 60, 25, 96, random_state=0, occurrence=supports)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, mix):
    """The samples as CSV, and a pool that lacks the last component."""
    folder = tmp_path_factory.mktemp("decode")
    axis = np.linspace(400.0, 700.0, 96)
    names = ["=1+1", *(f"mixture {m}" for m in range(1, 60))]
    pd.DataFrame(mix.D, names, axis).to_csv(folder / "mix.csv")
    law = {"kind": "proportional", "level": 10 ** (-25 / 20)}
    pool = Decomposition(mix.S[:N], mix.C[:, :N], axis=axis, noise_law=law)
    pool.save(folder / "pool.gmcr")
    (folder / "run").mkdir()
    pool.save(folder / "run" / "model.gmcr")
    return folder


# The table


def test_table_with_intervals_confidence_and_strangers(run, folder, mix):
    code, out, err = run("decode", folder / "pool.gmcr", folder / "mix.csv", "-o", folder / "out.csv")
    assert code == 0
    assert "out_unexplained.csv" in out
    assert "hold something new" in err
    table = pd.read_csv(folder / "out.csv", index_col="sample")
    stranger = mix.supports[:, N]
    assert (table["known"].to_numpy() == ~stranger).mean() > 0.95
    known = ~stranger & table["known"].to_numpy()
    assert table["confidence"][known].mean() > 0.9
    C = table[[f"component {j}" for j in range(N)]].to_numpy()
    low, high = (table[[f"component {j} {end}" for j in range(N)]].to_numpy() for end in ("low", "high"))
    np.testing.assert_array_equal(np.isnan(low), C == 0)
    inside = ((low <= mix.C[:, :N]) & (mix.C[:, :N] <= high))[known][(C > 0)[known]]
    print(f"{inside.mean():.3f} of {inside.size} intervals cover")
    assert inside.mean() > 0.85  # 95 % are asked for; of about 95, three standard deviations are 7 %
    # What is left of the strangers.
    rest = pd.read_csv(folder / "out_unexplained.csv", index_col=0)
    rows = np.flatnonzero(~table["known"].to_numpy())
    np.testing.assert_allclose(rest.to_numpy(), mix.D[rows] - C[rows] @ mix.S[:N], atol=1e-12)
    np.testing.assert_allclose(rest.columns.astype(float), np.linspace(400, 700, 96))
    assert rest.index[0] == "'=1+1"  # the first sample is a stranger; its name runs nowhere


def test_errors_are_those_of_least_squares(mix):
    out = decode(mix.D, mix.S, noise=mix.sigma)
    C, errors = out.concentrations, out.errors
    for m in range(10):
        held = np.flatnonzero(C[m])
        covariance = mix.sigma[m] ** 2 * np.linalg.inv(mix.S[held] @ mix.S[held].T)
        np.testing.assert_allclose(errors[m, held], np.sqrt(np.diag(covariance)), rtol=1e-9)
    low, high = out.intervals(0.6827)
    held = 4 * errors < C
    np.testing.assert_allclose((high - low)[held], 2 * errors[held] * 1.0, rtol=1e-3)


def test_errors_with_missing_entries_and_weights(mix):
    D = mix.D.copy()
    D[:, ::3] = np.nan
    cut = np.arange(96) % 3 != 0
    found = decode(D, mix.S, noise=mix.sigma)
    expected = decode(D[:, cut], mix.S[:, cut], noise=mix.sigma)
    np.testing.assert_allclose(found.errors, expected.errors, rtol=1e-9)
    weighted = decode(mix.D, mix.S, noise=mix.sigma, weights=cut.astype(float))
    np.testing.assert_allclose(weighted.errors, expected.errors, rtol=1e-9)


def test_errors_of_a_model_count_its_pool_in():
    mix = make_mixtures(6, 60, 25, 64, random_state=0)
    model = GMCR(random_state=0).fit(mix.D)
    fresh = make_mixtures(6, 40, 25, random_state=1, profiles=mix.S)
    out = model.decode(fresh.D)
    plain = concentration_errors(model.components_, out.concentrations, out.noise)
    held = out.supports
    assert (out.errors[held] > plain[held]).all()
    expected = concentration_errors(
        model.components_, out.concentrations, out.noise, pool_covariance=model._pool_covariance
    )
    np.testing.assert_allclose(out.errors, expected)
    # Samples it was learned from are in the pool themselves.
    own = model.decode(mix.D)
    expected = concentration_errors(model.components_, own.concentrations, own.noise, learned=True)
    np.testing.assert_allclose(own.errors[own.supports], expected[own.supports], rtol=1e-6)


def test_a_run_decodes_with_a_law_estimated_on_these_samples(run, tmp_path):
    mix = make_mixtures(4, 40, 30, 40, random_state=0)
    model = GMCR(fixed_components=mix.S, n_components=4).fit(mix.D)
    model.save(tmp_path / "run.gmcr")
    louder = mix.clean + 3 * np.median(mix.sigma) * np.random.default_rng(0).standard_normal(mix.D.shape)
    pd.DataFrame(louder).to_csv(tmp_path / "new.csv", index=False)
    options = ["--noise", "constant", "--json", "--no-confidence"]
    code, out, _ = run("decode", tmp_path / "run.gmcr", tmp_path / "new.csv", *options)
    assert code == 0
    told = [sample["noise"] for sample in json.loads(out)["samples"]]
    np.testing.assert_allclose(told, decode(louder, mix.S, noise="constant").noise, rtol=0.05)
    with pytest.raises(InputError, match="noise law 'pink' is not known here"):
        model.decode(louder, noise="pink")


def test_an_old_table_of_strangers_does_not_stay(run, folder, mix):
    rest = folder / "quiet_unexplained.csv"
    rest.write_text("of an earlier run")
    np.savez(folder / "known.npz", D=mix.D[~mix.supports[:, N]][:5])
    output = ["-o", folder / "quiet.csv", "--no-confidence"]
    assert run("decode", folder / "pool.gmcr", folder / "known.npz", *output)[0] == 0
    assert not rest.exists()
    assert "confidence" not in pd.read_csv(folder / "quiet.csv")


def test_xlsx(run, folder):
    openpyxl = pytest.importorskip("openpyxl")
    output = ["-o", folder / "out.xlsx", "--no-confidence"]
    assert run("decode", folder / "pool.gmcr", folder / "mix.csv", *output)[0] == 0
    sheet = openpyxl.load_workbook(folder / "out.xlsx").worksheets[0]
    assert sheet["A2"].value == "=1+1"
    assert sheet["A2"].data_type == "s"  # text, no formula
    assert (folder / "out_unexplained.xlsx").exists()
    code, _, err = run("decode", folder / "pool.gmcr", folder / "mix.csv", "-o", folder / "out.pdf")
    assert code == 2
    assert "must end in .csv or .xlsx" in err


def test_names_of_a_run_are_used(run, folder):
    matches = folder / "run" / "matches.csv"
    matches.write_text("component,name,verdict\n0,glucose,named\n1,,none of these\n2,'=x,named\n")
    told = json.loads(run("decode", folder / "run", folder / "mix.csv", "--no-confidence", "--json")[1])
    assert told["components"][:4] == ["glucose", "component 1", "=x", "component 3"]
    held = [row for row in told["samples"] if "glucose" in row["concentrations"]]
    assert held
    for row in held:
        low, high = row["intervals"]["glucose"]
        assert low < row["concentrations"]["glucose"] < high
    assert told["samples"][0]["confidence"] is None
    matches.write_text("component,title\n0,glucose\n")
    code, _, err = run("decode", folder / "run", folder / "mix.csv")
    assert code == 1
    assert "matches.csv is damaged" in err
    matches.unlink()


# Known or not


def strangers(n, n_samples, snr_db, seed, **drawn):
    """Samples over n + 1 components, the last in every other sample; and which those are."""
    rng = np.random.default_rng(seed)
    stranger = np.arange(n_samples) % 2 == 1
    supports = np.zeros((n_samples, n + 1), dtype=bool)
    size = rng.integers(1, 4, n_samples, endpoint=True) - stranger
    supports[:, :n] = rng.random((n_samples, n)).argsort(axis=1).argsort(axis=1) < size[:, None]
    supports[:, n] = stranger
    mix = make_mixtures(n + 1, n_samples, snr_db, random_state=seed, occurrence=supports, **drawn)
    return mix, stranger


def test_components_missed_for_their_price_make_no_strangers():
    """In few channels, a weak component that the price leaves out is a large part of what is left."""
    mix, stranger = strangers(16, 4000, 12, 0, n_features=64)
    out = decode(mix.D, mix.S[:16], noise=mix.sigma)
    false, found = 1 - out.known[~stranger].mean(), 1 - out.known[stranger].mean()
    # By hand: who is known at the price of a sample by itself is known.
    at_once = decode(mix.D, mix.S[:16], noise=mix.sigma, price=usage_price(16, 1))
    print(f"false flags {false:.4f}, strangers found {found:.3f}")
    assert false <= 0.01
    assert found >= 0.7
    assert out.known[at_once.known].all()


def test_known_does_not_depend_on_the_batch():
    mix, _ = strangers(16, 300, 12, 1, n_features=64)
    whole = decode(mix.D, mix.S[:16], noise=mix.sigma, price=25.0).known
    alone = [decode(mix.D[m : m + 1], mix.S[:16], noise=mix.sigma[m], price=25.0).known[0] for m in range(60)]
    np.testing.assert_array_equal(whole[:60], alone)


@pytest.mark.parametrize("counts", [30, 300])
def test_counting_noise_makes_no_strangers(counts):
    mix, stranger = strangers(16, 4000, 20, 0, n_features=256, noise="poisson", counts=counts)
    law = Poisson(float(np.median(mix.sigma**2 / mix.clean.mean(axis=1))))
    out = decode(mix.D, mix.S[:16], noise=law)
    print(f"{1 - out.known[~stranger].mean():.4f} false, {1 - out.known[stranger].mean():.3f} found")
    assert 1 - out.known[~stranger].mean() <= 0.01
    assert 1 - out.known[stranger].mean() >= 0.95


@pytest.mark.parametrize("noise", ["proportional", "poisson"])
def test_strangers_to_a_learned_pool(noise):
    mix, stranger = strangers(12, 600, 20, 3, n_features=128, noise=noise, counts=300)
    train = make_mixtures(12, 72, 20, random_state=3, profiles=mix.S[:12], noise=noise, counts=300)
    model = GMCR(random_state=0).fit(train.D)
    assert model.n_components_ == 12
    out = model.decode(mix.D)
    false, found = 1 - out.known[~stranger].mean(), 1 - out.known[stranger].mean()
    print(f"{noise}: false flags {false:.4f}, strangers found {found:.3f}")
    assert false <= 0.02  # 1 % at most; 300 samples
    assert found >= 0.95
