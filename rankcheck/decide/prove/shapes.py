"""The shapes at which a claim may be proved, with their sizes in words, selected by these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import torch

from rankcheck.claims.claim import Claim
from rankcheck.decide.prove.target import Target
from rankcheck.engine.hunt.points import ShapedSource
from rankcheck.errors import InputError
from rankcheck.sharpen.sizes import named, sizes
from rankcheck.theory.instances.record import Integer
from rankcheck.theory.instances.scope import Shapes, shapes
from rankcheck.theory.instances.source import Rejected

#: So many instances are drawn at a shape until one satisfies the hypotheses.
DRAWS = 20
#: The search for shapes runs the generator so often; so many shapes have their sizes taken, the
#: smallest ones, where none are asked for. Both take some seconds of generators that are slow.
RUNS, MOST = 1_000, 400
#: A message names so many values of a size.
NAMED = 12


def targets(claim: Claim, entries: int, most: int | None = MOST) -> tuple[list[Target], Shapes]:
    """The shapes of a claim with at most so many entries; and their scope.

    First comes the smallest shape of each size, then the second ones, and so on: many shapes differ
    in what a person would not call a size.

    Args:
        most: so many shapes, the smallest ones; the scope is not complete if there are more.
    """
    assert claim.instances is not None
    scope = shapes(claim.instances, entries, runs=RUNS)
    left = scope.shapes if most is None else scope.shapes[:most]
    scope.cut = scope.cut or len(left) < len(scope.shapes)
    alike: dict[tuple[tuple[str, int], ...], list[Target]] = {}
    for shape in left:  # the smallest first
        known = known_sizes(claim, shape.integers)
        target = Target(integers=shape.integers, sizes=known, entries=shape.entries)
        alike.setdefault(tuple(known.items()), []).append(target)
    ranked = [
        (rank, target.entries, target.integers, replace(target, twin=len(group) > 1))
        for group in alike.values()
        for rank, target in enumerate(group)
    ]
    return [target for *_, target in sorted(ranked, key=lambda one: one[:3])], scope


def known_sizes(claim: Claim, integers: tuple[int, ...]) -> dict[str, int]:
    """The sizes of the instances of a shape by name; none where every instance is rejected.

    These are those by which a sharpening groups shapes, and the rows and columns of matrices.
    """
    assert claim.instances is not None
    for seed in range(DRAWS):
        try:
            instance = claim.instances(ShapedSource(integers, seed))
        except Rejected:
            continue
        except Exception:  # a generator may raise on numbers in general position
            return {}
        matrices: dict[str, int] = {}
        for name, part in zip(claim.names(len(instance)), instance, strict=False):
            if isinstance(part, torch.Tensor) and part.ndim == 2 and part.is_floating_point():
                matrices |= {f"rows of {name}": part.shape[0], f"columns of {name}": part.shape[1]}
        return sizes(claim, instance) | matrices
    return {}


def is_part(claim: Claim, target: Target) -> bool:
    """Whether the generator makes instances of these sizes with another integer, too."""
    assert claim.instances is not None
    source = ShapedSource(target.integers, 0)
    with suppress(Exception):  # as where the sizes are taken
        claim.instances(source)
    before, drawn = target.integers, (c for c in source.record.choices if isinstance(c, Integer))
    return any(
        known_sizes(claim, (*before[:place], other, *before[place + 1 :])) == target.sizes
        for place, one in enumerate(drawn)
        for other in {one.low, one.high} - {one.value}
    )


def selected(
    claim: Claim,
    known: Sequence[Target],
    asked: Mapping[str, Sequence[int]] | None,
    entries: int,
) -> list[Target]:
    """The targets whose sizes are among those that are asked for; all of them by default.

    `depth` stands for `depth of net`, as it does for a sharpening.

    Raises:
        InputError: if there is no size of that name, or no such shape.
    """
    chosen = list(known)
    names = list(dict.fromkeys(size for one in known for size in one.sizes))
    for name, values in (asked or {}).items():
        if not values:
            raise InputError(f"--shape {name}= names no value; it is one as in {name}=2,3")
        size = named(names, name, f"--shape {name}")
        fitting = [one for one in chosen if one.sizes.get(size) in values]
        if not fitting:
            there = _values(one.sizes[size] for one in chosen if size in one.sizes)
            raise InputError(
                f"--shape {name}={','.join(map(str, values))}: {claim.id} has no such shape of at "
                f"most {entries} entries; there, {size} is {there} (--entries N takes larger ones)"
            )
        chosen = fitting
    return chosen


def _values(found: Iterable[int]) -> str:
    values = sorted(set(found))
    text = ", ".join(map(str, values[:NAMED]))
    return f"{text}, …, {values[-1]}" if len(values) > NAMED else text or "nowhere known"
