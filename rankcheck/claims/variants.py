"""The controls of a claim, each as a claim of its own: a statement that a search has to refute.

A mutant sets parameters of the body, a need drops a hypothesis, and a derived mutant makes one
relation 2 % stronger.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation, leq
from rankcheck.errors import InputError

__all__ = ["derived", "derived_name", "dialled", "mutant", "variant", "without"]

_DERIVED = re.compile(r"(?:bound 2 % stronger|one side 2 % off)(?: \((.*)\))?")


def mutant(claim: Claim, name: str) -> Claim:
    """The claim with the parameters of one of its mutants."""
    return _varied(claim, f"mutant {name!r}", partial(claim.body, **claim.mutants[name]))


def dialled(claim: Claim, name: str, value: Any) -> Claim:
    """The claim with another value of a parameter of its body."""
    return _varied(claim, f"{name} = {value}", partial(claim.body, **{name: value}))


def without(claim: Claim, name: str) -> Claim:
    """The claim without one of the hypotheses that it needs."""
    need = claim.needs[name]
    body = partial(claim.body, **need.parameters)
    return _varied(claim, f"without {name!r}", body, instances=need.instances, tight=None)


def derived(claim: Claim, name: str) -> Claim:
    """The derived mutant of the relation of that name (`relation_name`): this relation, stronger.

    The name of the only relation of a claim may be empty.
    """

    @wraps(claim.body)
    def body(*instance: Any, **parameters: Any) -> tuple[Relation, ...]:
        stronger = tuple(
            relation.strengthened()
            for number, relation in enumerate(claim.relations(instance, **parameters))
            if name in ("", relation_name(relation.label, number))
        )
        return stronger or (leq(0, 0),)  # of some shapes a body may have fewer relations

    return _varied(claim, f"2 % stronger {name}".strip(), body)


def derived_name(kind: str, name: str) -> str:
    """What the derived mutant of a relation is called; `name` is that of `derived`.

    >>> derived_name("leq", "the trace"), derived_name("eq", "")
    ('bound 2 % stronger (the trace)', 'one side 2 % off')
    """
    change = "one side 2 % off" if kind == "eq" else "bound 2 % stronger"
    return f"{change} ({name})" if name else change


def variant(claim: Claim, name: str) -> Claim:
    """The control of that name: a mutant, a hypothesis, or a derived mutant.

    Raises:
        InputError: if the claim has none of that name.
    """
    if name in claim.mutants:
        return mutant(claim, name)
    if name in claim.needs:
        return without(claim, name)
    if (parts := _DERIVED.fullmatch(name)) is not None:
        return derived(claim, parts[1] or "")
    known = ", ".join(map(repr, [*claim.mutants, *claim.needs])) or "none"
    raise InputError(f"{claim.id} has no control {name!r}; its mutants and hypotheses are: {known}")


def _varied(claim: Claim, what: str, body: Callable[..., Any], **changes: Any) -> Claim:
    title, statement = f"{claim.title} ({what})", f"({what}) {claim.statement}"
    return replace(
        claim, body=body, title=title, statement=statement, mutants={}, needs={}, **changes
    )
