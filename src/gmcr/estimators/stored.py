"""What a file of a GMCR model holds: every field's type, its range, and how it agrees with the others.

A file is checked once, when it is read. Old files lack what later versions added; that is optional here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.constraints import Constraints
from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.estimators.steps import DISTURBANCES
from gmcr.preprocessing import Chain
from gmcr.schema import (
    Check,
    anything,
    array,
    either,
    flag,
    many,
    mapping,
    maybe,
    number,
    pairs,
    record,
    text,
    whole,
    word,
)
from gmcr.storage import Arrays, Header

SHARE = number(0.0, 1.0)
PRICE = number(0.0, 1e60)
LAW = record({"kind": text})

PARAMETERS = record(
    {},
    {
        "n_components": either(word("auto"), whole(1)),
        "max_components": maybe(whole(1)),
        "signed": either(flag, word("auto", "profiles")),
        "noise": either(text, LAW, number(0.0)),
        "k_max": maybe(whole(1)),
        "random_state": maybe(whole(0)),
        "n_starts": whole(1),
        "n_jobs": maybe(whole(-(2**31))),
        "verbose": either(flag, whole(0)),
        "r2_band": maybe(many(number(), 2)),
        "closure": flag,
        "background": whole(0),
        "disturbances": word(*DISTURBANCES),
        "steps": maybe(many(record({"kind": text}))),
        "constraints": maybe(many(record({"kind": text}))),
    },
)

COUNTS = whole(0, 10**9)
EVIDENCE = record(
    {
        "count": whole(1, 10**9),
        "low": COUNTS,
        "high": COUNTS,
        "decided_by": word("cost", "rank", "reproducibility", "all", "you"),
        "by_cost": COUNTS,
        "by_rank": COUNTS,
        "by_reproducibility": maybe(COUNTS),
        "white": flag,
    },
    {
        "reproducibility": pairs(COUNTS, number(-1.01, 1.01)),
        "costs": pairs(COUNTS, number(finite=False)),
        "probabilities": pairs(COUNTS, SHARE),
        "by_rule": COUNTS,
        "white_rank": flag,
        "held": number(0.0, 1.01),
        "weakest": number(finite=False),
        "rarest": number(0.0),
        "unexplained": SHARE,
        "alike": number(-1.01, 1.01),
        "agreement": pairs(COUNTS, number(-1.01, 1.01)),
        "excess": pairs(COUNTS, number(finite=False)),
        "caution": text,
        "doubt": text,
        "rare": COUNTS,
    },
)

OF_ALL = record(
    {
        "shape": many(whole(1)),
        "samples": whole(1),
        "r2": number(finite=False),
        "usage": whole(0),
        "searched": whole(1),
        "passes": whole(1),
    },
    {"concentrations": text},
)

HEADER = record(
    {
        "parameters": PARAMETERS,
        "usage_price": PRICE,
        "evidence": EVIDENCE,
        "interrupted": flag,
        "noise_law": LAW,
        "decomposition": record({"path": anything}),
        "feature_names": anything,
    },
    {
        "resumed": flag,
        "noise_correlation": many(number(-1.01, 1.01)),
        "told_to_fit": many(text),
        "violations": mapping(number(0.0)),
        "constraints": maybe(many(record({"kind": text}))),
        "of_all": maybe(OF_ALL),
    },
)

PATH = {
    "level": "iu",
    "stage": "O",
    "noise": "f",
    "count": "iu",
    "r2": "f",
    "usage": "iu",
    "cost": "f",
    "chosen": "b",
}  # the columns of a path, and the kinds of their numbers


def check_header(header: Header) -> None:
    """What stands in words and single numbers."""
    HEADER(header, "header")


def check_model(found: Decomposition, constraints: Constraints, arrays: Arrays, header: Header) -> None:
    """Whether the parts go together: arrays with the decomposition, and whatever else speaks of components."""
    K, d, n = found.n_components, found.n_channels, found.n_samples
    # Of samples in blocks some are shown, and others are what the pool was learned from.
    learned = n if header.get("of_all") is None else -1
    for name, check in _arrays(K, d, learned, arrays).items():
        if name in arrays:
            check(arrays[name], name)
        elif name == "pool_covariance":
            raise InputError(f"the array {name} is missing.")
    _check_groups(arrays)
    _check_path(found)
    number(finite=False)(found.fit.get("r2"), "fit.r2")
    if len(header.get("noise_correlation", ())) >= max(d, 1):
        raise InputError("noise_correlation reaches further than there are channels.")
    if constraints.n_named > K:
        raise InputError(f"{constraints.n_named} profiles were known, of {K} components.")
    fixed = constraints.fixed
    if fixed is not None and fixed.shape[1] != d:
        raise InputError(f"known profiles have {fixed.shape[1]} channels and the model has {d}.")
    for one in constraints.given:
        if one.least_count > K:
            raise InputError(f"{one.name} speaks of more than {K} components.")


def _arrays(K: int, d: int, n: int, arrays: Arrays) -> dict[str, Check]:
    """By name; K components, d channels, n training samples, −1 for any number."""
    kept = len(arrays["kept_samples"]) if "kept_samples" in arrays and arrays["kept_samples"].ndim else 0
    return {
        "pool_covariance": array(K, K),
        "closure_scales": array(K, least=0.0),
        "fixed_components": array(-1, -1),
        "reference": array(-1, d),
        "decoded": array(n, K),
        "kept_samples": array(kept, d, missing=True),
        "kept_concentrations": array(kept, K),
        "kept_sigma": either(array(kept, least=1e-200), array(kept, d, least=1e-200, missing=True)),
        "uncut_pool": array(K, d),
        "honest": array(2, 3),
        "law_edges": array(-1, least=0.0),
        "law_heights": array(-1, least=0.0),
        "law_sizes": array(-1, least=0.0, most=1.0 + 1e-6),
        "law_odds": array(K, least=0.0),
        "noise_own": array(d, least=np.finfo(float).tiny),
        "noise_modes": array(-1, d),
        "noise_excess": array(1, least=1.0),
    }


def _check_groups(arrays: Arrays) -> None:
    """What confidence learned, what it is to learn from, errors that channels share: all of each, or none."""
    kept = {"kept_samples", "kept_concentrations", "kept_sigma"}
    law = {"uncut_pool", "law_edges", "law_heights", "law_sizes", "law_odds"}
    covariance = {"noise_own", "noise_modes", "noise_excess"}
    for group in (kept, law, covariance):
        if 0 < len(group & arrays.keys()) < len(group):
            raise InputError(f"the array {min(group - arrays.keys())} is missing.")
    if "law_edges" in arrays:
        edges, heights, sizes = (arrays[f"law_{name}"] for name in ("edges", "heights", "sizes"))
        rising = len(edges) > 1 and bool((np.diff(edges) > 0).all())
        if not rising or len(heights) != len(edges) - 1 or heights.sum() <= 0:
            raise InputError("the law of concentrations is no density between rising edges.")
        likely = bool((sizes > 0).all() and (arrays["law_odds"] > 0).all())
        if len(sizes) == 0 or len(sizes) > len(arrays["law_odds"]) + 1 or not likely:
            raise InputError("the law of supports holds what is no probability.")
        if not np.linalg.norm(arrays["uncut_pool"], axis=1).all():
            raise InputError("uncut_pool holds an empty profile.")


def _check_path(found: Decomposition) -> None:
    path = found.path
    lacking = [name for name in PATH if path is None or name not in path.columns]
    if lacking or path is None:
        raise InputError(f"the path lacks {', '.join(lacking)}.")
    for name, kinds in PATH.items():
        if path[name].dtype.kind not in kinds:
            raise InputError(f"the path's column {name} holds {path[name].dtype}.")
    if path["chosen"].sum() != 1:
        raise InputError("the path must have one row that was chosen.")
    many(text)(path["stage"].tolist(), "the path's column stage")


CHAIN = record(
    {
        "steps": many(record({"kind": text}, {"learned": mapping(anything)})),
        "n_channels": whole(1, 10**8),
        "axis": maybe(many(number())),
        "channels": maybe(many(text)),
        "labels": maybe(many(maybe(text))),
        "did": many(text),
    }
)


def check_chain(stored: Any, found: Decomposition) -> Chain:
    """The chain of a file, if it leads from the channels that come to those of the profiles."""
    CHAIN(stored, "steps")
    for name in ("axis", "channels"):
        maybe(many(anything, stored["n_channels"]))(stored[name], f"steps.{name}")
    chain = Chain.of_dict(stored)
    for step in chain.steps:
        step.check()
    try:  # whatever a step has learned must do for its samples
        with np.errstate(all="ignore"):
            after = chain.apply(np.linspace(1.0, 2.0, 2 * chain.n_channels).reshape(2, -1))
        lead = after.shape == (2, found.n_channels)
    except Exception as error:
        raise InputError(f"steps cannot be applied ({error}).") from error
    if not lead:
        raise InputError(f"steps lead to {after.shape[1]} channels, and profiles have {found.n_channels}.")
    return chain


RATES = record({"steps": many(text)})


def check_rates(stored: Any, name: str) -> None:
    """Rate constants of reactions."""
    RATES(stored, name)
    n = len(stored["steps"])
    numbers = {"values": number(0.0), "log_errors": number(0.0, finite=False), "freedom": number(0.0)}
    record({name: many(check, n) for name, check in numbers.items()})(stored, "rates")
    if n == 0:
        raise InputError("rates.steps is empty.")
