"""The certificate: proved where it can be, never on a wrong solution, rarely against the truth.

    python benchmarks/certificate.py

`positive`: N = 16, known pool, the paper's profiles, 55 dB, 100 seeds: how often proved. `true`: the true
decomposition at 15 to 55 dB, known and learned pool: how often "unsupported" (at most α). The others are wrong: a
component dropped, two merged, one split, supports enlarged, profiles rotated within a pair; `named` are the
conditions that the sentence says fail.
`spark`: the interval of a 256-slot pool at k = 4. `speed`: 10,000 samples x 256 components, against one decode.
"""

from __future__ import annotations

from collections import Counter

from common import Cell, Result, best_times, measure, parser, report, timed
from gmcr import Decomposition, certify, decode, make_mixtures
from gmcr.mixtures import Mixtures
from gmcr.theory.spark import spark_margin
from solutions import WRONG, true_solution

TRUE_SNRS = (15, 20, 30, 55)
REPEATS = 3


def run(cell: Cell) -> Result:
    if cell["row"] == "spark":
        S = make_mixtures(cell["n"], 8, 20, random_state=cell["random_state"]).S
        margin, seconds = timed(lambda: spark_margin(S, 8))
        return {"lower": margin.lower, "upper": margin.upper, "seconds": seconds}
    mix = make_mixtures(cell["n"], cell["samples"], cell["snr_db"], random_state=cell["random_state"])
    if cell["row"] == "speed":
        return _speed(mix)
    make = WRONG.get(cell["row"], true_solution)
    known = cell["pool"] == "known"
    certificate = certify(mix.D, make(mix), noise=mix.sigma, known_pool=known, **cell.get("given", {}))
    named = [name for name in certificate.conditions["name"] if f"{name} fails" in certificate.sentence]
    return {"verdict": certificate.verdict, "named": ", ".join(named)}


def _speed(mix: Mixtures) -> Result:
    found = true_solution(mix)
    certify(mix.D[:64], Decomposition.from_factors(mix.C[:64], mix.S), noise=mix.sigma[:64])  # compile
    works = {
        "decode": lambda: decode(mix.D, mix.S, noise=mix.sigma),
        "certify": lambda: certify(mix.D, found, noise=mix.sigma),
    }
    return dict(zip(works, best_times(list(works.values()), REPEATS)))


def cells(smoke: bool) -> list[Cell]:
    seeds = range(100, 101) if smoke else range(100, 200)
    few = seeds[:1] if smoke else seeds[:50]
    base = {"n": 16, "samples": 64}
    wrong = [{}, {"c_min": 1.0, "k": 4}]
    large = {"n": 32, "samples": 200} if smoke else {"n": 256, "samples": 10_000}
    return [
        *(base | {"row": "positive", "snr_db": 55, "pool": "known", "random_state": s} for s in seeds),
        *(
            base | {"row": "true", "snr_db": snr, "pool": pool, "random_state": s}
            for snr in TRUE_SNRS
            for pool in ("known", "learned")
            for s in few
        ),
        *(
            base | {"row": name, "snr_db": snr, "pool": pool, "random_state": s, "given": given}
            for name in WRONG
            for snr in (20, 40, 55)
            for pool in ("known", "learned")
            for given in wrong
            for s in few[:20]
        ),
        *({"row": "spark", "n": large["n"], "random_state": s} for s in few[:2]),
        {"row": "speed", **large, "snr_db": 20, "random_state": 100},
    ]


def main() -> None:
    given = parser(__doc__, "certificate").parse_args()
    runs = measure(cells(given.smoke), run, given)
    table = runs.table
    verdicts = table[~table["row"].isin(["spark", "speed"])]
    lines = [
        {
            "solution": row,
            "SNR": f"{snr:.0f} dB",
            "pool": pool,
            "runs": len(part),
            **{
                name: int((part["verdict"] == name).sum()) for name in ("proved", "consistent", "unsupported")
            },
            "named": ", ".join(
                f"{name} {n}" for name, n in Counter(part["named"][part["named"] != ""]).items()
            ),
        }
        for (row, snr, pool), part in (
            verdicts.groupby(["row", "snr_db", "pool"], sort=False) if len(verdicts) else ()
        )
    ]
    spark = [
        {"slots": int(one.n), "seed": one.random_state, "s_min at 8": f"[{one.lower:.4f}, {one.upper:.4f}]"}
        | {"seconds": f"{one.seconds:.1f}"}
        for one in table[table["row"] == "spark"].itertuples()
    ]
    speed = [
        {
            "samples": int(one.samples),
            "components": int(one.n),
            "decode (s)": f"{one.decode:.3f}",
            "certify (s)": f"{one.certify:.3f}",
            "ratio (at most 10)": f"{one.certify / one.decode:.1f}",
        }
        for one in table[table["row"] == "speed"].itertuples()
    ]
    report([part for part in (lines, spark, speed) if part], runs, given)


if __name__ == "__main__":
    main()
