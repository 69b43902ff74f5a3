"""`gmcr-paper`: runs are kept, resumed and repeated exactly; metrics by brute force; the command end to end."""

import json
import os
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from gmcr import GMCR, make_mixtures
from gmcr.errors import FileError, InputError
from gmcr_paper import gate, real_table, runtime
from gmcr_paper.experiment import Asked, Found
from gmcr_paper.registry import EXPERIMENTS
from gmcr_paper.results import LINES, Record, Results, key
from gmcr_paper.running import Outcome, Run, perform
from gmcr_paper.studies import measure, real, sets, simplex, synthetic
from interpreter import killed_at
from shared_data import DATA, ORIGINALS, needs_data, needs_originals

# Runs: kept, resumed, repeated


def squared(settings):
    """A measurement that says how often it was done, by adding to a file."""
    with open(settings["log"], "a") as log:
        log.write(f"{settings['x']}\n")
    if settings["x"] == 13:
        raise ValueError("thirteen\nbrings bad luck")
    rng = np.random.default_rng(settings["x"])
    product = rng.normal(size=(40, 40)) @ rng.normal(size=(40, 40))
    return Outcome({"square": settings["x"] ** 2, "sum": product.sum(), "gap": np.nan}, {"row": product[0]})


def cells(folder, numbers):
    return [Run({"x": x, "log": str(folder / "log")}, cost=x) for x in numbers]


def done(folder):
    return sorted(int(line) for line in (folder / "log").read_text().split())


def test_a_run_is_kept_with_what_it_was_measured_with(tmp_path):
    assert perform(cells(tmp_path, [3]), Results(tmp_path), squared) == []
    line = json.loads((tmp_path / LINES).read_text())
    assert line["settings"] == {"x": 3, "log": str(tmp_path / "log")}
    assert line["result"]["square"] == 9
    assert line["result"]["gap"] is None
    assert line["seconds"] > 0
    assert line["versions"]["gmcr"]
    assert set(line["machine"]) == {"cores", "processor", "memory_gb"}
    record = next(iter(Results(tmp_path)))
    assert record["square"] == 9
    assert record["x"] == 3
    assert record["never measured"] is None
    assert Results(tmp_path).arrays(record)["row"].shape == (40,)


def test_what_is_there_is_not_done_again(tmp_path):
    perform(cells(tmp_path, [1, 2]), Results(tmp_path), squared)
    perform(cells(tmp_path, [1, 2, 5, 5]), Results(tmp_path), squared)
    assert done(tmp_path) == [1, 2, 5]
    assert len(Results(tmp_path)) == 3


def test_settings_are_the_same_in_any_order_and_type(tmp_path):
    results = Results(tmp_path)
    results.add({"n": 4, "snr": 20}, {}, 1.0, {})
    assert {"snr": np.int64(20), "n": 4} in Results(tmp_path)
    assert {"n": 4, "snr": 30} not in Results(tmp_path)


