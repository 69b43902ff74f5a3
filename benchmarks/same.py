"""Do two checkouts give the same answers? Small cases of every regime, run with each, compared number by number.

    python benchmarks/same.py OLD NEW
    python benchmarks/same.py OLD NEW --only "decode*" eb --logs same.log
    python benchmarks/same.py --keep

OLD and NEW are folders that hold src/gmcr. Each runs in a process of its own, on one thread (a few cases on two),
through gmcr's public names alone, so that files may have moved in between (same_cases.py has the cases). What is
counted, selected or said must be identical; numbers may differ by 1e-9 of the largest one beside them. NEW must
also decode alike with the model files that OLD wrote. One line a case: whether all is the same, the largest
difference, and the seconds of OLD and NEW, which in a first run hold compiling.

--keep rewrites the answers of this checkout that tests/test_same.py compares with.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

import gmcr
from same_cases import CASES, DATA, ROOT, Case, Data

Record = dict[str, np.ndarray]

SIDES = ("old", "new")
TOLERANCE = 1e-9  # of an array's largest absolute value
KEPT = ROOT / "tests" / "kept" / "same.json"
# Cases whose answers are kept. The solver's first starting sample is a tie that the last bit of the norms breaks,
# so that other processors can give other answers; in these cases, by seed or by a given start, they do not.
QUICK = (
    *("sparse", "dense", "signed-warm", "missing", "image-small", "poisson-dense", "noise-entries"),
    *("fixed", "fixed-dense", "closure", "told-count-dense", "warm-start"),
)

# What is recorded of an answer: attributes, or methods that need no argument.
MODEL = (
    "n_components_ supports_ concentrations_ components_ noise_ usage_price_ interrupted_ fractions_ path_"
)
EVIDENCE = "count low high firm decided_by by_cost by_rank by_reproducibility white reproducibility"
DECODING = "concentrations supports known residual misfit margin noise confidence errors intervals"
CERTIFICATE = "verdict conditions constants read_off concentration_error profile_error components groups"
BAND = "component share min max profiles concentrations noise closed partners"
ANSWERS = {
    "decode": DECODING,
    "certify": CERTIFICATE,
    "estimate_rank": "count agree scaling white table singular_values noise misfit",
    "support_posterior": "confidence highest presence expected_wrong q",
}


# What a case gives


def asked(thing: Any, names: str) -> dict[str, Any]:
    values = {name: getattr(thing, name) for name in names.split()}
    return {name: value() if callable(value) else value for name, value in values.items()}


def answer(case: Case, data: Data, files: Sequence[Path]) -> dict[str, Any]:
    """What is compared, nested; files : the model file to write, and one of the same case to read as well."""
    if case.what == "GMCR":
        return fitted(case, data, files)
    if case.what == "EBgMCR":
        return trained(case, data)
    out = case.call(data)
    if case.what == "feasible_bands":
        return {
            "bands": [asked(band, BAND) for band in out.bands],
            "planes": [asked(plane, "to_dict") for plane in out.planes],
        }
    return asked(out, ANSWERS[case.what])


def fitted(case: Case, data: Data, files: Sequence[Path]) -> dict[str, Any]:
    """A fit, and all that a model can be asked."""
    model, new = case.fit(data), fresh(data.D)
    model.save(files[0])
    loaded = [gmcr.GMCR.load(file).decode(new) for file in files]
    return asked(model, MODEL) | {
        "law": model.decomposition_.noise_law,
        "count": asked(model.count_, EVIDENCE),
        "decomposition": asked(model.decomposition_, "fit axis sample_names settings table"),
        "decode": asked(model.decode(new), DECODING),
        "transform": model.transform(new),
        "inverse_transform": model.inverse_transform(model.concentrations_),
        "fractions": model.fractions(new) if model.closure else None,
        "certificate": asked(model.certify(data.D), CERTIFICATE),
        "loaded": [asked(out, "concentrations known noise confidence errors") for out in loaded],
    }


def fresh(D: Any) -> Any:
    """Samples to decode: some that were fitted, sums of two, and one turned around, which no pool explains."""
    rows = np.asarray(D)
    sums = (rows[:-1:2] + rows[1::2]) / np.sqrt(2)  # with as much noise as one sample has
    rows = np.vstack([rows[:6], sums[:17], rows[:1, ::-1]])
    return pd.DataFrame(rows, columns=D.columns) if isinstance(D, pd.DataFrame) else rows


def _amounts(decoded: Any) -> np.ndarray:
    """Concentrations, which the paper's solver once gave as they are."""
    return getattr(decoded, "concentrations", decoded)


