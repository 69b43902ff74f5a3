"""Mutational catalogues and signatures: every form of a file reads to one table, and decoding goes by names."""

import csv
import io
import json
from itertools import product

import numpy as np
import pandas as pd
import pytest

import gmcr
from gmcr import GMCR, Decomposition, decode
from gmcr.errors import InputError
from gmcr.io.mutations import mutation_type
from gmcr.io.reading import read_allowed, read_pool

BASES = "ACGT"
SUBSTITUTIONS = ["C>A", "C>G", "C>T", "T>A", "T>C", "T>G"]
SBS = [f"{a}[{change}]{b}" for a, change, b in product(BASES, SUBSTITUTIONS, BASES)]
SBS1536 = [
    f"{a}{b}[{change}]{c}{d}" for a, b, change, c, d in product(BASES, BASES, SUBSTITUTIONS, BASES, BASES)
]
SBS192 = [f"{strand}:{key}" for strand, key in product("TU", SBS)]
DBS = [
    f"{ref}>{a}{b}"
    for ref in ("AC", "AT", "CC", "CG", "CT", "GC", "TA", "TC", "TG", "TT")
    for a, b in product(BASES, BASES)
    if a != ref[0] and b != ref[1]
][:78]
ID = [
    *(f"1:{kind}:{base}:{n}" for kind, base, n in product(("Del", "Ins"), "CT", range(6))),
    *(f"{size}:{kind}:R:{n}" for kind, size, n in product(("Del", "Ins"), range(2, 6), range(6))),
    *(f"{size}:Del:M:{n}" for size in range(2, 6) for n in range(1, size if size < 5 else 6)),
]
KINDS = {"sbs96": SBS, "dbs78": DBS, "id83": ID, "sbs192": SBS192, "sbs1536": SBS1536}
N_SAMPLES = 4


def parts(key):
    """A single-base substitution as change and context."""
    before, change, after = key.replace("]", "[").split("[")
    return change, before + change[0] + after


def long_form(key):
    """An insertion or deletion as ICAMS writes it, in four cells."""
    size, kind, unit, n = key.split(":")
    plus = lambda text: "5+" if text == "5" else text  # noqa: E731
    return kind.upper(), {"R": "repeats", "M": "MH"}.get(unit, unit), plus(size), plus(n)


# Form: heading cells over the labels, and the label cells of a key.
FORMS = {
    "SigProfiler": (["MutationType"], lambda key: [key]),
    "COSMIC": (["Type"], lambda key: [key]),
    "COSMIC 3.0": (["Type", "SubType"], lambda key: parts(key)),
    "COSMIC 2": (
        ["Substitution Type", "Trinucleotide", "Somatic Mutation Type"],
        lambda key: [*parts(key), key],
    ),
    "ICAMS": (["Mutation type", "Trinucleotide"], lambda key: parts(key)),
    "joined": (["channel"], lambda key: ["|".join(parts(key))]),
    "with numbers": (["", "Type", "SubType"], lambda key: [str(SBS.index(key) + 1), *parts(key)]),
    "lower case": ([""], lambda key: [key.lower()]),
    "ICAMS doublets": (["Ref", "Var"], lambda key: key.split(">")),
    "ICAMS indels": (["Type", "Subtype", "Indel_size", "Repeat_MH_size"], long_form),
    "COSMIC indels": (["Type"], lambda key: ["_".join(long_form(key))]),
    "strands": (["Strand", "Mutation type", "Trinucleotide"], lambda key: [key[0], *parts(key[2:])]),
    "pentanucleotides": (["Mutation type", "Pentanucleotide"], lambda key: parts(key)),
}
OF_SBS = ("SigProfiler", "COSMIC", "COSMIC 3.0", "COSMIC 2", "ICAMS", "joined", "with numbers", "lower case")
CASES = [
    *(("sbs96", form) for form in OF_SBS),
    *(("dbs78", form) for form in ("SigProfiler", "COSMIC", "ICAMS doublets")),
    *(("id83", form) for form in ("SigProfiler", "ICAMS indels", "COSMIC indels")),
    *(("sbs192", form) for form in ("SigProfiler", "strands")),
    *(("sbs1536", form) for form in ("SigProfiler", "pentanucleotides")),
]


def catalogue(keys, seed=0):
    """Counts (samples, channels) and names of the samples."""
    counts = np.random.default_rng(seed).poisson(20.0, (N_SAMPLES, len(keys)))
    return counts, [f"Breast-AdenoCA::S.{m}" for m in range(1, N_SAMPLES + 1)]


