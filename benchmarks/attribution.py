"""Attribution: which known mutational signatures gave the mutations of a tumour, and how many each.

    python benchmarks/attribution.py --data ../shared/data

900 synthetic genomes of nine cancer types over 43 known signatures (attribution_sbs.npz, in the folder's
counts/), as published with a comparison of PASA, MuSiCal and SigProfilerAssignment; `gmcr.decode` with default
settings, told which signatures each cancer type may hold (`masks`) and told nothing (`free`). A signature is
present from half a mutation on. Per sample: precision, recall, and distance, Σ|found − true| / Σ true; combined
is precision + recall + 1 − distance, in the mean over samples. CPU seconds are of decoding; those of confidence,
stated beside the share of supports that are right, come apart.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from common import Cell, Result, check, measure, parser, report
from gmcr import decode

PRESENT = 0.5  # counts
# Of others, on other machines, as published for the same data: combined score, CPU seconds.
PUBLISHED = {"PASA": (2.643, 59_295), "MuSiCal": (2.617, 752), "SigProfilerAssignment": (2.470, 446)}


def scores(found: np.ndarray, true: np.ndarray) -> dict[str, float]:
    """Means over samples; both (samples, signatures)."""
    held, known = found >= PRESENT, true >= PRESENT
    hits = (held & known).sum(axis=1)
    precision = np.where(held.any(axis=1), hits / np.maximum(held.sum(axis=1), 1), 0.0)
    recall = hits / np.maximum(known.sum(axis=1), 1)
    distance = np.abs(found - true).sum(axis=1) / true.sum(axis=1)
    means = {"precision": precision, "recall": recall, "distance": distance}
    means["combined"] = precision + recall + 1 - distance
    return {name: float(values.mean()) for name, values in means.items()}


def run_set(folder: Path, masks: bool, step: int) -> Result:
    with np.load(folder / "counts" / "attribution_sbs.npz") as file:
        D, C, allowed = (file[name][::step] for name in ("D", "C", "allowed"))
        S = file["S"]
    _ = decode(D[:2], S).confidence  # compiles, or loads the compiled code
    start = process_time()
    out = decode(D, S, allowed=allowed if masks else None)
    decoded = process_time()
    right = ((out.concentrations >= PRESENT) == (C >= PRESENT)).all(axis=1)
    return scores(out.concentrations, C) | {
        "seconds": decoded - start,
        "right": float(right.mean()),
        "confidence": float(np.mean(out.confidence)),
        "confidence_seconds": process_time() - decoded,
    }


def line_of(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "attribution": f"gmcr, {one['row']}",
        "combined": f"{one['combined']:.3f}",
        "precision": f"{one['precision']:.3f}",
        "recall": f"{one['recall']:.3f}",
        "distance": f"{one['distance']:.3f}",
        "CPU s": f"{one['seconds']:.1f}",
        "supports right": f"{one['right']:.1%}",
        "stated": f"{one['confidence']:.1%}",
        "CPU s of confidence": f"{one['confidence_seconds']:.1f}",
    }


def main() -> None:
    given = parser(__doc__, "attribution", data=True).parse_args()
    step = 30 if given.smoke else 1
    cells = [{"row": row, "step": step} for row in ("masks", "free")]

    def run(cell: Cell) -> Result:
        return run_set(given.data, cell["row"] == "masks", cell["step"])

    runs = measure(cells, run, given)
    lines = [line_of(one) for one in runs.table.to_dict("records")]
    for name, (combined, seconds) in PUBLISHED.items():
        own = {"attribution": f"{name}, as published", "combined": f"{combined:.3f}", "CPU s": f"{seconds:,}"}
        lines.append(dict.fromkeys(lines[0], "–") | own)
    best = max(combined for combined, _ in PUBLISHED.values())
    told = runs.table[runs.table["row"] == "masks"]["combined"]
    asked = [check("combined with masks, above all published", one, ">=", best, "{:.3f}") for one in told]
    report([lines, asked], runs, given)


if __name__ == "__main__":
    main()