@pytest.mark.parametrize("damage", ["cut", "cut in a letter", "no arrays", "not a run", "empty line"])
def test_a_damaged_line_is_ignored_and_its_run_done_again(tmp_path, damage):
    perform(cells(tmp_path, [1, 2]), Results(tmp_path), squared)  # the costlier first: 2, then 1
    path = tmp_path / LINES
    first, second = path.read_bytes().splitlines()
    if damage == "cut":
        path.write_bytes(first + b"\n" + second[: len(second) // 2])
    elif damage == "cut in a letter":
        path.write_bytes(first + b"\n" + second[:20] + "ö".encode()[:1])
    elif damage == "no arrays":
        (tmp_path / "arrays" / json.loads(second)["arrays"]).unlink()
    elif damage == "not a run":
        path.write_bytes(first + b'\n[1, 2]\n{"settings": 1}\n"text"\n')
    else:
        path.write_bytes(first + b"\n\n\n")
    perform(cells(tmp_path, [1, 2, 3]), Results(tmp_path), squared)
    assert done(tmp_path) == [1, 1, 2, 3]
    assert sorted(record["square"] for record in Results(tmp_path)) == [1, 4, 9]


def test_a_failing_run_is_reported_and_the_others_go_on(tmp_path):
    failures = perform(cells(tmp_path, [13, 2]), Results(tmp_path), squared)
    assert [failure.reason for failure in failures] == ["ValueError: thirteen brings bad luck"]
    assert [record["x"] for record in Results(tmp_path)] == [2]


def test_in_parallel_the_results_are_the_same(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, jobs in ((one, 1), (two, 2)):
        folder.mkdir()
        runs = [Run({"x": x, "log": str(tmp_path / "log")}) for x in range(6)]
        assert perform(runs, Results(folder), squared, jobs) == []
    serial, parallel = ({key(r.settings): r for r in Results(folder)} for folder in (one, two))
    assert serial.keys() == parallel.keys()
    for name, record in serial.items():
        assert record.result == parallel[name].result
        np.testing.assert_array_equal(
            Results(one).arrays(record)["row"], Results(two).arrays(parallel[name])["row"]
        )


KILLED = """
    import sys
    from pathlib import Path

    tests, folder = map(Path, sys.argv[1:])
    sys.path.insert(0, str(tests))
    sys.path.insert(0, str(tests.parents[1] / "tests"))
    from gmcr_paper.results import Results
    from gmcr_paper.running import perform
    from test_paper import cells, squared

    def measured(settings):
        pause()
        return squared(settings)

    perform(cells(folder, range(6)), Results(folder), measured)
"""


def test_killed_half_way_and_started_again_nothing_is_done_twice(tmp_path):
    killed_at(4, KILLED, Path(__file__).parent, tmp_path)
    assert [record["x"] for record in Results(tmp_path)] == [5, 4, 3]  # the costlier first
    perform(cells(tmp_path, range(6)), Results(tmp_path), squared)
    assert done(tmp_path) == [0, 1, 2, 3, 4, 5]
    assert len(Results(tmp_path)) == 6


# What is asked for


def test_sizes_and_choices():
    quick, full = Asked(), Asked(full=True)
    for experiment in EXPERIMENTS.values():
        assert len(experiment.runs(quick)) <= len(experiment.runs(full))
    seeds = {run.settings["seed"] for experiment in EXPERIMENTS.values() for run in experiment.runs(full)}
    assert min(seeds) >= 100
    picked = Asked(n=(8,), seeds=(107,), methods=("window",))
    runs = EXPERIMENTS["counts"].runs(picked)
    assert {(run.settings["n"], run.settings["seed"]) for run in runs} == {(8, 107)}
    assert {run.settings["method"] for run in runs} == {"window", "truth"}
    runs = EXPERIMENTS["bands"].runs(Asked(pool=32, epochs=9))
    pools = {run.settings["pool"] for run in runs if run.settings["method"] == "eb"}
    assert pools == {32}
    counts = [run for run in EXPERIMENTS["counts"].runs(full) if run.settings["method"] == "nmf"]
    assert len(counts) == 10 * 2 * 100  # ten N, two noise levels, one hundred seeds


def test_tables_and_figures_share_their_runs():
    def keys(name):
        return {key(run.settings) for run in EXPERIMENTS[name].runs(Asked())}

    assert keys("count-figure") == keys("counts")
    assert keys("support-bands") <= keys("supports")
    assert keys("support-bands") <= keys("bands")
    assert keys("reuse") <= keys("real")
    assert keys("phi") <= keys("real")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": (99,)}, "seed 99 is for tuning"),
        ({"methods": ("magic",)}, "no method 'magic'"),
        ({"n": (1,)}, "at least 2"),
    ],
)
def test_refuses(options, message):
    with pytest.raises(InputError, match=message):
        Asked(**options)


def test_found_keeps_what_was_asked_for(tmp_path):
    results = Results(tmp_path)
    for n in (4, 8):
        for seed in (101, 100):
            results.add({"study": "synthetic", "n": n, "seed": seed}, {"count": n}, 0.1, {})
    found = Found(results, Asked(n=(8,)))
    assert [record["seed"] for record in found.select("synthetic")] == [100, 101]
    assert found.values("n", "synthetic") == [8]
    assert Found(results).values("n", "synthetic") == [4, 8]


# Metrics of the real-data table


def a_set(seed=0, n_samples=12, n_channels=30, n_components=3, signed=False, known=True):
    rng = np.random.default_rng(seed)
    S = rng.uniform(0.1, 1, (n_components, n_channels)) * (rng.choice([-1, 1], n_channels) if signed else 1)
    C = rng.dirichlet(np.ones(n_components), n_samples)
    D = C @ S + 0.01 * rng.normal(size=(n_samples, n_channels))
    labels = tuple(f"part {j}" for j in range(n_components))
    return sets.RealSet(D, C, S if known else None, np.arange(n_channels), labels, signed)


@pytest.mark.parametrize("known", [True, False])
def test_assignment_is_the_best_of_all(known):
    rng = np.random.default_rng(1)
    for seed in range(20):
        data = a_set(seed, known=known)
        answer = real.Answer(rng.normal(size=(4, 30)), rng.normal(size=(12, 4)))
        cosines = np.abs(
            real.unit(data.S) @ real.unit(answer.components).T
            if known
            else real.unit(data.C.T) @ real.unit(answer.concentrations.T).T
        )
        best = max(permutations(range(4), 3), key=lambda order: sum(cosines[range(3), order]))
        assert list(real.assign(answer, data)) == list(best)


def test_scores_by_hand():
    data = a_set()
    order, sizes = [2, 0, 1], np.array([3.0, -0.5, 7.0])
    rng = np.random.default_rng(3)
    S = data.S + 0.1 * rng.normal(size=data.S.shape)
    C = data.C + 0.1 * rng.normal(size=data.C.shape)
    scores = real.scored(real.Answer(S[order] * sizes[:, None], C[:, order] / sizes), data)
    # The best scale of each column, by numpy's least squares.
    residual_c = [np.linalg.lstsq(C[:, [j]], data.C[:, j])[1][0] for j in range(3)]
    residual_s = [np.linalg.lstsq(S[[j]].T, data.S[j])[1][0] for j in range(3)]
    cosines = [S[j] @ data.S[j] / np.linalg.norm(S[j]) / np.linalg.norm(data.S[j]) for j in range(3)]
    assert scores["count"] == 3
    assert scores["rmse_c"] == pytest.approx(np.sqrt(sum(residual_c) / data.C.size))
    assert scores["rmse_s"] == pytest.approx(np.sqrt(sum(residual_s) / data.S.size))
    assert scores["cos_s"] == pytest.approx(np.mean(cosines))
    assert scores["min_cos"] == pytest.approx(min(cosines))
    total = np.square(data.D - data.D.mean(axis=0)).sum()
    assert scores["r2"] == pytest.approx(1 - np.square(data.D - C @ S).sum() / total)


def test_fewer_components_than_references_are_not_compared():
    data = a_set()
    scores = real.scored(real.Answer(data.S[:2], data.C[:, :2]), data)
    assert scores.keys() == {"count", "r2"}


def test_where_a_sweep_stabilises():
    assert real_table.stable_from({1: 0.5, 2: 0.9, 3: 0.96, 4: 0.965, 5: 0.99}) == 3
    assert real_table.stable_from({1: 0.5, 2: 0.9}) is None
    assert real_table.stable_from({}) is None


def test_the_best_phi_is_among_those_that_return_the_count():
    records = [
        Record({"phi": phi}, {"count": count, "r2": r2}, 0.0)
        for phi, count, r2 in ((1, 3, 0.91), (2, 3, 0.95), (3, 4, 0.99))
    ]
    assert real_table.best_phi(records, 3)["phi"] == 2
    assert real_table.best_phi(records, 2) is None


def test_the_state_nearest_to_a_count():
    states = [{"count": 7, "r2": 0.99}, {"count": 4, "r2": 0.96}, {"count": 4, "r2": 0.97}]
    record = Record({}, {"bands": states[:2], "final": states[2]}, 0.0)
    assert real_table.nearest_state(record, 3) is states[2]
    assert real_table.nearest_state(record, 6) is states[0]


# The simplex


def test_the_simplex_is_the_papers():
    points = simplex.simplex()
    assert points.shape == (861, 3)
    np.testing.assert_allclose(points.sum(axis=1), 1)
    zeros = (points == 0).sum(axis=1)
    assert [(zeros == number).sum() for number in (0, 1, 2)] == [741, 117, 3]
    assert len(np.unique(points, axis=0)) == 861


def test_leverage_is_the_hat_matrix():
    C = np.random.default_rng(0).dirichlet(np.ones(3), 21)
    hat = C @ np.linalg.inv(C.T @ C) @ C.T
    np.testing.assert_allclose(simplex.leverage(C, C), np.diag(hat))
    assert simplex.leverage(C, C).sum() == pytest.approx(3)


def test_a_perfect_model_reaches_the_centred_floor():
    data = a_set(n_channels=200)
    offset = simplex.NOISE * (data.C @ data.S).max() / 2
    S = data.S + offset  # concentrations sum to one, so that every profile takes the noise's mean
    norms = np.linalg.norm(S, axis=1)
    order = [1, 2, 0]
    numbers, maps = simplex.decoded(
        (S / norms[:, None])[order], lambda X: (simplex.simplex() * norms)[:, order], data, seed=0, draws=2
    )
    assert numbers["interior_exact"] == numbers["absent_zero"] == 1
    assert numbers["absent_ratio"] == numbers["absent_ratio_90"] == numbers["kept_all_boundary"] == 0
    assert numbers["n_boundary"] == 120
    # It has no errors of its own: below the floor by the leverage it does not have.
    assert numbers["nmse"] == pytest.approx(numbers["floor"] / (1 + numbers["leverage"]), rel=0.02)
    assert numbers["raw_floor"] == pytest.approx(4 * numbers["nmse"], rel=0.02)  # E u² = 4 var u on [0, 1]
    assert all(values.shape == (861,) for values in maps.values())


def test_a_model_that_keeps_what_is_absent():
    data = a_set(n_channels=50)
    norms = np.linalg.norm(data.S + simplex.NOISE * (data.C @ data.S).max() / 2, axis=1)
    amounts = np.where(simplex.simplex() == 0, 0.1, simplex.simplex()) * norms
    profiles = (data.S + simplex.NOISE * (data.C @ data.S).max() / 2) / norms[:, None]
    numbers, _ = simplex.decoded(profiles, lambda X: amounts, data, seed=0, draws=1)
    assert numbers["absent_zero"] == 0
    assert numbers["interior_exact"] == numbers["kept_all_boundary"] == 1
    points = simplex.simplex()
    boundary = points[(points == 0).any(axis=1)]
    ratios = [0.1 / row[row > 0].min() for row in boundary]
    assert numbers["absent_ratio"] == pytest.approx(np.median(ratios))
    extra, _ = simplex.decoded(profiles[:2], lambda X: amounts[:, :2], data, seed=0)
    assert extra == {"count": 2}


# Synthetic runs, runtime, gate


def test_the_truth_refitted_fits_better_than_the_truth():
    settings = {"study": "synthetic", "method": "truth", "n": 6, "ratio": 4, "snr": 20, "seed": 1}
    result = synthetic.measure_synthetic(settings).result
    mix = make_mixtures(6, 24, snr_db=20, random_state=1)
    total = np.square(mix.D - mix.D.mean(axis=0)).sum()
    assert result["r2"] == pytest.approx(1 - np.square(mix.D - mix.C @ mix.S).sum() / total)
    assert result["r2"] < result["refitted_r2"] < 1


def test_cumulative_time_of_a_search():
    times = {count: 10.0**-count for count in range(2, 33, 2)}
    for interval in (32, 16, 8, 4, 2):
        by_hand = sum(times[count] for count in times if count % interval == 0)
        assert runtime.cumulative(times, 32, interval) == pytest.approx(by_hand)
    assert runtime.cumulative({2: 1.0}, 4, 2) is None
    assert runtime.cumulative({2: 1.0}, 2, 4) is None


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
def test_the_gates_surface_is_the_expectation(temperature):
    for gap in (-2.0, 0.0, 0.3, 4.0):
        density = lambda u: expit((gap + np.log(u / (1 - u))) / temperature)  # noqa: B023, E731
        expected = quad(density, 0, 1, limit=200)[0]
        assert gate.probability(gap, temperature, True) == pytest.approx(expected, abs=1e-3)
        assert gate.probability(gap, temperature, False) == pytest.approx(
            1 / (1 + np.exp(-gap / temperature))
        )


def test_the_noisy_ramp_saturates_and_the_bare_one_does_not():
    assert gate.ramp(0.01, False) == pytest.approx(2 * np.log(99) * 0.01, rel=1e-3)
    assert gate.ramp(0.001, True) == pytest.approx(2 * np.log(99), rel=0.02)


# Data sets


def test_sets_are_read_from_a_folder(tmp_path, monkeypatch):
    data = a_set(signed=True)
    values = {"D": data.D, "C": data.C, "S": np.zeros((0, 0)), "axis": data.axis}
    np.savez(tmp_path / "nir.npz", labels=np.array(data.labels), **values)
    for folder in (tmp_path, None):
        monkeypatch.setenv("GMCR_DATA", str(tmp_path))
        found = sets.load("nir", folder)
        assert found.signed
        assert found.S is None
        assert found.labels == data.labels
    with pytest.raises(FileError, match=r"neither carbs.npz nor carbs.RData"):
        sets.load("carbs", tmp_path)


@needs_originals
@pytest.mark.parametrize("name", ["carbs", "nir"])
def test_original_files_hold_the_same(name, monkeypatch):
    monkeypatch.delenv("GMCR_DATA", raising=False)
    one, other = sets.load(name, DATA), sets.load(name, ORIGINALS)
    assert "GMCR_DATA" not in os.environ
    np.testing.assert_allclose(one.D, other.D)
    np.testing.assert_allclose(one.C, other.C)
    np.testing.assert_allclose(one.axis, other.axis)
    assert (one.labels, one.signed, one.S is None) == (other.labels, other.signed, other.S is None)


def test_a_method_on_a_set(tmp_path):
    data = a_set(n_samples=16, n_channels=40)
    values = {"D": data.D, "C": data.C, "S": data.S, "axis": data.axis}
    np.savez(tmp_path / "carbs.npz", labels=np.array(data.labels), **values)
    settings = {"study": "real", "set": "carbs", "seed": 100}
    told = measure(settings | {"method": "nmf", "count": 3}, tmp_path)
    assert told.result["count"] == 3
    assert told.result["r2"] > 0.9
    assert told.arrays["profiles"].shape == data.S.shape
    assert not measure(settings | {"method": "nmf", "count": 2}, tmp_path).arrays
    pruned = measure(settings | {"method": "ard", "phi": 1e3}, tmp_path).result
    assert (pruned["count"], pruned["r2"]) == (0, None)
    few = measure(settings | {"method": "ard", "phi": 1e-3}, tmp_path).result
    assert few["count"] >= 1
    assert few["variance"] == pytest.approx(1e-3 * np.maximum(data.D, 0).var())


@needs_data
def test_the_window_solver_on_the_carbs_simplex():
    data = sets.load("carbs", DATA)
    model = GMCR(random_state=0).fit(data.D)
    decode = lambda X: model.decode(X).concentrations  # noqa: E731
    reuse, _ = simplex.decoded(model.components_, decode, data, seed=100, draws=3)
    assert reuse["count"] == 3
    assert reuse["nmse"] <= 1.05 * reuse["floor"]
    assert reuse["interior_exact"] >= 0.98
    assert reuse["absent_zero"] >= 0.95


# The command


def test_end_to_end(paper, tmp_path):
    arguments = (
        "--n",
        "4",
        "--seeds",
        "100",
        "--methods",
        "nmf,window",
        "-o",
        tmp_path,
        "--jobs",
        "1",
    )
    code, out, err = paper("counts", *arguments)
    assert code == 0, err
    assert "window solver" in out
    assert "Sparse-NMF" not in out
    lines = (tmp_path / "runs" / LINES).read_text()
    assert lines.count("\n") == 6  # two methods and the truth at two noise levels
    for suffix in (".txt", ".md", ".tex"):
        assert "window solver" in (tmp_path / f"counts-small-20dB{suffix}").read_text()
    again = paper("counts", *arguments)
    assert again[1] == out
    assert (tmp_path / "runs" / LINES).read_text() == lines
    code, out, _ = paper("count-figure", *arguments, "--json")
    assert code == 0
    assert {Path(name).suffix for name in json.loads(out)["written"]} == {".png", ".pdf"}
    assert (tmp_path / "count-figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_of_the_papers_solver(tmp_path):
    results = Results(tmp_path)
    asked = Asked(n=(4,), seeds=(100,), methods=("eb", "eb-refined"), pool=8, epochs=12)
    runs = [one for one in EXPERIMENTS["supports"].runs(asked) if one.settings["snr"] == 20]
    assert perform(runs, results, measure) == []
    (record,) = Found(Results(tmp_path)).select("eb")
    assert record["epochs_run"] == 12
    assert record["refined"]["count"] >= 1
    assert {"count", "r2", "usage_ratio", "exact"} <= record["final"].keys()
    (table,) = EXPERIMENTS["supports"].shows(Found(results, asked))
    names = ["EB-gMCR (pool 8, 12 epochs)", "EB-gMCR, refined (pool 8, 12 epochs)"]
    assert [row[2] for row in table.rows] == names


def test_missing_data_are_told_in_one_line(paper, tmp_path, monkeypatch):
    monkeypatch.setenv("GMCR_DATA", str(tmp_path))
    code, _, err = paper("phi", "-o", tmp_path)
    assert code == 0
    assert err.startswith(f"left out: phi: {tmp_path} holds neither carbs.npz nor carbs.RData")
    assert err.count("\n") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no 'nothing'"),
        (["counts", "--seeds", "7"], "seed 7 is for tuning"),
        (["counts", "--n", "many"], "--n must be whole numbers"),
        (["counts", "--n", "-4"], "--n must be whole numbers"),
        (["counts", "--methods", "magic"], "no method 'magic'"),
    ],
)
def test_wrong_calls_exit_with_2(paper, tmp_path, arguments, message):
    code, _, err = paper(*arguments, "-o", tmp_path)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_the_list_names_everything(paper):
    code, out, _ = paper("list")
    assert code == 0
    assert all(name in out for name in EXPERIMENTS)
    assert set(json.loads(paper("list", "--json")[1])["names"]) == set(EXPERIMENTS)
