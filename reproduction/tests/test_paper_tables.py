"""The paper's tables: support columns on a case made by hand, three formats, its values, the document."""

import re
from pathlib import Path

import numpy as np
import pytest

from gmcr import Decomposition
from gmcr.mixtures import Mixtures
from gmcr_paper import ablation, bands, counts, published, runtime, support_bands, supports
from gmcr_paper.document import write_document
from gmcr_paper.experiment import Asked, Claim, Found
from gmcr_paper.registry import CLAIMS, EXPERIMENTS
from gmcr_paper.results import Results
from gmcr_paper.simpler import simpler_table, sufficient
from gmcr_paper.studies.energy import band_row
from gmcr_paper.studies.synthetic import scored
from gmcr_paper.tables import NOT_RUN, Table, latex, markdown, mean_sd, span
from gmcr_paper.truth import synthetic, truth_note
from shared_data import SHARED

PAPER = next(iter(sorted((SHARED / "paper").glob("000_*.txt"))), None)


# A case made by hand: three components, six samples, four slots


def truth():
    """Supports {0}, {0,1}, {1,2}, {2}, {0}, {0}: eight selections; component 0 has an isolating pair."""
    C = np.array([[4, 0, 0], [3, 2, 0], [0, 5, 6], [0, 0, 7], [2, 0, 0], [9, 0, 0]], float)
    S = np.eye(3, 6)
    return Mixtures(C @ S, C, S, np.zeros(6), C > 0, C @ S, None)


def gate():
    """What a gate might make of it, slots in another order: 1, 2, 0 and one too many.

    Sample 0 has the spare slot at 0.2, sample 2 lacks component 2, sample 3 has component 1 at 0.3 besides.
    The profile of component 2 is off by an angle of cosine 0.8.
    """
    C = np.array(
        [[0, 0, 4, 0.2], [2, 0, 3, 0], [5, 0, 0, 0], [0.3, 7, 0, 0], [0, 0, 2, 0], [0, 0, 9, 0]], float
    )
    S = np.zeros((4, 6))
    S[0, 1] = S[2, 0] = S[3, 5] = 1.0
    S[1, [2, 3]] = 0.8, 0.6
    return Decomposition(S, C)


HAND = {
    "usage_ratio": 9 / 8,  # 2 + 2 + 1 + 2 + 1 + 1 selections
    "exact": 3 / 6,  # samples 1, 4 and 5
    "no_miss": 5 / 6,  # all but sample 2
    "min_cos": 0.8,
    "misses": 0,
    "isolating_pairs": 1,  # component 0, alone in samples 4 and 5
    "isolating_pairs_ceiling": 1,
    "usage_ratio_above": 7 / 8,  # 0.2 and 0.3 are dropped
    "exact_above": 5 / 6,
    "spurious": 0.25,  # the median of 0.2 and 0.3
    "count": 4,
    "true_count": 3,
}


@pytest.mark.parametrize("column", HAND)
def test_each_support_column_by_hand(column):
    assert scored(truth(), gate())[column] == pytest.approx(HAND[column])


def test_misses_count_components_without_a_slot():
    few = gate().select([0, 2])  # no slot for component 2
    columns = scored(truth(), few)
    assert columns["misses"] == 1
    assert columns["exact"] == columns["no_miss"] == 4 / 6  # all but samples 2 and 3, which hold it


class Stage:
    """A run of 200 epochs with this checkpoint at epoch 50."""

    n_epochs_ = 200
    low, high, epoch, r2, usage = 0.98, 0.985, 50, 0.9823, 9
    decomposition = gate()


def run_of(results, **changed):
    """Keep a run of EB-gMCR whose only checkpoint is the one above."""
    settings = {"study": "eb", "method": "eb", "n": 16, "ratio": 4, "snr": 20, "seed": 100, "pool": 64}
    settings |= {"epochs": 200, "without": "nothing"} | changed
    band = band_row(Stage, Stage, truth())
    results.add(
        settings,
        {
            "bands": [band],
            "final": scored(truth(), gate()),
            "refined": scored(truth(), truth_found()) | {"seconds": 1.0},
            "fit_seconds": 36.0,
            "terminated": False,
            "energy_ratio": 0.5,
            "epochs_run": 200,
        },
        36.0,
        {},
    )


def truth_found():
    return Decomposition(np.eye(3, 6), truth().C)


def cells_of(table, where):
    rows = [dict(zip(table.columns, row)) for row in table.rows]
    chosen = [row for row in rows if all(row[name].startswith(text) for name, text in where.items())]
    assert len(chosen) == 1
    return chosen[0]


@pytest.fixture
def found(tmp_path):
    results = Results(tmp_path)
    run_of(results)
    return Found(results)


