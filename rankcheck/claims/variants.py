"""The controls of a claim, each as a claim of its own: a statement that a search has to refute.

A mutant sets parameters of the body, a need drops a hypothesis, and a derived mutant makes one
relation 2 % stronger. A claim whose dials are parametrized is one claim for each setting of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
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

__all__ = [
    "at",
    "derived",
    "derived_name",
    "dialled",
    "listed",
    "mutant",
    "parametrized",
    "variant",
    "without",
]

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


def parametrized(claim: Claim) -> list[Claim]:
    """The claim at each setting of its dials that marks of pytest list; alone without a mark.

    Raises:
        ClaimError: if they list anything else.
    """
    ways = [
        [dict(zip(names, one, strict=True)) for one in values] for names, values in listed(claim)
    ]
    return [at(claim, {k: v for part in way for k, v in part.items()}) for way in product(*ways)]


def listed(claim: Claim) -> list[tuple[list[str], Collection[Any]]]:
    """The dials that each `pytest.mark.parametrize` of a claim or its module sets, and to what."""
    if "pytest" not in sys.modules:
        return []
    from _pytest.mark.structures import get_unpacked_marks

    marked = (claim.body, claim, sys.modules.get(claim.__module__))
    marks = [mark for one in marked for mark in get_unpacked_marks(one)]
    return [_listed(claim, *m.args, **m.kwargs) for m in marks if m.name == "parametrize"]


def _listed(
    claim: Claim, argnames: Any, argvalues: Any, indirect: Any = False, *_: Any, **__: Any
) -> tuple[list[str], Collection[Any]]:
    from _pytest.mark.structures import ParameterSet

    parts = argnames.split(",") if isinstance(argnames, str) else argnames
    names = [name.strip() for name in parts if name.strip()]
    dials = () if claim.kind in FALSE else claim.body.__kwdefaults__ or ()
    listed = isinstance(argvalues, Collection) and len(argvalues) > 0
    if indirect or not listed or not set(names) <= set(dials):
        raise ClaimError(
            claim,
            f"parametrize sets {names}; it lists values, none of them indirect, of dials (keyword-"
            f"only parameters of a body that is not declared false): {sorted(dials) or 'none'}",
        )
    one = len(names) == 1
    return names, [ParameterSet.extract_from(value, force_tuple=one).values for value in argvalues]


def at(claim: Claim, setting: Mapping[str, Any]) -> Claim:
    """The claim with other values of its dials: `mine.claim[k=2]`, with controls of its own."""
    if not setting:
        return claim
    texts = {k: str(getattr(v, "__name__", v)).replace("/", "÷") for k, v in setting.items()}
    for name, text in texts.items():
        if not re.fullmatch(r"[\w.+÷-]{1,40}", text):
            raise ClaimError(
                claim,
                f"parametrize sets {name} to {text!r:.60}; rows and files are named after the "
                "value, so it is a number, a word or a function",
            )
    old: Any = claim.body
    body = FunctionType(old.__code__, old.__globals__, None, old.__defaults__, old.__closure__)
    body.__kwdefaults__ = {**old.__kwdefaults__, **setting}
    what = ",".join(f"{name}={text}" for name, text in texts.items())
    return replace(claim, id=f"{claim.id}[{what}]", body=body)


def _varied(claim: Claim, what: str, body: Callable[..., Any], **changes: Any) -> Claim:
    title, statement = f"{claim.title} ({what})", f"({what}) {claim.statement}"
    return replace(
        claim, body=body, title=title, statement=statement, mutants={}, needs={}, **changes
    )
