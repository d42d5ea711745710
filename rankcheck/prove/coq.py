"""The expansions of a proof as a file for the proof assistant Coq.

A certificate rests on an identity of polynomials: a product of factors, or a sum of squares, is the
polynomial whose sign it proves. Each of these is a lemma, proved by Coq's `field`. That the paths
cover everything, that factors have the signs that the certificates take, and that the sides are
those of the claim is not in the file; the second checker looks at that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from rankcheck.algebra.polynomials import in_order, parse
from rankcheck.exports.coq import comment
from rankcheck.prove.proof import (
    Factors,
    Goal,
    Leaf,
    Polynomial,
    Proof,
    Squares,
    Term,
    Unlogged,
    Unrooted,
)

__all__ = ["coq_file", "identities"]

Identity = tuple[Polynomial, str]
_NAME = re.compile(r"[A-Za-z_]+\d+")


def coq_file(proof: Proof, heading: str) -> str | None:
    """The file as text; None if the proof rests on no expansion, as one of a range.

    Args:
        heading: what is proved, for the comment at the top.
    """
    lemmas = list(dict.fromkeys(identities(proof)))
    if not lemmas:
        return None
    lines = [
        comment(heading),
        comment(
            "The lemmas are the expansions that the proof rests on. That its paths cover "
            "everything, that the factors have the signs that are taken, and that the sides are "
            "those of the claim is not in this file: rankcheck replay looks at that."
        ),
        "Require Import Reals.",
        "Open Scope R_scope.",
    ]
    for number, (left, right) in enumerate(lemmas, 1):
        names = sorted(set(_NAME.findall(left + right)), key=in_order)
        lines += [
            "",
            f"Lemma expansion_{number} : forall {' '.join(names)} : R,",
            f"  {_coq(left)} =",
            f"  {right}.",
            "Proof. intros. field. Qed.",
        ]
    return "\n".join(lines) + "\n"


def identities(proof: Proof) -> Iterator[Identity]:
    """The polynomials whose signs are proved, each with what it is equal to, as Coq writes it.

    Those that are rational numbers are left out, and so are those that boxes prove.
    """
    for goal in proof.lemmas:
        yield from _of_goal(goal)
    for face in proof.faces:
        for node in face.nodes:
            if isinstance(node, Leaf):
                for goal in node.goals:
                    yield from _of_goal(goal)


def _of_goal(goal: Goal) -> Iterator[Identity]:
    match goal.certificate:
        case Factors(scale=scale, factors=factors) if factors:
            powers = [f"({_coq(one.of)})^{one.power}" for one in factors]
            yield goal.polynomial, " * ".join([_number(Fraction(scale)), *powers])
        case Squares(multiplier="1") as squares:
            yield goal.polynomial, _sum(squares)
        case Squares(multiplier=multiplier) as squares:
            yield f"({multiplier}) * ({goal.polynomial})", _sum(squares)
        case Unrooted(root=name, rational=rest, factor=factor, parts=parts):
            yield goal.polynomial, f"({_coq(rest)}) + ({_coq(factor)}) * {name}"
            for part in parts:
                yield from _of_goal(part)
        case Unlogged(log=name, rest=rest, factor=factor, parts=parts):
            yield goal.polynomial, f"({_coq(rest)}) + ({_coq(factor)}) * {name}"
            for part in parts:
                yield from _of_goal(part)


def _sum(squares: Squares) -> str:
    parts = [_term(term) for term in squares.terms]
    parts += [f"({_coq(one.cofactor)}) * ({_coq(one.zero)})" for one in squares.zeros]
    constant = Fraction(squares.constant)
    return " + ".join([*parts, *([_number(constant)] if constant or not parts else [])])


def _term(term: Term) -> str:
    known = [f"({_coq(one)})" for one in term.known]
    return " * ".join([_number(Fraction(term.weight)), f"({_coq(term.square)})^2", *known])


def _product(text: str) -> list[str]:
    """The polynomials of a product that is written with brackets, or the one there is."""
    return text[1:-1].split(") * (") if text.startswith("(") else [text]


def _coq(text: str) -> str:
    """A polynomial as Coq writes it."""
    parts = _product(text)
    if len(parts) > 1:
        return " * ".join(f"({_coq(part)})" for part in parts)
    terms = []
    for monomial, coefficient in parse(text).items():
        powers = [name if power == 1 else f"{name}^{power}" for name, power in monomial]
        number = [_number(coefficient)] if coefficient != 1 or not powers else []
        terms.append(" * ".join([*number, *powers]))
    return " + ".join(terms) or "0"


def _number(value: Fraction) -> str:
    """A rational number; one that is negative or no integer stands in brackets."""
    if value.denominator == 1:
        return str(value) if value >= 0 else f"({value})"
    return f"({value.numerator} / {value.denominator})"