def table_of(form, keys, counts, names, order=None):
    """Rows of cells, channels in rows."""
    heading, cells = FORMS[form]
    order = range(len(keys)) if order is None else order
    return [[*heading, *names], *([*cells(keys[j]), *map(str, counts[:, j])] for j in order)]


def write(path, rows, delimiter="\t", end="\n", quoting=csv.QUOTE_MINIMAL, encoding="utf-8"):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def check(table, keys, counts, names):
    """Whether it is this catalogue, its channels in any order."""
    assert sorted(table.channels) == sorted(keys)
    assert table.sample_names == tuple(names)
    assert table.axis is None
    np.testing.assert_array_equal(table.ordered_as(tuple(keys), "the test").samples, counts)


# Reading


def test_sizes():
    assert {name: len(set(keys)) for name, keys in KINDS.items()} == {
        "sbs96": 96, "dbs78": 78, "id83": 83, "sbs192": 192, "sbs1536": 1536,
    }  # fmt: skip


@pytest.mark.parametrize("across", [False, True], ids=["channels in rows", "samples in rows"])
@pytest.mark.parametrize(("kind", "form"), CASES, ids=lambda value: value.replace(" ", "_"))
def test_every_form_reads_to_one_table(kind, form, across, tmp_path):
    keys = KINDS[kind]
    counts, names = catalogue(keys)
    order = np.random.default_rng(1).permutation(len(keys))
    rows = table_of(form, keys, counts, names, order)
    rows = list(zip(*rows)) if across else rows
    for file, written in {
        "plain.tsv": {},
        "quoted.csv": {"delimiter": ",", "quoting": csv.QUOTE_ALL},
        "windows.txt": {"end": "\r\n", "encoding": "utf-8-sig"},
    }.items():
        table = gmcr.read(write(tmp_path / file, rows, **written))
        check(table, keys, counts, names)
        assert table.channels == tuple(keys[j] for j in order)
        assert any("mutation types" in note for note in table.notes)
        assert any(f"Samples are in {'rows' if across else 'columns'}" in note for note in table.notes)


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize(
    ("kind", "form"), [("sbs96", "SigProfiler"), ("sbs96", "ICAMS"), ("id83", "ICAMS indels")]
)
def test_what_stands_around(kind, form, across, tmp_path):
    """Totals, footers, empty lines, a delimiter at the end: none of them is data."""
    keys = KINDS[kind]
    counts, names = catalogue(keys)
    rows = table_of(form, keys, counts, names)
    n_labels = len(rows[0]) - N_SAMPLES
    empty = [""] * len(rows[0])
    sums = ["Total", *[""] * (n_labels - 1), *map(str, counts.sum(axis=1))]
    beside = [[*row, "Total" if not m else str(counts[:, m - 1].sum())] for m, row in enumerate(rows)]
    around = {
        "total": [*rows, sums],
        "number": [*rows, ["Number of mutations", *sums[1:]]],
        "total of samples": beside,
        "empty lines": [rows[0], empty, *rows[1:], empty, empty],
        "empty column": [[*row, ""] for row in rows],
        "footer": [*rows, empty, ["source: here", *empty[1:]]],
        "title": [["A title", *empty[1:]], *rows],
    }
    for name, some in around.items():
        some = [list(row) for row in zip(*some)] if across else some
        table = gmcr.read(write(tmp_path / f"{name}.tsv", some))
        check(table, keys, counts, names)
        table = gmcr.read(write(tmp_path / f"{name}.csv", some, ","))
        check(table, keys, counts, names)


def test_a_delimiter_at_the_end_of_some_lines(tmp_path):
    counts, names = catalogue(SBS)
    rows = table_of("SigProfiler", SBS, counts, names)
    check(gmcr.read(write(tmp_path / "header.tsv", [[*rows[0], ""], *rows[1:]])), SBS, counts, names)
    check(
        gmcr.read(write(tmp_path / "lines.tsv", [rows[0], *([*row, ""] for row in rows[1:])])),
        SBS,
        counts,
        names,
    )
    table = gmcr.read(write(tmp_path / "both.SBS96.all", [[*row, ""] for row in rows]))
    check(table, SBS, counts, names)
    # As R's write.table has it: no heading over the row names.
    check(gmcr.read(write(tmp_path / "r.tsv", [rows[0][1:], *rows[1:]])), SBS, counts, names)


