"""The four own parsers against public packages, over generated files that cover every flag and exponent.

Where they differ the specification is named, and what it says is computed here.
"""

import itertools
import struct

import brukeropus
import jcamp
import numpy as np
import pytest
import renishawWiRE
import spc_io
from brukeropus.file.parse import parse_data
from spc_io.high_level import EvenAxis

import gmcr
import made_files as made
from gmcr.errors import FileError
from made_files import AXIS, D

SHORT, CGRAM, MULTI, ANY_Z, UNEVEN_Z, LABELLED, OWN, AXIS_GIVEN = (1 << bit for bit in range(8))  # of SPC.H
FLOATS = -128


def read(path, content, **asked):
    """What gmcr reads from a file of this content."""
    path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content)
    return gmcr.read(path, **asked)


# Galactic SPC, after SPC.H of 1997


def spc(flags, exponents, *, file_exponent=0, order="<", rng=None):
    """A file of 2 traces or of one, and what SPC.H says that its ordinates are."""
    traces = 2 if flags & MULTI else 1
    points, content, ordinates = 7, b"", []
    axis = np.linspace(400, 412, points)
    if flags & AXIS_GIVEN and not flags & OWN:
        content += axis.astype(order + "f4").tobytes()
    for index, exponent in zip(range(traces), exponents):
        counts = exponent if flags & MULTI else file_exponent
        content += made.spc_trace(exponent, index, 2.0 * index, points if flags & OWN else 0, order)
        content += axis.astype(order + "f4").tobytes() if flags & OWN else b""
        if counts == FLOATS:
            values = rng.normal(size=points).astype("f4")
            content += values.astype(order + "f4").tobytes()
        else:
            bits = 16 if flags & SHORT else 32
            whole = rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), points)
            content += whole.astype(f"{order}i{bits // 8}").tobytes()
            values = whole * 2.0 ** (counts - bits)
        ordinates.append(values)
    header = made.spc_header(
        flags,
        file_exponent,
        0 if flags & OWN else points,
        400,
        412,
        traces,
        order,
        0x4B if order == "<" else 0x4C,
    )
    return header + content, np.array(ordinates, dtype=float)


SINGLE_FLAGS = (SHORT, CGRAM, MULTI, ANY_Z, UNEVEN_Z, LABELLED, AXIS_GIVEN, OWN | AXIS_GIVEN)
FLAGS = [
    sum(chosen)
    for size in range(5)
    for chosen in itertools.combinations(SINGLE_FLAGS, size)
    if not (ANY_Z in chosen and UNEVEN_Z in chosen)  # which exclude each other
    and not (AXIS_GIVEN in chosen and OWN | AXIS_GIVEN in chosen)
    and not (OWN | AXIS_GIVEN in chosen and MULTI not in chosen)  # axes of their own are for many traces
]  # fmt: skip


@pytest.mark.parametrize("flags", FLAGS)
def test_spc_with_every_flag(tmp_path, flags):
    """spc-io does not read arbitrary z values, takes the exponent of a single trace from the trace, where SPC.H
    says that it is ignored in favour of the file's, and single traces' z values from nowhere."""
    rng = np.random.default_rng(flags)
    exponents = rng.integers(-20, 30, 2).tolist()
    alone = 0 if flags & MULTI else exponents[0]  # a single trace and its file say the same here
    content, ordinates = spc(flags, exponents, file_exponent=alone, rng=rng)
    table = read(tmp_path / "a.spc", content)
    np.testing.assert_array_equal(table.samples, ordinates)
    if flags & ANY_Z:
        return
    with open(tmp_path / "a.spc", "rb") as file:
        theirs = spc_io.low_level.SpcRaw.from_bytes_io(file)
    np.testing.assert_allclose(table.samples, [trace.yarray for trace in theirs.subs], rtol=1e-12)
    if flags & OWN:
        np.testing.assert_array_equal(table.axis, theirs.subs[0].xarray)
    elif flags & AXIS_GIVEN:
        np.testing.assert_array_equal(table.axis, theirs.xarray)
    if flags & MULTI:
        assert table.metadata["z"] == [trace.z for trace in theirs.subs]


