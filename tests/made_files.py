"""Small data files of every kind, made by other programs or byte by byte from the formats' specifications.

Used by the tests of the readers and by benchmarks/fuzz.py.
"""

import struct
from pathlib import Path

import numpy as np

AXIS = np.linspace(400.0, 416.0, 9)
D = np.random.default_rng(7).integers(0, 1000, (4, 9)) / 64.0  # exact in every format's numbers
NAMES = ("one", "two", "three", "four")


# JCAMP-DX, after McDonald and Wilks 1988


def jcamp(values, axis, *, title="one", lines=None, form="XYDATA=(X++(Y..Y))", factor=1 / 64, end=True):
    """A block; without `lines`, ordinates are integers in AFFN, five on a line."""
    if lines is None:
        whole = np.round(np.asarray(values) / factor).astype(int)
        starts = range(0, len(whole), 5)
        lines = [f"{axis[start]:g} " + " ".join(map(str, whole[start : start + 5])) for start in starts]
    records = {
        "TITLE": title, "JCAMP-DX": "4.24 $$ by hand", "DATA TYPE": "INFRARED SPECTRUM", "XUNITS": "NANOMETERS",
        "YUNITS": "ABSORBANCE", "XFACTOR": 1, "YFACTOR": factor, "FIRSTX": float(axis[0]),
        "LASTX": float(axis[-1]), "NPOINTS": len(axis),
    }  # fmt: skip
    head = "".join(f"##{label}={value}\n" for label, value in records.items())
    return f"{head}##{form}\n" + "\n".join(lines) + ("\n##END=\n" if end else "\n")


def linked_jcamp():
    blocks = "".join(jcamp(row, AXIS, title=name) for row, name in zip(D, NAMES))
    return f"##TITLE=all\n##JCAMP-DX=4.24\n##DATA TYPE=LINK\n##BLOCKS=5\n{blocks}##END=\n"


# Galactic SPC, after SPC.H


def spc_header(
    flags, exponent, points, first, last, traces, order="<", version=0x4B, x_type=3, comment=b"made"
):
    header = bytearray(512)
    struct.pack_into(order + "BBBbIddI", header, 0, flags, version, 0, exponent, points, first, last, traces)
    struct.pack_into(order + "BBB", header, 28, x_type, 2, 4)
    struct.pack_into(order + "I", header, 32, 2024 << 20 | 5 << 16 | 17 << 11 | 13 << 6 | 45)
    header[88 : 88 + len(comment)] = comment
    return bytes(header)


def spc_trace(exponent=0, index=0, z=0.0, points=0, order="<"):
    return struct.pack(order + "BbHfffIIf4s", 0, exponent, index, z, z + 2, 0.0, points, 0, 0.0, b"")


def spc_files():
    """By name: bytes, and the samples they hold."""
    row, first, last = D[0], AXIS[0], AXIS[-1]
    fractions = lambda values, exponent, bits: np.round(values * 2.0 ** (bits - exponent))  # noqa: E731
    whole = [fractions(values, 10, 32).astype("<i4").tobytes() for values in D]
    own = [np.concatenate([AXIS, values]).astype("<f4").tobytes() for values in D]
    old = bytearray(224)
    struct.pack_into("<BBhfffBB", old, 0, 0, 0x4D, 10, 9.0, first, last, 3, 2)
    words = fractions(row, 10, 32).astype("<i4").view("<u2").reshape(-1, 2)[:, ::-1]
    return {
        "floats": (
            spc_header(0, -128, 9, first, last, 1) + spc_trace(-128) + row.astype("<f4").tobytes(),
            D[:1],
        ),
        "fractions": (spc_header(0, 10, 9, first, last, 1) + spc_trace() + whole[0], D[:1]),
        "short": (
            spc_header(1, 10, 9, first, last, 1)
            + spc_trace()
            + fractions(row, 10, 16).astype("<i2").tobytes(),
            D[:1],
        ),
        "big_endian": (
            spc_header(0, 10, 9, first, last, 1, ">", 0x4C)
            + spc_trace(order=">")
            + fractions(row, 10, 32).astype(">i4").tobytes(),
            D[:1],
        ),
        "multi": (
            spc_header(4, 0, 9, first, last, 4)
            + b"".join(spc_trace(10, i, 2.0 * i) + part for i, part in enumerate(whole)),
            D,
        ),
        "common_axis": (
            spc_header(4 | 0x80, -128, 9, first, last, 4)
            + AXIS.astype("<f4").tobytes()
            + b"".join(spc_trace(-128, i) + v.astype("<f4").tobytes() for i, v in enumerate(D)),
            D,
        ),
        "own_axes": (
            spc_header(4 | 0x40 | 0x80, -128, 0, first, last, 4)
            + b"".join(spc_trace(-128, i, 0.0, 9) + part for i, part in enumerate(own)),
            D,
        ),
        "old": (bytes(old) + spc_trace() + words.astype("<u2").tobytes(), D[:1]),
    }