def test_one_sample_and_numbers_as_names(tmp_path):
    counts, _ = catalogue(SBS)
    rows = table_of("ICAMS", SBS, counts[:1], ["1"])
    check(gmcr.read(write(tmp_path / "one.csv", rows, ",")), SBS, counts[:1], ["1"])
    rows = table_of("SigProfiler", SBS, counts, ["1", "2", "3", "4"])
    check(gmcr.read(write(tmp_path / "numbers.tsv", rows)), SBS, counts, ["1", "2", "3", "4"])
    bare = gmcr.read(write(tmp_path / "bare.tsv", rows[1:]))
    assert bare.sample_names is None
    np.testing.assert_array_equal(bare.samples, counts)


def test_other_formats(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    counts, names = catalogue(ID)
    rows = table_of("ICAMS indels", ID, counts, names)
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([int(cell) if cell.isdigit() else cell for cell in row])
    book.save(tmp_path / "book.xlsx")
    check(gmcr.read(tmp_path / "book.xlsx"), ID, counts, names)
    np.savez(tmp_path / "arrays.npz", D=counts, channels=np.array(ID), samples=np.array(names))
    check(gmcr.read(tmp_path / "arrays.npz"), ID, counts, names)
    np.savez(tmp_path / "turned.npz", D=counts.T, channels=np.array(ID), samples=np.array(names))
    check(gmcr.read(tmp_path / "turned.npz"), ID, counts, names)
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame([row[:4] for row in rows[1:]], columns=rows[0][:4])
    pd.concat([frame, pd.DataFrame(counts.T, columns=names)], axis=1).to_parquet(tmp_path / "table.parquet")
    check(gmcr.read(tmp_path / "table.parquet"), ID, counts, names)


def test_written_and_read_again(tmp_path):
    counts, names = catalogue(DBS)
    table = gmcr.read(write(tmp_path / "table.tsv", table_of("ICAMS doublets", DBS, counts, names)))
    table.write(tmp_path / "again.csv")
    check(gmcr.read(tmp_path / "again.csv"), DBS, counts, names)


@pytest.mark.parametrize(
    ("line", "label", "told"),
    [
        (1, "A[C>A]X", "is 'A[C>A]X', which is no mutation type"),
        (40, "AACA", "is 'AACA', which is no mutation type"),
        (96, "A[C>A]X", "is 'A[C>A]X', which is no mutation type"),
        (7, SBS[2], "for the second time"),
    ],
)
def test_mistakes_are_told_with_their_place(line, label, told, tmp_path):
    counts, names = catalogue(SBS)
    rows = table_of("SigProfiler", SBS, counts, names)
    rows[line][0] = label
    for some, place in ((rows, f"line {line + 1}, column 1"), (zip(*rows), f"line 1, column {line + 1}")):
        with pytest.raises(InputError) as caught:
            gmcr.read(write(tmp_path / "wrong.tsv", some))
        assert told in str(caught.value)
        assert place in str(caught.value)


def test_a_text_among_the_counts_is_told(tmp_path):
    counts, names = catalogue(SBS)
    rows = table_of("ICAMS", SBS, counts, names)
    rows[5][3] = "oops"
    with pytest.raises(InputError, match=r"line 6, column 4 is 'oops', which is no number"):
        gmcr.read(write(tmp_path / "wrong.csv", rows, ","))


@pytest.mark.parametrize(
    "cells",
    [
        ["C>A"], ["ACA"], ["C>A", "ATA"], ["A[C>C]A"], ["AA[C>A]A"], ["AC", "AC"], ["1", "2", "3", "4"],
        ["6:Del:C:0"], ["1:Del:G:0"], ["SBS1"], [""], ["A[C>A]A", "7"], ["C>A", "ACA", "A[C>G]A"],
        ["A" * 100_000], ["_" * 100_000],
    ],
    ids=lambda cells: " ".join(cells)[:20],
)  # fmt: skip
def test_what_is_no_mutation_type(cells):
    assert mutation_type(*cells) is None


def test_the_caller_may_say_otherwise(tmp_path):
    counts, names = catalogue(SBS)
    path = write(tmp_path / "table.tsv", table_of("SigProfiler", SBS, counts, names))
    assert gmcr.read(path, samples_in="rows").samples.shape == (96, N_SAMPLES)
    check(gmcr.read(path, samples_in="columns"), SBS, counts, names)


# Decoding over signatures


@pytest.fixture(scope="module")
def attributed(tmp_path_factory):
    """Counts that three of five signatures gave, in files of several forms, and what each gave."""
    random = np.random.default_rng(3)
    S = random.dirichlet(np.full(96, 0.2), 5)
    C = np.zeros((12, 5))
    for row in C:
        row[random.choice(5, 2, replace=False)] = random.uniform(500, 3000, 2)
    D = random.poisson(C @ S)
    names, signatures = [f"tumour {m}" for m in range(12)], [f"SBS{j}" for j in (1, 2, 3, "7a", 13)]
    folder = tmp_path_factory.mktemp("signatures")
    order = random.permutation(96)
    write(folder / "signatures.txt", table_of("COSMIC 3.0", SBS, S, signatures))
    write(folder / "signatures.csv", list(zip(*table_of("SigProfiler", SBS, S, signatures, order))), ",")
    write(folder / "catalogue.csv", table_of("ICAMS", SBS, D, names, order), ",", quoting=csv.QUOTE_ALL)
    write(folder / "catalogue.tsv", table_of("SigProfiler", SBS, D, names))
    return folder, D, S, C, names, signatures


def test_any_order_of_channels_decodes_the_same(attributed, run):
    folder, D, S, C, names, signatures = attributed
    expected = decode(D, S).concentrations
    for pool, samples in product(("signatures.txt", "signatures.csv"), ("catalogue.csv", "catalogue.tsv")):
        out = decode(gmcr.read(folder / samples), gmcr.read(folder / pool))
        np.testing.assert_allclose(out.concentrations, expected, rtol=1e-9)
        output = folder / "out.csv"
        code, _, _ = run("decode", folder / pool, folder / samples, "-o", output, "--no-confidence")
        assert code == 0
        table = pd.read_csv(output, index_col="sample")
        assert list(table.index) == names
        np.testing.assert_allclose(table[signatures].to_numpy(), expected, rtol=1e-9)
    # In units of the file: signatures that sum to one give counts.
    np.testing.assert_allclose(expected.sum(axis=1), D.sum(axis=1), rtol=0.02)
    assert np.abs(expected - C).sum() / C.sum() < 0.1
    # The pool's scale is the file's, whatever it is.
    np.testing.assert_allclose(decode(D, 100 * S).concentrations, expected / 100, rtol=1e-9)


def test_what_is_told_by_entry_stays_with_its_entry(attributed):
    """Noise and weights are in the order of the samples, whatever that of the signatures is."""
    folder, D, S, *_ = attributed
    table, pool = gmcr.read(folder / "catalogue.csv"), gmcr.read(folder / "signatures.txt")
    order = [SBS.index(key) for key in table.channels]
    random = np.random.default_rng(0)
    sigma, weights = np.sqrt(D + 1.0) * random.uniform(0.5, 2, D.shape), random.uniform(0, 2, 96)
    expected = decode(D, S, noise=sigma, weights=weights).concentrations
    found = decode(table, pool, noise=sigma[:, order], weights=weights[order]).concentrations
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    model = GMCR(n_components=5, fixed_components=S, random_state=0).fit(gmcr.read(folder / "catalogue.tsv"))
    expected = model.decode(D, noise=sigma).concentrations
    np.testing.assert_allclose(model.decode(table, noise=sigma[:, order]).concentrations, expected, rtol=1e-9)


def test_channels_that_differ_are_refused(attributed, tmp_path, run):
    folder, D, _, _, names, _ = attributed
    write(tmp_path / "fewer.tsv", table_of("SigProfiler", SBS[:-1], D, names))
    code, _, err = run("decode", folder / "signatures.txt", tmp_path / "fewer.tsv")
    assert code == 1
    assert "do not have the same channels: 1 are in the pool alone, such as 'T[T>G]T'" in err
    assert len(err.strip().splitlines()[-1].split(". ")) == 1
    write(tmp_path / "doublets.tsv", table_of("SigProfiler", DBS, D[:, :78], names))
    with pytest.raises(InputError, match="do not have the same channels"):
        decode(gmcr.read(tmp_path / "doublets.tsv"), gmcr.read(folder / "signatures.txt"))
    np.savez(tmp_path / "bare.npz", D=D)
    code, _, err = run("decode", folder / "signatures.txt", tmp_path / "bare.npz", "--no-confidence")
    assert code == 0
    assert "matched by their order" in err


def test_other_names_of_channels_are_matched_too(tmp_path):
    """Labels of any kind, if both files have the same ones; those that only number channels say nothing else."""
    mix = gmcr.make_mixtures(3, 8, 30, 12, random_state=0)
    labels = [f"gene {letter}" for letter in "abcdefghijkl"]
    order = np.random.default_rng(0).permutation(12)
    pd.DataFrame(mix.S, ["x", "y", "z"], labels).to_csv(tmp_path / "pool.csv")
    pd.DataFrame(mix.D[:, order], None, [labels[j] for j in order]).to_csv(
        tmp_path / "data.csv", index_label="sample"
    )
    pool, data = gmcr.read(tmp_path / "pool.csv"), gmcr.read(tmp_path / "data.csv")
    found = decode(data, pool, noise=mix.sigma).concentrations
    np.testing.assert_allclose(found, decode(mix.D, mix.S, noise=mix.sigma).concentrations, rtol=1e-9)
    numbered = gmcr.io.Table(mix.D, channels=tuple(f"V{j}" for j in range(1, 13)))
    np.testing.assert_allclose(decode(numbered, pool, noise=mix.sigma).concentrations, found, rtol=1e-9)
    other = gmcr.io.Table(mix.D, channels=tuple(f"{label}!" for label in labels))
    with pytest.raises(InputError, match="12 are in the pool alone, such as 'gene a'"):
        decode(other, pool, noise=mix.sigma)
    twice = gmcr.io.Table(mix.D, channels=(*labels[:-1], labels[0]))
    with pytest.raises(InputError, match="do not have the same channels"):
        decode(twice, pool, noise=mix.sigma)


def test_a_model_keeps_its_channels(attributed, tmp_path, run):
    folder, _, S, *_ = attributed
    table, shuffled = gmcr.read(folder / "catalogue.tsv"), gmcr.read(folder / "catalogue.csv")
    model = GMCR(n_components=5, fixed_components=S, random_state=0).fit(table)
    model.save(tmp_path / "run.gmcr")
    loaded = GMCR.load(tmp_path / "run.gmcr")
    assert loaded.decomposition_.channels == tuple(SBS)
    np.testing.assert_allclose(loaded.transform(shuffled), loaded.transform(table), rtol=1e-9)
    assert loaded.decomposition_.table()["strongest_at"][0] == SBS[int(S[0].argmax())]
    assert read_pool(tmp_path / "run.gmcr").channels == tuple(SBS)
    told = [
        json.loads(run("decode", tmp_path / "run.gmcr", folder / name, "--json", "--no-confidence")[1])[
            "samples"
        ]
        for name in ("catalogue.tsv", "catalogue.csv")
    ]
    for one, other in zip(*told):
        assert one["concentrations"] == pytest.approx(other["concentrations"])
    # Names from a file of signatures in another order.
    code, out, _ = run("match", tmp_path / "run.gmcr", folder / "signatures.csv")
    assert code == 0
    assert all(name in out for name in ("SBS1", "SBS7a", "SBS13"))


# Masks


@pytest.fixture
def masks(attributed):
    _, _, _, C, names, signatures = attributed
    allowed = C > 0
    allowed[:, 0] = True
    return allowed, names, signatures


def mask_rows(allowed, names, signatures, yes="1", no="0"):
    return [
        ["Sample", *signatures],
        *([name, *(yes if one else no for one in row)] for name, row in zip(names, allowed)),
    ]


@pytest.mark.parametrize(
    ("yes", "no"), [("1", "0"), ("TRUE", "FALSE"), ("true", ""), ("x", ""), ("1.0", "0.0")]
)
def test_masks_go_by_names(masks, yes, no, tmp_path):
    allowed, names, signatures = masks
    rows = mask_rows(allowed, names, signatures, yes, no)
    head, *body = rows
    more = [[*head, "SBS99"], *([*row, yes] for row in body[::-1]), ["somebody else", *[no] * 6]]
    for number, some in enumerate((rows, more, list(zip(*more)))):
        for delimiter in "\t,":
            path = write(tmp_path / f"masks{number}.csv", some, delimiter)
            np.testing.assert_array_equal(read_allowed(path, names, signatures), allowed)


def test_masks_in_a_workbook(masks, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    allowed, names, signatures = masks
    book = openpyxl.Workbook()
    for row in mask_rows(allowed, names, signatures, True, False):
        book.active.append(row)
    book.save(tmp_path / "masks.xlsx")
    np.testing.assert_array_equal(read_allowed(tmp_path / "masks.xlsx", names, signatures), allowed)


def test_masks_in_a_file_without_names(masks, tmp_path):
    allowed, names, signatures = masks
    np.savez(tmp_path / "masks.npz", D=allowed.astype(int))
    with pytest.raises(InputError, match="is no table of 1 and 0 that names samples and components"):
        read_allowed(tmp_path / "masks.npz", names, signatures)


def test_masks_are_obeyed(attributed, masks, tmp_path, run):
    folder, D, S, C, *_ = attributed
    allowed, names, signatures = masks
    allowed[0] = np.arange(5) == 4
    head, *rows = mask_rows(allowed, names, signatures)
    path = write(tmp_path / "masks.csv", [head, *rows[::-1]], ",")
    output = tmp_path / "out.csv"
    code, _, _ = run(
        "decode", folder / "signatures.csv", folder / "catalogue.csv", "--allowed", path, "-o", output
    )
    assert code == 0
    table = pd.read_csv(output, index_col="sample")
    found = table[signatures].to_numpy()
    assert (found[~allowed] == 0).all()
    out = decode(D, S, allowed=allowed)
    np.testing.assert_allclose(found, out.concentrations, rtol=1e-9)
    np.testing.assert_allclose(table["confidence"], out.confidence, rtol=1e-6)
    # Over a model's pool, whose profiles have unit norm.
    found = Decomposition.from_factors(C, S, channels=SBS, component_names=signatures)
    found.save(tmp_path / "pool.gmcr")
    told = ["--allowed", path, "--json", "--no-confidence"]
    code, text, _ = run("decode", tmp_path / "pool.gmcr", folder / "catalogue.csv", *told)
    assert code == 0
    norms = np.linalg.norm(S, axis=1)
    for m, sample in enumerate(json.loads(text)["samples"]):
        held = np.array([sample["concentrations"].get(name, 0.0) for name in signatures])
        np.testing.assert_allclose(held / norms, out.concentrations[m], rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: rows[:-1], "says nothing of the sample 'tumour 11'"),
        (lambda rows: rows[:-2], "says nothing of the sample 'tumour 10' and 1 more"),
        (lambda rows: [row[:-1] for row in rows], "says nothing of the component 'SBS13'"),
        (
            lambda rows: [*rows[:3], [rows[3][0], "maybe", *rows[3][2:]], *rows[4:]],
            "line 4, column 2 is 'maybe'",
        ),
        (lambda rows: [*rows, rows[1]], "two rows or two columns of one name"),
        (lambda rows: rows[:1], "has no marks"),
        (
            lambda rows: [*rows[:1], [rows[1][0], *["0"] * 5], *rows[2:]],
            "allowed leaves sample 0 no component",
        ),
    ],
)
def test_masks_that_cannot_be_used(change, told, attributed, masks, tmp_path, run):
    folder = attributed[0]
    path = write(tmp_path / "masks.csv", change(mask_rows(*masks)), ",")
    code, _, err = run("decode", folder / "signatures.csv", folder / "catalogue.csv", "--allowed", path)
    assert code == 1
    assert told in err