EXPONENTS = [FLOATS, -100, -31, -16, -1, 0, 1, 7, 16, 31, 32, 100, 127]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("short", [0, SHORT])
def test_spc_with_every_exponent(tmp_path, exponent, short, order):
    """Of many traces each has its own exponent, 0 too, whatever the file's is; a single one has the file's.

    spc-io reads one byte order, so the other is compared with what SPC.H says alone.
    """
    rng = np.random.default_rng(exponent + 200)
    for number, (flags, exponents, of_file) in enumerate(
        ((MULTI | short, [exponent, 0], 6), (MULTI | short, [3, exponent], 0), (short, [5, 0], exponent))
    ):
        content, ordinates = spc(flags, exponents, file_exponent=of_file, order=order, rng=rng)
        path = tmp_path / f"{number}.spc"
        np.testing.assert_array_equal(read(path, content).samples, ordinates)
        if order == "<" and flags & MULTI:
            with open(path, "rb") as file:
                theirs = [trace.yarray for trace in spc_io.low_level.SpcRaw.from_bytes_io(file).subs]
            np.testing.assert_allclose(ordinates, theirs, rtol=1e-12)


@pytest.mark.parametrize("exponents", itertools.product([0, 6, -3], repeat=2))
def test_spc_of_the_old_format_by_its_own_exponents(tmp_path, exponents):
    """Words swapped, and a trace of exponent 0 has 0, as twelve spectra of LC_DIODE_ARRAY.SPC have.

    No package here reads the format, so SPC.H alone is compared with.
    """
    header = bytearray(224)
    struct.pack_into("<BBhfffBB", header, 0, MULTI, 0x4D, 6, 9.0, 400.0, 416.0, 3, 2)
    whole = np.random.default_rng(1).integers(-(2**31), 2**31, (2, 9))
    content = bytes(header)
    for index, (exponent, row) in enumerate(zip(exponents, whole)):
        words = row.astype("<i4").view("<u2").reshape(-1, 2)[:, ::-1]
        content += made.spc_trace(exponent, index) + words.astype("<u2").tobytes()
    table = read(tmp_path / "a.spc", content)
    scale = 2.0 ** (np.array(exponents) - 32)
    np.testing.assert_array_equal(table.samples, whole * scale[:, None])
    np.testing.assert_array_equal(table.axis, AXIS)


@pytest.mark.parametrize("points", [2, 50])
def test_spc_where_file_and_traces_contradict_each_other_on_floats(tmp_path, points):
    """Files of floats whose traces say 0 are told by their ordinates, and it is said."""
    rng = np.random.default_rng(points)
    values = rng.normal(size=(2, points)).astype("<f4")
    whole = rng.integers(-(2**31), 2**31, (2, points)).astype("<i4")
    for name, ordinates, expected in (("floats", values, values), ("fractions", whole, whole * 2.0**-32)):
        content = made.spc_header(MULTI, FLOATS, points, 400, 416, 2)
        content += b"".join(made.spc_trace(0, i) + row.tobytes() for i, row in enumerate(ordinates))
        table = read(tmp_path / f"{name}.spc", content)
        if points > 20:  # fewer fractions may by chance look like floats
            np.testing.assert_array_equal(table.samples, expected)
            assert any("were read as floats" in note for note in table.notes) == (name == "floats")


def test_spc_with_traces_that_do_not_follow_each_other(tmp_path):
    """With axes of their own, a directory says where traces stand; one that points nowhere is left aside."""
    parts = [
        made.spc_trace(FLOATS, index, 0.0, 9) + AXIS.astype("<f4").tobytes() + row.astype("<f4").tobytes()
        for index, row in enumerate(D)
    ]
    size = len(parts[0])
    places = [512 + size * place for place in (2, 0, 3, 1)]
    stored = b"".join(parts[place] for place in (1, 3, 0, 2))
    entries = b"".join(struct.pack("<IIf", place, size, 0) for place in places)
    flags = MULTI | OWN | AXIS_GIVEN
    content = made.spc_header(flags, FLOATS, 512 + 4 * size, 400, 416, 4) + stored + entries
    np.testing.assert_array_equal(read(tmp_path / "a.spc", content).samples, D)
    nowhere = made.spc_header(flags, FLOATS, 99, 400, 416, 4) + b"".join(parts)
    np.testing.assert_array_equal(read(tmp_path / "b.spc", nowhere).samples, D)


