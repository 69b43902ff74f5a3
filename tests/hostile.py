"""Files that are made to do harm: to eat memory or time, to reach other files, or to be taken for another kind.

`write_all(folder)` writes them, none larger than 2 MB; used by tests/test_hostile.py and benchmarks/fuzz.py.
"""

import bz2
import gzip
import io
import lzma
import os
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

import made_files as made
from made_files import AXIS, D

HUGE, PART = 1 << 29, 1 << 22


def write_all(folder):
    """Their paths, by what is wrong with them."""
    folder = Path(folder)
    made_by = (
        csv,
        archives,
        workbooks,
        numpy_files,
        hdf5,
        matlab,
        netcdf,
        parquet,
        r_files,
        own_parsers,
        no_files,
    )
    paths = {}
    for write in made_by:
        for name, content in write(folder).items():
            path = folder / name
            if content is not None:  # else it is there already
                path.write_bytes(content.encode() if isinstance(content, str) else content)
            assert os.path.lexists(path), name
            paths[name] = path
    return paths


def csv(folder):
    wide = ",".join("1" * 10_000) + "\n"
    return {
        "text_lines_beside_a_wide_one.csv": "a\n" * 500_000 + wide * 45,
        "one_cell_of_digits.csv": "1" * 1_500_000,
        "an_endless_quote.csv": '1,2\n"' + "3,4\n" * 300_000,
        "nested_brackets.csv": "[" * 800_000,
        "binary.csv": b"1,2\n3,\0\n",
        "ragged.csv": "1,2,3\n" + ",".join("1" * 1000) + "\n1,2,3\n",
        "too_large_a_number.csv": "a,b\n1,2\n1e999,3\n",
    }


# Archives


def zipped(members, level=9):
    """members : by name, their content"""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, one in members.items():
            archive.writestr(name, one)
    return content.getvalue()


