"""What the app does with files and projects: it computes what the command line computes, in processes that can be
ended and that outlive the server; and files of anybody do it no harm."""

import csv
import io
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

import hostile
from app_server import Process, end_jobs, threaded
from gmcr import GMCR, make_mixtures, read
from gmcr.app import commands, settings, uploads
from gmcr.app.home import Home
from gmcr.app.jobs.job import LOST, RUNNING, WAITING, Job, Order
from gmcr.app.project import CHECKPOINT, MODEL, NAMES
from gmcr.cli.app import app as command_line
from gmcr.cli.app import main
from gmcr.preprocessing import Crop
from gmcr.runs import folder as runs

pytestmark = pytest.mark.usefixtures("jobs_without_figures")

NASTY = "<img src=x onerror=alert(1)>'; rm -rf ~ & $(touch hacked) `id`.csv"


def table(n_components=3, n_samples=24, n_channels=60, seed=0, names=None):
    """A table of mixtures as CSV."""
    mix = make_mixtures(
        n_components, n_samples, snr_db=30, n_features=n_channels, random_state=seed, profiles="peaks"
    )
    names = [f"s{m}" for m in range(n_samples)] if names is None else names
    return pd.DataFrame(mix.D, names, np.linspace(400, 700, n_channels)).to_csv().encode()


LONG = table(7, 300, 200)  # to be unmixed for a while


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with threaded(tmp_path_factory.mktemp("work") / "gmcr") as running:
        yield running


@pytest.fixture
def client(server):
    return server[2]


@pytest.fixture
def home(server):
    return server[0].home.path


@pytest.fixture(scope="module")
def fitted(server):
    """A project whose run the command line made, in the folder of the app."""
    path = server[0].home.path / "fitted"
    (path / "data").mkdir(parents=True)
    (path / "data" / "mix.csv").write_bytes(table())
    assert main(["fit", str(path / "data" / "mix.csv"), "-o", str(path), "--components", "3"]) == 0
    return path


# Files that are given

TRICKS = ["../evil.csv", "..", ".", "", "a/b.csv", "/etc/passwd", "a\\b.csv", "..\\evil.csv", "C:evil.csv"]
TRICKS += [
    "C:\\evil.csv",
    "a\0.csv",
    "a.csv\0.exe",
    "x" * 300 + ".csv",
    "é" * 150,
    ".hidden",
    "~root",
    "-o.csv",
]
TRICKS += ["CON", "con.csv", "NUL.txt", "COM1", "lpt9.csv", "aux.", "a.", " a.csv", "a.csv ", "a\nb.csv"]
TRICKS += ["a\u202ecsv.exe", "a|b", "a*b", "a?b", 'a"b.csv', "a\x1b[31m.csv", "e\u0301.csv", "\ud800.csv"]


@pytest.mark.parametrize("name", TRICKS)
def test_tricks_in_names_are_refused(client, home, name):
    assert not uploads.is_name(name)
    project = client.create("Tricks")
    before = sorted(path.name for path in home.rglob("*"))
    quoted = "".join(f"%{byte:02X}" for byte in name.encode("utf-8", "surrogatepass"))
    for query in (f"name={quoted}", f"name=a.csv&folder={quoted}"):
        path = f"/api/projects/{project}/files/data?{query}"
        status, _, body = client.ask("PUT", path, b"evil")
        assert status == 400, body
    assert sorted(path.name for path in home.rglob("*")) == before


@pytest.mark.parametrize(
    "name", ["mix.csv", "Proben 2024 (3).xlsx", "проба.csv", "a+b=c,d;e.csv", NASTY, "5.0", "x" * 190]
)
def test_other_names_are_kept_as_they_are(client, home, name):
    project = client.create("Names")
    assert client.give(project, name, b"1,2")["name"] == name
    assert (home / project / "data" / name).read_bytes() == b"1,2"
    assert client.project(project)["data"] == name
    mode = stat.S_IMODE((home / project / "data" / name).stat().st_mode)
    assert mode & 0o077 == 0


def test_projects_are_found_by_name_and_never_by_path(client, home):
    (home.parent / "outside").mkdir(exist_ok=True)
    (home.parent / "outside" / MODEL).write_text("secret")
    for name in (
        "..",
        ".",
        "../outside",
        "..%2Foutside",
        "%2e%2e%2foutside",
        ".gmcr-app",
        "%2Fetc",
        "a%00b",
        "%ff",
    ):
        status, _, _ = client.ask("GET", f"/api/projects/{name}")
        assert status == 404, name
    for title in ("../evil", "/etc", ".gmcr-app", "\u202e", "a" * 200, "CON", "  "):
        project = client.create(title)
        assert (home / project).is_dir()
        assert (home / project).parent == home
        assert project == project.strip("./")


