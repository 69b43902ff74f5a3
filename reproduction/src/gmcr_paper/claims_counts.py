"""Statements of the paper about counts, checked on the runs there are."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from gmcr_paper import counts, published
from gmcr_paper.baselines.search import SUCCESS_BANDS
from gmcr_paper.experiment import Claim, Found, unmet
from gmcr_paper.methods import METHODS
from gmcr_paper.tables import span

NEAR_R2, NEAR_COUNT = 0.01, 0.10  # how close a row has to come to the paper's to be the same
LARGE = 64  # N from which the paper's NMF leaves the fit
WHY = {
    "nmf": "ours starts from the singular vectors (NNDSVDa) and runs until nothing changes",
    "sparse-nmf": "the paper does not say at which sparseness it runs; ours takes that of the data's own NMF",
    "bayes-nmf": "ours averages a Gibbs sampler after burn-in; the paper does not say how long its chain is",
    "ica": "ours repairs signs and scales and refits, as a user would before looking at a fit",
    "mcr-als": "ours starts from the purest samples and converges; the paper's ends worse than the mean",
    "ard-oracle": "",
    "ard-tuned": "",
}


def counts_claims(found: Found) -> list[Claim]:
    return [
        *(_row_claim(found, method) for method in counts.ROWS if method in WHY),
        *(_band_claim(found, snr) for snr in counts.SNRS),
        _told(found),
        _window_claim(found),
    ]


def lines_of(found: Found, method: str, n: int, snr: int) -> list[dict[str, Any]]:
    """What the runs of a cell enter in the table."""
    where = {"n": n, "ratio": counts.RATIO, "snr": snr}
    return [record.result for record in found.select("synthetic", method=method, **where)]


def cells(found: Found) -> list[tuple[int, int]]:
    """(N, dB) that have runs."""
    return sorted({(r["n"], r["snr"]) for r in found.select("synthetic", ratio=counts.RATIO)})


def _row_claim(found: Found, method: str) -> Claim:
    near = f"R² within {NEAR_R2} and count within {NEAR_COUNT:.0%} (or one) of the paper's row"
    statement = f"{METHODS[method]}: {near}"
    same, texts = [], []
    for n, snr in cells(found):
        lines = [line for line in lines_of(found, method, n, snr) if line["r2"] is not None]
        _, r2_text, count_text = published.COUNTS.get((n, snr, method), ("-", "-", "-"))
        r2, count = published.mean(r2_text), published.mean(count_text)
        if not lines or r2 is None or count is None:
            continue
        ours = fmean(line["r2"] for line in lines), fmean(line["count"] for line in lines)
        same.append(abs(ours[0] - r2) <= NEAR_R2 and abs(ours[1] - count) <= max(1.0, NEAR_COUNT * count))
        texts.append((n, snr, r2, count, *ours))
    if not same:
        return unmet(statement, counts.LINES, "the count table")
    paper = f"R² {span([t[2] for t in texts])}, count / N {span([t[3] / t[0] for t in texts], '{:.2f}')}"
    measured = f"R² {span([t[4] for t in texts])}, count / N {span([t[5] / t[0] for t in texts], '{:.2f}')}"
    return Claim(
        statement,
        counts.LINES,
        paper,
        f"{measured}; the same in {sum(same)} of {len(same)} cells",
        all(same),
        WHY[method],
    )


def _band_claim(found: Found, snr: int) -> Claim:
    low, high = SUCCESS_BANDS[counts.RATIO, snr]
    statement = f"The success band at {snr} dB is where the true solution fits"
    truth = [
        record
        for record in found.select("synthetic", method="truth", ratio=counts.RATIO, snr=snr)
        if record["n"] >= min(published.COUNTED)
    ]
    if not truth:
        return unmet(statement, "6230", f"[{low}, {high})")
    bare, refitted = ([record[name] for record in truth] for name in ("r2", "refitted_r2"))
    ours = f"R² of the truth {span(bare, '{:.4f}')}, refitted on its supports {span(refitted, '{:.4f}')}"
    why = "the band can only be reached by fitting noise" if min(bare) < low else "the band is an underfit"
    inside = all(low <= r2 < high for r2 in (*bare, *refitted))
    return Claim(statement, "6230", f"[{low}, {high})", ours, inside, why)


# Asked of gmcr


def _told(found: Found) -> Claim:
    statement = f"NMF told the true count reaches R² of at least 0.98 at N = {LARGE}, 20 dB"
    paper = f"{published.COUNTS[LARGE, 20, 'nmf'][1]} with the search"
    lines = lines_of(found, "nmf-true", LARGE, 20)
    if not lines:
        return unmet(statement, "6332", paper, own=True)
    r2 = [line["r2"] for line in lines]
    truth = [r["r2"] for r in found.select("synthetic", method="truth", n=LARGE, ratio=counts.RATIO, snr=20)]
    ours = f"R² {span(r2, '{:.4f}')}; of the truth {span(truth, '{:.4f}')}"
    return Claim(statement, "6332", paper, ours, min(r2) >= 0.98, own=True)


def _window_claim(found: Found) -> Claim:
    statement = "The window solver finds the count, told neither noise nor band: no miss larger than one"
    paper = "both solvers take the noise level as input"
    records = found.select("synthetic", method="window", ratio=counts.RATIO)
    if not records:
        return unmet(statement, "813", paper, own=True)
    misses = [abs(record["count"] - record["true_count"]) for record in records]
    ours = f"exact in {misses.count(0)} of {len(misses)} runs, largest miss {max(misses)}"
    return Claim(statement, "813", paper, ours, max(misses) <= 1, own=True)
