"""Long runs: worked off, killed and gone on with."""

import pytest

from gmcr.errors import InputError
from gmcr_paper.long import plan, work

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
    for run in plan.RUNS.values():
        assert run.settings.get("batch", 64) == run.constants.get("batch_size", 64)
    with pytest.raises(InputError, match="there is no run 'n17'"):
        plan.named("n17")


def test_a_worker_that_was_killed_goes_on_and_its_log_has_every_line_once(tmp_path, monkeypatch):
    work.work([SMALL], tmp_path / "whole", None)
    told = work.estimator

    def killed(run, folder, D, callback):
        def tell(row):
            callback(row)
            if row.epoch == 13:
                raise SystemExit

        return told(run, folder, D, callback=tell)

    monkeypatch.setattr(work, "estimator", killed)
    with pytest.raises(SystemExit):
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