def test_confidence_weighs_what_is_allowed():
    """Two profiles that can hardly be told apart: who may hold one of them only is sure of it."""
    random = np.random.default_rng(0)
    S = random.dirichlet(np.ones(40), 4)
    S[1] = 0.97 * S[0] + 0.03 * S[1]
    C = np.zeros((60, 4))
    C[np.arange(60), random.integers(0, 4, 60)] = 2000.0
    C[np.arange(60), random.integers(2, 4, 60)] += 1000.0
    D = random.poisson(C @ S)
    allowed = C > 0
    allowed[:, 3] = True
    free, masked = decode(D, S), decode(D, S, allowed=allowed)
    twins = C[:, :2].any(axis=1)
    assert free.confidence[twins].mean() < 0.9
    assert masked.confidence[twins].mean() > 0.99
    assert (masked.supports == (C > 0)).all()
    # All allowed is as if nothing were said.
    np.testing.assert_allclose(
        decode(D, S, allowed=np.ones_like(allowed)).confidence, free.confidence, rtol=1e-9
    )
    # One mask for all is as decoding over that part of the pool.
    some = np.array([True, False, True, True])
    part = decode(D, S[some])
    whole = decode(D, S, allowed=np.tile(some, (60, 1)))
    np.testing.assert_allclose(whole.confidence, part.confidence, rtol=1e-6)
