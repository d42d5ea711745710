"""A proved counterexample with what explains it: texts of its sides, and the names in the body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from rankcheck import balls
from rankcheck.claims.counterexample import Counterexample, Sides, Step
from rankcheck.claims.sides import sides_of
from rankcheck.counterexamples.certificate import section
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.names import assigned, named_values
from rankcheck.counterexamples.refutation import Refutation
from rankcheck.counterexamples.values import text

__all__ = ["explained"]

S = TypeVar("S", bound=Sides)


def explained(
    instance: Instance, stated: Mapping[str, Any] | None = None, certificate: str | None = None
) -> Refutation:
    """A proved counterexample: its arguments, its sides as the body writes them, the names there.

    Args:
        stated: what a certificate says of it, if it comes from one.
        certificate: the file.

    Raises:
        ValueError: if no violation is proved.
    """
    found = Counterexample.of(section(instance) if stated is None else stated)
    found = replace(_named(found, instance), steps=_steps(instance))
    return Refutation.at(found, instance, certificate)


def _steps(instance: Instance) -> tuple[Step, ...]:
    """The names in the body with their values; none where no violation is proved."""
    if not instance.proved:
        return ()
    with balls.precision(instance.in_balls.bits):
        named = named_values(instance.claim, instance.exact)
        written = {name: text(value) for name, value in named.items()}
    code = assigned(instance.claim)
    return tuple(Step(n, code.get(n, ""), value) for n, value in written.items() if value)


def _named(sides: S, instance: Instance) -> S:
    """The sides of a relation with what they are called."""
    judged = instance.in_balls
    texts = sides_of(instance.claim, judged.relation, sides.label)
    return replace(sides, texts=texts, entry=judged.entry, entries=judged.entries)
