"""Files that are whole and hold what nobody expects: odd types, shapes, names, numbers, flags and sizes.

`odd_file(name, folder, rng)` writes one of the format `name`, and in one of three damages its bytes besides; used
by tests/test_fuzz.py and benchmarks/fuzz.py.
"""

import contextlib
import io
import json
import struct
import zipfile

import numpy as np

import made_files as made
from mutations import WORDS, altered, damaged

SHAPES = (
    (),
    (0,),
    (1,),
    (7,),
    (4, 9),
    (9, 4),
    (9, 9),
    (0, 5),
    (5, 0),
    (1, 1),
    (1, 9),
    (9, 1),
    (2, 3, 4),
    (1, 2, 3, 4),
)
KINDS = ("f8", "f4", "f2", "i1", "i2", "i8", "u1", "u8", "?", "c8", "c16", ">f8", ">i4", ">f4")
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e160, 2.0**63)
NAMES = (
    "D", "X", "S", "x", "y", "axis", "wavelength", "wavenumber", "names", "sample_names", "samples", "channels",
    "mask", "spectra", "library", "cube", "data", "", " ", "a b", "../a", "a.b", "ä µ", "日本", "#refs#", "=1+1",
    "1", "400", "400 nm", "nan", "e" * 300, "sample", "C>A", "A[C>A]A",
)  # fmt: skip
TEXTS = (
    "",
    "a",
    "s1",
    "1",
    "2,5",
    "1e400",
    "nan",
    "=1+1",
    "-",
    "?",
    "µ",
    "日本",
    "a\nb",
    '"',
    "A[C>A]A",
    "x" * 999,
)


def odd_file(name, folder, rng):
    """A file of this format; its path."""
    suffix, content = BUILDERS[name](folder, rng)
    if rng.random() < 1 / 3:
        content = (altered if rng.random() < 0.7 else damaged)(content, rng)
    path = folder / f"odd{suffix}"
    path.write_bytes(content)
    return path


def pick(rng, choices):
    return choices[rng.integers(len(choices))]


def numbers(rng, shape=None, kind=None):
    """An array of any kind; most have plain numbers, some special ones."""
    shape = pick(rng, SHAPES) if shape is None else shape
    values = np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4))
    way = rng.integers(6)
    if way == 0:
        values = np.full(shape, pick(rng, SPECIAL))
    elif way == 1:
        values = np.sort(np.abs(values), axis=-1) if values.ndim else values
    elif way == 2 and values.size:
        values.flat[rng.integers(values.size)] = pick(rng, SPECIAL)
    elif way == 3:
        values = np.arange(values.size, dtype=float).reshape(shape)
    with np.errstate(all="ignore"):
        return values.astype(pick(rng, KINDS) if kind is None else kind)


def texts(rng, size):
    return [pick(rng, TEXTS) for _ in range(size)]


def some(rng, least, most):
    return range(int(rng.integers(least, most + 1)))


# Formats that gmcr parses itself


def text(folder, rng):
    """Cells, rows of any lengths, marks, ends of lines, encodings."""
    mark = pick(rng, [",", ";", "\t", " ", "|", ", ", "  "])
    ends = pick(
        rng, [["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r", "\n\n", "\x0b", "\x0c", "\x85", "\u2028"]]
    )
    width = int(rng.choice([1, 2, 3, 9, 200]))
    rows = []
    for _ in some(rng, 0, 12):
        n = width if rng.random() < 0.98 else int(rng.integers(0, width + 3))
        row = [f"{value:.6g}" for value in rng.normal(size=n) * 100]
        for at in some(rng, 0, 2) if n and rng.random() < 0.05 else ():
            row[at % n] = pick(
                rng, [*WORDS, *TEXTS, "1 000,5", "1_0", "٣", "0x1F", "1d5", "−1", "1e-400", '"1', "'=1"]
            )
        rows.append(row)
    if rng.random() < 0.5:
        rows.insert(
            0, [pick(rng, NAMES) for _ in range(width)] if rng.random() < 0.5 else [*map(str, range(width))]
        )
    if rng.random() < 0.3:
        rows.insert(
            0, [pick(rng, ["# a", "title: b", "[header]", "%", "//", "!x", "<html>", "{", "##TITLE=a"])]
        )
    if rng.random() < 0.3:
        rows = [[pick(rng, NAMES), *row] for row in rows]
    joined = "".join(mark.join(row) + pick(rng, ends) for row in rows)
    joined = joined.replace(".", ",") if rng.random() < 0.2 else joined
    encoding = pick(rng, [*["utf-8"] * 9, "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"])
    content = joined.encode(encoding, "replace")
    if rng.random() < 0.05:
        at = int(rng.integers(len(content) + 1))
        content = content[:at] + b"\0" + content[at:]
    return pick(rng, [".csv", ".txt", ".tsv", ".dpt", ".all"]), content


