"""Ways to damage a file, and a model file that is damaged but whole; for the tests and for benchmarks/fuzz.py."""

import copy

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
        if rng.random() < 0.25 and isinstance(holder, dict):
            del holder[key]
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
    kind = rng.integers(6)
    if kind == 0:
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
