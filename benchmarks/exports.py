"""The five real sets as CSV in eight forms, through `gmcr fit` as a new user would type it: the same answer?

    python benchmarks/exports.py --data ../shared/data

Samples in rows or columns, decimal points or commas, with names and axis or nothing but numbers. The command gets
the file and nothing else, but for `--signed` where spectra are derivatives (nir), and `--orientation columns` for
samples in columns of bare numbers, where nothing in the file can tell. `same` says in how many forms profiles and
concentrations are those of the first form to the last digit; `told` in how many the terminal showed the count,
the verdict and a report that is there.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import Cell, Result, check, measure, parser, report
from csv_forms import exported
from real_sets import COUNTS, SIGNED, load

VERDICTS = ("Proved", "Conditional", "Consistent", "Unsupported")
FORMS = [
    {"columns": columns, "comma": comma, "headers": headers}
    for headers in (True, False)
    for columns in (False, True)
    for comma in (False, True)
]


def run_set(folder: Path, name: str) -> Result:
    data = load(folder, name)
    answers = [fitted(data["D"], data["axis"], form, name == SIGNED) for form in FORMS]
    first = answers[0]
    return {
        "count": len(first["profiles"]),
        "verdict": first["verdict"],
        "forms": len(FORMS),
        "same": sum(
            np.array_equal(one["profiles"], first["profiles"])
            and np.array_equal(one["concentrations"], first["concentrations"])
            for one in answers
        ),
        "told": sum(one["told"] for one in answers),
    }


def fitted(D: np.ndarray, axis: np.ndarray, form: dict[str, bool], signed: bool) -> dict[str, Any]:
    """What `gmcr fit` says and writes about a table exported in this form."""
    names = tuple(f"sample {number}" for number in range(len(D)))
    headers, columns = form["headers"], form["columns"]
    text = exported(D, axis, names, columns=columns, comma=form["comma"], has_names=headers, has_axis=headers)
    with tempfile.TemporaryDirectory() as place:
        Path(place, "data.csv").write_text(text, encoding="utf-8")
        options = ["--signed"] * signed + ["--orientation", "columns"] * (columns and not headers)
        command = [sys.executable, "-m", "gmcr", "fit", "data.csv", "-o", "run", *options]
        said = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout
        tables = {
            part: pd.read_csv(Path(place, "run", f"{part}.csv"), index_col=0).to_numpy()
            for part in ("profiles", "concentrations")
        }
        reported = re.search(r"^Report: (.+)$", said, re.MULTILINE)
        verdict = next((word for word in VERDICTS if re.search(rf"^{word}", said, re.MULTILINE)), "")
        count = re.match(r"(\d+) components?:", said)
        told = bool(count and int(count[1]) == len(tables["profiles"]) and verdict and reported)
        told = told and reported is not None and Path(place, reported[1]).is_file()
    return {**tables, "verdict": verdict, "told": told}


def main() -> None:
    given = parser(__doc__, "exports", data=True).parse_args()
    sets = ["als2004"] if given.smoke else [*COUNTS, SIGNED]

    def run(cell: Cell) -> Result:
        return run_set(given.data, cell["row"])

    runs = measure([{"row": name} for name in sets], run, given)
    table = runs.table
    lines = [
        {
            "set": row["row"],
            "known count": COUNTS.get(row["row"], "not known"),
            "count": row["count"],
            "verdict": row["verdict"],
            "same": f"{row['same']}/{row['forms']}",
            "told": f"{row['told']}/{row['forms']}",
        }
        for _, row in table.iterrows()
    ]
    asked = table["forms"].sum()
    checks = [
        check("the same numbers", table["same"].sum() / asked, ">=", 1.0),
        check("count, verdict and report told", table["told"].sum() / asked, ">=", 1.0),
    ]
    report([lines, checks], runs, given)


if __name__ == "__main__":
    main()