def numpy(folder, rng):
    content = io.BytesIO()
    if rng.random() < 0.5:
        np.save(content, _for_numpy(rng), allow_pickle=True)
        if rng.random() < 0.3:
            return ".npy", _other_header(rng) + content.getvalue()[128:]
        return ".npy", content.getvalue()
    with zipfile.ZipFile(content, "w", pick(rng, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for _ in some(rng, 0, 2):
            member = io.BytesIO()
            np.save(member, _for_numpy(rng), allow_pickle=True)
            body = member.getvalue() if rng.random() < 0.9 else _other_header(rng) + bytes(64)
            archive.writestr(pick(rng, NAMES) + pick(rng, [".npy", ".npy", ".", ".txt"]), body)
    return ".npz", content.getvalue()


def _for_numpy(rng):
    way = rng.integers(8)
    if way == 0:
        return np.array(texts(rng, 4), dtype=pick(rng, [str, object]))
    if way == 1:
        return np.array([one.encode() for one in texts(rng, 4)]) if rng.random() < 0.5 else np.array(b"a")
    if way == 2:
        return np.zeros(pick(rng, SHAPES), dtype=[("a", "f8"), ("b", pick(rng, KINDS))])
    if way == 3 and rng.random() < 0.3:
        return np.array(["2020-01-01", "NaT"], dtype="M8[D]")
    return np.asfortranarray(numbers(rng)) if rng.random() < 0.3 else numbers(rng)


def _other_header(rng):
    """Of an array, with entries that need not go together."""
    shape = pick(
        rng, [(4, 9), (9,), (-1, 9), (10**9, 10**9), (2**63,), (4, 9.0), (True, 2), "4", None, ((2,), 2)]
    )
    kind = pick(
        rng, ["<f8", ">f8", "|V8", "|O", "<U9", "f", "x", [("a", "<f8")], ["<f8"], 3, "<M8[s]", "|S0"]
    )
    head = {"descr": kind, "fortran_order": pick(rng, [False, True, 0, "a", None]), "shape": shape}
    for _ in some(rng, 0, 1):
        head.pop(pick(rng, list(head)))
    version = pick(rng, [(1, 0), (2, 0), (3, 0), (9, 9)])
    body = repr(head).encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version == (1, 0) else "<I", len(body)) + body


LABELS = (
    "JCAMP-DX", "DATA TYPE", "XUNITS", "YUNITS", "XFACTOR", "YFACTOR", "FIRSTX", "LASTX", "FIRSTY", "MAXY",
    "MINY", "NPOINTS", "DELTAX", "BLOCKS", "END", "TITLE", "ORIGIN", "XYDATA", "PEAK TABLE", "XYPOINTS",
    "NTUPLES", "", "a/b",
)  # fmt: skip
ASDF = "0123456789+-.@ABCDEFGHIabcdefghi%JKLMNOPQRjklmnopqrSTUVWXYZs?E ,;"


def jcamp(folder, rng):
    """Blocks in blocks; records of any number; tables as characters that data may have."""
    lines = []
    for _ in some(rng, 1, 2):
        points = int(rng.integers(0, 12))
        records = {
            "TITLE": pick(rng, NAMES),
            "NPOINTS": points,
            "FIRSTX": 1,
            "LASTX": points,
            "XFACTOR": 1,
            "YFACTOR": 1,
        }
        for label in list(records):
            if rng.random() < 0.05:
                records[label] = pick(rng, [*WORDS, "1e308", "0", "5e-324", "1,5", "1 2", "²"])
            if rng.random() < 0.02 and label != "TITLE":
                del records[label]
        for _ in some(rng, 0, 2) if rng.random() < 0.3 else ():
            records[pick(rng, LABELS)] = pick(rng, [*WORDS, "LINK", "NMR SPECTRUM", "$$", "a\nb"])
        lines += [f"##{label}={value}" for label, value in records.items()]
        label, form = pick(
            rng, [("XYDATA", "(X++(Y..Y))")] * 9 + [("XYPOINTS", "(XY..XY)"), ("XYDATA", "(R++(I..I))")]
        )
        lines.append(f"##{label}={form}")
        if rng.random() < 0.6:
            for at in range(0, points, 3):
                values = rng.integers(-99, 99, min(3, points - at))
                lines.append(
                    str(at + 1)
                    + "".join(pick(rng, [" ", "+", "@", "A", "c", "i"]) + str(abs(v)) for v in values)
                )
        else:
            lines += [
                f"{at} " + "".join(rng.choice(list(ASDF), rng.integers(1, 30))) for at in some(rng, 0, 6)
            ]
        if rng.random() < 0.95:
            lines.append("##END=")
    return ".jdx", pick(rng, ["\n", "\r\n", "\r"]).join(lines).encode("utf-8")


def spc(folder, rng):
    """Any flags, exponents and counts, with about as many bytes as they ask for."""
    order, version = pick(rng, [("<", 0x4B), (">", 0x4C), ("<", 0x4B), ("<", 0x4D)])
    flags, points = int(rng.integers(256)), int(rng.choice([1, 2, 9, 40, 0]))
    flags &= pick(rng, [0xFF, 0x3F, 0x25])
    exponent = int(rng.choice([-128, 0, 1, 10, 31, 127, -127, -1]))
    ends = float(numbers(rng, (), "f4")), float(numbers(rng, (), "f4"))
    if version == 0x4D:
        with np.errstate(all="ignore"):
            n = float(pick(rng, [points, points + 0.5, np.nan, np.inf, -1.0, 1e30]))
        head = bytearray(224)
        n = float(points) if rng.random() < 0.8 else n
        struct.pack_into("<BBhfffBB", head, 0, flags, version, exponent, n, *ends, *rng.integers(0, 40, 2))
    else:
        traces = int(rng.choice([0, 1, 2, 4])) if rng.random() < 0.95 else 2**31
        place = points if rng.random() < 0.9 else int(rng.choice([512, 600, 2**31]))
        head = bytearray(made.spc_header(flags, exponent, place, *ends, traces, order, version))
        head[28:31] = rng.integers(0, 255, 3).tolist()
        struct.pack_into(order + "fI", head, 312, float(numbers(rng, (), "f4")), int(rng.choice([0, 1, 9])))
    content = bytes(head)
    if flags & 0x80 and not flags & 0x40:
        content += np.sort(numbers(rng, (points,), "f4")).astype(order + "f4").tobytes()
    for at in some(rng, 2, 5):
        own = int(rng.choice([exponent, 0, -128, 5]))
        content += made.spc_trace(own, at, float(rng.normal()), points if flags & 0x40 else 0, order)
        content += np.arange(points * bool(flags & 0x40), dtype=order + "f4").tobytes()
        floats = numbers(rng, (points,), "f4").astype(order + "f4").tobytes()
        content += (
            floats
            if own == -128
            else bytes(rng.integers(0, 256, points * (2 if flags & 1 else 4), dtype="u1"))
        )
    return ".spc", content


def opus(folder, rng):
    """Blocks of any code and size, with parameters of any kind."""
    points = int(rng.choice([9, 1, 12, 0]))
    status = {
        "DPF": 1,
        "NPT": points,
        "FXV": 1.0,
        "LXV": float(points),
        "CSF": 1.0,
        "DXU": "WN",
        "MXY": 1.0,
        "MNY": 0.0,
    }
    blocks = []
    for _ in some(rng, 1, 4):
        own = dict(status)
        for key in list(own):
            if rng.random() < 0.05:
                own[key] = pick(
                    rng, [0, -1, 2**31 - 1, float("nan"), float("inf"), 1e308, "text", "", "9" * 40]
                )
            if rng.random() < 0.02:
                del own[key]
        code = pick(rng, [(3, 3), (3, 3), (3, 3), (3, 1), (0, 3), (2, 2), (1, 0)])
        kind, derivative = int(rng.choice([1, 4, 4, 5, 10, 0, 13, 40, 127])), int(rng.choice([0, 0, 0, 1, 3]))
        form = int(rng.choice([0, 0, 0, 2, 2, 4, 5, 7]))
        values = numbers(rng, (points,), "f4").tobytes() + bytes(4 * int(rng.integers(3)))
        if form == 2:
            head = [
                int(rng.choice([3, 3, 1, 0, -1, 2**31 - 1])),
                32,
                pick(rng, [len(values), 4 * points, 36, -4]),
                152,
            ]
            values = struct.pack("<8i", 0, *head, 1, 0, 3) + (values + bytes(152)) * 3
        blocks.append((made.opus_code(*code, 0, kind, derivative, form), values))
        blocks.append((made.opus_code(*code, 1, kind, derivative, form), made.opus_parameters(own)))
    facts = {
        pick(rng, ["SNM", "CNM", "ABC", "END"]): pick(rng, ["a", "", 3, 1.5, "ä" * 30])
        for _ in some(rng, 0, 3)
    }
    blocks.append((made.opus_code(0, 0, 10, 0), made.opus_parameters(facts)))
    rng.shuffle(blocks)
    return pick(rng, [".0", ".opus"]), made.opus_file(blocks)


def wdf(folder, rng):
    """Counts that need not go together, blocks in any order, places of any kind."""
    count, points = int(rng.choice([1, 4, 6])), int(rng.choice([1, 2, 9]))
    samples, axis = numbers(rng, (count, points), "f4"), numbers(rng, (points,), "f4")
    places = numbers(rng, (count, 2), "f8") if rng.random() < 0.6 else None
    if places is not None and rng.random() < 0.5:
        places = np.indices((2, count)).reshape(2, -1).T[:count].astype(float)
    grid = (
        *(float(x) for x in numbers(rng, (4,), "f4")),
        *(int(x) for x in rng.choice([0, 1, 2, 4, 2**31], 2)),
    )
    capacity = count + int(rng.choice([0, 0, 3]))
    content = bytearray(made.wdf(samples, axis, places, grid, capacity))
    for _ in some(rng, 0, 2):
        place, form, values = pick(
            rng,
            [(0x10, "<Q", [0, 1, 8, 16, 2**63]), (0x3C, "<I", [0, 1, points, 2**31]), (0x40, "<Q", [0, 1, 2**62]),
             (0x48, "<Q", [0, 1, count, 2**62]), (0x58, "<I", [0, points, 2**31]), (0x5C, "<I", [0, 2, 3, 2**31]),
             (0x9C, "<f", [np.nan, np.inf, 0.0, -1.0])],
        )  # fmt: skip
        struct.pack_into(form, content, place, pick(rng, values))
    return ".wdf", bytes(content)


# Formats that packages parse


def xlsx(folder, rng):
    import datetime

    import openpyxl

    book = openpyxl.Workbook()
    for _ in some(rng, 0, 2):
        book.create_sheet(pick(rng, ["a", "b c", "ä", "1"]), int(rng.integers(2)))
    values = (
        None,
        True,
        3,
        2.5,
        float("nan"),
        float("inf"),
        "=A1",
        "#N/A",
        datetime.datetime(2020, 1, 1),
        datetime.time(1),
    )
    for sheet in book.worksheets:
        sheet.sheet_state = pick(rng, ["visible", "hidden"]) if sheet is not book.active else "visible"
        for row in some(rng, 0, 5):
            for column in some(rng, 0, 6):
                odd = rng.random() < 0.2
                value = pick(rng, [*values, *TEXTS[:-4]]) if odd else float(rng.normal())
                sheet.cell(row + 1, column + 1, value)
        if rng.random() < 0.2:
            sheet.merge_cells("A1:B2")
        if rng.random() < 0.1:
            sheet.cell(3000, 300, 1.0)
    content = io.BytesIO()
    book.save(content)
    return ".xlsx", content.getvalue()


def matlab(folder, rng):
    import scipy.io
    import scipy.sparse

    def value(depth=2):
        way = rng.integers(7 if depth else 5)
        if way == 0:
            return pick(rng, [texts(rng, 3), np.array(["ab", "cd"]), "a", ""])
        if way == 1:
            return scipy.sparse.random(4, 9, 0.3, format="csc", random_state=0)
        if way < 5:
            return numbers(rng)
        if way == 5:
            return {pick(rng, ["D", "axis", "a", "b"]): value(depth - 1) for _ in some(rng, 0, 3)}
        cell = np.empty(3, dtype=object)
        cell[:] = [value(depth - 1) for _ in range(3)]
        return cell

    content = io.BytesIO()
    named = {
        name: value() for _ in some(rng, 0, 4) if (name := pick(rng, NAMES)).isidentifier() and name.isascii()
    }
    scipy.io.savemat(
        content,
        {name[:30]: one for name, one in named.items()},
        do_compression=rng.random() < 0.3,
        oned_as="row",
    )
    return ".mat", content.getvalue()


def hdf5(folder, rng):
    import h5py

    kinds = [
        *KINDS, h5py.string_dtype(), h5py.string_dtype("ascii", 5), "S3", np.dtype([("a", "f8"), ("b", "S3")]),
        h5py.enum_dtype({"a": 1, "b": 2}), h5py.vlen_dtype("f8"), h5py.ref_dtype, np.dtype("V4"),
        np.dtype(("f8", (3,))),
    ]  # fmt: skip
    path = folder / "odd.building"
    with h5py.File(path, "w", libver=pick(rng, ["earliest", "latest"])) as file:
        groups = [file, *(file.require_group(pick(rng, ["a", "entry/data", "g"])) for _ in some(rng, 0, 2))]
        for _ in some(rng, 0, 5):
            group, name = pick(rng, groups), pick(rng, NAMES)
            name = name if name.strip("./ ") and name not in group else f"d{len(group)}"
            shape, kind = pick(rng, SHAPES), pick(rng, kinds if rng.random() < 0.3 else KINDS)
            options = {}
            if shape and 0 not in shape and kind in KINDS:
                options = pick(
                    rng,
                    [
                        {},
                        {"compression": "gzip"},
                        {"chunks": True, "fletcher32": True},
                        {"maxshape": (None,) * len(shape)},
                    ],
                )
            made_one = group.create_dataset(name, shape, kind, **options)
            if isinstance(kind, str) and kind != "S3":
                made_one[()] = numbers(rng, shape, kind)
            for _ in some(rng, 0, 2) if rng.random() < 0.3 else ():
                key = pick(
                    rng,
                    [
                        "_FillValue",
                        "scale_factor",
                        "add_offset",
                        "units",
                        "unit",
                        "MATLAB_class",
                        "DIMENSION_LIST",
                    ],
                )
                made_one.attrs[key] = pick(
                    rng, [1.0, np.nan, 0, "nm", "text", b"\xff", np.arange(3), np.zeros(0), h5py.Empty("f8")]
                )
            if rng.random() < 0.2 and made_one.ndim and made_one.shape[0] == 9:
                with contextlib.suppress(RuntimeError):  # where an attribute stands in its way
                    made_one.make_scale(name)
        if rng.random() < 0.3:
            file["soft"] = h5py.SoftLink(pick(rng, ["/", "/soft", "/nowhere", "/D"]))
        if rng.random() < 0.2:
            file["empty"] = h5py.Empty("f8")
    return pick(rng, [".h5", ".nxs", ".hdf"]), path.read_bytes()


def netcdf(folder, rng):
    import scipy.io

    path = folder / "odd.building"
    with scipy.io.netcdf_file(path, "w", version=int(rng.choice([1, 2]))) as file:
        names = ["sample", "wavelength", "x", "y"]
        file.createDimension("time", None)  # which may only be the first
        for name in names:
            file.createDimension(name, int(rng.choice([1, 4, 9])))
        for _ in some(rng, 1, 4):
            dims = tuple(rng.choice([*names, "time"], int(rng.integers(0, 4)), replace=False))
            dims = tuple(sorted(dims, key=lambda name: name != "time"))
            name = pick(rng, ["spectra", "D", "wavelength", "names", "mask", "a"])
            if name in file.variables:
                continue
            kind = pick(rng, ["f8", "f4", "i4", "i2", "i1", "S1"])
            variable = file.createVariable(name, kind, dims)
            shape = tuple(file.dimensions[name] or 3 for name in dims)
            if kind != "S1":
                variable[slice(0, shape[0]) if dims else ...] = numbers(rng, shape, kind)
            for _ in some(rng, 0, 2) if rng.random() < 0.3 else ():
                value = pick(rng, ["nm", "", 1.0, np.float32(np.nan), np.arange(3, dtype="i4")])
                setattr(variable, pick(rng, ["units", "scale_factor", "missing_value", "add_offset"]), value)
    return ".nc", path.read_bytes()


def parquet(folder, rng):
    import datetime
    import decimal

    import pyarrow as pa
    import pyarrow.parquet

    rows = int(rng.choice([0, 1, 4, 9]))
    makers = (
        lambda: pa.array(numbers(rng, (rows,), pick(rng, ["f8", "f4", "i1", "u8", "?"]))),
        lambda: pa.array(numbers(rng, (rows,), "f8"), from_pandas=True),
        lambda: pa.array(texts(rng, rows), pa.string()),
        lambda: pa.array(texts(rng, rows), pa.string()).dictionary_encode(),
        lambda: pa.array([datetime.datetime(2020, 1, 1)] * rows, pa.timestamp("us")),
        lambda: pa.array([decimal.Decimal("1.5")] * rows, pa.decimal128(9, 2)),
        lambda: pa.array([[1.0, None]] * rows, pa.list_(pa.float64())),
        lambda: pa.array([{"a": 1}] * rows, pa.struct([("a", pa.int64())])),
        lambda: pa.nulls(rows),
        lambda: pa.array([b"\xff"] * rows, pa.binary()),
        lambda: pa.array(numbers(rng, (rows,), "f2")),
    )
    columns = [
        makers[rng.integers(3) if rng.random() < 0.7 else rng.integers(len(makers))]()
        for _ in some(rng, 0, 9)
    ]
    table = pa.table(
        columns, [pick(rng, NAMES) if rng.random() < 0.5 else f"{400 + at}" for at in range(len(columns))]
    )
    if rng.random() < 0.5:
        told = pick(
            rng,
            [
                {},
                [],
                {"index_columns": ["D", "400"]},
                {"index_columns": "400"},
                {"index_columns": ["400"]},
                3,
            ],
        )
        table = table.replace_schema_metadata({b"pandas": json.dumps(told).encode()})
    content = io.BytesIO()
    pa.parquet.write_table(table, content, compression=pick(rng, ["snappy", "none", "zstd"]))
    return ".parquet", content.getvalue()


def r(folder, rng):
    """Objects in R's own notation, of any kind and length."""

    def whole(*values):
        return struct.pack(f">{len(values)}i", *values)

    def name(word):
        code = word.encode()
        return whole(1, 0x00040009, len(code)) + code

    def vector(kind, attributes=b""):
        size = int(rng.choice([0, 1, 4, 9, 36]))
        told = size if rng.random() < 0.95 else int(rng.choice([-1, 10**9, size + 1]))
        head = whole(kind | (0x200 if attributes else 0) | (0x100 if rng.random() < 0.1 else 0), told)
        if kind == 14:
            body = numbers(rng, (size,), ">f8").tobytes()
        elif kind == 15:
            body = numbers(rng, (size,), ">c16").tobytes()
        elif kind in (10, 13):
            body = numbers(rng, (size,), ">i4").tobytes()
        elif kind == 24:
            body = bytes(size)
        elif kind == 16:
            body = b"".join(whole(0x00040009, len(t.encode())) + t.encode() for t in texts(rng, size))
        else:
            body = b"".join(thing(0) for _ in range(size))
        return head + body + attributes

    def thing(depth=2):
        if rng.random() < 0.02:
            return whole(int(rng.choice([254, 0, 3, 4, 6, 8, 238, 253, 255, 242, 99])))
        kind = int(rng.choice([*[14] * 6, 13, 13, 16, 16, 10, 15, 19, 19, 20, 24] if depth else [14, 13, 16]))
        attributes = b""
        if depth and rng.random() < 0.3:
            for _ in some(rng, 1, 2):
                word = pick(rng, ["dim", "dimnames", "names", "class", "row.names", "levels", "tsp"])
                value = (
                    whole(13, 2, *rng.choice([2, 3, 4, 9, 0, -1], 2)) if word == "dim" else thing(depth - 1)
                )
                attributes += whole(0x402) + name(word) + value
            attributes += whole(254)
        return vector(kind, attributes)

    head = b"X\n" + struct.pack(">iii", 3, 0x040000, 0x030500) + struct.pack(">i", 5) + b"UTF-8"
    if rng.random() < 0.3:
        return ".rds", head + thing()
    pairs = b"".join(whole(0x402) + name(pick(rng, NAMES)) + thing() for _ in some(rng, 1, 4))
    return ".rda", b"RDX3\n" + head + pairs + whole(254)


BUILDERS = {
    "text": text, "NumPy": numpy, "JCAMP-DX": jcamp, "Galactic SPC": spc, "Bruker OPUS": opus,
    "Renishaw WDF": wdf, "XLSX": xlsx, "MATLAB": matlab, "HDF5": hdf5, "NetCDF": netcdf, "Parquet": parquet,
    "R": r,
}  # fmt: skip
