r"""What is written down of a proof, so that other code can check it.

A proof is about one claim at one shape: the integers that its generator draws are fixed, and its
entries are variables ``x0, x1, …``, in the order in which they are drawn. The body runs on rational
functions of them. Where it asks for the sign of a polynomial, the proof branches; so every run
through the body is a path along which each side of the claim is one rational function.

**Faces.** A face is the statement at all instances with some entries replaced by rational
functions of the others; face 0 replaces none. Each face has a tree that covers it. In the tree of
a face a branch on which a polynomial is zero may `Link` to another face, where an entry has been
solved for: the statement is proved there for *every* instance of that face, whatever else the
branch knew.

**Trees.** A `Split` asks for the sign of a polynomial; its branches have disjoint sets of signs
that are all of ``-0+`` together. A `Leaf` is a path: what its goals say of signs follows from the
facts on the way there. An `Open` leaf is not proved.

**Range.** Where no entries are drawn, there is nothing but the integers. Such a proof has no faces:
its `paths` are the instances of a range, each of which was decided in exact numbers and balls.

**Definitions.** Roots, logarithms and constants that are known up to a ball only are further
variables. A root ``r0`` of degree k of a polynomial f satisfies ``r0 >= 0`` and ``r0^k = f``
wherever f >= 0, and the body takes it nowhere else. Of the logarithm of f > 0 it is used that
``(1 − f^−k)/k <= log f <= (f^k − 1)/k``; of the exponential g of f/k, that it is positive, and that
``k·g − k − f >= 0``. A constant lies in its ball, and what is proved is proved
of every number in it.

**Lemmas** are goals without sides, about polynomials that have a sign everywhere: no fact is used
for them. Every path may use them as facts.

Polynomials are texts: sums of monomials with rational coefficients, expanded, such as
``3*x0^2*x1 - 1/2*r0 + 4``, and ``0``. Signs are texts of ``-``, ``0`` and ``+``, in this order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from rankcheck.notebook import Readable

Polynomial: TypeAlias = str
Signs: TypeAlias = str
Method = Literal["algebra", "range", "squares"]


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A rational function; the denominator is not zero on the path where it stands."""

    num: Polynomial
    den: Polynomial = "1"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A variable for an entry that the generator draws.

    Attributes:
        low, high: its range, as rationals.
        bounded: whether the range is a hypothesis of the proof. Otherwise it holds for all reals.
    """

    name: str
    low: str
    high: str
    bounded: bool = False


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A variable that is no entry; `of` and what it is made of are defined before it.

    Attributes:
        kind: `root`: the root of `degree` of `of`; `log`: the logarithm of `of`; `exp`: the
            exponential of ``of / degree``; `ball`: a real number in [low, high].
    """

    name: str
    kind: Literal["root", "log", "exp", "ball"]
    of: Polynomial = ""
    degree: int = 0
    low: str = ""
    high: str = ""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A polynomial and the signs that it may have."""

    of: Polynomial
    signs: Signs


# Certificates: why a polynomial has the sign that a goal needs.


@dataclass(frozen=True, kw_only=True)
class Factor:
    """A polynomial to a power."""

    of: Polynomial
    power: int = 1


@dataclass(frozen=True, kw_only=True)
class Factors:
    """The polynomial is ``scale · ∏ factor^power``, and the sign of every factor is known.

    That of a factor is known if a fact on the path says it, or if it is a sum of monomials that all
    have one sign, by the facts about their variables and as roots are not negative. The zero
    polynomial has the scale 0 and no factors.
    """

    by: Literal["factors"] = "factors"
    scale: str
    factors: tuple[Factor, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Term:
    """``weight · square² · ∏ known``: weight >= 0, and each factor in `known` is not negative.

    That is so if a fact says so, or if it is a root.
    """

    weight: str
    square: Polynomial
    known: tuple[Polynomial, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Multiple:
    """``cofactor · zero``, of a polynomial that is zero."""

    cofactor: Polynomial
    zero: Polynomial


@dataclass(frozen=True, kw_only=True)
class Squares:
    """``multiplier · polynomial = Σ terms + constant + Σ cofactor · zero``.

    The multiplier is a polynomial that is known to be positive (often 1), `constant` is a rational
    number >= 0, and > 0 where the goal is strict. Each `zero` is a polynomial that a fact says is
    zero, or ``r^k − f`` of a root.
    """

    by: Literal["squares"] = "squares"
    terms: tuple[Term, ...] = ()
    multiplier: Polynomial = "1"
    constant: str = "0"
    zeros: tuple[Multiple, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Unrooted:
    """The polynomial is ``rational + factor · root``, of a square root of f; neither has the root.

    `case` says how the signs combine: `both` (rational and factor are not negative), `rational`
    (rational and ``rational² − factor² · f`` are not), `factor` (factor and
    ``factor² · f − rational²`` are not). The squares are reduced, as all polynomials are: no root
    stands there to its degree. `parts` are the proofs of these signs, in this order: each is a goal
    of its own on the same path. Of a strict goal the last part is strict (and of `both` one is).
    """

    by: Literal["unrooted"] = "unrooted"
    root: str
    rational: Polynomial
    factor: Polynomial
    case: Literal["both", "rational", "factor"]
    parts: tuple[Goal, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Unlogged:
    """The polynomial is ``rest + factor · log``, of the logarithm of f; neither has the logarithm.

    `case` says which bound of it is taken: `upper` (``−factor`` and
    ``power · rest + factor · (f^power − 1)`` are not negative) or `lower` (``factor`` and
    ``power · f^power · rest + factor · (f^power − 1)`` are not). `parts` are the proofs of these
    two signs, reduced; of a strict goal the second is strict. That f > 0 is known on the path.
    """

    by: Literal["unlogged"] = "unlogged"
    log: str
    rest: Polynomial
    factor: Polynomial
    power: int
    case: Literal["upper", "lower"]
    parts: tuple[Goal, ...] = ()


Certificate: TypeAlias = Factors | Squares | Unrooted | Unlogged


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A polynomial that has the sign of ``rhs − lhs``, and why it has the sign that is claimed.

    It is ``rhs.num · lhs.den − lhs.num · rhs.den``, with the roots reduced, up to a rational number
    that has the sign of ``lhs.den · rhs.den`` on the path.

    Attributes:
        relation, entry: which relation of the claim, and which entry of the sides, counted flat.
        lhs, rhs: the sides. None in the parts of another certificate.
        signs: the signs that the polynomial has to have: ``0+``, ``+`` or ``0``.
    """

    polynomial: Polynomial
    signs: Signs
    certificate: Certificate
    relation: int = 0
    entry: int = 0
    lhs: Ratio | None = None
    rhs: Ratio | None = None