def test_the_support_table_shows_these_columns(found):
    (table,) = supports.shows(found)
    row = cells_of(table, {"solver": "EB-gMCR (pool 64"})
    assert list(row.values())[3:] == [
        "1.125",
        "0.500",
        "0.833",
        "0.800",
        "0.0",
        "1.0 (1.0)",
        "0.875",
        "0.833",
        "1 of 1",
    ]
    refined = cells_of(table, {"solver": "EB-gMCR, refined"})
    assert (refined["usage ratio"], refined["exact"], refined["no-miss"]) == ("1.000", "1.000", "1.000")
    paper = cells_of(table, {"solver": "EB-gMCR in the paper"})
    assert paper["isolating pairs (ceiling)"] == "0.0±0.0 (5.4)"
    assert (paper["usage ratio"], paper["exact, ĉ > 0.5"]) == ("7.025±0.828", "0.756±0.140")
    assert cells_of(table, {"solver": "window solver"})["usage ratio"] == NOT_RUN


def test_the_band_table_shows_these_columns(found):
    (table,) = support_bands.shows(found)
    row = cells_of(table, {"run": "pool 64", "band": "0.98–"})
    assert row["n"] == "1"
    assert row["epoch"] == "0.25"
    assert (row["usage ratio"], row["no-miss"], row["min cos"]) == ("1.12", "0.83", "0.80")
    assert (row["exact"], row["exact, ĉ > 0.5"], row["spurious ĉ"]) == ("0.50", "0.83", "0.25")
    paper = cells_of(table, {"run": "paper", "band": "0.99–"})
    assert (paper["n"], paper["epoch"], paper["spurious ĉ"]) == ("4", "0.08±0.02", "1.33±0.95")


def test_means_and_spreads_are_over_runs(tmp_path):
    results = Results(tmp_path)
    for seed in (100, 101):
        run_of(results, seed=seed)
    (table,) = supports.shows(Found(results))
    assert cells_of(table, {"solver": "EB-gMCR (pool 64"})["usage ratio"] == "1.125±0.000"
    assert mean_sd([1.0, 2.0, None]) == "1.500±0.707"
    assert mean_sd([]) == NOT_RUN
    assert mean_sd([None]) == "–"
    assert span([3, 1, 2], "{:d}") == "1–3"


def test_a_run_without_the_band_is_no_checkpoint(tmp_path):
    results = Results(tmp_path)
    run_of(results, snr=30)  # its checkpoint is not in the success band of 30 dB
    (table,) = supports.shows(Found(results))
    row = cells_of(table, {"solver": "EB-gMCR (pool 64"})
    assert (row["usage ratio"], row["runs"]) == ("no checkpoint in the band", "0 of 1")


def test_the_bands_and_the_ablation(tmp_path):
    results = Results(tmp_path)
    run_of(results)
    run_of(results, without="energy")
    table, *_ = bands.shows(Found(results))
    row = cells_of(table, {"band": "0.98–"})
    assert (row["paper: count"], row["count"], row["usage / true"]) == ("16.2±1.1", "4.0", "1.12")
    assert cells_of(table, {"band": "0.97–"})["count"] == "not entered"
    (table,) = ablation.shows(Found(results))
    row = cells_of(table, {"solver": "without energy"})
    assert (row["paper: count"], row["count"], row["hours"]) == ("282.0±20.3", "4.0", "0.010")
    assert (row["ended by the rule"], row["energy ratio"]) == ("0 of 1", "0.50")
    assert cells_of(table, {"solver": "without usage"})["R²"] == NOT_RUN


def test_the_count_table(tmp_path):
    results = Results(tmp_path)
    line = scored(truth(), gate()) | {"fit_seconds": 2.0}
    for seed, r2 in ((100, 0.981), (101, 0.979)):
        results.add(synthetic("nmf", 16, 20, seed), line | {"r2": r2, "count": seed - 84}, 2.0, {})
    results.add(synthetic("truth", 16, 20, 100), {"r2": 0.972, "refitted_r2": 0.978, "count": 16}, 1.0, {})
    table = counts.shows(Found(results))[0]
    row = cells_of(table, {"method": "NMF"} | {"paper: succ.": "0.33"})
    assert (row["paper: R²"], row["paper: count"]) == ("0.978±0.002", "18.0±1.1")
    assert (row["succ."], row["R²"], row["count"]) == ("0.50", "0.980±0.001", "16.5±0.7")
    assert (row["min cos"], row["exact"], row["runs"]) == ("0.800±0.000", "0.500±0.000", "2")
    assert cells_of(table, {"method": "the truth", "R²": "0.972"})["count"] == "16.0"
    assert cells_of(table, {"method": "the truth, refitted"})["R²"] == "0.978"
    assert cells_of(table, {"method": "SPA"})["succ."] == NOT_RUN
    assert len(table.rows) == 2 + len(counts.ROWS) - 1  # φ = 0.03 has no row at 20 dB