def test_a_file_of_5_gb_is_refused_before_it_comes(client):
    project = client.create("Large")
    path = f"/api/projects/{project}/files/data?name=large.csv"
    status, headers, body = client.ask("PUT", path, b"", content_length="5000000000")
    assert (status, json.loads(body)["error"]) == (413, "too-large")
    assert headers["connection"] == "close"
    for told in ("-1", "1e3", "²"):
        assert client.ask("PUT", path, b"", content_length=told)[0] in (400, 413)


def test_a_file_that_does_not_say_how_long_it_is_ends_at_the_limit(client, home, monkeypatch):
    monkeypatch.setattr(uploads, "LARGEST", 100_000)
    project = client.create("Chunks")
    path = f"/api/projects/{project}/files/data?name=large.csv"

    def parts(count):
        return b"".join(b"2710\r\n" + bytes(10_000) + b"\r\n" for _ in range(count)) + b"0\r\n\r\n"

    told = {"transfer_encoding": "chunked"}
    assert client.ask("PUT", path, parts(9), **told)[0] == 200
    status, _, body = client.ask("PUT", path, parts(11), **told)
    assert (status, json.loads(body)["error"]) == (413, "too-large")
    assert (home / project / "data" / "large.csv").stat().st_size == 90_000  # as it was
    assert [one.name for one in (home / project / "data").iterdir()] == ["large.csv"]


def test_a_file_that_is_cut_off_is_none(client, home):
    import socket

    project = client.create("Cut")
    host, port = client.address.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as wire:
        head = f"PUT /api/projects/{project}/files/data?name=a.csv HTTP/1.1\r\n"
        given = client.headers("PUT") | {"content-type": "application/octet-stream", "content-length": "100"}
        wire.sendall(
            (head + "".join(f"{name}: {value}\r\n" for name, value in given.items()) + "\r\nhalf").encode()
        )
        time.sleep(0.2)
    until = time.monotonic() + 60
    while any((home / project / "data").glob(".*")):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert client.project(project)["data"] is None


