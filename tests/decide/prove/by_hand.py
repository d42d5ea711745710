"""Small claims, and proofs of them that were made by hand."""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck import conjecture, eq, leq, lt
from rankcheck.decide.prove.proof import (
    Branch,
    Definition,
    Entry,
    Face,
    Fact,
    Factor,
    Factors,
    Goal,
    Leaf,
    Link,
    Proof,
    Ratio,
    Split,
    Squares,
    Substitution,
    Term,
    Unlogged,
    Unrooted,
)
from rankcheck.theory.instances.source import instances
from rankcheck.theory.scalars import scalar


@instances
def two_numbers(source, *, low=-8.0, high=8.0):
    """Two numbers, the first in a range."""
    return source.tensor(low=low, high=high), source.tensor()


@instances
def apart(source):
    """Two numbers that differ."""
    x, y = source.tensor(), source.tensor()
    source.require(x != y, "x is not y")
    return x, y


@instances
def whole(source):
    """A whole number, and one that is smaller."""
    n = source.integer(2, 9)
    return n, source.integer(1, n - 1)


@conjecture("proved.squares", instances=two_numbers())
def squares(x, y):
    r"""$2xy \le x^2 + y^2$, and $|x|^2 = x^2$."""
    return leq(2 * x * y, x * x + y * y), eq(x.abs() * x.abs(), x * x)


@conjecture("proved.thin", instances=two_numbers())
def thin(x, y):
    r"""What is $x$ where $x (1 + y^2) = 0$, and 0 elsewhere, is 0."""
    return eq(torch.where(x * (1 + y * y) == 0, x, 0 * x), 0 * x)


@conjecture("proved.thin-and-false", instances=two_numbers())
def thin_and_false(x, y):
    r"""What is $x$ where $x (1 + y) = 0$, and 0 elsewhere, is 0: false at $y = -1$ alone."""
    return eq(torch.where(x * (1 + y) == 0, x, 0 * x), 0 * x)


@conjecture("proved.false-on-a-curve", instances=two_numbers())
def false_on_a_curve(x, y):
    r"""What is $x$ where $x (1 + y) + y^2 = 0$, and 0 elsewhere, is 0: false on the curve."""
    return eq(torch.where(x * (1 + y) + y * y == 0, x, 0 * x), 0 * x)


@conjecture("proved.hyperbola", instances=two_numbers())
def hyperbola(x, y):
    r"""Where $xy = 1$, $x = 1/y$."""
    on = x * y == 1
    return eq(torch.where(on, x, 0 * x), torch.where(on, 1 / torch.where(on, y, 1 + 0 * y), 0 * x))


@conjecture("proved.quotients", instances=two_numbers(low=1.0))
def quotients(x, y):
    r"""$y/x \le (y^2 + 1)/x$ for $x \ge 1$."""
    return leq(y / x, (y * y + 1) / x)


@conjecture("proved.strict", instances=two_numbers(low=1.0))
def strict(x, y):
    r"""$y^2 / (1 + y^2) < 1$ for $x \ge 1$."""
    return lt(y * y / (1 + y * y), 1 + 0 * x)


@conjecture("proved.roots", instances=two_numbers())
def roots(x, y):
    r"""$x \le \sqrt{x^2 + y^2}$."""
    return leq(x, (x * x + y * y).sqrt())


@conjecture("proved.logarithms", instances=two_numbers(low=0.5))
def logarithms(x, y):
    r"""$\log x \le x - 1$."""
    return leq(x.log(), x - 1)


@conjecture("proved.positive", instances=two_numbers())
def positive(x, y):
    r"""$x \ge 0$: false."""
    return leq(0 * x, x)


@conjecture("proved.differences", instances=apart())
def differences(x, y):
    r"""$0 < (x - y)^2$."""
    return lt(0 * x, (x - y) ** 2)


@conjecture("proved.whole", instances=whole())
def whole_numbers(n, m):
    r"""$m < n$."""
    return lt(torch.tensor(m), torch.tensor(n))


@conjecture("proved.nearly-whole", instances=whole())
def nearly_whole(n, m):
    r"""$m < 8$: false for one pair."""
    return lt(torch.tensor(m), torch.tensor(8))


@instances
def vectors(source):
    """A vector and a number."""
    return source.tensor(source.integer(1, 2)), source.tensor()


