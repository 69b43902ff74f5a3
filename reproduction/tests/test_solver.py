"""The paper's statements about its solver, on records made by hand: reached, not reached, not yet run."""

import pytest

from gmcr_paper import ablation, predictions, solver
from gmcr_paper.claims_solver import same, solver_claims
from gmcr_paper.claims_solver_real import real_solver_claims
from gmcr_paper.document import write_document
from gmcr_paper.energy_cells import Size, held_to, is_small, size_of
from gmcr_paper.experiment import Found
from gmcr_paper.long.plan import RUNS, named
from gmcr_paper.results import Record, Results

BAND = {
    "usage_ratio": 1.9, "exact": 0.2, "no_miss": 0.95, "min_cos": 0.99, "misses": 0, "isolating_pairs": 1,
    "isolating_pairs_ceiling": 5, "usage_ratio_above": 1.04, "exact_above": 0.85, "spurious": 0.1,
    "true_count": 16,
}  # fmt: skip


def band(low, count, epoch=0.1, **changed):
    state = {"low": low, "high": low + 0.005, "count": count, "r2": low + 0.002, "usage": 300, "epoch": epoch}
    return BAND | state | changed


def result(count, bands, **changed):
    state = BAND | {"count": count, "r2": 0.997, "seconds": 1.0}
    looks = [
        {
            "epoch": epoch,
            "count": count + 9,
            "usage": 900,
            "r2": 0.99,
            "mean_energy": 1.1,
            "fewest": {"0.99": 20},
        }
        for epoch in range(200, 10_001, 200)
    ]
    ran = {
        "epochs_run": 10_000,
        "terminated": True,
        "finished": True,
        "fit_seconds": 7200.0,
        "single_users": 0,
    }
    energy = {
        "entered": 500,
        "oscillated": 900,
        "ratio_oscillated": 0.8,
        "energy_ratio": 0.2,
        "final_energy": 0.3,
    }
    kept = {
        "bands": bands,
        "final": state,
        "refined": state,
        "course": looks,
        "noisy": {"count": 20, "r2": 0.9},
    }
    return ran | energy | kept | changed


def kept(results, name, outcome):
    results.put(name, Record(named(name).settings, outcome, 7200.0), {})


def verdicts(found):
    return {claim.statement: claim for claim in (*solver_claims(found), *real_solver_claims(found))}


def test_a_mean_is_the_same_within_three_of_the_papers_spreads():
    assert same("15.4±0.5", [16, 17.5])
    assert not same("15.4±0.5", [17, 17.5])
    assert same("0.000±0.000", [0.0004])
    assert not same("0.000±0.000", [0.001])


def test_each_statement_is_reached_not_reached_or_not_yet_run(tmp_path):
    results = Results(tmp_path)
    assert all(claim.holds is None and claim.ours == "not run" for claim in verdicts(Found(results)).values())
    kept(
        results,
        "n16-30dB",
        result(17, [band(0.985, 15), band(0.99, 16), band(0.995, 17, epoch=0.5, usage_ratio=5.0)]),
    )
    kept(results, "n16-20dB", result(30, [], finished=False, epochs_run=4_000))
    claims = verdicts(Found(Results(tmp_path)))
    count = claims["N = 16, 30 dB: count in [0.99, 0.995) (the success band)"]
    assert (count.paper, count.ours, count.holds) == ("15.4±0.5", "16", True)
    assert claims["N = 16, 30 dB: count in [0.97, 0.975)"].ours == "band not entered"
    assert claims["N = 16, 30 dB: count in [0.97, 0.975)"].holds is False
    assert claims["N = 16, 30 dB: usage over the true usage, by the gate"].holds
    assert claims["N = 16, 30 dB: supports exact with ϑ = 0.5, share of samples"].holds
    waits = claims["N = 16, 20 dB: count in [0.98, 0.985) (the success band)"]
    assert (waits.ours, waits.holds) == ("not finished: at epoch 4,000 of 10,000", None)
    assert claims["Runs end by the termination rule"].holds
    assert claims["Oscillation begins while the energy ratio is clearly above 0.25"].holds
    assert claims["Within one run the count rises with the band"].holds
    two = claims["Checkpoints of the first fifth have usage ratios of 1.1 to 2.4, later ones of 4 to 19"]
    assert (two.ours, two.holds) == ("early 1.9 (2 checkpoints), late 5.0 (1)", True)