def test_many_files_at_once_all_arrive(client, home):
    project = client.create("Many")
    failed = []

    def give(number):
        try:
            client.give(project, f"{number}.csv", str(number).encode() * 1000, folder="spectra")
        except AssertionError as error:
            failed.append(error)

    threads = [threading.Thread(target=give, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    found = {path.name: path.read_bytes() for path in (home / project / "data" / "spectra").iterdir()}
    assert found == {f"{number}.csv": str(number).encode() * 1000 for number in range(50)}
    assert client.project(project)["files"] == 50


def test_a_project_has_one_set_of_data(client):
    project = client.create("One")
    client.give(project, "a.csv", b"1")
    path = f"/api/projects/{project}/files"
    assert client.ask("PUT", f"{path}/data?name=b.csv", b"2")[0] == 409
    assert client.ask("PUT", f"{path}/data?name=b.csv&folder=a.csv", b"2")[0] == 409
    client.give(project, "a.csv", b"3")  # the same file again
    client.told("DELETE", f"{path}/data?name=a.csv")
    client.give(project, "b.csv", b"2")
    assert client.ask("DELETE", f"{path}/data?name=..")[0] == 404
    assert client.ask("PUT", f"{path}/elsewhere?name=b.csv", b"2")[0] == 404


# How files are read


def test_a_file_is_shown_as_it_is_read(client):
    project = client.create("Read")
    content = table(names=["<script>alert(1)</script>", *(f"s{m}" for m in range(1, 24))])
    client.give(project, "mix.csv", content)
    told = client.get(f"/api/projects/{project}/reading")
    assert (told["samples"], told["channels"]) == (24, 60)
    assert told["table"]["names"][0] == "<script>alert(1)</script>"
    assert "samples_in" not in " ".join(told["notes"])
    assert len(told["chart"]["series"]) == 12
    client.settle(project, samples_in="columns")
    told = client.get(f"/api/projects/{project}/reading")
    assert (told["samples"], told["channels"]) == (60, 24)
    assert told["axis"] is None  # the channels are the samples' names now
    client.settle(project, samples_in="columns", unit="nm")
    status, _, body = client.ask("GET", f"/api/projects/{project}/reading")
    assert (status, json.loads(body)["error"]) == (422, "said")
    client.settle(project, unit="nm", runs="2", order="rows")
    told = client.get(f"/api/projects/{project}/reading")
    assert told["axis"]["unit"] == "nm"
    assert told["runs"] == [["1", 12], ["2", 12]]
    assert told["ordered"] is True
    client.settle(project, runs="7")
    assert "does not divide" in client.get(f"/api/projects/{project}/reading")["runs_error"]


def test_steps_are_tried_as_the_fit_does_them(client, home):
    project = client.create("Steps")
    client.give(project, "mix.csv", table())
    client.settle(project, range="450:650", drop=["500:510"], smooth=5, background=1)
    told = client.get(f"/api/projects/{project}/steps")
    samples = read(home / project / "data" / "mix.csv")
    from gmcr.preprocessing import Cut, SavitzkyGolay

    model = GMCR(2, steps=[Crop(450, 650), Cut(500, 510), SavitzkyGolay(5, 2)], background=1, random_state=0)
    model.fit(samples)
    assert told["did"] == list(model.chain_.did)
    after = model.prepared(samples)
    assert told["channels"] == after.samples.shape[1]
    line = told["after"]["series"][1]
    np.testing.assert_allclose(told["after"]["x"], after.axis, rtol=1e-6)
    np.testing.assert_allclose(line["y"], after.samples[7], rtol=1e-3, atol=1e-6)
    assert line["name"] == "s7"
    client.settle(project, range="900:1000")
    status, _, body = client.ask("GET", f"/api/projects/{project}/steps")
    assert status == 422
    assert "range" in json.loads(body)["sentence"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bomb.xlsx", lambda: hostile.workbooks(None)["bomb.xlsx"]),
        ("laughs.xlsx", lambda: hostile.workbooks(None)["laughs.xlsx"]),
        ("bomb.npz", lambda: hostile.archives(None)["bomb.npz"]),
        ("pickled.npz", lambda: hostile.archives(None)["pickled.npz"]),
        ("claims_much.npy", lambda: hostile.numpy_files(None)["claims_much.npy"]),
        ("empty.csv", lambda: b""),
        ("model.gmcr", lambda: b"no model"),
        ("nothing.exe", lambda: b"MZ"),
    ],
)
def test_files_that_are_meant_badly_are_refused_in_a_sentence(client, name, content):
    project = client.create("Hostile")
    client.give(project, name, content())
    status, _, body = client.ask("GET", f"/api/projects/{project}/reading")
    told = json.loads(body)
    assert status == 422, told
    assert told["error"] in ("said", "memory")
    assert told["error"] == "memory" or told["sentence"]
    assert str(Path("data")) + os.sep not in told.get("sentence", "")  # not where it is
    assert client.get("/api/projects")["projects"]


def test_reading_has_its_memory_capped(client, monkeypatch):
    """A file that takes more than the process may have ends that process, and the server answers."""
    monkeypatch.setenv("GMCR_TEST", "1")
    project = client.create("Memory")
    client.give(project, "holes.npy", hostile.npy_head((1 << 26, 8)) + bytes(1 << 20))
    status, _, body = client.ask("GET", f"/api/projects/{project}/reading")
    assert status == 422
    assert json.loads(body)["error"] in ("said", "memory")


# Fits


def same_run(folder, other):
    """Whether two run folders hold the same numbers."""
    names = {path.name for path in other.glob("*.csv")}
    assert names <= {path.name for path in folder.glob("*.csv")}
    assert {"profiles.csv", "concentrations.csv", "supports.csv"} <= names
    return all((folder / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_a_fit_is_the_command_lines(client, home, tmp_path):
    project = client.create("Fit it")
    client.give(project, NASTY, table())
    client.settle(project, components=3, range="410:690", noise="constant", seed=3)
    job = client.do(project, "fit", go_on=False)
    told = shlex.split(job["about"]["command"])
    assert told[:4] == ["gmcr", "fit", f"{project}/data/{NASTY}", "-o"]
    out = tmp_path / "run"
    options = ["--components", "3", "--range", "410:690", "--noise", "constant", "--seed", "3"]
    assert main(["fit", str(home / project / "data" / NASTY), "-o", str(out), *options]) == 0
    assert same_run(home / project, out)
    page = client.get(f"/api/projects/{project}/page")
    assert page["source"] == NASTY
    assert page["heading"].startswith("3 components")
    stages = [row["stage"] for row in job["progress"]]
    assert list(dict.fromkeys(stages)) == ["reading", "fitting", "judging"]
    assert not (home / "hacked").exists()


def test_another_count_is_what_the_report_has(client, home, fitted, tmp_path):
    client.do("fitted", "page", count=2)
    page = client.get("/api/projects/fitted/page?count=2")
    told = json.loads(json.dumps(page))
    assert told["heading"].startswith("2 components")
    shutil_copy = tmp_path / "run"

    shutil.copytree(fitted, shutil_copy)
    (shutil_copy / "report_2.html").unlink()
    assert main(["report", str(shutil_copy), str(fitted / "data" / "mix.csv"), "--components", "2"]) == 0
    data = [
        json.loads(one.read_text().split('id="data">')[1].split("</script>")[0])["charts"]
        for one in (shutil_copy / "report_2.html", fitted / "report_2.html")
    ]
    assert data[0] == data[1]
    charts = {b["name"]: b["chart"] for s in page["sections"] for b in s["blocks"] if b["kind"] == "chart"}
    assert charts["profiles"] == data[0]["profiles"]
    assert charts["concentrations"] == data[0]["concentrations"]


def test_a_sample_is_shown_with_what_it_is_made_of(client, fitted):
    client.do("fitted", "page")
    page = client.get("/api/projects/fitted/page")
    model, samples = GMCR.load(fitted / MODEL), read(fitted / "data" / "mix.csv").samples
    width = 3 + page["sample"]["channels"]
    told = client.get(f"/api/projects/fitted/sample?number=5&width={width}")["values"]
    np.testing.assert_allclose(told[:3], model.concentrations_[5], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(told[3:], samples[5], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(page["sample"]["profiles"], model.components_, rtol=1e-3, atol=1e-5)
    for number in (24, 10**9):
        assert client.ask("GET", f"/api/projects/fitted/sample?number={number}&width={width}")[0] == 404


def test_names_matches_decoding_and_comparing_are_the_commands(client, home, fitted, tmp_path):
    name = "lac\"to$e `x` 'y' \\ é"
    client.do("fitted", "names", names={"1": name})
    assert client.get("/api/projects/fitted/page")["components"][1] == name
    with open(fitted / "concentrations.csv", encoding="utf-8", newline="") as file:
        assert next(csv.reader(file))[2] == name
    library = pd.read_csv(fitted / "profiles.csv", index_col=0).set_axis(["a", "b", "c"])
    client.give("fitted", "lib.csv", library.to_csv().encode(), place="given")
    client.do("fitted", "match", library="lib.csv")
    assert "a (0)" in client.get("/api/projects/fitted/page")["components"]
    new = pd.read_csv(io.BytesIO(table(seed=1)), index_col=0)
    mixed = pd.concat([pd.read_csv(fitted / "data" / "mix.csv", index_col=0).iloc[:3], new.iloc[:2]])
    client.give("fitted", "new.csv", mixed.to_csv().encode(), place="new")
    client.do("fitted", "decode", new="new.csv")
    told = client.get("/api/projects/fitted/decoded?new=new.csv")
    assert [one["known"] for one in told["samples"]] == [True, True, True, False, False]
    out = tmp_path / "out.csv"
    assert main(["decode", str(fitted), str(fitted / "new" / "new.csv"), "-o", str(out)]) == 0
    assert (fitted / "decoded" / "new.csv").read_bytes() == out.read_bytes()
    assert (fitted / "decoded" / "new_unexplained.csv").exists()
    assert (
        main(["fit", str(fitted / "data" / "mix.csv"), "-o", str(home / "other"), "--components", "2"]) == 0
    )
    client.do("fitted", "compare", other="other")
    told = client.get("/api/projects/fitted/compared")
    assert told["other"] == "other"
    assert told["told"]["components"] == [3, 2]
    assert client.ask("POST", "/api/projects/fitted/compare", {"other": "../x"})[0] == 404
    assert client.ask("POST", "/api/projects/fitted/match", {"library": "../data/mix.csv"})[0] == 404
    assert client.ask("POST", "/api/projects/fitted/decode", {"new": "../data/mix.csv"})[0] == 404


def test_a_fit_can_be_cancelled_kept_and_go_on(client, home):
    project = client.create("Long")
    client.give(project, "long.csv", LONG)
    number = client.begin(project, "fit", go_on=False)
    client.wait(project, number, (RUNNING,))
    assert client.ask("POST", f"/api/projects/{project}/fit", {"go_on": False})[0] == 409
    assert client.ask("DELETE", f"/api/projects/{project}")[0] == 409
    assert client.ask("PUT", f"/api/projects/{project}/files/data?name=long.csv", b"1")[0] == 409
    while not any("solution" in row for row in client.job(project, number)["progress"]):
        time.sleep(0.05)
    client.told("POST", f"/api/projects/{project}/stop", {"job": number, "keep": False})
    assert client.wait(project, number)["state"] == "stopped"
    assert not client.project(project)["run"]
    assert (home / project / CHECKPOINT).exists()
    number = client.begin(project, "fit", go_on=True)
    while not any("solution" in row for row in client.job(project, number).get("progress", ())):
        time.sleep(0.05)
    client.told("POST", f"/api/projects/{project}/stop", {"job": number, "keep": True})
    job = client.wait(project, number)
    assert (job["state"], job["kept"]) == ("done", True)
    assert GMCR.load(home / project / MODEL).interrupted_
    assert client.get(f"/api/projects/{project}/page")["heading"]
    assert client.ask("POST", f"/api/projects/{project}/stop", {"job": number, "keep": True})[0] == 404


@pytest.mark.parametrize("keep", [False, True])
def test_a_fit_that_is_about_to_begin_can_be_cancelled(client, home, keep):
    """Its process is begun and has no number yet, to which a signal could be sent."""
    project = client.create("At once")
    client.give(project, "long.csv", LONG)
    number = client.begin(project, "fit", go_on=False)
    client.told("POST", f"/api/projects/{project}/stop", {"job": number, "keep": keep})
    assert client.wait(project, number)["state"] == "stopped"
    assert not (home / project / MODEL).exists()


def test_jobs_wait_for_each_other(server, client):
    state = server[0]
    first, second = client.create("First"), client.create("Second")
    for project in (first, second):
        client.give(project, "long.csv", LONG)
    one, other = (client.begin(project, "fit", go_on=False) for project in (first, second))
    client.wait(first, one, (RUNNING,))
    assert client.job(second, other)["state"] == WAITING
    assert client.job(second, other)["place"] == 0
    assert [
        card["working"] for card in client.get("/api/projects")["projects"] if card["project"] == second
    ] == [["fit"]]
    client.told("POST", f"/api/projects/{first}/stop", {"job": one, "keep": False})
    client.wait(second, other, (RUNNING,))
    client.told("POST", f"/api/projects/{second}/stop", {"job": other, "keep": False})
    assert client.wait(second, other)["state"] == "stopped"
    assert all(state.queue.state(job) not in (WAITING, RUNNING) for job in state.queue.jobs())


def children(number):
    told = subprocess.run(["ps", "-o", "pid=", "--ppid", str(number)], capture_output=True, text=True).stdout
    return [int(one) for one in told.split()]


def test_a_fit_whose_processes_are_killed_is_told_and_goes_on(client, home, server):
    project = client.create("Killed")
    client.give(project, "long.csv", LONG)
    number = client.begin(project, "fit", go_on=False)
    while not any("solution" in row for row in client.job(project, number).get("progress", ())):
        time.sleep(0.05)
    folder = server[0].home.private / "jobs" / number
    process = json.loads((folder / "process.json").read_bytes())["process"]
    begun = children(process)
    os.kill(process, signal.SIGKILL)
    assert Job(folder).state() == RUNNING  # what it began is still alive
    for one in begun:
        os.kill(one, signal.SIGKILL)
    job = client.wait(project, number)
    assert (job["state"], job["reason"]) == (LOST, "lost")
    number = client.begin(project, "fit", go_on=True)
    client.wait(project, number, (RUNNING,))
    client.told("POST", f"/api/projects/{project}/stop", {"job": number, "keep": False})
    client.wait(project, number)


def test_fits_outlive_a_server_that_is_killed(tmp_path):
    first = Process(tmp_path / "gmcr")
    try:
        client = first.client()
        project, waiting = client.create("Outlives"), client.create("Waits")
        for one in (project, waiting):
            client.give(one, "mix.csv", table())
            client.settle(one, components=3)
        number = client.begin(project, "fit", go_on=False)
        later = client.begin(waiting, "fit", go_on=False)
        client.wait(project, number, (RUNNING,))
        first.kill()
        second = Process(tmp_path / "gmcr")
        client = second.client()
        found = client.job(project, number)
        assert found["state"] in (RUNNING, "done")
        assert client.wait(project, number)["state"] == "done"
        assert client.wait(waiting, later)["state"] == "done"
        heading = [client.get(f"/api/projects/{one}/page")["heading"] for one in (project, waiting)]
        assert heading[0] == heading[1]
        assert second.end() == 0
    finally:
        first.end()
        end_jobs(tmp_path / "gmcr")


def test_what_was_cut_off_while_it_was_made_goes(tmp_path):
    home, _ = Home.opened(tmp_path / "gmcr")
    project = home.new_project("Half")
    (project.path / "data").mkdir()
    (project.path / "data" / f".{'0' * 16}.part").write_text("half")
    (home.private / "jobs" / ".half").mkdir(parents=True)
    with threaded(tmp_path / "gmcr") as (_, _, client):
        assert client.project("half")["data"] is None
        assert not any((project.path / "data").iterdir())
        assert not any((home.private / "jobs").iterdir())


def test_a_fit_that_needs_too_much_memory_says_so(server, client, home, monkeypatch):
    monkeypatch.setattr(server[0], "memory", 300 << 20)  # less than Python's packages take
    project = client.create("Small")
    client.give(project, "mix.csv", table())
    job = client.wait(project, client.begin(project, "fit", go_on=False))
    assert job["state"] == "failed"
    assert job["reason"] in ("memory", "said")
    assert not (home / project / MODEL).exists()


def test_too_many_jobs_are_refused(server, client, monkeypatch):
    from gmcr.app.jobs import queue

    monkeypatch.setattr(queue, "MOST_WAITING", 0)
    project = client.create("Full")
    client.give(project, "mix.csv", table())
    assert client.ask("POST", f"/api/projects/{project}/fit", {"go_on": False})[0] == 429


def test_a_job_is_whole_or_not_there(tmp_path):
    job = Job.new(tmp_path / "jobs", Order("fit", "p", [["gmcr"]], {}))
    assert Job(job.path).order == job.order
    assert job.state() == WAITING
    (job.path / "process.json").write_text('{"process": 1, "began": 1.0}')
    assert job.state() == LOST
    (job.path / "result.json").write_text("{half")
    assert job.state() == LOST


# Run folders of others


def test_a_run_of_the_command_line_opens(client, home):
    assert (
        main(
            [
                "synth",
                "-o",
                str(home.parent / "s.csv"),
                "--components",
                "2",
                "--samples",
                "12",
                "--channels",
                "30",
            ]
        )
        == 0
    )
    assert (
        main(["fit", str(home.parent / "s.csv"), "-o", str(home / "made elsewhere"), "--components", "2"])
        == 0
    )
    facts = client.project("made elsewhere")
    assert (facts["run"], facts["data"]) == (True, None)
    client.do("made%20elsewhere".replace("%20", " "), "page")
    page = client.get("/api/projects/made%20elsewhere/page")
    assert page["heading"].startswith("2 components")
    assert page["sample"]["measured"] is False
    assert client.ask("POST", "/api/projects/made%20elsewhere/page", {"count": 3})[0] == 409


def test_a_folder_with_a_link_out_of_it_is_not_opened(client, home, fitted):
    secret = home.parent / "secret.txt"
    secret.write_text("secret")
    for place, target in (
        ("report.html", secret),
        ("data/x.csv", secret),
        ("app", home.parent),
        ("deep/er", "/"),
    ):
        path = home / "linked"
        (path / place).parent.mkdir(parents=True, exist_ok=True)
        (path / MODEL).write_bytes((fitted / MODEL).read_bytes())
        (path / place).symlink_to(target)
        for what in ("", "/page", "/reading", "/takings", "/commands", "/steps"):
            status, _, body = client.ask("GET", f"/api/projects/linked{what}")
            assert (status, json.loads(body)["error"]) == (409, "linked")
        told = {"what": "report", "show": False}
        assert client.ask("POST", "/api/projects/linked/ticket", told)[0] == 409
        assert client.ask("POST", "/api/projects/linked/names", {"names": {"0": "a"}})[0] == 409
        (path / place).unlink()
    os.mkfifo(home / "linked" / "pipe")
    assert client.ask("GET", "/api/projects/linked")[0] == 409
    (home / "linked" / "pipe").unlink()
    (home / "linked" / "app").mkdir()
    os.mkfifo(home / "linked" / "app" / "project.json")
    assert client.get("/api/projects")["projects"]  # nobody waits for what comes out of it
    shutil.rmtree(home / "linked")
    (home / "itself").symlink_to(fitted)
    assert client.ask("GET", "/api/projects/itself")[0] == 404
    assert secret.read_text() == "secret"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b"no model"),
        lambda path: path.write_bytes(path.read_bytes()[:-100]),
        lambda path: path.write_bytes(b"\x80\x04cos\nsystem\n(S'touch hacked'\ntR."),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["text", "cut", "pickle", "folder"],
)
def test_a_model_file_made_wrong_is_one_sentence(client, home, fitted, spoil):

    name = client.create("Spoilt")
    shutil.copy(fitted / MODEL, home / name / MODEL)
    spoil(home / name / MODEL)
    if (home / name / MODEL).is_dir():
        assert client.project(name)["run"] is False
        return
    job = client.wait(name, client.begin(name, "page"))
    assert (job["state"], job["reason"]) == ("failed", "said")
    assert "Traceback" not in job["sentence"]
    assert not (home / "hacked").exists()


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{",
        '{"settings": [1], "title": 3}',
        "[" * 100_000,
        '{"settings": {"components": "x", "evil": 1, "range": "\\u0000"}}',
    ],
)
def test_what_a_project_remembers_may_be_anybodys(client, home, content):
    name = client.create("Odd")
    (home / name / "app").mkdir(exist_ok=True)
    (home / name / "app" / "project.json").write_text(content)
    facts = client.project(name)
    assert facts["settings"] == {}
    assert facts["title"] == name
    client.settle(name, components=2)
    assert client.project(name)["settings"] == {"components": 2}


def test_settings_name_no_files_of_others(client, home):
    name = client.create("Files")
    client.give(name, "mix.csv", table())
    client.settle(name, blank="../../secret.txt")
    status, _, body = client.ask("POST", f"/api/projects/{name}/fit", {"go_on": False})
    assert (status, json.loads(body)["error"]) == (400, "option")
    assert client.ask("GET", f"/api/projects/{name}/steps")[0] == 422


# What is taken away


def test_downloads_have_fixed_names_and_kinds(client, fitted, home):
    for what, kind, name in (
        ("report", "text/html", "report.html"),
        ("workbook", "application/vnd.openxml", "run.xlsx"),
        ("model", "application/octet-stream", "model.gmcr"),
        ("profiles", "text/csv", "profiles.csv"),
    ):
        address = client.told("POST", "/api/projects/fitted/ticket", {"what": what, "show": False})["address"]
        status, headers, content = client.ask("GET", address, x_gmcr_key=None)
        assert status == 200
        assert headers["content-type"].startswith(kind)
        assert headers["content-disposition"] == f'attachment; filename="{name}"'
        assert headers["content-security-policy"].startswith("sandbox;")
        assert content == (fitted / name).read_bytes()
        assert client.ask("GET", address, x_gmcr_key=None)[0] == 404  # once
    for what in ("../../etc/passwd", "report-999999", "report-77", "server.log", "", "data"):
        assert client.ask("POST", "/api/projects/fitted/ticket", {"what": what, "show": False})[0] == 404
    for name in ("../model.gmcr", "new.csv.json", ""):
        told = {"what": "decoded", "show": False, "name": name}
        assert client.ask("POST", "/api/projects/fitted/ticket", told)[0] == 404


def test_a_stored_report_is_shown_in_a_sandbox_alone(client, fitted):
    told = {"what": "report", "show": True}
    address = client.told("POST", "/api/projects/fitted/ticket", told)["address"]
    status, headers, _ = client.ask(
        "GET", address, x_gmcr_key=None, sec_fetch_dest="iframe", sec_fetch_mode="navigate"
    )
    assert status == 200
    policy = headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "allow-same-origin" not in policy
    assert "connect-src" not in policy  # so that default-src holds
    assert "content-disposition" not in headers
    model = client.told("POST", "/api/projects/fitted/ticket", told | {"what": "model"})["address"]
    assert "content-disposition" in client.ask("GET", model, x_gmcr_key=None)[1]


def test_a_removed_project_is_moved_and_not_deleted(client, home):
    name = client.create("Goes")
    client.give(name, "mix.csv", b"1,2")
    moved = Path(json.loads(client.ask("DELETE", f"/api/projects/{name}")[2])["moved"])
    assert (moved / "data" / "mix.csv").read_bytes() == b"1,2"
    assert client.ask("GET", f"/api/projects/{name}")[0] == 404


def test_a_copy_has_the_data_and_the_settings(client, home):
    name = client.create("Original")
    client.give(name, "mix.csv", b"1,2")
    client.settle(name, components=2)
    other = client.told("POST", f"/api/projects/{name}/copy", {"title": "Copy"})["project"]
    facts = client.project(other)
    assert (facts["data"], facts["settings"], facts["run"]) == ("mix.csv", {"components": 2}, False)
    client.told("PUT", f"/api/projects/{other}/title", {"title": "Another <b>"})
    assert client.project(other)["title"] == "Another <b>"


def test_scripts_quote_what_is_hostile(client, home, tmp_path):
    """The script runs with a gmcr that writes down its words: they are those that the app ran."""
    project = home / "-x $(touch hacked)"
    (project / "data").mkdir(parents=True)
    (project / "data" / NASTY).write_bytes(b"1,2")
    (project / "app").mkdir()
    told = {
        "constraint": ["unimodal C; touch hacked", "`touch hacked`"],
        "runs": 'a\u202eb\' "$HOME"',
        "range": "-1:5",
    }
    (project / "app" / "project.json").write_text(json.dumps({"settings": told}))
    name = "-x%20%24(touch%20hacked)"
    script = client.get(f"/api/projects/{name}/commands")["script"]
    recorder = tmp_path / "gmcr"
    recorder.write_text('#!/bin/sh\nfor word; do printf "%s\\0" "$word"; done\n')
    recorder.chmod(0o755)
    for shell in ("sh", "bash"):
        done = subprocess.run(
            [shell, "-c", script],
            capture_output=True,
            env={"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": "/nowhere"},
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        words = done.stdout.decode().split("\0")[:-1]
        from gmcr.app.project import Project

        assert words == commands.fit(Project(project))[1:]
        assert f"./-x $(touch hacked)/data/{NASTY}" in words
    assert not list(tmp_path.rglob("hacked"))
    assert not (home / "hacked").exists()
    assert script.replace("\n", "").isprintable()


# What must stay together


def fit_options():
    root = typer.main.get_command(command_line)
    return {one.name: one for one in root.commands["fit"].params}


def test_every_setting_is_an_option_of_the_command(tmp_path):
    known = {name.rstrip("_") for name in fit_options()}
    assert set(settings.SHAPES) <= known
    home, _ = Home.opened(tmp_path / "gmcr")
    project = home.new_project("p")
    for place in ("data", "given"):
        (project.path / place).mkdir()
    (project.path / "data" / "a.csv").write_text("1,2")
    (project.path / "given" / "f.csv").write_text("1,2")
    given = {
        "samples_in": "rows",
        "sheets": True,
        "unit": "nm",
        "metadata": "a,b",
        "range": "-5:9",
        "drop": ["1:2", "3:4"],
    }
    given |= {
        "baseline": "asls:lam=1e6",
        "despike": True,
        "smooth": 5,
        "derivative": 1,
        "snv": True,
        "msc": True,
    }
    given |= {"normalise": "area", "blank": "f.csv", "average": True, "replicates": "names", "components": 3}
    given |= {
        "max_components": 5,
        "fixed": "f.csv",
        "fixed_names": "x",
        "signed": False,
        "noise": "constant",
        "k_max": 2,
    }
    given |= {
        "known": "a=g/L",
        "known_replicates": "b",
        "constraint": ["unimodal C", "--force"],
        "order": "rows",
    }
    given |= {
        "runs": "2",
        "closure": True,
        "background": 1,
        "disturbances": "mask",
        "starts": 2,
        "jobs": 1,
        "seed": 7,
    }
    assert set(given) == set(settings.SHAPES)
    project.change(settings=given)
    words = commands.fit(project)
    root = typer.main.get_command(command_line)
    before = os.getcwd()
    os.chdir(home.path)
    try:
        context = root.commands["fit"].make_context("fit", words[2:])
    finally:
        os.chdir(before)
    took = {name.rstrip("_"): value for name, value in context.params.items()}
    for name, value in given.items():
        got = getattr(took[name], "value", took[name])
        wanted = f"p/given/{value}" if name in settings.FILES else value
        assert str(got) == str(wanted), name
    assert took["force"] is True


def test_names_of_files_are_those_of_runs():
    assert (MODEL, NAMES, CHECKPOINT) == (runs.RUN_MODEL, runs.NAMES, runs.CHECKPOINT)