@pytest.mark.parametrize("seed", range(20))
def test_spc_as_another_program_writes_it(tmp_path, seed):
    rng = np.random.default_rng(seed)
    traces, points = rng.integers(1, 5), int(rng.integers(2, 40))
    samples = rng.normal(size=(traces, points)).astype("f4").astype(float)
    axes = [np.cumsum(rng.uniform(0.5, 1, points)).astype("f4")] * traces
    whole = {"xarray": EvenAxis(400.0, 500.0, points)} if seed % 2 else {}
    theirs = spc_io.SPC(xtype="XNMETR", **whole)
    for index, row in enumerate(samples):
        own = {} if seed % 2 else {"xarray": axes[index]}
        theirs.add_subfile(yarray=row, z=float(index), w=0.0, **own)
    table = read(tmp_path / "a.spc", theirs.to_spc_raw().to_bytes())
    np.testing.assert_array_equal(table.samples, samples)
    np.testing.assert_allclose(table.axis, np.linspace(400, 500, points) if seed % 2 else axes[0], rtol=1e-12)


# JCAMP-DX


def in_form(values, form, rng):
    """Lines of (X++(Y..Y)), written as McDonald and Wilks 1988 describe the forms; 7 to 15 ordinates a line."""
    squeezed, steps, repeats = "@ABCDEFGHIabcdefghi", "%JKLMNOPQRjklmnopqr", "STUVWXYZs"

    def coded(number, letters):
        digits = str(abs(number))
        return letters[int(digits[0]) + (9 if number < 0 else 0)] + digits[1:]

    lines, start = [], 0
    while start < len(values):
        part = values[start : start + int(rng.integers(7, 16))]
        if form in ("affn", "pac"):
            joined = " ".join(map(str, part)) if form == "affn" else "".join(f"{value:+d}" for value in part)
            lines.append(f"{start} {joined}" if form == "affn" else f"{start}{joined}")
        elif form == "sqz":
            lines.append(str(start) + "".join(coded(value, squeezed) for value in part))
        else:  # the first ordinate of a line is the last of the one before
            head = values[max(start - 1, 0)]
            differences = np.diff([head, *part] if start else part).tolist()
            text = f"{max(start - 1, 0)}{coded(head, squeezed)}"
            for step, same in itertools.groupby(differences):
                count = len(list(same))
                if form == "dif" or count == 1:
                    text += coded(step, steps) * count
                else:
                    text += coded(step, steps) + repeats[int(str(count)[0]) - 1] + str(count)[1:]
            lines.append(text)
        start += len(part)
    if form in ("dif", "difdup"):
        lines.append(f"{len(values) - 1}{coded(values[-1], squeezed)}")
    return lines


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("form", ["affn", "pac", "sqz", "dif", "difdup"])
def test_jcamp_in_every_form(tmp_path, form, seed):
    """jcamp takes a first ordinate for a check in every form but AFFN, also where no difference came before; so
    several lines of SQZ, which has no such checks, are compared with the values alone."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 6)) if form == "sqz" and seed % 2 else int(rng.integers(20, 80))
    values = (np.cumsum(rng.integers(-3, 4, count)) * int(rng.choice([1, 1, 40, 9999]))).tolist()
    factor = float(rng.choice([1.0, 0.5, 1e-4, 3.0]))
    axis = np.arange(float(count))
    text = made.jcamp(None, axis, lines=in_form(values, form, rng), factor=factor)
    table = read(tmp_path / "a.jdx", text)
    np.testing.assert_allclose(table.samples[0], np.array(values) * factor, rtol=1e-12)
    if form != "sqz":
        theirs = jcamp.readfile(str(tmp_path / "a.jdx"))
        np.testing.assert_allclose(table.samples[0], theirs["y"], rtol=1e-12)
        np.testing.assert_allclose(table.axis, theirs["x"], rtol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_jcamp_as_another_program_writes_it(tmp_path, seed):
    rng = np.random.default_rng(seed)
    axis = np.linspace(4000, 400, int(rng.integers(5, 60)))
    values = np.round(rng.normal(size=len(axis)) * 10, 4)
    theirs = {"x": axis, "y": values, "title": "theirs", "xunits": "1/CM", "yunits": "ABSORBANCE"}
    jcamp.writefile(str(tmp_path / "a.jdx"), theirs)
    table = gmcr.read(tmp_path / "a.jdx")
    np.testing.assert_allclose(table.samples[0], values, atol=1e-12)
    np.testing.assert_allclose(table.axis, axis, rtol=1e-6)


def test_jcamp_whose_numbers_make_no_sense_is_not_read_as_if_they_were_missing(tmp_path):
    text = made.jcamp(D[0], AXIS)
    for label, value in (("YFACTOR", "about 2"), ("YFACTOR", "0"), ("FIRSTX", "x"), ("NPOINTS", "9.5")):
        damaged = "\n".join(
            f"##{label}={value}" if line.startswith(f"##{label}=") else line for line in text.split("\n")
        )
        with pytest.raises(FileError, match=f"##{label} is "):
            read(tmp_path / "a.jdx", damaged)


def test_jcamp_tells_what_contradicts_itself(tmp_path):
    text = made.jcamp(D[0], AXIS)
    for record, told in (
        ("FIRSTY=99999", "##FIRSTY=99999"),
        ("MAXY=-5", "##MAXY=-5"),
        ("DELTAX=7", "##DELTAX"),
    ):
        notes = read(tmp_path / "a.jdx", text.replace("##NPOINTS", f"##{record}\n##NPOINTS")).notes
        assert any(told in note for note in notes)
    peaks = "##PEAK TABLE=(XY..XY)\n400,1 401,2\n##END="
    table = read(tmp_path / "b.jdx", text.replace("##END=", peaks))  # a spectrum and its peaks in one block
    np.testing.assert_array_equal(table.samples, D[:1])
    assert any("##XYDATA was taken" in note for note in table.notes)


# Bruker OPUS, whose layout is what brukeropus documents

KINDS = {4: "a", 5: "t", 6: "km", 10: "ra", 11: "e", 12: "r", 15: "logr", 16: "atr", 17: "pas"}


def opus(kind, side, values, *, dpf=1, scale=1.0, form=0, unit="WN", room=0, direction=1):
    stored = np.asarray(values).astype("<f4" if dpf == 1 else "<i4")
    content = (b"\0" * 4 * room + stored.tobytes()) if form == 4 else (stored.tobytes() + b"\0" * 4 * room)
    status = made.opus_parameters(
        {"DPF": dpf, "NPT": 9, "FXV": AXIS[::direction][0].item(), "LXV": AXIS[::direction][-1].item(),
         "CSF": scale, "MXY": 1.0, "MNY": 0.0, "DXU": unit}
    )  # fmt: skip
    code = (3, side), (kind, 0, form)
    return [(made.opus_code(*code[0], 0, *code[1]), content), (made.opus_code(*code[0], 1, *code[1]), status)]


OPUS = list(itertools.product(KINDS, (1, 2), (1.0, 0.25)))


@pytest.mark.parametrize(("kind", "dpf", "scale"), OPUS)
def test_opus_of_every_kind_and_number_format(tmp_path, kind, dpf, scale):
    values = np.arange(9) * 7 - 20 if dpf == 2 else D[1]
    content = made.opus_file(opus(kind, 3, values, dpf=dpf, scale=scale, room=dpf))
    table = read(tmp_path / "a.0", content)
    np.testing.assert_array_equal(table.samples[0], values * scale)
    theirs = brukeropus.read_opus(str(tmp_path / "a.0"))
    key = next(name for name in theirs.all_data_keys)
    y = getattr(theirs, key).y
    if (
        dpf == 2
    ):  # brukeropus documents and parses these, but its reader of files never says that a block has them
        y = parse_data(values.astype("<i4").tobytes(), dpf=2) * scale
    np.testing.assert_allclose(table.samples[0], y, rtol=1e-6)
    np.testing.assert_array_equal(table.axis, getattr(theirs, key).x)


@pytest.mark.parametrize("form", [0, 4])
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("unit", ["WN", "MI"])
def test_opus_of_every_form(tmp_path, form, direction, unit):
    content = made.opus_file(opus(4, 3, D[0], form=form, unit=unit, room=3, direction=direction))
    table = read(tmp_path / "a.0", content)
    theirs = brukeropus.read_opus(str(tmp_path / "a.0"))
    y = getattr(theirs, "a_c" if form == 4 else "a")
    np.testing.assert_array_equal(table.samples[0], y.y)
    np.testing.assert_array_equal(table.axis, y.x)
    assert table.axis_unit == {"WN": "cm⁻¹", "MI": "µm"}[unit]


def test_opus_with_several_of_a_kind(tmp_path):
    """The last one, as brukeropus; no derivative and no part of complex data unless asked for."""
    blocks = opus(4, 3, D[0]) + opus(4, 3, D[1], scale=0.5)
    (tmp_path / "a.0").write_bytes(made.opus_file(blocks))
    table = gmcr.read(tmp_path / "a.0")
    assert "The file holds 2 of them; the last one was taken." in table.notes
    others = [
        (code + extra, content)
        for extra, row in ((1 << 17, D[2]), (-1, D[3]))  # first derivative; imaginary part
        for code, content in opus(4, 3, row)
    ]
    path = tmp_path / "b.0"
    np.testing.assert_array_equal(
        read(path, made.opus_file(others[:2] + opus(4, 3, D[0]) + others[2:])).samples, D[:1]
    )
    for name, row in (("first derivative of absorbance", D[2]), ("imaginary part of absorbance", D[3])):
        np.testing.assert_array_equal(gmcr.read(path, name=name).samples, [row])
    with pytest.raises(FileError, match="of the format 3, which is not known"):
        read(tmp_path / "c.0", made.opus_file(opus(4, 3, D[0], dpf=3)))


# Renishaw WDF, whose layout is what renishawWiRE documents


@pytest.mark.parametrize("unit", [0, 1, 2, 3, 4, 5, 16])
@pytest.mark.parametrize("flags", [0, 1, 2, 4, 16, 32])
def test_wdf_with_every_unit_and_flag(tmp_path, unit, flags):
    """renishawWiRE calls unit 2 nanometres; it is Wavenumber in Renishaw's own list, beside Nanometre."""
    content = bytearray(made.wdf(D, AXIS[::-1] if unit % 2 else AXIS))
    struct.pack_into("<Q", content, 0x10, flags)
    place = content.index(b"XLST") + 16
    struct.pack_into("<II", content, place, 1, unit)
    table = read(tmp_path / "a.wdf", bytes(content))
    theirs = renishawWiRE.WDFReader(str(tmp_path / "a.wdf"))
    np.testing.assert_array_equal(table.samples, theirs.spectra.reshape(4, 9))
    np.testing.assert_array_equal(table.axis, theirs.xdata)
    known = {"1/cm": "cm⁻¹", "um": "µm", "px": "pixels", "": None}
    theirs_unit = "1/cm" if unit == 2 else str(theirs.xlist_unit)
    assert table.axis_unit == known.get(theirs_unit, theirs_unit)
    assert any("saturated" in note for note in table.notes) == bool(flags & 16)
    assert any("several axes" in note for note in table.notes) == bool(flags & 1)
    theirs.close()