# Bruker OPUS


def opus_code(number, side, parameters, kind, derivative=0, form=0):
    return number | side << 2 | parameters << 4 | kind << 10 | derivative << 17 | form << 19


def opus_parameters(values):
    content = b""
    for key, value in values.items():
        if isinstance(value, int):
            kind, packed = 0, struct.pack("<i", value)
        elif isinstance(value, float):
            kind, packed = 1, struct.pack("<d", value)
        else:
            kind, packed = 2, value.encode("latin-1") + b"\0" * (2 - len(value) % 2)
        content += key.encode() + b"\0" + struct.pack("<HH", kind, len(packed) // 2) + packed
    content += b"END\0" + struct.pack("<HH", 0, 0)
    return content + b"\0" * (-len(content) % 4)


def opus_file(blocks):
    """A file of blocks, each (code, content); the directory is the first."""
    place, most = 24, 40
    contents, entries = b"", [(opus_code(0, 0, 0, 13), most * 3, place)]
    for code, content in blocks:
        entries.append((code, len(content) // 4, place + 12 * most + len(contents)))
        contents += content
    directory = b"".join(struct.pack("<Iii", *entry) for entry in entries)
    header = b"\n\n\xfe\xfe" + struct.pack("<diii", 920622.0, place, most, len(entries))
    return header + directory.ljust(12 * most, b"\0") + contents


def opus_status(values, scale=1.0):
    values = np.asarray(values) * scale
    return opus_parameters(
        {"DPF": 1, "NPT": 9, "FXV": AXIS[0].item(), "LXV": AXIS[-1].item(), "CSF": scale,
         "MXY": values.max().item(), "MNY": values.min().item(), "DXU": "WN"}
    )  # fmt: skip


def opus_spectrum():
    """A sample spectrum, a reference and the absorbance, which is the one to take."""
    sample, reference = D[1].astype("<f4").tobytes(), D[2].astype("<f4").tobytes()
    absorbance = (D[0] / 2).astype("<f4").tobytes() + b"\0" * 8  # more room than points, as OPUS leaves
    return opus_file(
        [
            (opus_code(3, 1, 0, 1), sample),
            (opus_code(3, 1, 1, 1), opus_status(D[1])),
            (opus_code(3, 2, 0, 1), reference),
            (opus_code(3, 2, 1, 1), opus_status(D[2])),
            (opus_code(3, 3, 0, 4), absorbance),
            (opus_code(3, 3, 1, 4), opus_status(D[0] / 2, 2.0)),
            (opus_code(0, 0, 10, 0), opus_parameters({"SNM": "one", "CNM": "operator"})),
        ]
    )


def opus_series():
    head = struct.pack("<6i", 0, 4, 24 + 8, 36, 152, 1) + struct.pack("<2i", 0, 3)
    content = head + b"".join(row.astype("<f4").tobytes() + b"\0" * 152 for row in D)
    return opus_file(
        [(opus_code(3, 3, 0, 4, 0, 2), content), (opus_code(3, 3, 1, 4, 0, 2), opus_status(D[0]))]
    )


# Renishaw WDF


def wdf_block(name, content):
    return name.encode() + struct.pack("<IQ", 0, 16 + len(content)) + content


def wdf(samples, axis, places=None, grid=None, capacity=None):
    """places : (spectra, 2), x and y on the stage; grid : (x, y, step x, step y, width, height)."""
    count, points = samples.shape
    capacity = count if capacity is None else capacity
    header = bytearray(512)
    struct.pack_into("<4sIQ", header, 0, b"WDF1", 1, 512)
    struct.pack_into(
        "<IQQIIII", header, 0x3C, points, capacity, count, 1, 1, points, 0 if places is None else 2
    )
    struct.pack_into("<24sHHHHII", header, 0x60, b"WiRE", 4, 4, 0, 0, 1, 3)
    struct.pack_into("<If", header, 0x98, 6, 1e7 / 532)
    header[0xD0 : 0xD0 + 4] = b"user"
    header[0xF0 : 0xF0 + 4] = b"one\0"
    content = bytes(header)
    content += wdf_block("DATA", samples.astype("<f4").tobytes() + b"\0" * (4 * points * (capacity - count)))
    content += wdf_block("XLST", struct.pack("<II", 1, 1) + axis.astype("<f4").tobytes())
    content += wdf_block("YLST", struct.pack("<II", 0, 16) + struct.pack("<f", 0))
    if places is not None:
        lists = b"".join(
            struct.pack("<II16s", kind, 5, name)
            + column.astype("<f8").tobytes()
            + b"\0" * 8 * (capacity - count)
            for kind, name, column in ((3, b"X", places[:, 0]), (4, b"Y", places[:, 1]))
        )
        content += wdf_block("ORGN", struct.pack("<I", 2) + lists)
        x, y, dx, dy, width, height = grid
        area = struct.pack("<II", 0, 0) + struct.pack("<ffffff", x, y, 0, dx, dy, 0)
        content += wdf_block("WMAP", area + struct.pack("<IIf", width, height, 0))
    return content


def wdf_map():
    """Four spectra on a 2 x 2 grid, measured to and fro: the second row from right to left."""
    places = np.array([[10.0, 5.0], [12.0, 5.0], [12.0, 8.0], [10.0, 8.0]])
    return wdf(D, AXIS, places, (10.0, 5.0, 2.0, 3.0, 2, 2))


# Files that packages write


def write_packages(folder):
    """Files written by openpyxl, scipy, h5py, pandas with pyarrow, and rdata; by name, their paths."""
    import h5py
    import openpyxl
    import pandas as pd
    import rdata
    import scipy.io

    frame = pd.DataFrame(D, index=pd.Index(NAMES, name="sample"), columns=[f"{x:g}" for x in AXIS])
    book = openpyxl.Workbook()
    book.active.append(["sample", *AXIS.tolist()])
    for name, row in zip(NAMES, D):
        book.active.append([name, *row.tolist()])
    book.save(folder / "made.xlsx")
    scipy.io.savemat(folder / "made.mat", {"D": D, "axis": AXIS, "names": np.array(NAMES, dtype=object)})
    write_matlab_73(folder / "made73.mat")
    with h5py.File(folder / "made.h5", "w") as file:
        file["entry/data"] = D
        file["entry/wavelength"] = AXIS
        file["entry/wavelength"].attrs["units"] = "nm"
        file["entry/names"] = list(NAMES)
    with scipy.io.netcdf_file(folder / "made.nc", "w") as file:
        file.createDimension("sample", 4)
        file.createDimension("wavelength", 9)
        file.createVariable("spectra", "f8", ("sample", "wavelength"))[:] = D
        axis = file.createVariable("wavelength", "f8", ("wavelength",))
        axis[:] = AXIS
        axis.units = "nm"
    write_netcdf_4(folder / "made4.nc")
    frame.to_parquet(folder / "made.parquet")
    rdata.write_rda(folder / "made.rda", {"D": D, "wavelength": AXIS})
    rdata.write_rds(folder / "made.rds", frame.reset_index(drop=True))
    frame.to_csv(folder / "made.csv")
    np.savez(folder / "made.npz", D=D, axis=AXIS)
    np.save(folder / "made.npy", D)


def write_matlab_73(path):
    """As MATLAB lays it out: 512 bytes before the HDF5 file, arrays transposed, classes as attributes."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in (("D", D), ("axis", AXIS[None, :])):
            file.create_dataset(name, data=values.T).attrs["MATLAB_class"] = np.bytes_("double")
    content = bytearray(Path(path).read_bytes())
    content[:128] = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + struct.pack("<H2s", 0x0200, b"IM")
    Path(path).write_bytes(content)


def write_netcdf_4(path):
    """As netCDF-4 lays it out: coordinates are dimension scales; packed integers with a fill value."""
    import h5py

    with h5py.File(path, "w") as file:
        for name, values in (("sample", np.arange(4.0)), ("wavelength", AXIS)):
            file[name] = values
            file[name].make_scale(name)
        file["wavelength"].attrs["units"] = "nm"
        packed = np.round(D * 64).astype("i4")
        packed[3, 8] = -1
        file["spectra"] = packed
        file["spectra"].attrs["_FillValue"] = np.array([-1], dtype="i4")
        file["spectra"].attrs["scale_factor"] = 1 / 64
        file["spectra"].dims[0].attach_scale(file["sample"])
        file["spectra"].dims[1].attach_scale(file["wavelength"])


def write_all(folder):
    """A valid file of every kind; their paths."""
    folder = Path(folder)
    write_packages(folder)
    (folder / "made.jdx").write_text(linked_jcamp())
    compressed = ["0AJT%jX", "9c"]  # the paper's example: 1 2 3 3 2 1 0 -1 -2 -3, and the check at its end
    (folder / "made.dx").write_text(jcamp(None, np.arange(10.0), lines=compressed, factor=1.0))
    for name, (content, _) in spc_files().items():
        (folder / f"made_{name}.spc").write_bytes(content)
    (folder / "made.0").write_bytes(opus_spectrum())
    (folder / "series.1").write_bytes(opus_series())
    (folder / "made.wdf").write_bytes(wdf_map())
    text = "wavelength (nm);one;two\n" + "\n".join(f"{x:g};{a};{b}" for x, a, b in zip(AXIS, D[0], D[1]))
    (folder / "made.txt").write_text(text.replace(".", ","))
    return sorted(path for path in folder.iterdir() if path.is_file())
