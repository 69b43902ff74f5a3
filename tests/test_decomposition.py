"""Decomposition: what it refuses, what it computes, how it prints, and that files keep it exactly."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gmcr.decomposition import Decomposition
from gmcr.errors import FileError, InputError
from gmcr.storage import write_model

S = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
C = np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 0.5], [4.0, 0.0]])

VERSION_1 = Path(__file__).parent / "data" / "decomposition-v1.gmcr"


def full():
    """A decomposition with every field set; `full().save(VERSION_1)` wrote the file of format version 1.

    That file is kept as it is: it stands for all the files of that version which users have.
    """
    return Decomposition(
        S,
        C,
        noise=[0.1, 0.2, 0.3, 1 / 3],
        noise_law={"kind": "proportional", "level": 0.1},
        path=pd.DataFrame(
            {
                "level": [0.5, 0.1],
                "count": [3, 2],
                "r2": [0.9, np.nan],
                "chosen": [False, True],
                "note": ["coarse", None],
            }
        ),
        axis=[1600.0, 900.5, 200.0],
        sample_names=["a", "b", "c", "d"],
        component_names=["glucose", "sücrose"],
        settings={"random_state": 0, "noise": "auto", "k_max": None},
        fit={"r2": 0.98},
        signed=False,
    )


def assert_same(a, b):
    for name in ("components", "concentrations", "noise", "axis"):
        mine, theirs = getattr(a, name), getattr(b, name)
        if mine is None:
            assert theirs is None
        else:
            assert mine.dtype == theirs.dtype
            assert mine.shape == theirs.shape
            assert mine.tobytes() == theirs.tobytes()
    for name in ("noise_law", "sample_names", "component_names", "settings", "fit", "signed"):
        assert getattr(a, name) == getattr(b, name)
    if a.path is None:
        assert b.path is None
    else:
        pd.testing.assert_frame_equal(a.path, b.path)


# What it is


def test_sizes_supports_and_usage():
    found = Decomposition(S, C)
    assert (found.n_components, found.n_samples, found.n_channels) == (2, 4, 3)
    np.testing.assert_array_equal(found.supports, C != 0)
    assert found.usage == 5
    np.testing.assert_allclose(found.reconstruct(), C @ S)
    assert found.noise is None
    assert found.settings == {}


def test_one_noise_for_all_samples():
    np.testing.assert_array_equal(Decomposition(S, C, noise=0.5).noise, np.full(4, 0.5))


def test_arrays_are_read_only_copies():
    components, concentrations = S.copy(), C.copy()
    found = Decomposition(components, concentrations, noise=1.0, axis=[1, 2, 3])
    concentrations[0, 0] = 99
    assert found.concentrations[0, 0] == 1
    for again in (found, copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        for array in (again.components, again.concentrations, again.noise, again.axis):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    with pytest.raises(AttributeError):
        found.components = S


def test_from_factors_moves_norms_into_concentrations():
    scales = np.array([[2.0], [1e-200]])
    found = Decomposition.from_factors(C, S * scales, supports=C != 0, axis=[1, 2, 3])
    np.testing.assert_allclose(found.components, S)
    np.testing.assert_allclose(found.concentrations, C * scales.T)
    np.testing.assert_allclose(found.axis, [1, 2, 3])


def test_from_factors_checks_supports():
    supports = C != 0
    supports[0, 1] = True
    with pytest.raises(InputError, match="supports must be true exactly where"):
        Decomposition.from_factors(C, S, supports=supports)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"components": 2 * S}, r"components row 0 has norm 2 where 1 is needed; .*from_factors"),
        ({"components": S[:0], "concentrations": C[:, :0]}, r"at least one of each.*\(0, 3\)"),
        ({"components": S[0]}, "components must be a 2D array"),
        ({"components": np.array([[0.6, 0.8, np.nan], [0, 0, 1]])}, "row 0, column 2"),
        ({"components": np.array([[0.6, -0.8, 0], [0, 0, 1]])}, "components is negative at row 0, column 1"),
        ({"concentrations": -C}, "concentrations is negative at row 0, column 0.*signed=True"),
        ({"concentrations": C[:, :1]}, r"shape \(samples, 2\).*\(4, 1\)"),
        ({"concentrations": C[:0]}, "at least one sample"),
        ({"concentrations": np.where(C == 3, np.nan, C)}, "missing a value at row 1, column 1"),
        ({"concentrations": np.where(C == 3, np.inf, C)}, "infinite at row 1, column 1"),
        ({"noise": [1, 2]}, "noise must be one number or 4"),
        ({"noise": -1.0}, "noise must be finite and not negative"),
        ({"noise_law": {"kind": "pink", "level": 1.0}}, "noise law 'pink' is not known here"),
        ({"noise_law": "constant"}, "noise_law must be a dict with a"),
        ({"noise_law": {"kind": "constant"}}, "constant noise law is not made of these fields: none"),
        (
            {"noise_law": {"kind": "constant", "level": np.nan}},
            "level must be a number, not nan",
        ),
        ({"axis": [1, 2]}, "axis must have 3 values"),
        ({"axis": [1, 2, np.inf]}, "axis must be finite, but is inf at channel 2"),
        ({"sample_names": ["a"]}, "sample_names must have 4 entries, but has 1"),
        ({"component_names": "ab"}, "component_names must be a list of texts"),
        ({"settings": {"solver": object()}}, r"settings\['solver'\] is .* cannot hold"),
        ({"path": pd.DataFrame({1: [2]})}, "path must have texts as column names"),
    ],
)
def test_refuses(change, message):
    fields = {"components": S, "concentrations": C} | change
    with pytest.raises(InputError, match=message):
        Decomposition(**fields)


def test_signed_and_given_noise():
    found = Decomposition(-S, -C, signed=True, noise_law={"kind": "given"})
    assert found.usage == 5
    assert found.noise_law == {"kind": "given"}


# Choosing components


def test_select_and_sort():
    found = full()
    assert found.sorted_by_usage().component_names == ("glucose", "sücrose")
    turned = found.select([1, 0])
    assert turned.component_names == ("sücrose", "glucose")
    np.testing.assert_allclose(turned.reconstruct(), found.reconstruct())
    assert turned.fit == {"r2": 0.98}
    one = found.select([False, True])
    np.testing.assert_array_equal(one.components, S[1:])
    np.testing.assert_array_equal(one.concentrations, C[:, 1:])
    assert one.fit == {}
    np.testing.assert_array_equal(found.select(0).components, S[:1])
    np.testing.assert_array_equal(turned.sorted_by_usage().components, found.components)


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([2], "indices must pick from 2 components, numbered from 0"),
        ([True, False, True], "indices must pick from 2 components"),
        ([0, 0], r"indices must name each component once, but are \[0, 0\]"),
        ([], "at least one of each"),
    ],
)
def test_select_refuses(indices, message):
    with pytest.raises(InputError, match=message):
        full().select(indices)


# How it prints


def test_table():
    table = full().table()
    assert table["component"].tolist() == ["glucose", "sücrose"]
    assert table["samples"].tolist() == [3, 2]
    assert table["mean_concentration"].tolist() == pytest.approx([7 / 3, 1.75])
    assert table["strongest_channel"].tolist() == [1, 2]
    assert table["strongest_at"].tolist() == [900.5, 200.0]


def test_text_says_what_a_chemist_asks():
    text = str(full())
    assert text.splitlines()[0] == "2 components in 4 samples of 3 channels"
    assert str(full().select(0)).startswith("1 component in 4 samples")
    for words in (
        "5 in all; 1 to 2 components",
        "median 0.25",
        "proportional, level 0.1",
        "r2 0.98",
        "random_state 0",
    ):
        assert words in text
    assert "glucose          3              2.3333                  1         900.5" in text
    assert "Decomposition" in repr(full())


def test_text_stays_one_page():
    many = Decomposition(np.eye(200), np.tril(np.ones((5, 200))))
    assert len(str(many).splitlines()) < 45
    assert "30 most used of 200" in str(many)
    assert "–" in str(many)  # the mean concentration of a component that no sample holds


def test_what_comes_from_files_is_harmless_on_screen():
    found = Decomposition(
        S, C, component_names=["<script>alert(1)</script>", "\x1b[2Jwiped\nline"], settings={"<i>": "<b>&"}
    )
    html = found._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<i>" not in html
    assert "&lt;b&gt;&amp;" in html
    for page in (html, str(found)):
        assert "\x1b" not in page
    assert "wiped\n" not in str(found)


def test_html_has_all_the_facts():
    html = full()._repr_html_()
    for words in ("2 components in 4 samples", "glucose", "900.5", "proportional", "random_state 0"):
        assert words in html


# Files


@pytest.mark.parametrize("found", [full(), Decomposition(S, C)], ids=["full", "bare"])
def test_save_and_load(tmp_path, found):
    found.save(tmp_path / "run.gmcr")
    assert_same(Decomposition.load(tmp_path / "run.gmcr"), found)


finite = st.floats(0, 1e6, allow_subnormal=True)
texts = st.text(max_size=5)


@st.composite
def decompositions(draw):
    n_samples, n_components, n_channels = (draw(st.integers(1, 4)) for _ in range(3))
    profiles = draw(hnp.arrays(float, (n_components, n_channels), elements=st.floats(0.01, 1e3)))
    rows = draw(st.integers(0, 3))
    return Decomposition.from_factors(
        draw(hnp.arrays(float, (n_samples, n_components), elements=finite)),
        profiles,
        noise=draw(st.none() | hnp.arrays(float, n_samples, elements=finite)),
        noise_law=draw(st.none() | st.just({"kind": "poisson", "level": 0.1 + 0.2})),
        path=draw(
            st.none()
            | st.fixed_dictionaries(
                {
                    "level": st.lists(st.floats(), min_size=rows, max_size=rows),
                    "count": st.lists(st.integers(0, 2**62), min_size=rows, max_size=rows),
                    "note": st.lists(st.none() | texts, min_size=rows, max_size=rows),
                }
            ).map(pd.DataFrame)
        ),
        axis=draw(st.none() | hnp.arrays(float, n_channels, elements=finite)),
        sample_names=draw(st.none() | st.lists(texts, min_size=n_samples, max_size=n_samples)),
        component_names=draw(st.none() | st.lists(texts, min_size=n_components, max_size=n_components)),
        settings=draw(st.dictionaries(texts, st.none() | st.booleans() | finite | texts, max_size=3)),
        fit=draw(st.dictionaries(texts, finite, max_size=2)),
    )


@given(found=decompositions())
@settings(max_examples=50)
def test_any_decomposition_survives_a_file_and_prints(tmp_path_factory, found):
    path = tmp_path_factory.mktemp("any") / "run.gmcr"
    found.save(path)
    assert_same(Decomposition.load(path), found)
    assert str(found)
    assert found._repr_html_()


def test_version_1_still_loads():
    assert_same(Decomposition.load(VERSION_1), full())


def test_load_from_an_estimators_file(tmp_path):
    arrays, section = full().pack()
    header = {"kind": "GMCR", "decomposition": section, "params": {"n_starts": 1}}
    write_model(tmp_path / "run.gmcr", arrays | {"other": np.zeros(2)}, header)
    assert_same(Decomposition.load(tmp_path / "run.gmcr"), full())


def test_load_refuses_other_kinds_and_invalid_content(tmp_path):
    path = tmp_path / "run.gmcr"
    write_model(path, {}, {"kind": "library"})
    with pytest.raises(FileError, match=r"run\.gmcr holds no decomposition; .* kind 'library'"):
        Decomposition.load(path)
    arrays, section = full().pack()
    for bad_arrays, bad_section in (
        (arrays | {"components": 2 * S}, section),
        ({}, section),
        (arrays, {}),
        (arrays, []),
        (arrays, section | {"unheard_of": 1}),
        (arrays, section | {"path": [1]}),
    ):
        write_model(path, bad_arrays, {"kind": "decomposition", "decomposition": bad_section})
        with pytest.raises(FileError, match=r"run\.gmcr holds a decomposition that is not valid"):
            Decomposition.load(path)
    strange = section | {"noise_law": {"kind": "pink", "level": 1.0}}
    write_model(path, arrays, {"kind": "decomposition", "decomposition": strange})
    with pytest.raises(
        FileError, match=r"run\.gmcr needs what is not installed: the noise law 'pink' is not known"
    ):
        Decomposition.load(path)