def packed_zeros():
    """`HUGE` zeros as deflate packs them: parts that stand for themselves, repeated."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    part = squeezer.compress(bytes(PART)) + squeezer.flush(zlib.Z_FULL_FLUSH)
    return part * (HUGE // PART) + squeezer.flush()


def archive(name, packed, size, count=1):
    """An archive of one member, to which its directory points `count` times under other names."""
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 0, 0, len(packed), size, len(name), 0)
    body = local + name.encode() + packed
    names = [name] if count == 1 else [f"{n:05d}" for n in range(count)]
    entries = b"".join(
        struct.pack(
            "<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 0, 0, len(packed), size, len(one), 0, 0, 0, 0, 0, 0
        )
        + one.encode()
        for one in names
    )
    return body + entries + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(entries), len(body), 0)


def npy_head(shape, kind="<f8"):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": kind, "fortran_order": False, "shape": shape})
    return head.getvalue()


def archives(folder):
    good = io.BytesIO()
    np.savez_compressed(good, D=D)
    member = zlib.compress(bytes(1 << 20), 9)[2:-4]
    lying = bytearray(good.getvalue())
    place = lying.rindex(b"PK\1\2") + 24  # the size that the member is said to have
    lying[place : place + 4] = struct.pack("<I", 0xFFFFFFF0)
    return {
        "bomb.npz": archive("D.npy", packed_zeros(), HUGE),
        "overlapping.npz": archive("D.npy", member, 1 << 20, 2000),
        "overlapping_few.npz": archive("D.npy", member, 1 << 20, 40),
        "many_members.npz": zipped({f"{n}.npy": b"" for n in range(15_000)}, level=0),
        "lying_about_size.npz": bytes(lying),
        "a_text_inside.npz": zipped({"D.npy": b"no array"}),
        "an_archive_inside.npz": zipped({"D.npy": archive("D.npy", packed_zeros(), HUGE)}),
        "pickled.npz": zipped({"D.npy": npy_head((1,), "|O") + b"\x80\x04cos\nsystem\n(S'true'\ntR."}),
        "encrypted.npz": bytes(flagged(good.getvalue())),
    }


def flagged(content):
    """An archive that says of its members that they are encrypted."""
    content = bytearray(content)
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(mark) + place] |= 1
    return content


SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'


def workbook(sheet, strings=None):
    """A workbook with one sheet, written by hand."""
    import openpyxl

    content = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["a", 1.0])
    book.save(content)
    with zipfile.ZipFile(content) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["xl/worksheets/sheet1.xml"] = sheet
    if strings is not None:
        members["xl/sharedStrings.xml"] = strings
    return zipped(members)


def workbooks(folder):
    entity = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    laughs = f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "ha">{entity}]>'
    outside = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e9 SYSTEM "file:///etc/passwd">]>'
    sheet = SHEET.format('<row r="1"><c r="A1" t="inlineStr"><is><t>&e9;</t></is></c></row>')
    far = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 12_000))
    strings = '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{}</sst>'
    strings = strings.format(f"<si><t>{'a' * 1000}</t></si>" * 400_000)
    down = SHEET.format('<row r="2000000000"><c r="A2000000000"><v>1</v></c></row>')
    return {
        "bomb.xlsx": archive("[Content_Types].xml", packed_zeros(), HUGE),
        "laughs.xlsx": workbook(laughs + sheet),
        "entity_of_a_file.xlsx": workbook(outside + sheet),
        "cells_far_out.xlsx": workbook(SHEET.format(far)),
        "strings_repeated.xlsx": workbook(SHEET.format(""), strings),
        "row_two_billion.xlsx": workbook(down),
        "not_xml.xlsx": workbook("<worksheet"),
        "formulas.xlsx": workbook(
            SHEET.format('<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f>WEBSERVICE("http://a")</f></c></row>')
        ),
    }  # fmt: skip


def numpy_files(folder):
    code = b"{'descr': __import__('os').system('true'), 'shape': (1,)}"
    return {
        "claims_much.npy": npy_head((1 << 40, 8)) + bytes(100),
        "claims_more_than_can_be.npy": npy_head((1 << 62, 1 << 62)) + bytes(100),
        "no_bytes_each.npy": npy_head((1 << 40,), "|V0"),
        "pickled.npy": npy_head((1,), "|O") + b"\x80\x04cos\nsystem\n(S'true'\ntR.",
        "header_of_code.npy": b"\x93NUMPY\1\0\x40\0" + code.ljust(64),
        "header_of_brackets.npy": b"\x93NUMPY\2\0" + struct.pack("<I", 9000) + b"(" * 9000,
    }  # fmt: skip


def hdf5(folder):
    import h5py

    secret = folder / "secret.bin"
    secret.write_bytes(b"secret" * 200)
    with h5py.File(folder / "secret.h5", "w") as file:
        file["D"] = D
    names = {}

    def new(name):
        names[name] = None
        return h5py.File(folder / name, "w")

    with new("outside_values.h5") as file:
        file.create_dataset("D", (4, 20), "f8", external=[(str(secret), 0, 640)])
    with new("outside_values_not_taken.h5") as file:
        file["D"] = D
        file.create_dataset("group/other", (4,), "f8", external=[(str(secret), 0, 32)])
    with new("outside_link.h5") as file:
        file["D"] = h5py.ExternalLink("secret.h5", "/D")
    with new("outside_link_in_a_group.nxs") as file:
        file["D"] = D
        file["entry/deep/link"] = h5py.ExternalLink("secret.h5", "/D")
    with new("soft_link_over_an_outside_one.h5") as file:
        file["out"] = h5py.ExternalLink("secret.h5", "/")
        file["D"] = h5py.SoftLink("/out/D")
    layout = h5py.VirtualLayout(D.shape, "f8")
    layout[:] = h5py.VirtualSource(str(folder / "secret.h5"), "D", D.shape)
    with new("virtual.h5") as file:
        file.create_virtual_dataset("D", layout)
    with new("virtual4.nc") as file:
        file.create_virtual_dataset("spectra", layout)
    with new("sparse.h5") as file:
        file.create_dataset("D", (1 << 15, 1 << 15), "f4", chunks=(1 << 10, 1 << 10))
    with new("sparse_vector.h5") as file:
        file["D"] = D
        file.create_dataset("axis", (1 << 32,), "i1", chunks=(1 << 20,))
    with new("compressed.h5") as file:
        file.create_dataset("D", data=np.zeros((1 << 12, 1 << 12)), compression="gzip", compression_opts=9)
    with new("long_texts.h5") as file:
        file["D"] = D
        file.create_dataset("names", (1 << 14,), "S60000", chunks=(1,))
    with new("many_groups.h5") as file:
        group = file
        for _ in range(400):
            group = group.create_group("g")
        group["D"] = h5py.SoftLink("/g")
    for name, of in (("outside_values.mat", "outside_values.h5"), ("virtual.mat", "virtual.h5")):
        with h5py.File(folder / name, "w", userblock_size=512) as file:
            if of == "virtual.h5":
                file.create_virtual_dataset("D", layout)
            else:
                file.create_dataset("D", (4, 20), "f8", external=[(str(secret), 0, 640)])
        content = bytearray((folder / name).read_bytes())
        content[:128] = b"MATLAB 7.3 MAT-file".ljust(124) + struct.pack("<H2s", 0x0200, b"IM")
        names[name] = bytes(content)
    return names


def matlab(folder):
    import scipy.io
    import scipy.sparse

    scipy.io.savemat(folder / "sparse.mat", {"D": scipy.sparse.csc_matrix((1 << 16, 1 << 16))})
    scipy.io.savemat(folder / "compressed.mat", {"D": np.zeros((1 << 12, 1 << 12))}, do_compression=True)
    scipy.io.savemat(folder / "good.mat", {"D": D})
    content = bytearray((folder / "good.mat").read_bytes())
    (folder / "good.mat").unlink()
    place = content.index(struct.pack("<II", 5, 8)) + 8  # the sizes of the matrix
    claims = bytes(content[:place] + struct.pack("<ii", 1 << 30, 1 << 30) + content[place + 8 :])
    return {
        "sparse.mat": None,
        "compressed.mat": None,
        "claims_much.mat": claims,
        "compressed_bomb.mat": bytes(content[:128]) + element(zlib.compress(bytes(64 << 20), 9)),
        "nothing_inside.mat": bytes(content[:128]),
    }


def element(packed):
    return struct.pack("<II", 15, len(packed)) + packed


def netcdf(folder):
    """Variables that all lie in the same bytes, and one that claims more than there is."""

    def classic(rows, count, held):
        text = lambda name: struct.pack(">I", len(name)) + name.ljust(-(-len(name) // 4) * 4).encode()  # noqa: E731
        head = b"CDF\1" + struct.pack(">I", 0) + struct.pack(">II", 10, 2)
        head += (
            text("rows")
            + struct.pack(">I", rows)
            + text("cols")
            + struct.pack(">I", 8)
            + struct.pack(">II", 0, 0)
        )
        size = len(head) + 8 + 40 * count
        variables = b"".join(
            text(f"{n:04d}") + struct.pack(">8I", 2, 0, 1, 0, 0, 6, rows * 64 % 2**32, size)
            for n in range(count)
        )
        return head + struct.pack(">II", 11, count) + variables + bytes(held)

    return {
        "same_bytes.nc": classic(8000, 400, 8000 * 64),
        "claims_much.nc": classic(1 << 30, 1, 8000),
    }


def parquet(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    same = pa.array(np.zeros(1 << 24))
    pq.write_table(
        pa.table({"a": same, "b": same, "c": same}), folder / "one_value.parquet", compression="zstd"
    )
    text = pa.array(["a" * 100_000]).dictionary_encode()
    texts = pa.DictionaryArray.from_arrays(np.zeros(1 << 20, dtype="i4"), text.dictionary)
    pq.write_table(pa.table({"a": texts}), folder / "one_text.parquet")
    nested = pa.array([[1.0, 2.0]] * 10)
    pq.write_table(pa.table({"a": nested}), folder / "nested.parquet")
    return {"one_value.parquet": None, "one_text.parquet": None, "nested.parquet": None}


def r_files(folder):
    head = b"RDX3\nX\n" + struct.pack(">iii", 3, 0x040000, 0x030500) + struct.pack(">i", 5) + b"UTF-8"
    vector = struct.pack(">i", 1026) + struct.pack(">i", 1) + struct.pack(">ii", 0x00040009, 1) + b"D"
    claims = head + vector + struct.pack(">ii", 14, 1 << 30)
    deep = head + struct.pack(">i", 19) + struct.pack(">i", 1) * 1
    return {
        "bomb.rda": gzip.compress(bytes(PART)) * (HUGE // PART),
        "bomb_bz2.rda": bz2.compress(bytes(PART)) * (HUGE // PART),
        "bomb_xz.rds": lzma.compress(bytes(PART)) * (HUGE // PART),
        "claims_much.rda": claims,
        "lists_in_lists.rda": deep + struct.pack(">ii", 19, 1) * 20_000,
        "cut.rda": gzip.compress(head)[:-6],
    }


# The four own parsers


def own_parsers(folder):
    points = "##TITLE=a\n##NPOINTS={n}\n##FIRSTX=0\n##LASTX=1\n##XYDATA=(X++(Y..Y))\n0A{dup}\n##END=\n"
    one = points.format(n=3_000_000, dup="s" + "9" * 6 + "Z999998")
    row = D[0].astype("<f4").tobytes()
    long_trace = np.arange(50_000, dtype="<f4")
    uneven = made.spc_header(4 | 0x40 | 0x80, -128, 0, 0, 1, 20_001)
    uneven += made.spc_trace(-128, 0, 0.0, 50_000) + long_trace.tobytes() * 2
    short = np.array([0.0, 5e4], dtype="<f4").tobytes() * 2
    uneven += b"".join(made.spc_trace(-128, n % 65536, 0.0, 2) + short for n in range(1, 20_001))
    entries, whole = 20_000, 800_000
    status = made.opus_parameters({"NPT": 9, "FXV": 1.0, "LXV": 2.0}).ljust(whole, b"\0")
    directory = [(made.opus_code(3, 3, 0, 4), 9, 0)] + [
        (made.opus_code(0, 0, 10, 0), whole // 4, 0)
    ] * entries
    start = 24 + 12 * len(directory)
    opus = b"\n\n\xfe\xfe" + struct.pack("<diii", 920622.0, 24, len(directory), len(directory))
    opus += b"".join(struct.pack("<Iii", code, words, start) for code, words, _ in directory) + status
    wdf = bytearray(made.wdf(D, AXIS))
    struct.pack_into("<IQQ", wdf, 0x3C, 9, 1 << 60, 1 << 60)
    wide = bytearray(made.wdf(D, AXIS))
    struct.pack_into("<I", wide, 0x3C, 1 << 31)
    struct.pack_into("<I", wide, 0x58, 1 << 31)
    empty_block = made.wdf(D, AXIS)[:512] + b"DATA" + struct.pack("<IQ", 0, 0)
    directory_of_spc = made.spc_header(4 | 0x40 | 0x80, -128, 512, 0, 1, 1 << 31)
    return {
        "repeats.jdx": one,
        "repeats_in_blocks.jdx": "##TITLE=all\n##DATA TYPE=LINK\n" + one * 500 + "##END=\n",
        "repeats_of_unknown_length.jdx": one.replace("##NPOINTS=3000000\n", "").replace(
            "Z999998", "s99999999"
        ),
        "blocks_in_blocks.jdx": "##TITLE=a\n" * 150_000,
        "a_factor_of_text.jdx": made.jcamp(D[0], AXIS).replace("##YFACTOR=0.015625", "##YFACTOR=2 or 3"),
        "no_factor.jdx": made.jcamp(D[0], AXIS).replace("##YFACTOR=0.015625", "##YFACTOR=0"),
        "two_tables.jdx": made.jcamp(D[0], AXIS).replace("##END=", "##XYDATA=(X++(Y..Y))\n400 1\n##END="),
        "ntuples.jdx": "##TITLE=a\n##NTUPLES=NMR SPECTRUM\n##END=\n",
        "claims_points.spc": made.spc_header(0, 0, 0xFFFFFFFF, 0, 1, 1) + row,
        "claims_traces.spc": made.spc_header(4, -128, 9, 0, 1, 0xFFFFFFFF)
        + (made.spc_trace(-128) + row) * 10,
        "long_and_short_traces.spc": uneven,
        "directory_of_itself.spc": directory_of_spc + bytes(4000),
        "no_points.spc": made.spc_header(4, -128, 0, 0, 1, 1 << 31) + made.spc_trace(-128) * 100,
        "axis_in_the_old_format.spc": struct.pack("<BBhfffBB", 0x80, 0x4D, 10, 9.0, 0, 1, 3, 2).ljust(
            600, b"\0"
        ),
        "old_points_not_a_number.spc": struct.pack("<BBhfffBB", 0, 0x4D, 10, np.nan, 0, 1, 3, 2).ljust(
            600, b"\0"
        ),
        "blocks_over_each_other.0": opus,
        "number_format.0": made.opus_spectrum().replace(b"DPF\0\0\0\2\0\1", b"DPF\0\0\0\2\0\7"),
        "directory_far_out.0": b"\n\n\xfe\xfe" + struct.pack("<diii", 1.0, 1 << 30, 1 << 30, 1) + bytes(100),
        "claims_spectra.wdf": bytes(wdf),
        "claims_points.wdf": bytes(wide),
        "empty_block.wdf": empty_block,
        "axis_each.wdf": made.wdf(D, AXIS)[:0x10] + struct.pack("<Q", 8) + made.wdf(D, AXIS)[0x18:],
    }


def no_files(folder):
    """A pipe, a device, a link to one, a link to itself, and a file of holes."""
    os.mkfifo(folder / "pipe.csv")
    (folder / "device.csv").symlink_to("/dev/zero")
    (folder / "itself.csv").symlink_to("itself.csv")
    with open(folder / "holes.csv", "wb") as file:
        file.truncate(1 << 36)
    with open(folder / "holes.wdf", "wb") as file:
        file.write(made.wdf(D, AXIS))
        file.truncate(3 << 30)
    return dict.fromkeys(("pipe.csv", "device.csv", "itself.csv", "holes.csv", "holes.wdf"))
