"""Which numbers of an evaluation get a name, and in which order they are defined."""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rankcheck.faces.exports.evaluate import Account
from rankcheck.faces.exports.expressions import exact_square
from rankcheck.faces.exports.trace import Branch
from rankcheck.faces.exports.traced import Traced

LARGEST = 10
"""Operations in one expression; what has more gets a name."""

FUNCTIONS = ("sqrt", "log", "exp", "power")
"""What has a name of its own where its value is rational, because that takes a proof of its own."""

RESERVED = frozenset(
    [
        "R",
        "Q",
        "Z",
        "N",
        "S",
        "O",
        "I",
        "PI",
        "E",
        "F",
        "D",
        "exp",
        "ln",
        "log",
        "sqrt",
        "sin",
        "cos",
        "atan",
        "pow",
        "Rpower",
        "iv",
        "lhs",
        "rhs",
        "refuted",
        "violation",
        "as",
        "at",
        "cofix",
        "else",
        "end",
        "exists",
        "exists2",
        "fix",
        "for",
        "forall",
        "fun",
        "if",
        "IF",
        "in",
        "let",
        "match",
        "mod",
        "return",
        "then",
        "using",
        "where",
        "with",
        "Set",
        "Prop",
        "Type",
        "SProp",
        "fst",
        "snd",
        "pair",
        "map",
        "nil",
        "cons",
        "nth",
        "length",
        "seq",
        "combine",
        "dot",
        "column",
        "product",
        "identity",
        "same",
        "has_rank",
        "left",
        "right",
    ]
)
"""Words that neither Coq nor the definitions of a file leave free."""


@dataclass(frozen=True)
class Plan:
    """The definitions of an export.

    Attributes:
        names: of the numbers that have one; the others stand in the expressions that use them.
        steps: the named numbers that are computed, operands first.
        inputs: the named numbers of the instance that the sides or branches use.
        arrays: the names of the arrays of the instance, as they may be written.
        needed: the numbers of which the sides and the branches are made.
        rational: whether every number is rational.
    """

    account: Account
    names: dict[Traced, str]
    steps: tuple[Traced, ...]
    inputs: tuple[Traced, ...]
    branches: tuple[tuple[Branch, str], ...]
    arrays: dict[str, str]
    needed: tuple[Traced, ...]
    rational: bool

    def leaves(self, x: Traced) -> list[Traced]:
        """The named numbers in the expression of a number."""
        found: dict[Traced, None] = {}
        open_ = list(x.parts)
        while open_:
            part = open_.pop()
            if part in self.names:
                found[part] = None
            else:
                open_ += part.parts
        return list(found)


def plan(account: Account) -> Plan:
    """Name what is used twice, what is compared, what is irrational or an exact root."""
    sides = [account.violation.lhs, account.violation.rhs]
    compared = [side for branch in account.branches for side in (branch.left, branch.right)]
    needed = _reached([*sides, *compared])
    uses = Counter(part for x in needed for part in x.parts)
    uses.update(compared)
    entries = {part for x in needed if x.operation == "rank" for part in x.parts}
    is_compared = set(compared)
    squared = {part for x in needed if exact_square(x) for part in x.parts}
    inline: dict[Traced, int] = {}
    named: list[Traced] = []
    for x in (x for x in account.numbers if x in needed):
        if x.operation in ("constant", "input"):
            inline[x] = 0
            continue
        size = 1 + sum(inline[part] for part in x.parts)
        small = x.operation == "neg" and size == 1
        if (
            (not small and (uses[x] > 1 or x in is_compared or x in entries))
            or size > LARGEST
            or x.operation in ("rank", "root")
            or (x.operation in FUNCTIONS and x.rational)
            or exact_square(x)
            or x in squared
        ):
            named.append(x)
            size = 0
        inline[x] = size
    names: dict[Traced, str] = {}
    taken = set(RESERVED)
    arrays: dict[str, str] = {}
    for array in account.arrays:
        if array.entries.ndim:  # a scalar has its name as a number
            arrays[array.name] = _free(array.name, taken)
        for x in array.entries.ravel().tolist():
            if x in needed and x not in names and not x.is_constant:
                names[x] = _free(x.operands[0] if x.operation == "input" else array.name, taken)
        if not array.entries.ndim:
            scalar: Any = array.entries[()]
            arrays[array.name] = names.get(scalar, array.name)
    counts: Counter[str] = Counter()
    for x in named:
        if x in names:
            continue
        stem = {"rank": "rank"}.get(x.operation, x.origin or "value")
        stem = stem if not stem.startswith("test_") else "body"
        while True:
            counts[stem] += 1
            name = f"{stem}_{counts[stem]}"
            if name not in taken:
                break
        names[x] = _free(name, taken)
    steps = tuple(x for x in account.numbers if x in names and x.operation != "input")
    inputs = tuple(x for x in names if x.operation == "input")
    rational = all(x.rational and x.operation not in ("log", "exp") for x in needed)
    branches = tuple(account.branches.items())
    return Plan(account, names, steps, inputs, branches, arrays, tuple(needed), rational)


def _reached(roots: Iterable[Traced]) -> set[Traced]:
    found: set[Traced] = set()
    open_ = list(roots)
    while open_:
        x = open_.pop()
        if x not in found:
            found.add(x)
            open_ += x.parts
    return found


def _free(name: str, taken: set[str]) -> str:
    """A name that is a word of neither language, and not taken."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
    plain = plain if plain[:1].isalpha() else f"v{plain}"
    while plain in taken or keyword.iskeyword(plain):
        plain += "_"
    taken.add(plain)
    return plain
