"""Why a polynomial has the sign that a goal needs, from what a path knows."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

from flint import fmpz_mpoly

from rankcheck.decide.algebra.cell import Cell, Empty
from rankcheck.decide.algebra.ring import Generator
from rankcheck.decide.algebra.signs import ANY, MINUS, NONE, PLUS, signs_text
from rankcheck.decide.prove.exact.linear import combination
from rankcheck.decide.prove.proof import (
    Certificate,
    Definition,
    Fact,
    Factor,
    Factors,
    Goal,
    Multiple,
    Polynomial,
    Squares,
    Term,
    Unlogged,
    Unrooted,
)
from rankcheck.decide.prove.sums.ring import negated, variables

#: Roots are eliminated one inside another up to this depth.
DEPTH = 4
NONNEGATIVE = NONE | PLUS
#: How long sums of squares are looked for where another try follows.
SHORT = 0.3
#: The k of the bounds (1 − f^−k)/k <= log f <= (f^k − 1)/k that are tried.
LOG_POWERS = (1, 2)


@dataclass(frozen=True)
class Ways:
    """Which ways are taken where signs of factors do not decide a goal.

    Attributes:
        squares: whether sums of squares are looked for.
        seconds: how long, for one goal.
        until: a time of `time.monotonic` at which they end.
        found: sums of squares by the polynomial and whether it is strict, with the facts that each
            needs; without one, those that did not help.
    """

    squares: bool = True
    seconds: float = 2.0
    until: float = math.inf
    found: dict[tuple[str, bool], list[tuple[frozenset[Fact], Squares | None]]] = field(
        default_factory=dict
    )

    def left(self) -> float:
        """The seconds that are left."""
        return self.until - time.monotonic()


def certificate(
    cell: Cell, p: fmpz_mpoly, signs: int, ways: Ways, depth: int = DEPTH
) -> Certificate | None:
    """Why the sign of p is one of these, if that can be shown.

    Raises:
        Empty: if p has no sign, so that no instance is on the path.
    """
    known = cell.of(p)
    if not known:
        raise Empty(p)
    if not known & ~signs:
        return _by_factors(cell, p)
    if not signs & PLUS or not known & signs:
        return None
    found: Certificate | None = None
    if depth:
        found = _without_log(cell, p, signs, ways, depth)
        found = found or _without_root(cell, p, signs, replace(ways, squares=False), depth)
    if found is None and ways.squares:
        found = _by_sums(cell, p, signs, ways)
        if found is None and depth:
            found = _without_root(cell, p, signs, ways, depth)
    return found


def _by_factors(cell: Cell, p: fmpz_mpoly) -> Factors:
    if p.is_zero():
        return Factors(scale="0")
    if p.is_constant():
        return Factors(scale=str(p.leading_coefficient()))
    scale, factors = cell.ring.factor(p)
    return Factors(
        scale=str(scale), factors=tuple(Factor(of=str(f), power=power) for f, power in factors)
    )


def _square_root(cell: Cell, p: fmpz_mpoly) -> Generator | None:
    """The last square root in which a polynomial is linear."""
    degrees = p.degrees()
    for generator in reversed(cell.ring.defined):
        if generator.kind == "root" and generator.degree == 2 and degrees[generator.index] == 1:
            return generator
    return None


def _parts(cell: Cell, p: fmpz_mpoly, root: Generator) -> tuple[fmpz_mpoly, fmpz_mpoly]:
    """A and B of p = A + B · root."""
    factor = p.derivative(root.index)
    return p - factor * cell.ring.variables[root.index], factor


def _without_root(cell: Cell, p: fmpz_mpoly, signs: int, ways: Ways, depth: int) -> Unrooted | None:
    root = _square_root(cell, p)
    if root is None:
        return None
    rational, factor = _parts(cell, p, root)
    fewer = replace(ways, squares=False)

    def goal(q: fmpz_mpoly, of: int, ways: Ways = fewer) -> Goal | None:
        found = certificate(cell, q, of, ways, depth - 1)
        if found is None:
            return None
        return Goal(polynomial=str(q), signs=signs_text(of), certificate=found)

    def unrooted(case: str, *parts: Goal | None) -> Unrooted | None:
        if any(part is None for part in parts):
            return None
        return Unrooted(
            root=root.name,
            rational=str(rational),
            factor=str(factor),
            case=case,  # type: ignore[arg-type]
            parts=tuple(part for part in parts if part is not None),
        )

    assert root.of is not None
    first, second = goal(rational, NONNEGATIVE), goal(factor, NONNEGATIVE)
    if first is not None and second is not None:
        found = unrooted("both", first, second if signs & NONE else goal(factor, PLUS))
        if found is None or not signs & NONE:
            found = found or unrooted("both", goal(rational, PLUS), second)
        if found is not None:
            return found
    difference = cell.ring.reduced(rational * rational - factor * factor * root.of)
    if first is not None:
        return unrooted("rational", first, goal(difference, signs, ways))
    if second is not None:
        return unrooted("factor", second, goal(-difference, signs, ways))
    return None


def _without_log(cell: Cell, p: fmpz_mpoly, signs: int, ways: Ways, depth: int) -> Unlogged | None:
    degrees = p.degrees()
    for log in reversed(cell.ring.defined):
        if log.kind == "log" and degrees[log.index]:
            break
    else:
        return None
    if degrees[log.index] > 1 or log.of is None or cell.of(log.of) != PLUS:
        return None
    rest, factor = _parts(cell, p, log)
    upper = cell.of(factor)
    if not upper & PLUS:
        case, sign = "upper", -1
    elif not upper & MINUS:
        case, sign = "lower", 1
    else:
        return None
    first = certificate(cell, sign * factor, NONNEGATIVE, ways, 0)
    if first is None:
        return None
    for power in LOG_POWERS:
        raised = log.of**power
        bound = power * rest * (raised if case == "lower" else 1) + factor * (raised - 1)
        bound = cell.ring.reduced(bound)
        second = certificate(cell, bound, signs, ways, depth - 1)
        if second is None:
            continue
        return Unlogged(
            log=log.name,
            rest=str(rest),
            factor=str(factor),
            power=power,
            case=case,  # type: ignore[arg-type]
            parts=(
                Goal(polynomial=str(sign * factor), signs="0+", certificate=first),
                Goal(polynomial=str(bound), signs=signs_text(signs), certificate=second),
            ),
        )
    return None


def _by_sums(cell: Cell, p: fmpz_mpoly, signs: int, ways: Ways) -> Certificate | None:
    """A sum of what is not negative: by a linear program, or else a semidefinite one."""
    found = combination(cell, p, strict=not signs & NONE)
    return found or _by_squares(cell, p, signs, ways)


def _by_squares(cell: Cell, p: fmpz_mpoly, signs: int, ways: Ways) -> Certificate | None:
    """A sum of squares; where an entry has a root, first of the root in place of the entry."""
    strict = not signs & NONE
    rooted, replaced, zeros = _in_roots(cell, p)
    known, defined = facts(cell), definitions(cell)
    attempts = []
    if zeros:
        entries = {str(root.of).removeprefix("-") for root in replaced}
        fewer = [fact for fact in known if not entries & variables(fact.of)]
        fewer += [Fact(of=root.name, signs="0+") for root in replaced]
        names = {root.name for root in replaced}
        attempts.append((rooted, fewer, [one for one in defined if one.name not in names], zeros))
    attempts.append((p, list(known), list(defined), ()))
    for q, of, among, more in attempts:
        rest, aside = (q, ()) if strict else _set_aside(cell, q)
        tries: list[tuple[fmpz_mpoly, tuple[Term, ...], float]] = [(q, (), ways.seconds)]
        if aside:
            tries = [(q, (), SHORT), (rest, aside, ways.seconds), *tries]
        for goal, terms, seconds in tries:
            found = _squares(str(goal), of, among, strict, replace(ways, seconds=seconds))
            if found is not None and (found.multiplier == "1" or not (terms or more)):
                return replace(found, terms=(*found.terms, *terms), zeros=(*found.zeros, *more))
    return None


def _squares(
    goal: Polynomial, known: list[Fact], defined: list[Definition], strict: bool, ways: Ways
) -> Squares | None:
    """A sum of squares, looked for once for each goal and the facts that it may use."""
    from rankcheck.decide.prove.sums.squares import squares

    names = variables(goal)
    near = frozenset(fact for fact in known if variables(fact.of) & names)
    before = ways.found.setdefault((goal, strict), [])
    for needed, found in before:
        if needed <= near if found is not None else needed >= near:
            return found
    seconds = min(ways.seconds, ways.left())
    if seconds <= 0:
        return None
    found = squares(goal, known, defined, strict=strict, seconds=seconds)
    if found is None:
        if seconds > SHORT:
            before.append((near, None))
        return None
    used = {found.multiplier, *(zero.zero for zero in found.zeros)}
    used |= {factor for term in found.terms for factor in term.known}
    texts = {text for one in used for text in (one, negated(one))}
    before.append((frozenset(fact for fact in known if fact.of in texts), found))
    return found


def _set_aside(cell: Cell, p: fmpz_mpoly) -> tuple[fmpz_mpoly, tuple[Term, ...]]:
    """p without its parts of low degree whose monomials are all seen not to be negative."""
    by_degree: dict[int, list[Any]] = {}
    for exponents, coefficient in p.to_dict().items():
        by_degree.setdefault(sum(map(int, exponents)), []).append((exponents, coefficient))
    terms: list[Term] = []
    kept: dict[Any, Any] = {}
    for _, part in sorted(by_degree.items()):
        written = [_term(cell, exponents, coefficient) for exponents, coefficient in part]
        if kept or any(term is None for term in written):
            kept |= dict(part)
        else:
            terms += [term for term in written if term is not None]
    if len(kept) < 2:  # a monomial is no sum of squares, if signs do not show that
        return p, ()
    return cell.ring.context.from_dict(kept), tuple(terms)


def _term(cell: Cell, exponents: Any, coefficient: Any) -> Term | None:
    """A monomial as a term of a certificate, if it is not negative."""
    square, known = cell.ring.one, []
    for index, power in enumerate(exponents):
        variable = cell.ring.variables[index]
        if power % 2:
            if cell.of_variable(index) & MINUS:
                return None
            known.append(str(variable))
        square = square * variable ** (int(power) // 2)
    if coefficient < 0:
        return None
    return Term(weight=str(coefficient), square=str(square), known=tuple(known))


def _in_roots(
    cell: Cell, p: fmpz_mpoly
) -> tuple[fmpz_mpoly, list[Generator], tuple[Multiple, ...]]:
    """p with powers of roots in place of the entries that have roots, and what that adds."""
    ring = cell.ring
    replaced: list[Generator] = []
    zeros: list[Multiple] = []
    degrees = p.degrees()
    for root in ring.defined:
        if root.kind != "root" or root.of is None or not degrees[root.index]:
            continue
        index, sign = ring.single(root.of), 1
        if index is None:
            index, sign = ring.single(-root.of), -1
        if index is None or index >= ring.entries or not degrees[index]:
            continue
        if any(root.of == one.of for one in replaced):
            continue
        power = sign * ring.variables[root.index] ** root.degree
        values = list(ring.variables)
        values[index] = power
        changed = p.compose(*values)
        cofactor = (changed - p) / (power - ring.variables[index])
        zero = ring.variables[root.index] ** root.degree - root.of
        zeros.append(Multiple(cofactor=str(-sign * cofactor), zero=str(zero)))
        replaced.append(root)
        p = changed
    return p, replaced, tuple(zeros)


def facts(cell: Cell) -> tuple[Fact, ...]:
    """What the path knows."""
    return tuple(
        Fact(of=text, signs=signs_text(signs))
        for text, signs in cell.facts.items()
        if signs not in (0, ANY)
    )


def definitions(cell: Cell) -> tuple[Definition, ...]:
    """The roots, logarithms and constants of the ring."""
    return tuple(defined(generator) for generator in cell.ring.defined)


def defined(generator: Generator) -> Definition:
    """A definition as a proof has it."""
    if generator.ball is not None:
        from rankcheck.balls import numbers

        low, high = numbers.bounds(generator.ball)
        return Definition(name=generator.name, kind="ball", low=str(low), high=str(high))
    return Definition(
        name=generator.name, kind=generator.kind, of=str(generator.of), degree=generator.degree
    )


def splits(cell: Cell, p: fmpz_mpoly) -> list[fmpz_mpoly]:
    """Polynomials whose signs may decide that of p, the most promising first."""
    found: list[fmpz_mpoly] = []
    root = _square_root(cell, p)
    if root is not None:
        found += [q for q in _parts(cell, p, root) if not q.is_constant()]
    degrees = [0] * len(cell.ring.names)
    for exponents in p.monoms():
        for index, power in enumerate(exponents):
            degrees[index] += int(power) % 2
    entries = sorted((-count, index) for index, count in enumerate(degrees) if count)
    found += [cell.ring.variables[index] for _, index in entries if index < cell.ring.entries]
    decided = (MINUS | NONE, NONE | PLUS, NONE, MINUS, PLUS)
    return [q for q in found if cell.of(q) not in decided]