# Trees.


@dataclass(frozen=True, kw_only=True)
class Branch:
    """Where a polynomial has one of these signs, the proof goes on at the node of that number."""

    signs: Signs
    to: int


@dataclass(frozen=True, kw_only=True)
class Split:
    """The sign of a polynomial is asked for."""

    node: Literal["split"] = "split"
    of: Polynomial
    branches: tuple[Branch, ...]


@dataclass(frozen=True, kw_only=True)
class Link:
    """A polynomial is zero here, so an entry can be solved for: the face has all such instances.

    Attributes:
        zero: the polynomial; a fact on the path says that it is zero.
        variable: the entry, in which the polynomial is linear: ``factor · variable + rest``. The
            sign of the factor is known, and is not zero. If every monomial is known not to be
            negative, each of them is zero, and the variable is one of which a power is a monomial.
        face: the number of the face.
    """

    node: Literal["link"] = "link"
    zero: Polynomial
    variable: str
    face: int


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """A path to its end.

    Attributes:
        outcome: `asserted`: the goals have been proved; without goals nothing is asserted there.
            `outside`: the generator rejects the instances. `empty`: no instance is there, because
            the sign of a fact's polynomial, `of`, is known to be another one, or because of a goal
            that says that −1 is not negative.
    """

    node: Literal["leaf"] = "leaf"
    outcome: Literal["asserted", "outside", "empty"]
    goals: tuple[Goal, ...] = ()
    of: Polynomial = ""


@dataclass(frozen=True, kw_only=True)
class Open:
    """A path of which nothing is proved: `reason`, and where in the code of the claim."""

    node: Literal["open"] = "open"
    reason: str


Node: TypeAlias = Split | Link | Leaf | Open


@dataclass(frozen=True, kw_only=True)
class Substitution:
    """An entry is replaced by a rational function of the free entries of a face."""

    variable: str
    by: Ratio


@dataclass(frozen=True, kw_only=True)
class Face:
    """The statement on all instances whose entries satisfy the substitutions, and its proof.

    Attributes:
        facts: what is known of all these instances: denominators are not zero.
        nodes: the tree, its root first.
    """

    substitutions: tuple[Substitution, ...] = ()
    facts: tuple[Fact, ...] = ()
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Proof(Readable):
    """A claim is true at one shape.

    Attributes:
        integers: what the generator draws, in order.
        sizes: the shape in words: depth, width and so on.
        entries: the variables, in the order in which they are drawn.
        method: the strongest one that a leaf of it needed.
        paths: the number of leaves.
        exceptions: the polynomials that are zero where nothing is proved; empty for a whole proof.
        controls: by the name of a mutant, what became of it at this shape: `open` (it cannot be
            proved), `false` (nor that, and an instance at this shape refutes it) or `proved`.
    """

    integers: tuple[int, ...]
    sizes: Mapping[str, int]
    entries: tuple[Entry, ...]
    method: Method
    paths: int
    definitions: tuple[Definition, ...] = ()
    lemmas: tuple[Goal, ...] = ()
    faces: tuple[Face, ...] = ()
    exceptions: tuple[Polynomial, ...] = ()
    seconds: float = 0.0
    controls: Mapping[str, str] = field(default_factory=dict)
