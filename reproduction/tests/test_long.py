"""Long runs: worked off, killed and gone on with."""

import pandas as pd
import pytest

from gmcr.eb.settings import Settings
from gmcr.errors import InputError
from gmcr_paper.long import collect, plan, work
from gmcr_paper.long.cli import main
from gmcr_paper.results import Results
from gmcr_paper.studies.energy import energy_course

SMALL = plan.LongRun(
    "small",
    {
        "study": "eb",
        "n": 3,
        "ratio": 8,
        "snr": 30,
        "seed": 7001,
        "pool": 8,
        "epochs": 24,
        "without": "nothing",
    },
    {"batch_size": 16},
    save_every=5,
)


def log_of(folder):
    return [line.split(",") for line in (folder / "small" / work.LOG).read_text().splitlines()]


def test_the_plan_has_every_run_of_the_paper():
    cells = [
        {key: run.settings.get(key) for key in ("n", "snr", "batch", "set", "without")}
        for run in plan.RUNS.values()
    ]
    for cell in (
        {"n": 16, "snr": 30, "batch": 16},
        {"n": 16, "snr": 20, "batch": 16},
        {"n": 16, "snr": 30, "batch": 64},
        {"set": "carbs"},
        {"set": "nir"},
        {"without": "usage"},
        {"without": "energy"},
        {"n": 32, "snr": 30, "batch": 16},
    ):
        assert any(cell.items() <= one.items() for one in cells), cell
    for run in (*plan.RUNS.values(), *plan.ON_REQUEST.values()):
        assert run.settings.get("batch", 64) == run.constants.get("batch_size", 64)
        assert plan.named(run.name) is run
    assert len(plan.RUNS | plan.ON_REQUEST) == len(plan.RUNS) + len(plan.ON_REQUEST)
    with pytest.raises(InputError, match="there is no run 'n17'"):
        plan.named("n17")


@pytest.mark.filterwarnings("ignore:the run was interrupted")
@pytest.mark.parametrize("end", [SystemExit, KeyboardInterrupt])
def test_a_worker_that_was_killed_goes_on_and_its_log_has_every_line_once(tmp_path, monkeypatch, end):
    work.work([SMALL], tmp_path / "whole", None)
    told = work.estimator

    def killed(run, folder, D, callback):
        def tell(row):
            callback(row)
            if row.epoch == 13:
                raise end

        return told(run, folder, D, callback=tell)

    monkeypatch.setattr(work, "estimator", killed)
    with pytest.raises(end):
        work.work([SMALL], tmp_path / "parts", None)
    assert not (tmp_path / "parts" / "small" / work.DONE).exists()
    monkeypatch.setattr(work, "estimator", told)
    work.work([SMALL], tmp_path / "parts", None)
    whole, parts = log_of(tmp_path / "whole"), log_of(tmp_path / "parts")
    assert [line[:-1] for line in parts] == [line[:-1] for line in whole]  # all but the seconds
    assert [int(line[0]) for line in parts[1:]] == list(range(24))
    assert (tmp_path / "parts" / "small" / work.DONE).read_text() == '{"epochs": 24, "terminated": false}\n'


def test_two_workers_do_not_share_a_run_and_a_finished_one_is_left_alone(tmp_path):
    with work.claimed(tmp_path / "small") as mine:
        assert mine
        work.work([SMALL], tmp_path, None)
        assert not (tmp_path / "small" / work.LOG).exists()
    (tmp_path / "small" / work.DONE).write_text("{}")
    work.work([SMALL], tmp_path, None)
    assert not (tmp_path / "small" / work.LOG).exists()


def test_what_a_run_has_come_to_is_read_while_it_goes_on(tmp_path, monkeypatch):
    told, seen = work.estimator, []

    def looking(run, folder, D, callback):
        def tell(row):
            callback(row)
            if row.epoch == 17:  # two epochs after the last state
                seen.extend(collect.collect([SMALL], tmp_path, tmp_path / "runs", None))

        return told(run, folder, D, callback=tell)

    monkeypatch.setattr(work, "estimator", looking)
    work.work([SMALL], tmp_path, None)
    assert seen[0].startswith("small: epoch 17 of 24, ")
    (record,) = Results(tmp_path / "runs")
    assert (record["epochs_run"], record["finished"], record["n"]) == (15, False, 3)
    assert [look["epoch"] for look in record["course"]] == [15]  # fewer epochs than between two looks
    monkeypatch.setattr(work, "estimator", told)
    list(collect.collect([SMALL], tmp_path, tmp_path / "runs", None))
    (record,) = Results(tmp_path / "runs")  # in the place of the one before
    assert (record["epochs_run"], record["finished"]) == (24, True)
    assert record["final"]["count"] == record["course"][-1]["count"] == int(log_of(tmp_path)[-1][3])
    assert len((tmp_path / "runs" / "long" / "small.csv").read_text().splitlines()) == 25
    assert "24 (finished), " in collect.standing([SMALL], tmp_path)[0]
    assert collect.standing([plan.named("carbs")], tmp_path)[0].endswith("not begun")
    assert not list(tmp_path.glob(".snapshot*"))


def test_the_command(tmp_path, capsys):
    (tmp_path / "n16-30dB-slots-second").mkdir()
    assert main(["status", "--states", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*plan.RUNS, "n16-30dB-slots-second"]
    assert all(line.endswith("not begun") for line in lines)
    assert main(["collect", "--states", str(tmp_path), "--results", str(tmp_path / "runs"), "carbs"]) == 0
    assert capsys.readouterr().out == "carbs: no state yet\n"
    assert main(["work", "--states", str(tmp_path), "n17"]) == 2
    assert "there is no run 'n17'" in capsys.readouterr().err


def test_the_course_is_that_of_the_checkpoint_rule():
    history = pd.DataFrame(
        {
            "epoch": range(6),
            "r2": [0.5, 0.971, 0.9712, 0.991, 0.972, 0.9],
            "count": [40, 30, 31, 50, 29, 5],
            "usage": [400, 90, 80, 200, 70, 20],
            "mean_energy": [1.6, 1.5, 1.4, 1.3, 1.2, 1.1],
        }
    )
    looks = collect.course(history, 0.97, 2)
    assert [look["epoch"] for look in looks] == [2, 4, 6]
    assert [look["fewest"] for look in looks] == [
        {"0.97": 30},
        {"0.97": 30, "0.99": 50},
        {"0.97": 29, "0.99": 50},
    ]
    assert [look["count"] for look in looks] == [30, 50, 5]


def test_the_energys_course():
    settings = Settings(oscillation_window=3)
    nmse = [0.5, 0.005, 0.02, 0.02, 0.02, 0.001, 0.001]
    energy = [1.8, 1.4, 1.2, 1.0, 0.9, 0.3, 0.4]
    found = energy_course(pd.DataFrame({"nmse": nmse, "mean_energy": energy}), settings)
    assert (found["entered"], found["oscillated"]) == (
        1,
        5,
    )  # the three epochs before are above the tolerance
    assert found["energy_ratio"] == pytest.approx(0.25)  # of 1.6, the mean up to entry
    assert found["smallest_ratio"] == found["ratio_oscillated"] == pytest.approx(0.3 / 1.6)
    never = energy_course(pd.DataFrame({"nmse": [0.5], "mean_energy": [1.6]}), settings)
    assert never == {"entered": None, "oscillated": None, "energy_ratio": None}
