"""What exported Coq files about rationals and about reals have in common."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator

from flint import fmpq

from rankcheck.faces.exports.coq.preludes import PRELUDES, RANKS
from rankcheck.faces.exports.evaluate import Violation
from rankcheck.faces.exports.expressions import Syntax, written
from rankcheck.faces.exports.plan import Plan
from rankcheck.faces.exports.trace import RankFact
from rankcheck.faces.exports.traced import Traced

WIDTH = 96


def comment(text: str) -> str:
    """A comment of Coq, in which nothing of the text ends it or begins a string."""
    safe = text.replace("(*", "( *").replace("*)", "* )").replace('"', "''")
    return f"(* {safe} *)"


class Writer:
    """What files about rationals and about reals have in common."""

    kind = ""
    equal = "="

    def __init__(self, chosen: Plan) -> None:
        self.plan = chosen
        self.names = chosen.names
        self.syntax = Syntax(
            self.literal,
            "^",
            {
                **{name: _call(name) for name in ("sqrt", "exp", "sin", "cos", "atan")},
                "log": _call("ln"),
                "root": lambda x, exponent: f"Rpower ({x}) {exponent}",
                "power": lambda x, exponent: f"Rpower ({x}) ({exponent})",
                "pi": lambda: "PI",
            },
        )
        self.ranked = any(x.operation == "rank" for x in chosen.steps)

    def literal(self, x: fmpq) -> str:
        raise NotImplementedError

    def proof(self, *numbers: Traced) -> str:
        """A proof of a comparison of numbers, which lemmas or computation decide."""
        raise NotImplementedError

    def values(self) -> Iterator[str]:
        """The lemmas about named numbers."""
        raise NotImplementedError

    def lines(self, heading: str) -> Iterator[str]:
        account = self.plan.account
        yield comment(heading)
        yield ""
        yield from PRELUDES[self.kind]
        if self.ranked:
            yield ""
            yield from RANKS[self.kind]
        yield ""
        yield comment("The instance: " + textwrap.shorten(account.description, 1500))
        yield ""
        yield from self.instance()
        yield ""
        yield comment("What is computed from it.")
        yield ""
        for x in self.plan.steps:
            yield from self.step(x)
        yield ""
        yield comment("The two sides.")
        yield ""
        for name, side in (("lhs", account.violation.lhs), ("rhs", account.violation.rhs)):
            text = written(side, self.names, self.syntax, top=side not in self.names)
            yield from self.definition(name, text)
        yield ""
        yield from self.values()
        yield comment("The comparisons that were decided on the way.")
        yield ""
        for number, (branch, origin) in enumerate(self.plan.branches, 1):
            left, right = (
                written(x, self.names, self.syntax, top=False) for x in (branch.left, branch.right)
            )
            sign = self.equal if branch.relation == "=" else branch.relation
            statement = (
                f"~ {left} {self.equal} {right}" if sign == "<>" else (f"{left} {sign} {right}")
            )
            yield comment(f"in {'the body' if origin.startswith('test_') else origin}")
            yield from self.lemma(
                f"branch_{number}", statement, self.proof(branch.left, branch.right)
            )
        yield ""
        yield comment("The relation fails.")
        yield ""
        yield from self.theorem()

    def instance(self) -> Iterator[str]:
        for x in self.plan.inputs:
            yield from self.definition(self.names[x], self.literal(x.value))

    def definition(self, name: str, text: str) -> Iterator[str]:
        yield from wrapped(f"Definition {name} : {self.kind} := {text}.")

    def lemma(self, name: str, statement: str, proof: str) -> Iterator[str]:
        yield from wrapped(f"Lemma {name} : {statement}.")
        yield from wrapped(f"Proof. {proof} Qed.")

    def step(self, x: Traced) -> Iterator[str]:
        name = self.names[x]
        if x.operation == "rank":
            fact: RankFact = x.operands[0]
            yield from wrapped(
                f"Definition {name}_of : list (list {self.kind}) := {self.matrix(fact.matrix)}."
            )
            yield from self.definition(name, str(fact.rank))
        elif self.is_literal(x):
            base = written(x.parts[0], self.names, self.syntax, top=False)
            exponent = self.literal(fmpq(1, 2) if x.operation == "sqrt" else x.operands[1])
            yield comment(f"the power {exponent} of {base}; see {name}_root")
            yield from self.definition(name, self.literal(x.value))
        else:
            yield from self.definition(name, written(x, self.names, self.syntax))

    def is_literal(self, x: Traced) -> bool:
        """Whether a number is an exact root, which is written out and has a lemma."""
        raise NotImplementedError

    def root_statement(self, x: Traced) -> str:
        base = written(x.parts[0], self.names, self.syntax, top=False)
        exponent = fmpq(1, 2) if x.operation == "sqrt" else x.operands[1]
        p, q = int(exponent.p), int(exponent.q)
        value = f"{self.names[x]} ^ {q}"
        if p < 0:
            return f"{value} * ({base}) ^ {-p} {self.equal} 1 /\\ 0 <= {self.names[x]}"
        power = f"({base}) ^ {p}" if p > 1 else base
        return f"{value} {self.equal} {power} /\\ 0 <= {self.names[x]}"

    def matrix(self, rows: tuple[tuple[Traced | fmpq, ...], ...]) -> str:
        texts = [
            "["
            + "; ".join(
                written(x, self.names, self.syntax, top=False)
                if isinstance(x, Traced)
                else self.literal(x)
                for x in row
            )
            + "]"
            for row in rows
        ]
        return "[" + "; ".join(texts) + "]"

    def rank_lemma(self, x: Traced, proof: str) -> Iterator[str]:
        fact: RankFact = x.operands[0]
        name = self.names[x]
        width = len(fact.matrix[0]) if fact.matrix else 0
        factors = (fact.columns, fact.rows, fact.left, fact.right)
        witnesses = ", ".join(self.matrix(factor) for factor in factors)
        yield from wrapped(f"Lemma {name}_is : has_rank {width} {name}_of {fact.rank}.")
        yield from wrapped(f"Proof. exists {witnesses}. {proof} Qed.")

    def theorem(self) -> Iterator[str]:
        one = self.plan.account.violation
        statement = {
            "eq": f"~ lhs {self.equal} rhs",
            "lt": "rhs <= lhs",
        }.get(one.kind, "rhs < lhs")
        yield from self.lemma("violation", statement, self.side_proof())
        sign = {"eq": self.equal, "lt": "<"}.get(one.kind, "<=")
        yield ""
        yield from wrapped(f"Theorem refuted : ~ (lhs {sign} rhs).")
        yield from wrapped(f"Proof. {self.negation(one)}. Qed.")

    def side_proof(self) -> str:
        raise NotImplementedError

    def negation(self, one: Violation) -> str:
        raise NotImplementedError


def _call(name: str) -> Callable[[str], str]:
    return lambda x: f"{name} ({x})"


def wrapped(text: str) -> list[str]:
    """A sentence of Coq on lines that are not too long."""
    return textwrap.wrap(
        text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
