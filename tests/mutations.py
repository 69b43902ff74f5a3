"""Ways to damage a file, and a model file that is damaged but whole; for the tests and for benchmarks/fuzz.py."""

import copy
import gzip
import io
import re
import zipfile

import numpy as np

TELLING = (
    b"\0", b"\xff", b"\x80", b"\x7f", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\0\0\0\x80",
    b"nan", b"inf", b"1e999", b"-1", b"999999999999", b'"', b",", b";", b"\t", b"\n", b"=", b"$$", b"##", b"\\",
    b"'", b"(", b"[", b"{",
)  # fmt: skip
ODD = (
    None,
    True,
    -1,
    0,
    10**30,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "text",
    [],
    [1, "a"],
    {},
    {"kind": 3},
    [[]],
)


def damaged(content, rng):
    """The bytes with up to six changes: bytes set, cut out, put in, doubled or swapped, or the end cut off."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 7)):
        if not content:
            break
        at = int(rng.integers(len(content)))
        size = int(rng.integers(1, 9)) if rng.random() < 0.8 else int(rng.integers(1, len(content) + 1))
        kind = rng.integers(7)
        if kind == 0:
            content[at] = int(rng.integers(256))
        elif kind == 1:
            content[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            telling = TELLING[rng.integers(len(TELLING))]
            content[at : at + len(telling)] = telling
        elif kind == 3:
            del content[at : at + size]
        elif kind == 4:
            content[at:at] = content[at : at + size]
        elif kind == 5:
            other = int(rng.integers(len(content)))
            content[at : at + size] = content[other : other + size]
        elif rng.random() < 0.3:
            del content[at:]
    return bytes(content)


def changed_header(header, rng):
    """A header with a few of its entries, at any depth, replaced, removed or added."""
    header = copy.deepcopy(header)
    for _ in range(rng.integers(1, 4)):
        node, parents = header, []
        while isinstance(node, dict | list) and node and (not parents or rng.random() < 0.7):
            key = (
                list(node)[rng.integers(len(node))]
                if isinstance(node, dict)
                else int(rng.integers(len(node)))
            )
            parents.append((node, key))
            node = node[key]
        if not parents:
            break
        holder, key = parents[-1]
        value = holder[key]
        if rng.random() < 0.25 and isinstance(holder, dict):
            del holder[key]
        elif rng.random() < 0.5 and isinstance(value, int | float) and not isinstance(value, bool):
            holder[key] = (-value, value + 1, value - 1, value * 10**6, value * 1e-9, value + 0.5)[
                rng.integers(6)
            ]
        elif rng.random() < 0.3 and isinstance(value, list) and value:
            holder[key] = (value[:-1], value[::-1], value + value[:1], [value])[rng.integers(4)]
        else:
            holder[key] = copy.deepcopy(ODD[rng.integers(len(ODD))])
    if not isinstance(header.get("kind"), str):
        header["kind"] = "GMCR"
    return header


def changed_arrays(arrays, rng):
    """Arrays with one of them reshaped, retyped, emptied, removed or filled with what does not belong."""
    arrays = {name: array.copy() for name, array in arrays.items()}
    name = list(arrays)[rng.integers(len(arrays))]
    array = arrays[name]
    kind = rng.integers(10)
    if kind > 5 and array.size:  # what is wrong is one entry, or the place of them
        entry = int(rng.integers(array.size))
        if kind == 6:
            array.flat[entry] = 1 - array.flat[entry]
        elif kind == 7 and array.dtype.kind == "f":
            array.flat[entry] = rng.choice([np.nan, np.inf, -1.0, 1e308, 1e150, 5e-324, 0.0])
        elif kind == 8:
            arrays[name] = np.ascontiguousarray(array[..., ::-1].T)
        else:
            arrays[name] = arrays[list(arrays)[rng.integers(len(arrays))]]
    elif kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name] = array.ravel()
    elif kind == 2:
        arrays[name] = array[:0]
    elif kind == 3:
        arrays[name] = np.zeros(array.shape, dtype=rng.choice(["int8", "bool", "float32"]))
    elif kind == 4:
        arrays[name] = np.full(array.shape, rng.choice([np.nan, np.inf, -1.0, 1e308]))
    else:
        arrays[name] = np.ones((3, 2, 2))
    return arrays


# Damage that knows how a file is built, and so gets further into its reader

NUMBERS = (
    0,
    1,
    2,
    3,
    127,
    128,
    255,
    256,
    *(2**bits + more for bits in (15, 16, 31, 32, 63, 64) for more in (-1, 0)),
)
FLOATS = (0.0, -1.0, 1e-300, 1e300, float("nan"), float("inf"), float("-inf"))
WORDS = (
    "",
    "0",
    "-1",
    "nan",
    "1e999",
    "9" * 30,
    "abc",
    "(XY..XY)",
    "(X++(Y..Y))",
    "A%J9s99999",
    "?",
    "1,2;3",
    "=1",
)


def altered(content, rng):
    """A file whose parts are whole and whose numbers are not: its fields, its lines or what is packed in it."""
    if content[:1] == b"<":
        return _marked_up(content, rng)
    if content[:4] == b"PK\3\4":
        return _repacked(content, rng)
    if content[:2] == b"\x1f\x8b":
        return gzip.compress(altered(gzip.decompress(content), rng), 1)
    lines = content.split(b"\n")
    if len(lines) > 4 and b"\0" not in content:
        return _lines(lines, rng)
    return _fields(bytearray(content), rng)


def _repacked(content, rng):
    source, target = io.BytesIO(content), io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        names = old.namelist()
        chosen = names[rng.integers(len(names))]
        for name in names:
            member = old.read(name)
            new.writestr(name, altered(member, rng) if name == chosen else member)
    return target.getvalue()


def _lines(lines, rng):
    lines = list(lines)
    for _ in range(rng.integers(1, 5)):
        at, other = (int(place) for place in rng.integers(len(lines), size=2))
        kind = rng.integers(5)
        if kind == 0:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 1:
            lines.insert(at, lines[other])
        elif kind == 2 and len(lines) > 1:
            del lines[at]
        else:
            mark = b"=" if b"=" in lines[at] else b"," if b"," in lines[at] else b" "
            parts = lines[at].split(mark)
            parts[rng.integers(len(parts))] = WORDS[rng.integers(len(WORDS))].encode()
            lines[at] = mark.join(parts)
    return b"\n".join(lines)


def _marked_up(content, rng):
    """XML with the values of attributes, or texts, exchanged; its elements doubled or taken out."""
    for _ in range(rng.integers(1, 4)):
        pattern = (rb'="([^"]*)"', rb">([^<]+)<", rb"(<(\w+)[^>]*/>|<(\w+)[^>]*>[^<]*</\3>)")[rng.integers(3)]
        found = list(re.finditer(pattern, content))
        if not found:
            continue
        start, end = found[rng.integers(len(found))].span(1)
        other = found[rng.integers(len(found))][1]
        word = WORDS[rng.integers(len(WORDS))].encode().replace(b"<", b"")
        element = content[start:end] if pattern.startswith(rb"(") else b""
        put = (other, word, element * 2, b"")[rng.integers(4)]
        content = content[:start] + put + content[end:]
    return content


def _fields(content, rng):
    for _ in range(rng.integers(1, 4)):
        size = int(rng.choice([1, 2, 4, 8]))
        # Headers stand at the beginning, and fields at multiples of their size, or of 2.
        most = len(content) if rng.random() < 0.5 else min(len(content), 640)
        at = int(rng.integers(max(most // 2, 1))) * 2 + (int(rng.integers(2)) if size == 1 else 0)
        order = "little" if rng.random() < 0.8 else "big"
        value = NUMBERS[rng.integers(len(NUMBERS))] % 256**size
        packed = value.to_bytes(size, order)
        if size > 2 and rng.random() < 0.3:
            packed = np.array(FLOATS[rng.integers(len(FLOATS))], dtype=f"<f{size}").tobytes()
        content[at : at + size] = packed
    return bytes(content)
