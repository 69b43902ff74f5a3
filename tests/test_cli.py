"""The command line: every command, its JSON, its exit codes, and errors in one sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gmcr
from gmcr import Decomposition, make_mixtures
from interpreter import python

COMMANDS = (
    "demo", "fit", "decode", "match", "certify", "ambiguity", "report", "synth", "rank", "info",
)  # fmt: skip


@pytest.fixture
def files(tmp_path):
    """A small data set in both formats, and its true components."""
    mix = make_mixtures(n_components=8, n_samples=24, snr_db=30, n_features=64, random_state=0)
    np.savez(tmp_path / "mix.npz", D=mix.D, C=mix.C, S=mix.S, sigma=mix.sigma)
    names = tuple(f"mixture {index}" for index in range(24))
    axis = np.linspace(400.0, 700.0, 64)
    pd.DataFrame(mix.D, names, axis).to_csv(tmp_path / "mix.csv")
    Decomposition(mix.S, mix.C, axis=axis, sample_names=names).save(tmp_path / "truth.gmcr")
    return tmp_path, mix


# Help and errors


def test_help_is_given_without_a_command(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert all(command in out for command in COMMANDS)
    assert run("--help")[:2] == (0, out)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"gmcr {command}" in out.split("Example:")[1]
    assert "--json" in out


def test_version(run):
    assert run("--version")[:2] == (0, f"gmcr {gmcr.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bogus"], "No such command 'bogus'."),
        (["decode"], "Missing argument 'RUN_OR_POOL'."),
        (["rank", "nowhere.csv"], "nowhere.csv"),
        (["fit", "nowhere.csv", "-o", "run"], "nowhere.csv"),
        (["demo", "--components", "many"], "--components"),
        (["demo", "--components", "0"], "n_components must be a whole number of at least 1"),
        (["demo", "--samples", "-3"], "n_samples must be a whole number of at least 1"),
        (["synth"], "Missing option"),
        (["synth", "-o", "out.xls"], "out.xls must end in .csv or .npz."),
        (["synth", "-o", "out.csv", "--truth", "truth.csv"], "truth.csv must end in .gmcr."),
        (["synth", "-o", "out.csv", "--active", "9", "2"], "active must be two whole numbers"),
        (["synth", "-o", "out.csv", "--profiles", "square"], "--profiles"),
        (["synth", "-o", "out.csv", "--signed", "--noise", "poisson"], "poisson"),
    ],
)
def test_wrong_calls_exit_with_2(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("gmcr: ")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_failed_work_exits_with_1(run, files):
    folder, _ = files
    (folder / "broken.gmcr").write_bytes(b"\x08\0\0\0\0\0\0\0nonsense")
    (folder / "text.csv").write_text("1,2,3\n4,oops,6\n")
    (folder / "flat.csv").write_text("1,1,1,1\n1,1,1,1\n")
    (folder / "cube.npz").write_bytes((folder / "mix.npz").read_bytes()[:500])
    np.savetxt(
        folder / "signed.csv", np.random.default_rng(0).normal(size=(6, 2)) @ np.eye(2, 5), delimiter=","
    )
    for arguments, message in [
        (["info", folder / "broken.gmcr"], "broken.gmcr is not a gmcr model file"),
        (["decode", folder / "broken.gmcr", folder / "mix.csv"], "broken.gmcr"),
        (["info", folder / "text.csv"], "text.csv line 2, column 2 is 'oops', which is no number"),
        (["rank", folder / "flat.csv"], "D is constant: every row and column is 1"),
        (["info", folder / "cube.npz"], "damaged"),
        (["rank", folder / "truth.gmcr"], "is a model file, not a data file"),
        (["decode", folder / "truth.gmcr", folder / "text.csv"], "text.csv"),
        (["synth", "-o", folder / "nowhere" / "out.csv"], "could not be written"),
        (
            ["fit", folder / "signed.csv", "-o", folder / "run", "--unsigned"],
            "leave out --unsigned for profiles of both signs, pass --signed for concentrations",
        ),
    ]:
        code, out, err = run(*arguments)
        assert (code, out) == (1, ""), arguments
        assert message in err
        assert "Traceback" not in err


def test_debug_shows_the_traceback(run, files):
    folder, _ = files
    (folder / "text.csv").write_text("1,2\n3,x\n")
    with pytest.raises(gmcr.errors.InputError):
        run("info", folder / "text.csv", "--debug")
    assert run("--debug", "info", folder / "mix.csv")[0] == 0


def test_a_bug_is_one_sentence_too(run, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("of all things\nin two lines")

    monkeypatch.setattr("gmcr.mixtures.make_mixtures", fail)
    code, _, err = run("demo")
    assert code == 1
    assert err.startswith(
        "gmcr: unexpected ZeroDivisionError: of all things in two lines; run again with --debug"
    )
    assert err.count("\n") == 1


# Commands


def test_demo(run, tmp_path):
    code, out, err = run("demo", "--components", 16, "-o", tmp_path / "demo")
    assert (code, err) == (0, "")
    assert out.startswith("16 components, ")
    assert "64 synthetic Raman spectra of 512 channels" in out
    assert "unmixed blind" in out
    rows = {line[:30].strip(): line[30:].split() for line in out.splitlines()}
    assert rows["components"] == ["16", "16"]
    assert rows["components, by the rank rules"] == ["16", "16"]
    assert "Supports exact on 9" in out or "Supports exact on 100" in out
    assert out.splitlines()[-1] == f"Report: {tmp_path / 'demo' / 'report.html'}"


def test_demo_json(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("demo", "--components", 14, "--samples", 70, "--snr", 30, "--json")
    told = json.loads(out)
    assert code == 0
    assert told["samples"] == 70
    assert told["exact"] > 0.98
    assert told["min_cosine"] > 0.99
    assert told["components"] == {"found": 14, "true": 14}
    assert told["median noise"]["found"] == pytest.approx(told["median noise"]["true"], rel=0.1)
    assert told["report"] == str(Path("gmcr-demo", "report.html"))
    assert Path(told["report"]).exists()


def test_synth_npz_is_what_make_mixtures_returns(run, tmp_path):
    options = ["--components", 6, "--samples", 15, "--channels", 40, "--seed", 3, "--active", 2, 3]
    code, out, _ = run("synth", "-o", tmp_path / "mix.npz", *options, "--noise", "constant", "--json")
    assert code == 0
    assert json.loads(out)["samples"] == 15
    mix = make_mixtures(6, 15, n_features=40, random_state=3, active=(2, 3), noise="constant")
    with np.load(tmp_path / "mix.npz") as written:
        for name in ("D", "C", "S", "sigma"):
            np.testing.assert_array_equal(written[name], getattr(mix, name))


def test_synth_csv_reads_back_exactly(run, tmp_path):
    code, out, _ = run(
        "synth",
        "-o",
        tmp_path / "mix.csv",
        "--components",
        4,
        "--channels",
        30,
        "--truth",
        tmp_path / "t.gmcr",
    )
    assert code == 0
    assert "Wrote" in out
    mix = make_mixtures(4, 16, n_features=30, random_state=0)
    table = gmcr.io.csv.read_csv(tmp_path / "mix.csv")
    np.testing.assert_array_equal(table.samples, mix.D)
    np.testing.assert_array_equal(table.axis, np.arange(30))
    np.testing.assert_array_equal(Decomposition.load(tmp_path / "t.gmcr").concentrations, mix.C)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mix.csv", "t.gmcr"]


@pytest.mark.parametrize("pool", ["truth.gmcr", "mix.npz"])
@pytest.mark.parametrize("data", ["mix.csv", "mix.npz"])
def test_decode_writes_concentrations(run, files, pool, data):
    folder, mix = files
    code, out, _ = run("decode", folder / pool, folder / data, "-o", folder / "out.csv")
    assert code == 0
    assert "24 samples over 8 components" in out
    table = pd.read_csv(folder / "out.csv", index_col="sample")
    assert list(table.columns[-4:]) == ["residual", "noise", "margin", "known"]
    found = table[[f"component {j}" for j in range(8)]].to_numpy()
    np.testing.assert_array_equal(found > 0, mix.supports)
    np.testing.assert_allclose(found, mix.C, atol=0.5)
    assert table["known"].all()
    assert table.index[0] == ("mixture 0" if data == "mix.csv" else 0)


def test_decode_agrees_with_the_function(run, files):
    folder, mix = files
    options = ["--noise", "0.05", "--price", "30", "--k-max", "2"]
    code, out, err = run("decode", folder / "truth.gmcr", folder / "mix.npz", *options, "--json")
    told = json.loads(out)
    expected = gmcr.decode(mix.D, mix.S, noise=0.05, price=30, k_max=2)
    assert (code, err) == (0, "")
    for row, C, margin in zip(told["samples"], expected.concentrations, expected.margin):
        held = {f"component {j}": C[j] for j in np.flatnonzero(C)}
        assert row["concentrations"] == pytest.approx(held)
        assert row["margin"] == pytest.approx(margin)
    assert told["known"] == expected.known.mean()


def test_decode_uses_the_noise_law_of_the_model(run, files):
    folder, mix = files
    law = {"kind": "proportional", "level": 0.5}
    Decomposition(mix.S, mix.C, noise_law=law).save(folder / "law.gmcr")
    told = json.loads(run("decode", folder / "law.gmcr", folder / "mix.npz", "--json")[1])
    size = np.sqrt(np.mean(mix.D**2, axis=1))
    np.testing.assert_allclose([row["noise"] for row in told["samples"]], 0.5 * size)


def test_decode_prints_what_samples_hold(run, files):
    folder, mix = files
    code, out, err = run("decode", folder / "truth.gmcr", folder / "mix.csv")
    assert code == 0
    first = np.flatnonzero(mix.supports[0])[0]
    assert f"component {first}" in out.split("mixture 0")[1].split("mixture 1")[0]
    assert "The first 20 of 24 samples" in out
    assert "The axis runs from 400 to 700." in err


def test_decode_refuses_another_axis_or_channel_count(run, files):
    folder, mix = files
    Decomposition(mix.S, mix.C, axis=np.arange(64.0)).save(folder / "shifted.gmcr")
    code, _, err = run("decode", folder / "shifted.gmcr", folder / "mix.csv")
    assert code == 1
    assert "different axes (channel 0 at 0 and at 400); put both on the same channel axis" in err
    Decomposition(np.eye(3, 5), np.ones((2, 3))).save(folder / "short.gmcr")
    code, _, err = run("decode", folder / "short.gmcr", folder / "mix.csv")
    assert code == 1
    assert "S has 5 channels and the samples have 64" in err
    gmcr.GMCR(8).fit(mix.D[:, :40]).save(folder / "model.gmcr")
    code, _, err = run("decode", folder / "model.gmcr", folder / "mix.csv")
    assert code == 1
    assert err.startswith("gmcr: the samples have 64 channels and the model has 40; put both on the same")


@pytest.mark.parametrize("noise", ["loud", "1e", ""])
def test_decode_refuses_noise_it_does_not_know(run, files, noise):
    folder, _ = files
    code, _, err = run("decode", folder / "truth.gmcr", folder / "mix.csv", "--noise", noise)
    assert code == 2
    assert "--noise must be a number or one of constant, proportional, poisson" in err


def test_names_do_not_run_in_a_spreadsheet(run, files):
    folder, mix = files
    names = ("=cmd|' /C calc'!A0", "+1+1", "-sum(a)", "@x", "-1.5", "plain", "a,b", 'quo"te')
    Decomposition(mix.S, mix.C, component_names=names).save(folder / "names.gmcr")
    assert run("decode", folder / "names.gmcr", folder / "mix.npz", "-o", folder / "out.csv")[0] == 0
    header = list(pd.read_csv(folder / "out.csv").columns[1:9])
    assert header == ["'=cmd|' /C calc'!A0", "'+1+1", "'-sum(a)", "'@x", "-1.5", "plain", "a,b", 'quo"te']


# Fit


@pytest.fixture
def mixtures(tmp_path):
    """Samples as CSV with axis and names, and what they were made of."""
    mix = make_mixtures(n_components=14, n_samples=70, snr_db=30, n_features=64, random_state=0)
    axis, names = np.linspace(400.0, 700.0, 64), [f"mixture {index}" for index in range(70)]
    pd.DataFrame(mix.D, names, axis).to_csv(tmp_path / "mix.csv")
    return tmp_path, mix


def test_fit_writes_a_run(run, mixtures, with_png):
    folder, _ = mixtures
    code, out, err = run("fit", folder / "mix.csv", "-o", folder / "run")
    assert code == 0
    assert "Samples are in rows: 70 x 64 (samples x channels), " in err
    assert "The axis runs from 400 to 700." in err
    assert "14 components" in out
    assert "Noise: proportional, level 0.03" in out
    assert "R² 0.99" in out
    assert f"Wrote {folder / 'run'}" in out
    written = {"model.gmcr", "profiles.csv", "concentrations.csv", "supports.csv", "path.csv", "summary.txt"}
    written.add("run.xlsx")
    written |= {"report.html", "report.gmcr", "figures", "manifest.json"}
    assert {path.name for path in (folder / "run").iterdir()} == written
    assert {"profiles.svg", "profiles.png"} <= {path.name for path in (folder / "run" / "figures").iterdir()}

    model = gmcr.GMCR.load(folder / "run" / "model.gmcr")
    profiles = pd.read_csv(folder / "run" / "profiles.csv", index_col="component")
    np.testing.assert_array_equal(profiles.to_numpy(), model.components_)
    np.testing.assert_allclose(profiles.columns.astype(float), np.linspace(400.0, 700.0, 64))
    concentrations = pd.read_csv(folder / "run" / "concentrations.csv", index_col="sample")
    np.testing.assert_array_equal(concentrations.to_numpy(), model.concentrations_)
    assert list(concentrations.index[:2]) == ["mixture 0", "mixture 1"]
    supports = pd.read_csv(folder / "run" / "supports.csv", index_col="sample")
    np.testing.assert_array_equal(supports.to_numpy() == 1, model.supports_)
    path = pd.read_csv(folder / "run" / "path.csv")
    assert path["chosen"].sum() == 1
    summary = (folder / "run" / "summary.txt").read_text()
    assert all(text in summary for text in ("mix.csv", "Samples are in rows", "14 components", "noise law"))
    assert str(folder) not in summary


def test_fit_json_and_columns(run, mixtures):
    folder, mix = mixtures
    pd.DataFrame(mix.D.T).to_csv(folder / "columns.csv", header=False, index=False)
    options = ["--samples-in", "columns", "--json", "--components", 14, "--closure", "--k-max", 4]
    code, out, err = run("fit", folder / "columns.csv", "-o", folder / "run", *options)
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert (told["samples"], told["channels"], told["components"]) == (70, 64, 14)
    assert told["evidence"]["decided_by"] == "you"
    assert told["noise_law"]["kind"] == "proportional"
    assert any(
        "Samples are in columns: 70 x 64 (samples x channels), as told" in note for note in told["notes"]
    )
    assert "may not obey closure" in told["warnings"][0]
    fractions = pd.read_csv(folder / "run" / "fractions.csv", index_col="sample")
    np.testing.assert_allclose(fractions.sum(axis=1), 1.0)


def test_fit_tells_programs_how_far_it_is(run, mixtures):
    folder, _ = mixtures
    watched = folder / "progress.jsonl"
    options = ["--components", "14", "--progress", watched]
    assert run("fit", folder / "mix.csv", "-o", folder / "run", *options)[0] == 0
    told = [json.loads(line) for line in watched.read_text().splitlines()]
    stages = [line["stage"] for line in told]
    assert list(dict.fromkeys(stages)) == ["reading", "fitting", "judging"]
    seconds = [line["seconds"] for line in told]
    assert seconds == sorted(seconds)
    path = pd.read_csv(folder / "run" / "path.csv")
    met = [line["solution"] for line in told if "solution" in line]
    assert [row["count"] for row in met] == path["count"].tolist()
    np.testing.assert_allclose([row["cost"] for row in met], path["cost"])
    assert "progress" not in gmcr_report(folder / "run")


def gmcr_report(folder):
    return (folder / "report.html").read_text()


def test_what_the_reader_got_wrong_can_be_told(run, tmp_path):
    mix = make_mixtures(n_components=2, n_samples=12, snr_db=30, n_features=24, random_state=0)
    named = pd.DataFrame(mix.D, columns=[f"peak {j}" for j in range(24)])
    named.insert(5, "acidity", np.linspace(4, 9, 12))
    named.to_csv(tmp_path / "named.csv", index=False)
    told = run("info", tmp_path / "named.csv", "--metadata", "acidity", "--json")[1]
    assert json.loads(told)["channels"] == 24
    assert run("info", tmp_path / "named.csv", "--metadata", "colour")[0] == 1
    options = ["--components", "2", "--metadata", "acidity"]
    assert run("fit", tmp_path / "named.csv", "-o", tmp_path / "run", *options)[0] == 0
    assert "--metadata acidity" in gmcr_report(tmp_path / "run")
    again = ["decode", tmp_path / "run", tmp_path / "named.csv"]
    assert run(*again)[0] == 1
    assert run(*again, "--metadata", "acidity")[0] == 0
    pd.DataFrame(mix.D, columns=np.arange(400, 424)).to_csv(tmp_path / "axis.csv", index=False)
    assert "--unit" in run("info", tmp_path / "named.csv", "--unit", "nm")[2]
    code, _, err = run("info", tmp_path / "axis.csv", "--unit", "(none)")
    assert (code, "is no unit" in err) == (2, True)
    assert "400 to 423 cm⁻¹" in run("info", tmp_path / "axis.csv", "--unit", "cm-1")[1]
    options = ["--components", "2", "--unit", "cm-1"]
    assert run("fit", tmp_path / "axis.csv", "-o", tmp_path / "other", *options)[0] == 0
    assert "wavenumber (cm⁻¹)" in gmcr_report(tmp_path / "other")


def test_fit_options_reach_the_estimator(run, mixtures):
    folder, mix = mixtures
    Decomposition(mix.S[:2], mix.C[:, :2]).save(folder / "known.gmcr")
    options = ["--fixed", folder / "known.gmcr", "--noise", "proportional", "--max-components", 14]
    options += ["--starts", 2, "--seed", 5, "--jobs", 1]
    assert run("fit", folder / "mix.csv", "-o", folder / "run", *options)[0] == 0
    model = gmcr.GMCR.load(folder / "run" / "model.gmcr")
    np.testing.assert_allclose(model.components_[:2], mix.S[:2], atol=1e-12)
    assert (model.noise, model.max_components, model.n_starts) == ("proportional", 14, 2)
    assert (model.random_state, model.n_jobs) == (5, 1)
    band = ["--r2-band", 0.9, 0.99]
    assert run("fit", folder / "mix.csv", "-o", folder / "run", *band, "--force")[0] == 0
    assert gmcr.GMCR.load(folder / "run" / "model.gmcr").r2_band == (0.9, 0.99)


def test_fit_does_not_replace_a_run_unasked(run, mixtures):
    folder, _ = mixtures
    (folder / "run").mkdir()
    (folder / "run" / "profiles.csv").write_text("mine")
    code, out, err = run("fit", folder / "mix.csv", "-o", folder / "run")
    assert (code, out) == (2, "")
    assert "holds profiles.csv already; --force replaces it." in err
    assert (folder / "run" / "profiles.csv").read_text() == "mine"
    code, _, err = run("fit", folder / "mix.csv", "-o", folder / "mix.csv")
    assert code == 1
    assert "mix.csv could not be made" in err


def test_fit_that_fails_leaves_nothing(run, tmp_path):
    (tmp_path / "flat.csv").write_text("1,1,1,1\n1,1,1,1\n")
    code, out, err = run("fit", tmp_path / "flat.csv", "-o", tmp_path / "run")
    assert (code, out) == (1, "")
    assert "D is constant" in err
    assert not (tmp_path / "run").exists()


def test_interrupted_fit_says_so_and_goes_on(run, mixtures, monkeypatch):
    from gmcr.window import solver

    folder, _ = mixtures
    done = []

    def settle(*arguments):
        if done:
            raise KeyboardInterrupt
        done.append(real(*arguments))
        return done[0]

    real = solver.settle
    monkeypatch.setattr(solver, "settle", settle)
    code, out, err = run("fit", folder / "mix.csv", "-o", folder / "run")
    assert code == 130
    assert "The fit was interrupted; this is the best found so far." in err
    assert err.endswith("gmcr: interrupted; the best found so far was kept.\n")
    assert "components" in out
    assert (folder / "run" / "model.gmcr").exists()
    assert (folder / "run" / "checkpoint.gmcr").exists()
    monkeypatch.undo()
    code, out, _ = run("fit", folder / "mix.csv", "-o", folder / "run")  # and goes on
    assert code == 0
    assert "14 components" in out
    assert not (folder / "run" / "checkpoint.gmcr").exists()


def test_decode_of_a_run_is_the_models_own(run, mixtures):
    folder, mix = mixtures
    run("fit", folder / "mix.csv", "-o", folder / "run")
    model = gmcr.GMCR.load(folder / "run" / "model.gmcr")
    for pool in (folder / "run", folder / "run" / "model.gmcr"):
        told = json.loads(run("decode", pool, folder / "mix.csv", "--json")[1])
        found = [list(row["concentrations"].values()) for row in told["samples"]]
        expected = [list(row[row > 0]) for row in model.concentrations_]
        assert found == expected
        assert [row["known"] for row in told["samples"]] == list(model.decode(mix.D).known)
    told = json.loads(run("decode", folder / "run", folder / "mix.csv", "--k-max", 1, "--json")[1])
    assert max(len(row["concentrations"]) for row in told["samples"]) == 1
    code, _, err = run("decode", folder, folder / "mix.csv")
    assert code == 2
    assert "is no run folder: there is no model.gmcr in it." in err
    assert "14 components" in run("info", folder / "run" / "model.gmcr")[1]


def test_rank(run, tmp_path):
    run("synth", "-o", tmp_path / "mix.csv", "--components", 8, "--samples", 60)
    code, out, err = run("rank", tmp_path / "mix.csv")
    assert code == 0
    assert "8" in out
    assert "Samples are in rows: 60 x 512" in err
    told = json.loads(run("rank", tmp_path / "mix.csv", "--json")[1])
    assert told["count"] == 8
    assert {"rule", "scaling", "count"} == set(told["counts"][0])


def test_info_of_data(run, files):
    folder, mix = files
    code, out, err = run("info", folder / "mix.csv")
    assert code == 0
    assert "400 to 700" in out
    assert "The first column holds the names of the samples." in err
    told = json.loads(run("info", folder / "mix.npz", "--json")[1])
    assert told["samples"] == 24
    assert told["largest"] == pytest.approx(mix.D.max())
    columns = json.loads(run("info", folder / "mix.csv", "--samples-in", "columns", "--json")[1])
    assert (columns["samples"], columns["channels"]) == (64, 24)


def test_info_of_a_model(run, files):
    folder, _ = files
    code, out, err = run("info", folder / "truth.gmcr")
    assert (code, err) == (0, "")
    assert "8 components in 24 samples of 64 channels" in out
    told = json.loads(run("info", folder / "truth.gmcr", "--json")[1])
    assert told["kind"] == "model"
    assert (told["components"], told["samples"], told["channels"]) == (8, 24, 64)


def test_control_characters_do_not_reach_the_terminal(run, tmp_path):
    (tmp_path / "bad.csv").write_text("sample,1,2,3\n\x1b[2Jwiped,1,2,3\nb,1,\x1b[31m,3\n")
    code, out, err = run("info", tmp_path / "bad.csv")
    assert code == 1
    assert "\x1b" not in out + err


# The package itself


def test_public_names():
    for name in gmcr.__all__:
        assert getattr(gmcr, name) is not None
    assert set(gmcr.__all__) <= set(dir(gmcr))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = gmcr.nonsense


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from gmcr.cli.app import main; main(['--help']); "
        "print(sorted(set(sys.modules) & set(sys.argv[1:])))"
    )
    heavy = ["numpy", "scipy", "numba", "pandas", "sklearn", "rich.table", "safetensors", "torch"]
    assert python(script, *heavy).splitlines()[-1] == "[]"


def test_module_and_script_are_the_same_command(tmp_path):
    for command in ([sys.executable, "-m", "gmcr"], [os.path.join(os.path.dirname(sys.executable), "gmcr")]):
        done = subprocess.run([*command, "bogus"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (2, "gmcr: No such command 'bogus'.\n")


# Certify


def test_certify_says_its_verdict(run, tmp_path):
    data, truth = tmp_path / "m.csv", tmp_path / "truth.gmcr"
    made = run(
        "synth", "-o", str(data), "--components", "8", "--samples", "40", "--snr", "55", "--truth", str(truth)
    )
    assert made[0] == 0
    code, out, _ = run("certify", str(truth), str(data), "--known-pool")
    assert code == 0
    assert out.startswith("Proved with probability 0.95")
    assert all(f"C{number} " in out for number in range(1, 12))
    answer = json.loads(run("certify", str(truth), str(data), "--known-pool", "--json")[1])
    assert answer["verdict"] == "proved"
    code, _, err = run("certify", str(truth), str(data), "--alpha", "2")
    assert (code, "alpha" in err) == (2, True)