def test_an_ablation_is_compared_at_the_same_epoch(tmp_path):
    results = Results(tmp_path)
    kept(results, "n16-30dB", result(17, [band(0.99, 16)]))
    kept(results, "n16-30dB-without-usage", result(40, [band(0.99, 33)], epochs_run=5_000, terminated=False))
    found = Found(results)
    claim = verdicts(found)["Without the usage penalty the count inflates"]
    assert (claim.ours, claim.holds) == ("fewest of any band 33, with it 20 at the same epoch", True)
    (table,) = ablation.shows(found)
    rows = {row[2]: dict(zip(table.columns, row)) for row in table.rows}
    assert rows["EB-gMCR"]["count"] == "20.0"
    assert rows["EB-gMCR"]["runs"] == "1 of 1, on the way of longer runs"
    assert rows["without usage penalty"]["count"] == "33.0"


def real_result(count, bands, **changed):
    state = {"count": count, "r2": 0.964, "rmse_c": 0.03, "cos_s": 0.996, "usage": 60}
    return result(count, [state | one for one in bands], final=state, refined=state, **changed)


def test_carbs(tmp_path):
    results = Results(tmp_path)
    gate = {"count": 3, "nmse": 0.012, "floor": 0.01, "below": 0.4, "kept_all": 1.0}
    gate |= {"absent_ratio": 0.25, "absent_ratio_90": 0.5}
    edges = [{"low": 0.96, "high": 0.965, "count": 3}, {"low": 0.97, "high": 0.975, "count": 5}]
    kept(results, "carbs", real_result(3, edges, reuse={"gate": gate}, epochs_run=300_000))
    claims = verdicts(Found(results))
    for statement in (
        "Carbs: 3 components at the end of the run",
        "Carbs: the fit at 3 components",
        "Carbs: stricter bands return more components",
        "Carbs: fewest components of any band",
        "Reuse: the error tracks the noise floor",
        "Reuse: three components on every mixture",
        "Reuse: an absent component over the smallest present one on the boundary",
    ):
        assert claims[statement].holds, statement
    assert claims["NIR: 2 components at the end of the run"].holds is None


def test_sizes_and_what_statements_are_held_to(tmp_path):
    assert str(Size(1024, 10_000, 16)) == "pool 1024, 10,000 epochs, batches of 16"
    assert Size(64, 3_000).short == "64 × 3k"
    results = Results(tmp_path)
    for name in ("n16-30dB", "n16-30dB-batch64"):
        kept(results, name, result(17, []))
    (record,) = held_to(Found(results), n=16)
    assert size_of(record).batch == 16
    assert not is_small(record)
    assert is_small(Record(record.settings | {"pool": 128}, {}, 1.0))
    assert not is_small(Record(named("carbs").settings, {}, 1.0))
    assert is_small(Record(named("carbs").settings | {"epochs": 20_000}, {}, 1.0))


def test_every_run_stands_in_the_tables(tmp_path):
    results = Results(tmp_path)
    kept(results, "n16-30dB", result(17, [band(0.99, 16)]))
    kept(results, "n16-30dB-slots", result(16, [band(0.995, 16, exact=0.95)], epochs_run=5_000))
    kept(
        results,
        "nir",
        real_result(9, [], finished=False, terminated=False, epochs_run=2_000, energy_ratio=None),
    )
    tables = {table.name: table for table in solver.shows(Found(Results(tmp_path)))}
    runs = {row[0]: row for row in tables["long-runs"].rows}
    assert set(runs) == set(RUNS)
    assert runs["n16-30dB"][1:4] == ("10,000 of 10,000", "by the rule", "2.00")
    assert runs["n16-30dB"][-1] == "20, 0.9000"
    assert runs["nir"][2] == "not yet"
    assert runs["carbs"][2] == "not run"
    course = {row[0]: row for row in tables["course"].rows}
    assert course["n16-30dB"][1] == "26 (900)"
    assert course["nir"][1] == "–"
    (variant,) = tables["variants"].rows
    assert variant[0] == "n16-30dB-slots"
    assert variant[5] == "26, 20"
    assert variant[-1] == "yes"
    write_document(tmp_path / "paper.md", Found(Results(tmp_path)))
    assert "## EB-gMCR at its own size, point by point" in (tmp_path / "paper.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("count", "came"), [(17, "yes"), (25, "no")])
def test_predictions_are_judged(tmp_path, count, came):
    results = Results(tmp_path)
    kept(results, "n16-30dB", result(count, [band(0.99, 16)], energy_ratio=0.6, terminated=False))
    rows = predictions.predictions_table(Found(results)).rows
    outcome = {(row[0], row[1]): row[2:] for row in rows}
    assert outcome["n16-30dB", "16 to 19 components at the end"] == (str(count), came)
    assert outcome["n16-30dB", "15 to 17 in the success band"] == ("16", "yes")
    assert outcome["n16-30dB", "energy ratio 0.5 to 0.7, the rule does not fire"][1] == "yes"
    assert outcome["carbs", "no oscillation"] == ("not run", "–")
    assert {row[0] for row in rows} == set(RUNS)
