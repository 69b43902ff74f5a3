"""How well a verdict tells right answers from wrong ones: what half of them teach, judged on the other half.

    cd benchmarks/evidence
    python ../trust.py answers.npz --sets answers_on_sets.npz          # judge
    python ../trust.py answers.npz --keep --docs ../../docs/trust.md   # and store what all of them teach

The files are those of trust_tables.py. An answer is right if its count is and every profile has a cosine of at
least 0.98 with its own true one; wrong if its count is or a profile has one below 0.9.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from common import check, tell
from gmcr.trust.checks import CHECKS, DONT, USE, WORDS
from gmcr.trust.learned import BETWEEN, RIGHT, STORED, WRONG, Judge, Learned, of_all
from gmcr.trust.numbers import Numbers
from gmcr.trust.verdict import together, words_of
from trust_learning import sharpness_of, taught
from trust_tables import loaded

Found = dict[str, Any]
GOOD, BAD = 0.98, 0.9
FOLDS = 3
USED_IF_WRONG, UNUSED_IF_RIGHT = 0.071, 0.04  # of the wrong and of the right, before the checks
CARE_IF_RIGHT, DONT_IF_RIGHT = 0.005, 0.002  # of the right that each check by itself may speak against
GIVEN = {"count": (0.8, -np.inf), "supports": (0.5, -np.inf)}  # limits that are not learned


def label(cosines: np.ndarray, step: int = 0) -> int:
    if step or cosines.min() < BAD:
        return WRONG
    return RIGHT if cosines.min() >= GOOD else BETWEEN


# Learning


def learned(found: Sequence[Found]) -> Learned:
    """What answers teach: judges as sure as those left out in turn bear out, limits, and what the words mean."""
    folds = np.array([one["seed"] // 2 % FOLDS for one in found])  # halves are judged by parity
    own = [_of_components(one) for one in found]
    sizes = [len(v) for v, _ in own]
    each = np.concatenate([v for v, _ in own])
    each_labels = np.array([label(cosine) for one in found for cosine in one["cosines"].reshape(-1, 1)])
    component, each_chances = _in_turn(each, each_labels, own[0][1], np.repeat(folds, sizes))

    labels = np.array([label(one["cosines"], one["step"]) for one in found])
    said = np.split(each_chances, np.cumsum(sizes)[:-1])
    tables = [one["table"] | of_all(chances) for one, chances in zip(found, said)]
    names = list(tables[0])
    values = np.array([[table[name] for name in names] for table in tables])
    answer, chances = _in_turn(values, labels, names, folds)

    blind = np.array([not one["told"] for one in found])
    limits = np.array(
        [
            _limits(check, [one for one, b, y in zip(found, blind, labels) if b and y == RIGHT])
            for check in CHECKS
        ]
    )
    words = np.array([_words(chances[blind], labels[blind]), _words(each_chances, each_labels)])
    model = Learned(answer, component, limits, words, np.zeros((3, 3)))
    said = [words_of(_numbers(one), p, model) for one, p, b in zip(found, chances, blind) if b]
    rates = np.array(
        [[np.mean(labels[blind][np.array(said) == word] == y) for y in range(3)] for word in WORDS]
    )
    return Learned(answer, component, limits, words, rates)


def _in_turn(
    values: np.ndarray, labels: np.ndarray, names: Sequence[str], folds: np.ndarray
) -> tuple[Judge, np.ndarray]:
    """A judge learned from all rows, and the chances of each row by one that did not see its fold."""
    chances = np.zeros((len(labels), 3))
    for fold in range(FOLDS):
        seen = folds != fold
        chances[~seen] = taught(values[seen], labels[seen], names).chances_of_rows(values[~seen])
    logs = np.log(np.maximum(chances, 1e-12))
    sharpness = sharpness_of(logs, labels)
    sharper = np.exp(sharpness * logs)
    return taught(values, labels, names, sharpness=sharpness), sharper / sharper.sum(axis=1, keepdims=True)


def _words(chances: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """The chance to be right from which it is "use it", and that to be wrong from which it is "do not use"."""
    return (
        float(np.quantile(chances[labels == WRONG, RIGHT], 1 - USED_IF_WRONG)),
        float(np.quantile(chances[labels == RIGHT, WRONG], 1 - UNUSED_IF_RIGHT)),
    )


def _limits(check: Any, right: Sequence[Found]) -> tuple[float, float]:
    if check.name in GIVEN:
        return GIVEN[check.name]
    numbers = np.array([check.of(_numbers(one)) for one in right])
    care, dont = np.nanquantile(numbers, [CARE_IF_RIGHT, DONT_IF_RIGHT])
    return float(care), float(dont)


def _numbers(one: Found) -> Numbers:
    """Without how sure the supports are, which is not gathered."""
    return Numbers(one["table"] | {"supports sure": np.nan}, one["components"], None)


def _of_components(one: Found) -> tuple[np.ndarray, list[str]]:
    columns = one["table"] | one["components"]
    n = len(one["cosines"])
    return np.stack([np.broadcast_to(value, n) for value in columns.values()], axis=1), list(columns)


# Judging


def verdicts(model: Learned, found: Sequence[Found]) -> list[str]:
    return [words_of(_numbers(one), model.of_answer(_numbers(one)), model) for one in found]


def line(name: str, said: Sequence[str], labels: np.ndarray) -> dict[str, Any]:
    said_, right, wrong = np.array(said), labels == RIGHT, labels == WRONG
    shares = {
        f"{what}: {word}": float((said_[chosen] == word).mean()) if chosen.any() else np.nan
        for what, chosen in (("right", right), ("wrong", wrong))
        for word in (USE, DONT)
    }
    used = said_ == USE
    return (
        {"answers": name, "number": len(labels), "right": float(right.mean()), "wrong": float(wrong.mean())}
        | shares
        | {"wrong among used": float(wrong[used].mean()) if used.any() else np.nan}
    )


def of_components(model: Learned, found: Sequence[Found]) -> dict[str, Any]:
    chances = np.concatenate([model.of_components(_numbers(one)) for one in found])
    labels = np.array([label(cosine) for one in found for cosine in one["cosines"].reshape(-1, 1)])
    return line("components", [together(p, model.words[1]) for p in chances], labels)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--sets", type=Path, help="answers on the shared sets, by trust_tables.py --sets")
    arguments.add_argument("--keep", action="store_true", help="store what all answers teach in the package")
    arguments.add_argument("--docs", type=Path, metavar="FILE", help="put the table there")
    asked = arguments.parse_args()
    torch.set_num_threads(1)
    found = loaded(asked.file)
    halves = [[one for one in found if one["seed"] % 2 == half] for half in range(2)]
    judged, said, parts = [], [], []
    for learn, judge in (halves, halves[::-1]):
        model = learned(learn)
        blind = [one for one in judge if not one["told"]]
        judged += blind
        said += verdicts(model, blind)
        parts.append(of_components(model, judge))
    labels = np.array([label(one["cosines"], one["step"]) for one in judged])
    kinds = sorted({kind for one in judged for kind in one["kinds"].split(", ") if kind})
    lines = [line("all", said, labels)]
    for kind in ("", *kinds):
        chosen = np.array([kind in one["kinds"].split(", ") for one in judged])
        lines.append(line(kind or "undisturbed", [w for w, c in zip(said, chosen) if c], labels[chosen]))
    numeric = [name for name, value in parts[0].items() if isinstance(value, float)]
    lines.append(
        parts[0]
        | {"number": sum(p["number"] for p in parts)}
        | {name: float(np.mean([p[name] for p in parts])) for name in numeric}
    )
    every = lines[0]
    met = [
        check("wrong answers headed use it", every[f"wrong: {USE}"], "<=", 0.04),
        check("wrong answers headed do not use", every[f"wrong: {DONT}"], ">=", 0.7),
        check("right answers headed use it", every[f"right: {USE}"], ">=", 0.65),
        check("right answers headed do not use", every[f"right: {DONT}"], "<=", 0.07),
    ]
    if asked.sets is not None or asked.keep:
        model = learned(found)
        print(
            "limits",
            dict(zip([c.name for c in CHECKS], model.limits.round(3).tolist())),
            "words",
            model.words.round(3).tolist(),
        )
        print("rates", dict(zip(WORDS, model.rates.round(3).tolist())))
    if asked.sets is not None:
        for one in loaded(asked.sets):
            p = model.of_answer(_numbers(one))
            how = "told" if one["told"] else "blind"
            print(
                f"{one['kinds']:32s} {how:5s} {len(one['cosines'])} ({one['step']:+d}), "
                f"least cosine {one['cosines'].min():.4f}: "
                f"{words_of(_numbers(one), p, model)}, {p[RIGHT]:.2f} right, {p[WRONG]:.2f} wrong"
            )
    if asked.keep:
        folder = Path(__file__).resolve().parents[1] / "src/gmcr/trust"
        np.savez_compressed(folder / STORED, **model.as_arrays())
    tell(lines, met, "trust", asked.docs)


if __name__ == "__main__":
    main()