@conjecture(
    "proved.controlled",
    instances=vectors(),
    mutants={
        "less": {"factor": Fraction(9, 10)},
        "more": {"factor": Fraction(11, 10)},
        "at two entries": {"two": 1},
    },
)
def controlled(x, y, *, factor=Fraction(1), two=0):
    r"""$y^2 \le y^2 + |x|^2$."""
    n = x.shape[-1]
    square = scalar(factor, y) * y * y + (0 if two and n == 2 else 1) * (x * x).sum(-1)
    return leq(y * y + (n - 1) * two * (x * x).sum(-1), square)


@conjecture("proved.late", instances=vectors())
def late(x, y):
    r"""$y \ne -1$ or $x \ne -1$: false for the last instance of the scope."""
    return leq(torch.where((x == -1).all(-1) & (y == -1), 1 + 0 * y, 0 * y), 0 * y)


ZERO = Factors(scale="0")


def goal(polynomial, signs, certificate, lhs, rhs, **more):
    """A goal; the sides are texts, or pairs of them."""
    sides = [
        Ratio(num=side[0], den=side[1]) if isinstance(side, tuple) else Ratio(num=side)
        for side in (lhs, rhs)
    ]
    return Goal(
        polynomial=polynomial, signs=signs, certificate=certificate, lhs=sides[0], rhs=sides[1],
        **more,
    )  # fmt: skip


def leaf(*goals, **more):
    return Leaf(outcome="asserted", goals=goals, **more)


def split(of, *branches):
    """A split; a branch is its signs and where it goes."""
    return Split(of=of, branches=tuple(Branch(signs=signs, to=to) for signs, to in branches))


def face(*nodes, facts=(), **substitutions):
    """A face; substitutions are pairs of texts."""
    return Face(
        substitutions=tuple(
            Substitution(variable=name, by=Ratio(num=num, den=den))
            for name, (num, den) in substitutions.items()
        ),
        facts=tuple(Fact(of=of, signs=signs) for of, signs in facts),
        nodes=nodes,
    )


def proof(*faces, definitions=(), low="-8", method="algebra", bounded=False, **more):
    """A proof about two numbers."""
    return Proof(
        integers=(),
        sizes={},
        entries=(
            Entry(name="x0", low=low, high="8", bounded=bounded),
            Entry(name="x1", low="-8", high="8"),
        ),
        method=method,
        paths=sum(not isinstance(node, Split) for one in faces for node in one.nodes),
        definitions=definitions,
        faces=faces,
        **more,
    )


def term(square, *known, weight="1"):
    return Term(weight=weight, square=square, known=known)


def factors(*some, scale="1"):
    """A product; a factor is its text, or that and a power."""
    pairs = [one if isinstance(one, tuple) else (one, 1) for one in some]
    return Factors(scale=scale, factors=tuple(Factor(of=of, power=n) for of, n in pairs))


# The parts of the proofs, which forgeries replace.

SQUARE = goal(
    "x0^2 - 2*x0*x1 + x1^2", "0+", Squares(terms=(term("x0 - x1"),)), "2*x0*x1", "x0^2 + x1^2"
)
ABSOLUTE = goal("0", "0", ZERO, "x0^2", "x0^2", relation=1)
SIGNS = split("x0", ("0+", 1), ("-", 2))


def of_squares(first=SIGNS, *goals, method="squares", **more):
    """Of `squares`: the sign of x is asked for, and both leaves have the same goals."""
    goals = goals or (SQUARE, ABSOLUTE)
    return proof(face(first, leaf(*goals), leaf(*goals)), method=method, **more)


NOTHING = goal("0", "0", ZERO, "0", "0")


def of_thin(*nodes, zero="x0*x1^2 + x0", by=("0", "1"), target=1, variable="x0", **more):
    """Of `thin`: where the polynomial is zero, x is solved for."""
    first = face(
        split(zero, ("-+", 1), ("0", 2)),
        leaf(NOTHING),
        Link(zero=zero, variable=variable, face=target),
    )
    return proof(first, face(*(nodes or (leaf(NOTHING),)), **{variable: by}), **more)


INVERSE = goal("0", "0", ZERO, ("1", "x1"), ("1", "x1"))