@pytest.mark.parametrize("seed", range(12))
def test_wdf_of_every_shape(tmp_path, seed):
    rng = np.random.default_rng(seed)
    width, height, points = (int(size) for size in rng.integers(1, 5, 3) + np.array([1, 1, 3]))
    samples = rng.normal(size=(width * height, points)).astype("f4").astype(float)
    x, y = 10 + 2.0 * np.arange(width), 5 + 3.0 * np.arange(height)
    places = np.array([[a, b] for b in y for a in x])
    axis = np.linspace(100, 200, points)
    table = read(tmp_path / "a.wdf", made.wdf(samples, axis, places, (10.0, 5.0, 2.0, 3.0, width, height)))
    theirs = renishawWiRE.WDFReader(str(tmp_path / "a.wdf"))
    np.testing.assert_array_equal(table.refold(table.samples).ravel(), theirs.spectra.ravel())
    theirs.close()


def test_wdf_whose_blocks_do_not_hold_what_they_should(tmp_path):
    content = bytearray(made.wdf(D, AXIS))
    struct.pack_into("<Q", content, 0x10, 8)
    with pytest.raises(FileError, match="has an axis for each spectrum, which gmcr does not read"):
        read(tmp_path / "a.wdf", bytes(content))
    content = bytearray(made.wdf(D, AXIS))
    struct.pack_into("<I", content, 0x58, 3)
    with pytest.raises(FileError, match="its axis has 3 positions for 9 points"):
        read(tmp_path / "b.wdf", bytes(content))
    # The first block of spectra is said to be shorter than they are: the rest would be of the next block.
    content = bytearray(made.wdf(D, AXIS))
    struct.pack_into("<Q", content, 512 + 8, 16 + 40)
    content[512 + 16 + 40 : 512 + 16 + 40 + 16] = b"PSET" + struct.pack("<IQ", 0, 4 * 36 - 40)
    with pytest.raises(FileError, match="it is cut short"):
        read(tmp_path / "c.wdf", bytes(content))
