"""Statements of the paper about ARD-NMF, runtime, supports that data admit, and the open problem."""

from __future__ import annotations

from statistics import fmean

from gmcr_paper import counts, published
from gmcr_paper.experiment import Claim, Found, unmet
from gmcr_paper.runtime import cumulative
from gmcr_paper.tables import span

RATIO = counts.RATIO
PRUNED = "φ = 1 is more than the mean square of the data, and ours then prunes every component"


def ard_claims(found: Found) -> list[Claim]:
    def shares(method: str, snr: int) -> list[float]:
        records = found.select("synthetic", method=method, ratio=RATIO, snr=snr)
        return [record["count"] / record["n"] for record in records if record["n"] >= 16]

    out = []
    default = [
        record["count"]
        for snr in counts.SNRS
        for record in found.select("synthetic", method="ard-default", snr=snr)
    ]
    statement = "ARD-NMF at the default φ = 1 returns one or two components at every N"
    out.append(
        Claim(
            statement,
            "6489",
            "1 to 2",
            span(default, "{:d}"),
            min(default) >= 1 and max(default) <= 2,
            PRUNED,
        )
        if default
        else unmet(statement, "6489", "1 to 2")
    )
    for snr, low, high, paper in (
        (20, 0.8, 1.2, "the true count"),
        (30, 1.5, 3.2, "1.7 to 2.9 times the truth"),
    ):
        statement = f"ARD-NMF at the true noise variance, {snr} dB: count over N"
        found_shares = shares("ard-oracle", snr)
        out.append(
            Claim(
                statement,
                "6491",
                paper,
                span(found_shares, "{:.2f}"),
                min(found_shares) >= low and max(found_shares) <= high,
            )
            if found_shares
            else unmet(statement, "6491", paper)
        )
    tuned = shares("ard-tuned", 30)
    statement = "ARD-NMF at φ = 0.03, 30 dB: the exact count"
    out.append(
        Claim(
            statement,
            "6493",
            "count / N = 1.00",
            span(tuned, "{:.2f}"),
            all(abs(s - 1) <= 0.02 for s in tuned),
        )
        if tuned
        else unmet(statement, "6493", "count / N = 1.00")
    )
    return out


def runtime_claims(found: Found) -> list[Claim]:
    statement = "EB-gMCR is slower than a search with NMF (interval 2) by one to two orders of magnitude"
    cells = sorted({(record["n"], record["ratio"]) for record in found.select("timing", method="nmf")})
    factors, windows = [], []
    for n, ratio in cells:
        times = {r["count"]: r["fit_seconds"] for r in found.select("timing", method="nmf", n=n, ratio=ratio)}
        search = cumulative(times, n, 2)
        where = {"n": n, "ratio": ratio}
        if search is None:
            continue
        factors += [r["fit_seconds"] / search for r in found.select("eb", **where, without="nothing")]
        windows += [
            r["fit_seconds"] / search for r in found.select("synthetic", method="window", snr=20, **where)
        ]
    slower = "slower by one to two orders of magnitude"
    if not factors:
        return [unmet(statement, "6515", slower)]
    ours = f"{span(factors)} times as long; the window solver {span(windows)} times"
    return [Claim(statement, "6515", slower, ours, min(factors) >= 10, "it grows with pool and epochs")]


def support_claims(found: Found) -> list[Claim]:
    return [_ceiling(found), *_solved(found)]


def _ceiling(found: Found) -> Claim:
    statement = (
        "Between a quarter and a third of the components admit an isolating pair under the true supports"
    )
    records = [
        record
        for record in found.select("synthetic", method="window", ratio=RATIO)
        if record["n"] in (16, 32, 64)
    ]
    shares = [record["isolating_pairs_ceiling"] / record["n"] for record in records]
    ceilings = sorted({(n, value[6]) for (n, _), value in published.SUPPORTS.items()})
    paper = ", ".join(f"{value} of {n}" for n, value in ceilings)
    if not shares:
        return unmet(statement, "6579", paper)
    ours = f"{span(shares, '{:.2f}')}, mean {fmean(shares):.2f}"
    return Claim(statement, "6579", paper, ours, 0.2 <= fmean(shares) <= 0.4, "it varies with the draw")


def _solved(found: Found) -> list[Claim]:
    statement = "A complete pool and usage-minimal supports together, the paper's open problem"
    paper = "not reached at any retained checkpoint"
    out = []
    refined = [record["refined"] for record in found.select("eb", ratio=RATIO, without="nothing")]
    window = [record.result for record in found.select("synthetic", method="window", ratio=RATIO)]
    for label, lines in (("window solver", window), ("EB-gMCR refined", refined)):
        if lines:
            usage, exact = ([line[name] for line in lines] for name in ("usage_ratio", "exact"))
            missed = sum(line["misses"] for line in lines)
            ours = (
                f"usage {span(usage)}, exact {span(exact)}, {missed} components missed in {len(lines)} runs"
            )
            holds = missed == 0 and max(abs(u - 1) for u in usage) <= 0.02 and min(exact) >= 0.95
            out.append(Claim(f"{statement} ({label})", "968", paper, ours, holds, own=True))
    return out or [unmet(statement, "968", paper, own=True)]
