"""Canaries of the judge, of balls, and of the agreement of floats and balls."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import torch

from rankcheck import balls
from rankcheck.balls import BallArray, is_ball
from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import FEW, declare, formless, known, numbers
from rankcheck.claims.claim import Body
from rankcheck.claims.relations import Relation, eq, leq, lt
from rankcheck.counterexamples.instance import DisagreementError, Instance
from rankcheck.instances.choices import read_choices
from rankcheck.instances.source import Instances, Source, instances
from rankcheck.scalars import constant
from rankcheck.verification.ledger import Row

__all__ = ["CANARIES"]


def _lost(x: Any) -> Any:
    """A number of 5e-12, which floats lose: the spacing at 2^16 is larger."""
    return (x * 0 + 5e-12 + 2.0**16) - 2.0**16


def _no_integer(x: Any) -> Any:
    """Whether x is no integer; in floats always true."""
    return (x != x.round()) | (_lost(x) == 0)


def _zero_at_integers(x: Any, where: Any = None) -> Relation:
    """False of integers other than 0."""
    return leq(torch.where((x == x.round()) & (x != 0), x * 0 + 1, x * 0), x * 0, where=where)


@instances
def _on_an_edge(source: Source) -> Any:
    """In floats every number is inside, in exact numbers integers are not."""
    x = source.tensor()
    source.require(_no_integer(x), "x is no integer")
    return x


@instances
def _off_all_edges(source: Source) -> Any:
    """In floats every number is inside, in exact numbers nothing is."""
    x = source.tensor()
    source.require(_lost(x) == 0, "5e-12 is 0")
    return x


@instances
def _inside_on_balls(source: Source) -> Any:
    """In exact numbers every number is inside, and in floats nothing is."""
    x = source.tensor()
    source.require(_lost(x) > 0, "5e-12 is positive")
    return x


@instances
def _signed(source: Source) -> Any:
    """A sign, and a number."""
    sign = source.choice((1, -1))
    x = source.tensor(low=1.0, high=8.0)
    return constant(sign, x), x


def _undecidable(x: Any) -> Relation:
    """False by a little, but the balls do not decide the sign of what is zero."""
    zero = (x.exp().log() - x).sign() * 0
    return leq(x * (1 + 2.0**-40) + zero, x)


def _overlapping(x: Any) -> Relation:
    side = x.exp().log()
    return lt(side, side)


def _failing_on_balls(x: Any) -> Relation:
    if is_ball(x):
        raise ArithmeticError("the canary raises")
    return leq(1.02 * x, x)


def _rounded(x: Any) -> Relation:
    """True, but in floats the sum loses the last digits of x."""
    return eq((x + 2.0**14) - 2.0**14, x)


def _cancelled(x: Any) -> Relation:
    """False by half of x; at 128 bits the balls are wider than that."""
    return eq((x.exp().log() + 2.0**130) - 2.0**130, x / 2)


def _computed(x: Any) -> Relation:
    """True of what was meant: a thousandth."""
    return leq((1 - 0.999) * x - x / 1000, 0)


def _transcendental(x: Any) -> Relation:
    """False: a series that is cut off is smaller than the exponential."""
    return leq(x.exp(), 1 + x + x * x / 2 + x * x * x / 6)


def _no_number(x: Any) -> Relation:
    return leq(x - x, (x - x) / (x - x))


def _matrix(*rows: tuple[Any, Any]) -> Any:
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


def _sign_of_a_vector(sign: Any, x: Any) -> Relation:
    """For one of the signs it is false in floats, whatever torch chooses."""
    one = x * 0 + 1
    entry = torch.linalg.eigh(_matrix((x, one), (one, -x)))[1][..., 0, 0]
    return leq(sign * entry, x * 0)


def _order_of_eigenvalues(sign: Any, x: Any) -> Relation:
    values = torch.linalg.eigvals(_matrix((x, x * 0), (x * 0 + 1, -x))).real
    return leq(sign * (values[..., 0] - values[..., 1]), x * 0)


def _some(finding: str, row: Row) -> str | None:
    """Balls found it of some violations in floats."""
    counts = row.counts if row.scope is None else row.counts + row.scope.counts
    return None if getattr(counts, finding) else f"of no violation balls say: {finding}"


def _says(what: str, row: Row) -> str | None:
    return None if any(what in one for one in row.arithmetic) else f"no sentence has {what!r}"


def _at_bits(bits: int, row: Row) -> str | None:
    proved = row.counterexample
    if proved is None or proved.bits != bits:
        return f"it was not proved at {bits} bits, which is the least that decides it"
    return None


def _proof(body: Body, family: Instances, contradicted: str | None, folder: Path) -> str | None:
    """Whether floats contradict a proof about the number 3/2, in which words."""
    claim = declare("a proof", body, family, folder)
    instance = Instance(claim, family, read_choices(family, ["3/2"], check_hypotheses=False))
    if not instance.proved:
        return f"the balls do not prove it: {instance.in_balls.reason}"
    try:
        instance.require_agreement()
    except DisagreementError as error:
        if contradicted is not None and contradicted in str(error):
            return None
        return f"floats are said to contradict it: {error}"
    return None if contradicted is None else "floats contradict it, and that was not noticed"


def _failing_in_floats(x: Any) -> Relation:
    if not is_ball(x):
        raise ArithmeticError("the canary raises")
    return leq(1.02 * x, x)


#: Numbers with their first digits: e, log 2, and of matrices with integers what is known of them.
_DIGITS: tuple[tuple[str, Callable[[Any], Any], str], ...] = (
    ("exp", lambda A: A[0, 0].exp(), "2.718281828459045235360287471352662497757247093699959"),
    ("log", lambda A: A[0, 1].log(), "0.6931471805599453094172321214581765680755001343602552"),
    ("sqrt", lambda A: A[0, 1].sqrt(), "1.414213562373095048801688724209698078569671875376948"),
    ("matmul", lambda A: (A @ A)[1, 1], "22"),
    ("det", lambda A: torch.linalg.det(A), "-2"),
    ("inv", lambda A: torch.linalg.inv(A)[1, 1], "-0.5"),
    ("svdvals", lambda A: torch.linalg.svdvals(A).square().sum(), "30"),
    ("svdvals", lambda A: torch.linalg.svdvals(A).prod(), "2"),
    ("eigvalsh", lambda A: torch.linalg.eigvalsh(A @ A.mT).sum(), "30"),
)  # fmt: skip


#: What balls of 128 bits may be off by.
NARROW = Fraction(1, 2**100)


def _known_digits(folder: Path) -> str | None:
    """Floats and balls of functions at [[1, 2], [3, 4]] against digits."""
    A = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    for name, function, digits in _DIGITS:
        low, high = balls.difference_bounds(function(BallArray.exact(A)), Fraction(digits))
        if not max(-low, high) < NARROW:
            return f"in balls {name} is off by {float(max(-low, high)):.1e}"
        off = abs(float(function(A)) - float(digits))
        if not off < 1e-12:
            return f"in floats {name} is off by {off:.1e}"
    return None


CANARIES = (
    Canary("known digits", "balls", _known_digits, short=True),
    known("balls", "decided by balls alone", _transcendental, "refuted"),
    known("judge", "true, but broken by rounding", _rounded, "holds", kind="identity",
          look=partial(_some, "rounding"), short=True),
    known("judge", "a sign that balls do not decide", _undecidable, "undecided", profile=FEW,
          says="the sign of"),
    known("judge", "balls that overlap", _overlapping, "undecided", profile=FEW,
          says="the balls of its sides do not decide it at 2048 bits"),
    known("judge", "no ball form", formless, "undecided", profile=FEW,
          says="bessel_j0 has no ball form"),
    known("judge", "a body that fails on balls", _failing_on_balls, "undecided", profile=FEW,
          says="it fails on balls, with ArithmeticError"),
    known("judge", "a side that is not a number", _no_number, "undecided", profile=FEW),
    known("judge", "decided at 256 bits", _cancelled, "refuted", look=partial(_at_bits, 256)),
    known("judge", "decided at 128 bits", lambda x: leq(1.02 * x.exp(), x.exp()), "refuted",
          look=partial(_at_bits, 128)),
    known("judge", "equal sides of a strict bound", lambda x: lt(x, x), "refuted"),
    known("judge", "a computed float", _computed, "undecided", profile=FEW,
          says="a computed float"),
    known("hypotheses on balls", "outside by require alone", _zero_at_integers, "holds",
          _on_an_edge(), look=partial(_some, "outside"), short=True),
    known("hypotheses on balls", "outside by where alone",
          lambda x: _zero_at_integers(x, _no_integer(x)), "holds", numbers(low=-8.0),
          look=partial(_some, "outside")),
    known("conventions", "the sign of an eigenvector", _sign_of_a_vector, "undecided", _signed(),
          says="the signs of singular vectors or eigenvectors", profile=FEW),
    known("conventions", "the order of eigenvalues", _order_of_eigenvalues, "undecided", _signed(),
          says="the order of eigenvalues", profile=FEW),
    known("agreement", "false in floats, true in balls",
          lambda x: leq(x, 1.02 * x) if is_ball(x) else leq(1.02 * x, x), "holds",
          look=partial(_says, "floats differ")),
    known("agreement", "inside in floats, outside in balls", lambda x: leq(x * 0 + 1, x * 0),
          "failed", _off_all_edges(), says="asserted on 0 of", look=partial(_says, "not counted")),
    Canary("false in balls, true in floats", "agreement", partial(
        _proof, lambda x: leq(1.02 * x, x) if is_ball(x) else leq(x, 1.02 * x), numbers(),
        "floats have lhs 1.5")),
    Canary("inside in balls, outside in floats", "agreement", partial(
        _proof, lambda x: leq(1.02 * x, x), _inside_on_balls(),
        "floats put the instance outside the hypotheses")),
    Canary("asserted in balls, and not in floats", "agreement", partial(
        _proof, lambda x: leq(1.02 * x, x, where=_lost(x) > 0), numbers(),
        "floats do not assert the relation")),
    Canary("false in balls, and floats fail", "agreement", partial(
        _proof, _failing_in_floats, numbers(), "floats raise ArithmeticError")),
    Canary("false by less than floats see", "agreement", partial(
        _proof, lambda x: leq(x + 1e-20, x), numbers(), None)),
)  # fmt: skip
