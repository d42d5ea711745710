"""A stored counterexample, evaluated on traced numbers: what its two sides are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq

from rankcheck import balls
from rankcheck.balls import BallArray, NoBallForm, Undecided, computed_constants, conventions
from rankcheck.claims.claim import Claim
from rankcheck.claims.excess import Excess
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import RelationKind
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.judge import exact_instance
from rankcheck.faces.exports import algebra  # noqa: F401 - gives traced numbers their linear algebra
from rankcheck.faces.exports.trace import Branch
from rankcheck.faces.exports.traced import Traced, given, traced, tracing

BITS = 512
"""Balls behind an export; what it writes is rounded to fewer digits."""

MOST_BRANCHES = 4000
"""An export with more branches than this is nothing that a person reads."""


class NotExportable(ValueError):
    """A refutation has no form outside of rankcheck; the message says which step has none."""


@dataclass(frozen=True)
class Array:
    """An array of the instance.

    Attributes:
        name: as messages give it: ``W_1``, ``b_1``, ``x``.
        entries: traced numbers.
    """

    name: str
    entries: np.ndarray


@dataclass(frozen=True)
class Violation:
    """Two sides for which a relation of this kind fails."""

    kind: RelationKind
    lhs: Traced
    rhs: Traced


@dataclass(frozen=True)
class Account:
    """How the sides of a counterexample are computed.

    Attributes:
        violation: the two sides.
        branches: the comparisons that were decided, with the function that asked.
        numbers: all numbers of the evaluation, operands before what is computed from them.
    """

    claim: Claim
    description: str
    arrays: tuple[Array, ...]
    violation: Violation
    branches: Mapping[Branch, str]
    numbers: tuple[Traced, ...]


def account(instance: Instance, relation: int, description: str) -> Account:
    """Evaluate a proved counterexample on traced numbers.

    Args:
        relation: the index of the relation that fails.

    Raises:
        NotExportable: if a step has no form outside of balls.
    """
    claim = instance.claim
    try:
        with (
            balls.precision(BITS),
            tracing() as trace,
            conventions() as choices,
            computed_constants(str(claim.file)),
        ):
            parts = exact_instance(instance.family, instance.record)
            trace.branches.clear()  # hypotheses of the generator, which a replay checks
            given_arrays = tuple(_named(claim, parts))
            failing = claim.relations(parts)[relation]
            violation = _violation(failing)
    except NoBallForm as missing:
        raise NotExportable(str(missing).replace("has no ball form", "has no form")) from missing
    except Undecided as undecided:
        raise NotExportable(str(undecided)) from undecided
    if choices.used:
        raise NotExportable("it rests on the signs of singular vectors, or on eigenvectors")
    if len(trace.branches) > MOST_BRANCHES:
        raise NotExportable(
            f"{len(trace.branches)} comparisons were decided; an export has a lemma for each, and "
            f"at most {MOST_BRANCHES}"
        )
    return Account(
        claim,
        description,
        given_arrays,
        violation,
        dict(trace.branches),
        tuple(trace.known.values()),
    )


def _named(claim: Claim, parts: tuple[Any, ...]) -> Iterator[Array]:
    """The arrays of an instance; their rational entries become numbers that are given.

    An entry that is not rational stays what the generator has computed.
    """
    seen: dict[int, BallArray] = {}
    labels: set[str] = set()
    for name, part in zip(claim.names(len(parts)), parts, strict=True):
        for label, array in _arrays(name, part):
            if id(array) in seen:
                continue
            seen[id(array)] = array
            if label in labels:  # the weights of a second network
                label = f"{name}_{label}"
            labels.add(label)
            entries = np.empty(array.elements.shape, dtype=object)
            for place in np.ndindex(entries.shape):
                x: Any = array.elements[place]
                subscripts = "".join(f"_{i + 1}" for i in place)
                value = x.value if isinstance(x, Traced) else x
                rational = isinstance(value, fmpq)
                entries[place] = given(label + subscripts, value) if rational else traced(x)
            array.elements = entries
            yield Array(label, entries)


def _arrays(name: str, part: Any) -> Iterator[tuple[str, BallArray]]:
    """The ball arrays in a part of an instance, with names as messages give them."""
    if isinstance(part, BallArray):
        yield name, part
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield from _arrays(f"{name}_{key}", value)
    elif isinstance(part, (list, tuple)):
        for place, value in enumerate(part, 1):
            yield from _arrays(f"{name}_{place}", value)
    elif is_dataclass(part) and not isinstance(part, type):
        for one in fields(part):
            short = {"weights": "W", "biases": "b"}.get(one.name, one.name)
            yield from _arrays(short, getattr(part, one.name, None))


def _violation(relation: Relation) -> Violation:
    """The sides of a relation in the entry where it fails by most."""
    lhs, rhs = (side.elements.ravel().tolist() for side in relation.sides())
    worst: tuple[Any, Violation] | None = None
    for entry in relation.asserted.reshape(-1).nonzero().reshape(-1).tolist():
        left, right = lhs[entry], rhs[entry]
        excess = Excess.of(relation.kind, _plain(left), _plain(right))
        if not excess.fails:
            continue
        relative = excess.low / excess.size if excess.size else excess.low
        if worst is None or relative > worst[0]:
            worst = relative, Violation(relation.kind, traced(left), traced(right))
    if worst is None:
        raise NotExportable("the closed forms of an export do not decide the relation")
    return worst[1]


def _plain(x: fmpq | arb | Traced) -> BallArray:
    return BallArray(np.array(x.value if isinstance(x, Traced) else x, dtype=object))