def test_the_truth_stands_below_the_tables(tmp_path):
    results = Results(tmp_path)
    for seed, r2 in ((100, 0.972), (101, 0.97)):
        truth_line = {"r2": r2, "refitted_r2": 0.978, "count": 16}
        results.add(synthetic("truth", 16, 20, seed), truth_line, 1.0, {})
    run_of(results)
    expected = "0.9700–0.9720 and 0.9780 (N = 16, 4N, 20 dB)"
    note = truth_note(Found(results), [(16, 4, 20), (16, 8, 20)])
    assert note.endswith(f"{expected}; not run (N = 16, 8N, 20 dB).")
    for name in ("supports", "support-bands", "bands"):
        assert any(expected in note for note in EXPERIMENTS[name].shows(Found(results))[0].notes)


def test_the_runtime_table(tmp_path):
    results = Results(tmp_path)
    for count in range(2, 33, 2):
        settings = {"study": "timing", "method": "nmf", "n": 32, "ratio": 4, "snr": 20, "seed": 100}
        results.add(settings | {"count": count}, {"fit_seconds": 36.0}, 36.0, {})
    (table,) = runtime.shows(Found(results))
    row = cells_of(table, {"method": "NMF"})
    assert [row[f"seconds: {interval}"] for interval in (32, 16, 8, 4, 2)] == [
        "36",
        "72",
        "144",
        "288",
        "576",
    ]
    assert [row[f"paper, hours: {interval}"] for interval in (32, 2)] == ["0.03", "0.27"]
    assert cells_of(table, {"method": "ICA"})["seconds: 2"] == NOT_RUN


# Formats

EVIL = r"a|b_c & 100% {x} $5 #1 ~^\ <b>*bold*</b> `code` [l](u)" + "\nsecond line"


def evil_table():
    return Table("evil", EVIL, ("R²", "ĉ > 0.5", "Ē"), ((EVIL, "1±2", "–"), ("φ", "x", "y")), (EVIL,))


def test_markdown_shows_text_as_it_is():
    table = evil_table().as_markdown()
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows)
    assert "<b>" not in table.replace("\\<b\\>", "")
    assert "\\*bold\\*" in table
    assert re.sub(r"\\(.)", r"\1", markdown(EVIL)) == " ".join(EVIL.split())


