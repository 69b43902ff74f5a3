"""Whether report pages contradict themselves: runs of eight kinds, their statements read back and compared.

    python benchmarks/pages.py [--runs 25] [--only KIND ...]

Kinds are those of tests/page_kinds.py (seeds from 200), statements those of tests/statements.py. Prints a
table, and every contradiction that was found.
"""

from __future__ import annotations

import argparse

import common  # noqa: F401  makes the tests' helpers importable

FIRST_SEED = 200


def main() -> None:
    from page_kinds import KINDS, page_of
    from statements import contradictions

    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=25)
    options.add_argument("--only", nargs="+", choices=list(KINDS), default=list(KINDS))
    asked = options.parse_args()
    rows = []
    for kind in asked.only:
        read = {
            seed: contradictions(page_of(kind, seed)) for seed in range(FIRST_SEED, FIRST_SEED + asked.runs)
        }
        wrong = {seed: found for seed, (found, _) in read.items() if found}
        rows.append((kind, len(read), sum(compared for _, compared in read.values()), len(wrong)))
        for seed, found in wrong.items():
            print(f"{kind}, seed {seed}: {'; '.join(found)}", flush=True)
    print("| kind | pages | statements compared | pages that contradict themselves |")
    print("|---|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")


if __name__ == "__main__":
    main()