def trained(case: Case, data: Data) -> dict[str, Any]:
    """The paper's solver: its run, its decoders, and what the window solver makes of its pool."""
    model = case.fit(data)
    refined = model.refine(data.D, "final", compare=False)
    return asked(model, "n_components_ components_ n_epochs_ history_") | {
        "bands": [asked(band, "low high epoch count r2 usage slots") for band in model.bands_],
        "final": asked(model.final_, "components concentrations noise noise_law"),
        "decode": {by: _amounts(model.decode(data.D, by, rule="final")) for by in ("gate", "floor", "exact")},
        "refined": [refined.survived, refined.model.components_, refined.model.concentrations_],
    }


def flat(value: Any, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Arrays and their names, from whatever is nested."""
    if isinstance(value, pd.DataFrame):  # prose may be worded anew
        value = {column: value[column].to_numpy() for column in value if column != "note"}
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else str(key))
        return
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype == object and isinstance(value, list | tuple):
        yield from flat(dict(enumerate(value)), name)
    else:
        yield name, array.astype(str) if array.dtype == object else array


# Running: in a process for each checkout and number of threads


def run(name: str, files: Sequence[Path]) -> Record:
    """What a case gives, flat; an error or a warning is something it gives."""
    started, found = perf_counter(), {}
    with warnings.catch_warnings(record=True, action="always", category=UserWarning) as said:
        try:
            data = CASES[name].data()
            found = {"D": data.D} | answer(CASES[name], data, files)
        except Exception as error:
            traceback.print_exc()
            found = {"error": f"{type(error).__name__}: {error}"}
    found["warnings"] = [str(one.message) for one in said if issubclass(one.category, UserWarning)]
    return dict(flat(found)) | {"seconds": np.array(perf_counter() - started)}


def check_source(checkout: Path) -> None:
    """Answers of another gmcr than the one that was meant would be worse than none."""
    source = checkout.resolve() / "src"
    if not Path(gmcr.__file__).resolve().is_relative_to(source):
        raise SystemExit(f"gmcr was imported from {gmcr.__file__}; to have it from here: PYTHONPATH={source}")


def run_all(checkout: Path, folder: Path, first: Path, names: Sequence[str]) -> None:
    """Run cases with a checkout's gmcr, into a folder; first : the folder of the checkout that ran first."""
    check_source(checkout)
    for name in names:
        record = run(name, [folder / f"{name}.gmcr", first / f"{name}.gmcr"])
        np.savez(folder / f"{name}.npz", **record)
        print(f"{folder.name} {name}: {record['seconds']:.1f} s", file=sys.stderr, flush=True)


def start(checkout: Path, folder: Path, first: Path, names: Sequence[str], logs: Any) -> None:
    """`run_all` in processes that see this checkout only; logs : where their output goes."""
    source = b"".join(file.read_bytes() for file in sorted((checkout / "src").rglob("*.py")))
    # A cache for this very source: numba notices changes in a function's own file, not in those of its callees.
    cache = Path(tempfile.gettempdir(), f"gmcr-same-{hashlib.sha256(source).hexdigest()[:12]}")
    own = {"PYTHONPATH": checkout / "src", "NUMBA_CACHE_DIR": cache, "GMCR_DATA": DATA}
    folder.mkdir()
    for threads in sorted({CASES[name].threads for name in names}):
        limits = {f"{what}_NUM_THREADS": threads for what in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
        environment = os.environ | {key: str(value) for key, value in (own | limits).items()}
        chosen = [name for name in names if CASES[name].threads == threads]
        command = [sys.executable, __file__, "--run", checkout, folder, first, *chosen]
        subprocess.run(command, env=environment, stdout=logs, stderr=logs, check=False)


# Comparing


def difference(old: np.ndarray, new: np.ndarray) -> tuple[str, float]:
    """What differs, in words, empty if nothing does; and the largest difference of numbers, relative."""
    if old.shape != new.shape:
        return f"shape {old.shape} became {new.shape}", 0.0
    if old.dtype.kind != "f" or new.dtype.kind != "f":
        n_other = np.count_nonzero(old != new)
        words = f"{old} became {new}" if old.ndim == 0 else f"{n_other} of {old.size} entries"
        return words if n_other else "", 0.0
    other = (old != new) & ~(np.isnan(old) & np.isnan(new))
    if not other.any():
        return "", 0.0
    largest = np.abs(old[np.isfinite(old)]).max(initial=0.0)
    gap = np.abs(old - new)[other].max()  # NaN where one of them is NaN, infinite where one is
    gap = float(gap / largest) if largest > 0 else np.inf
    return "" if gap <= TOLERANCE else f"{gap:.1e}", gap


def compare(old: Record, new: Record) -> tuple[list[str], float]:
    """The fields that differ, each with what does; and the largest difference of numbers."""
    told, largest = [], 0.0
    for name in dict.fromkeys([*old, *new]):
        if name not in old or name not in new:
            told.append(f"{name}: only in {SIDES[name in new]}")
        elif name != "seconds":
            words, gap = difference(old[name], new[name])
            told += [f"{name}: {words}"] if words else []
            largest = np.fmax(largest, gap)
    return told, largest


def line(name: str, folder: Path) -> tuple[str, bool]:
    """The line of a case, and whether it differs."""
    files = [folder / side / f"{name}.npz" for side in SIDES]
    missing = [side for side, file in zip(SIDES, files) if not file.exists()]
    if missing:
        return f"{name:26} NO RESULT from {' and '.join(missing)}", True
    old, new = (dict(np.load(file)) for file in files)
    told, gap = compare(old, new)
    if not told and "error" in old:  # the same error twice proves nothing
        told = [f"both fail: {old['error']}"]
    shown = "; ".join(told[:4]) + f"; and {len(told) - 4} more" * (len(told) > 4)
    result, seconds = "DIFFERS" if told else "ok", [float(side["seconds"]) for side in (old, new)]
    return f"{name:26} {result:8} {gap:7.1e} {seconds[0]:7.1f} {seconds[1]:7.1f} s  {shown}".rstrip(), bool(
        told
    )


# The answers kept for the tests


def digest(model: Any) -> dict[str, Any]:
    """A model in short: its count, its supports, and six digits of numbers that any change of it would move."""
    order = np.argsort(np.abs(model.concentrations_).sum(axis=0))
    C, S = np.abs(model.concentrations_[:, order]), np.abs(model.components_[order])
    numbers = {
        "amounts": C.sum(axis=0),
        "sizes": np.linalg.norm(C, axis=0),
        "samples": C.sum(axis=1)[::8],
        "profiles": S.sum(axis=1),
        "peaks": S.max(axis=1),
        "channels": S.sum(axis=0)[::8],
        "noise": model.noise_[::8],
        "fractions": [] if model.fractions_ is None else model.fractions_[::8, order].ravel(),
    }
    return {
        "count": model.n_components_,
        "supports": np.packbits(C != 0).tobytes().hex(),
        "numbers": {name: [float(f"{value:.6g}") for value in values] for name, values in numbers.items()},
    }


def keep() -> None:
    """Write what is kept of the quick cases, one line each."""
    check_source(ROOT)
    kept = {name: digest(CASES[name].fit(CASES[name].data())) for name in QUICK}
    lines = [f"{json.dumps(name)}: {json.dumps(answers)}" for name, answers in kept.items()]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    options.add_argument(
        "checkouts", nargs="*", type=Path, metavar="OLD NEW", help="folders that hold src/gmcr"
    )
    options.add_argument("--only", nargs="+", metavar="NAME", help="cases to run; * stands for anything")
    options.add_argument("--logs", type=Path, metavar="FILE", help="where to put what the processes print")
    options.add_argument("--keep", action="store_true", help=f"rewrite {KEPT.relative_to(ROOT)}")
    options.add_argument("--run", nargs="+", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.run:
        run_all(*map(Path, given.run[:3]), given.run[3:])
        return
    if given.keep:
        keep()
        return
    if len(given.checkouts) != 2:
        options.error("give two checkouts, OLD and NEW")
    for checkout in given.checkouts:
        if not (checkout / "src" / "gmcr").is_dir():
            options.error(f"{checkout} holds no src/gmcr")
    names = [name for name in CASES if any(fnmatch(name, pattern) for pattern in given.only or ["*"])]
    if not names:
        options.error(f"--only names no case; there are: {', '.join(CASES)}")
    for name in names:
        if CASES[name].lacks:
            print(f"{name:26} left out: there is no {CASES[name].lacks}")
    names = [name for name in names if not CASES[name].lacks]
    with tempfile.TemporaryDirectory() as folder, open(given.logs or os.devnull, "w") as logs:
        sides = [Path(folder, side) for side in SIDES]
        for checkout, side in zip(given.checkouts, sides):
            start(checkout.resolve(), side, sides[0], names, logs if given.logs else None)
        lines = [line(name, Path(folder)) for name in names]
    n_differ = sum(differs for _, differs in lines)
    print(*(text for text, _ in lines), f"{len(names)} cases, {n_differ} differ", sep="\n")
    sys.exit(n_differ > 0 or not names)


if __name__ == "__main__":
    main()