def of_hyperbola(*, facts=(("x1", "-+"),), excluded="x0*x1 - 1", of="x1", by=("1", "x1")):
    """Of `hyperbola`: x = 1/y where xy = 1, and there is no such x where y = 0."""
    first = face(
        split("x0*x1 - 1", ("-+", 1), ("0", 2)),
        leaf(NOTHING),
        split(of, ("-+", 3), ("0", 4)),
        Link(zero="x0*x1 - 1", variable="x0", face=1),
        Leaf(outcome="empty", of=excluded),
    )
    return proof(first, face(leaf(INVERSE), facts=facts, x0=by))


QUOTIENT = {
    "polynomial": "x0*x1^2 - x0*x1 + x0",
    "signs": "0+",
    "certificate": Squares(terms=(term("x1 - 1/2", "x0"), term("1", "x0", weight="3/4"))),
    "lhs": ("x1", "x0"),
    "rhs": ("x1^2 + 1", "x0"),
}


def of_quotients(*, bounded=True, **changes):
    """Of `quotients`: there the denominators are positive."""
    made = goal(**{**QUOTIENT, **changes})
    return proof(face(leaf(made)), method="squares", low="1", bounded=bounded)


SHARE = ("x1^2", "x1^2 + 1")


def of_strict(signs="+"):
    """Of `strict`."""
    made = goal("x1^4 + x1^2 + 1 - x1^4 - x1^2", signs, factors(), SHARE, "1")
    return proof(face(leaf(made)), low="1", bounded=True)


ROOT = Definition(name="g0", kind="root", of="x0^2 + x1^2", degree=2)


def plain(polynomial, signs, certificate):
    return Goal(polynomial=polynomial, signs=signs, certificate=certificate)


BELOW = plain("x1^2", "0+", factors(("x1", 2)))
ONE = plain("1", "+", factors())


def of_roots(*parts, rational="-x0", case="factor", signs="0+", definition=ROOT):
    """Of `roots`: the square root is eliminated."""
    certificate = Unrooted(
        root="g0", rational=rational, factor="1", case=case, parts=parts or (ONE, BELOW)
    )
    made = goal("g0 - x0", signs, certificate, "x0", "g0")
    return proof(face(leaf(made)), definitions=(definition,))


def of_logarithms(*, case="upper", bounded=True, power=1):
    """Of `logarithms`: the logarithm of f is at most f - 1."""
    parts = (plain("1", "0+", factors()), plain("0", "0+", ZERO))
    certificate = Unlogged(
        log="g0", rest="x0 - 1", factor="-1", power=power, case=case, parts=parts
    )
    made = goal("x0 - 1 - g0", "0+", certificate, "g0", "x0 - 1")
    log = Definition(name="g0", kind="log", of="x0")
    return proof(face(leaf(made)), definitions=(log,), low="1/2", bounded=bounded)


def of_positive():
    """Of `positive`, which is false: a root is said not to be negative where there is none."""
    made = goal("x0", "0+", factors("x0"), "0", "x0")
    root = Definition(name="g0", kind="root", of="x0", degree=2)
    first = split("g0", ("-", 1), ("0+", 2))
    return proof(face(first, Leaf(outcome="empty", of="g0"), leaf(made)), definitions=(root,))


def of_differences(outcome="outside", zero=NOTHING):
    """Of `differences`: the generator rejects equal numbers."""
    made = goal("x0^2 - 2*x0*x1 + x1^2", "+", factors(("x0 - x1", 2)), "0", "x0^2 - 2*x0*x1 + x1^2")
    first = split("x0 - x1", ("-+", 1), ("0", 2))
    link = Link(zero="x0 - x1", variable="x0", face=1)
    end = Leaf(outcome=outcome) if outcome == "outside" else leaf(zero)
    return proof(face(first, leaf(made), link), face(end, x0=("x1", "1")))


BETWEEN = two_numbers(low=0.5, high=0.75)


@conjecture("proved.never-opposite", instances=BETWEEN)
def never_opposite(x, y):
    r"""For $1/2 \le x \le 3/4$ $-1$ where $x = -y = 0$ and $x$ elsewhere is not negative."""
    nowhere = (x + y == 0) & (y == 0)
    return leq(0 * x, torch.where(nowhere, x - 1, x))