def test_latex_shows_text_as_it_is():
    table = evil_table().as_latex()
    rows = [line for line in table.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 3
    assert all(len(re.findall(r"(?<!\\)&", row)) == 2 for row in rows)
    assert not re.search(r"(?<!\\)[%#]", table)
    assert len(re.findall(r"(?<!\\)\$", table)) % 2 == 0
    assert latex("R²") == "R$^2$"
    assert latex("ĉ > 0.5") == r"$\hat{c}$ $>$ 0.5"
    assert latex(r"a_b\c") == r"a\_b\textbackslash{}c"
    assert latex("Fé") == "Fé"
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", table):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0


def test_text_is_aligned():
    text = Table("t", "Title", ("a", "long heading"), (("wide cell", "1"), ("x", "2")), ("Note.",)).as_text()
    lines = text.splitlines()
    assert lines[0] == "Title"
    assert [
        line.index(word) for line, word in zip(lines[2:6:1], ("long", "---", "1", "2")) if word != "---"
    ] == [11] * 3
    assert lines[-1] == "Note."


def test_a_table_without_rows_says_so():
    table = Table("t", "Title", ("a",), ())
    assert NOT_RUN in table.as_text()
    assert NOT_RUN in table.as_markdown()
    assert r"\end{tabular}" in table.as_latex()


def test_rows_must_fit_the_columns():
    with pytest.raises(ValueError, match="2 cells for 1 columns"):
        Table("t", "", ("a",), (("1", "2"),))


# Every table and figure, from nothing and from a little


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_everything_renders_from_an_empty_folder(tmp_path, name):
    found = Found(Results(tmp_path))
    for part in EXPERIMENTS[name].shows(found):
        if isinstance(part, Table):
            assert part.as_text()
            assert part.as_markdown()
            assert part.as_latex()


def test_claims_hold_nothing_that_was_not_run(tmp_path):
    claims = [claim for statements in CLAIMS[:-1] for claim in statements(Found(Results(tmp_path)))]
    assert len(claims) > 20
    assert all(claim.holds is None and claim.ours == "not run" for claim in claims)


def test_claims_are_judged_by_the_runs(tmp_path):
    results = Results(tmp_path)
    for snr, share in ((20, 1.1), (30, 2.0)):
        line = scored(truth(), gate()) | {
            "r2": 0.983,
            "count": round(16 * share),
            "phi": 0.004,
            "fit_seconds": 1,
        }
        results.add(synthetic("ard-oracle", 16, snr, 100), line, 1.0, {})
    results.add(synthetic("truth", 16, 20, 100), {"r2": 0.972, "refitted_r2": 0.978, "count": 16}, 1.0, {})
    found = Found(results)
    claims = {c.statement: c for statements in CLAIMS for c in statements(found) if c.holds is not None}

    def only(start) -> Claim:
        (claim,) = [claim for statement, claim in claims.items() if statement.startswith(start)]
        return claim

    assert only("ARD-NMF at the true noise variance, 20 dB").holds
    assert only("ARD-NMF at the true noise variance, 30 dB").ours == "2.00"
    assert only("ARD-NMF, oracle").holds is False  # 32 components where the paper has 46
    assert only("The success band at 20 dB").holds is False


def test_what_suffices():
    good = {"count": 8, "true_count": 8, "min_cos": 0.99, "exact": 1.0}
    assert sufficient([good]) == "count, every profile, supports"
    assert sufficient([good, good | {"count": 9, "exact": 0.0}]) == "every profile"
    assert sufficient([good | {"count": 9, "exact": 0.0, "min_cos": 0.2}]) == "–"


def test_the_document_is_made_of_results(tmp_path):
    results = Results(tmp_path / "runs")
    run_of(results)
    line = scored(truth(), gate()) | {"fit_seconds": 2.0}
    results.add(synthetic("window", 16, 20, 100), line | {"r2": 0.12345}, 2.0, {})
    found = Found(results, Asked())
    files = write_document(tmp_path / "docs" / "paper.md", found)
    text = files[0].read_text(encoding="utf-8")
    assert "0.123" in text
    for experiment in EXPERIMENTS.values():
        assert f"`gmcr-paper {experiment.name}`" in text
    main, _, appendix = text.partition("## Appendix: EB-gMCR with small pools")
    assert "pool 64, 200 epochs" in appendix  # no run of the paper's size
    assert "pool 64" not in main.replace("A pool of 64", "")
    figures = re.findall(r"\]\((figures/paper/[\w-]+\.png)\)", text)
    assert "figures/paper/gate.png" in figures
    for figure in figures:
        assert (tmp_path / "docs" / figure).read_bytes().startswith(b"\x89PNG")
    assert "## What does not, and why" in text
    assert "## Not run" in text
    assert simpler_table(found).rows


# The paper's values


def test_published_values_have_the_papers_shape():
    assert len(published.COUNTS) == 10 * 8 * 2
    assert len(published.BANDS) == (3 + 5 + 2 + 5) * 10
    assert len(published.RUNTIME) == 2 * 5 * 6
    assert len(published.SUPPORTS) == 6
    assert len(published.SUPPORT_BANDS) == 31
    assert len(published.ABLATION) == 20
    assert len(published.REAL) == 14
    assert published.mean("0.978±0.002") == 0.978
    assert published.mean("-131.4") == -131.4
    assert published.mean("-") is None


@pytest.mark.skipif(PAPER is None, reason="the paper is not at ../shared/paper")
def test_published_values_are_the_papers():
    lines = PAPER.read_text(encoding="utf-8").splitlines()
    source = Path(published.__file__).read_text(encoding="utf-8")
    blocks = re.findall(r"# Lines ([^:]+):[^\n]*\n_\w+ = \"\"\"\n(.*?)\"\"\"", source, re.S)
    assert len(blocks) == 7
    for where, block in blocks:
        spans = [tuple(map(int, part.split("–"))) for part in where.split(" and ")]
        text = [_bare(line) for first, last in spans for line in lines[first - 1 : last]]
        rows = iter(text)
        for row in block.strip().splitlines():
            # Names and whole numbers are ours; every value must stand in one of the paper's next lines.
            values = [word for word in row.split() if "." in word]
            if where == "6528–6540":
                values.pop()  # EB-gMCR's time spans five lines of the paper's table
            assert any(_in_order(values, line) for line in rows), (where, row)


def _bare(line):
    line = re.sub(r"\\textbf\{([^{}]*)\}", r"\1", line)
    return line.replace(r"$\pm$", "±").replace("$", "")


def _in_order(values, line):
    place = 0
    for value in values:
        place = line.find(value, place)
        if place < 0:
            return False
        place += len(value)
    return True
