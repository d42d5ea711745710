"""The controls of a claim, each as a claim of its own: a statement that a search has to refute.

A mutant sets parameters of the body, a need drops a hypothesis, and a derived mutant makes one
relation 2 % stronger. A claim whose dials are parametrized is one claim for each setting of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial, wraps
from itertools import product
from types import FunctionType
from typing import Any

from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.claims.kinds import FALSE
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation, leq
from rankcheck.errors import InputError

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


def settings(claim: Claim) -> list[dict[str, Any]]:
    """The settings of its dials that marks of pytest list for a claim; an empty one without a mark.

    Raises:
        ClaimError: if a mark of the claim or of its module lists anything else.
    """
    if "pytest" not in sys.modules:
        return [{}]
    from _pytest.mark.structures import ParameterSet, get_unpacked_marks

    dials = () if claim.kind in FALSE else getattr(claim.body, "__kwdefaults__", None) or ()
    found = []
    marked = (claim.body, claim, sys.modules.get(claim.__module__))
    for mark in (mark for one in marked for mark in get_unpacked_marks(one)):
        if mark.name != "parametrize":
            continue
        given = dict(zip(("argnames", "argvalues", "indirect"), mark.args, strict=False))
        given |= mark.kwargs
        names, values = given.get("argnames", ()), given.get("argvalues")
        names, alone = ParameterSet._parse_parametrize_args(names, ())
        rule = "values are a list that is not empty, with one value for each name"
        if not set(names) <= set(dials):
            rule = (
                "it takes keyword-only parameters of a body that is not declared false, which are "
            )
            rule += str(sorted(dials) or "none")
        elif given.get("indirect"):
            rule = "indirect is not supported"
        elif isinstance(values, Collection):
            sets = ParameterSet._parse_parametrize_parameters(values, alone)
            with suppress(TypeError, ValueError):  # of another number of values
                found.append([dict(zip(names, one.values, strict=True)) for one in sets])
                if found[-1]:
                    continue
        raise ClaimError(claim, f"parametrize sets {names}; {rule}")
    return [{k: v for one in way for k, v in one.items()} for way in product(*found)]


def at(claim: Claim, setting: Mapping[str, Any]) -> Claim:
    """The claim with other values of its dials: `mine.claim[k=2]`, with controls of its own.

    Raises:
        ClaimError: if rows and files cannot be named after a value.
    """
    if not setting:
        return claim
    texts = [f"{k}={getattr(v, '__name__', v)}".replace("/", "÷") for k, v in setting.items()]
    for text in texts:
        if not re.fullmatch(r"\w+=[\w.+÷-]{1,40}", text):
            rule = "a value is a number, a word or a function, after which rows are named"
            raise ClaimError(claim, f"parametrize sets {text!r:.60}; {rule}")
    old: Any = claim.body
    body = FunctionType(old.__code__, old.__globals__, None, old.__defaults__, old.__closure__)
    body.__kwdefaults__ = {**old.__kwdefaults__, **setting}
    return replace(claim, id=f"{claim.id}[{','.join(texts)}]", body=body)


def _varied(claim: Claim, what: str, body: Callable[..., Any], **changes: Any) -> Claim:
    title, statement = f"{claim.title} ({what})", f"({what}) {claim.statement}"
    return replace(
        claim, body=body, title=title, statement=statement, mutants={}, needs={}, **changes
    )
