"""Coq files about real numbers: each has a lemma, from which the next ones follow."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from flint import fmpq

from rankcheck.faces.exports.coq.writer import Writer, comment
from rankcheck.faces.exports.enclosures import enclosures
from rankcheck.faces.exports.evaluate import Violation
from rankcheck.faces.exports.expressions import exact_square, written
from rankcheck.faces.exports.plan import Plan
from rankcheck.faces.exports.traced import Traced

_EXACT = {"sqrt": "apply exact_root; lra.", "log": "apply ln_1.", "exp": "apply exp_0."}
"""Ends of proofs that a function of a rational is a rational."""


class RealWriter(Writer):
    """Numbers are of R; each has a lemma, from which the next ones follow."""

    kind = "R"

    def __init__(self, chosen: Plan) -> None:
        super().__init__(chosen)
        self.known, self.digits = enclosures(chosen)
        self.given = set(chosen.inputs)

    def literal(self, x: fmpq) -> str:
        text = str(int(x.p)) if x.q == 1 else f"{int(x.p)} / {int(x.q)}"
        return text if x >= 0 and x.q == 1 else f"({text})"

    def is_literal(self, x: Traced) -> bool:
        return x.operation == "root" and x.rational

    def values(self) -> Iterator[str]:
        yield comment("What the numbers are, or between which decimals they lie.")
        yield ""
        for x in self.plan.steps:
            yield from self.value(x)
        one = self.plan.account.violation
        for name, side in (("lhs", one.lhs), ("rhs", one.rhs)):
            yield from self.about(name, side, side in self.names)
        yield ""

    def value(self, x: Traced) -> Iterator[str]:
        name = self.names[x]
        if x.operation == "rank":
            unfolded = ", ".join(dict.fromkeys([f"{name}_of", *self.unfolded(x)]))
            yield from self.rank_lemma(x, f"unfold {unfolded}. {self.rewritten(x)}ranked.")
            yield from self.lemma(f"{name}_value", f"{name} = {x.value}", "reflexivity.")
        elif self.is_literal(x):
            statement = f"{name} = {self.literal(x.value)}"
            yield from self.lemma(f"{name}_value", statement, "reflexivity.")
            proof = f"unfold {', '.join([name, *self.unfolded(x)])}. {self.rewritten(x)}split; lra."
            yield from self.lemma(f"{name}_root", self.root_statement(x), proof)
        else:
            yield from self.about(name, x, False)

    def about(self, name: str, x: Traced, alias: bool) -> Iterator[str]:
        """The lemma about a named number, or about a side."""
        leaves = [x] if alias else self.plan.leaves(x)
        opened = [name, *(self.names[leaf] for leaf in leaves if leaf in self.given)]
        start = f"unfold {', '.join(dict.fromkeys(opened))}. {self.rewriting(leaves)}"
        if x.rational and not alias and x.operation in _EXACT:
            operand = x.parts[0]
            text = written(operand, self.names, self.syntax, top=False)
            by = f"by ({self.opened(self.plan.leaves(x))}lra)"
            proof = f"unfold {name}. replace ({text}) with {self.literal(operand.value)} {by}. "
            yield from self.lemma(
                f"{name}_value", f"{name} = {self.literal(x.value)}", proof + _EXACT[x.operation]
            )
            return
        if x.rational:
            yield from self.lemma(
                f"{name}_value", f"{name} = {self.literal(x.value)}", start + self.exactly(x, alias)
            )
            return
        low, high = (_decimal(end) for end in self.known[x])
        lemmas = [f"{self.names[leaf]}_value" for leaf in leaves if not leaf.rational]
        facts = "".join(f"pose proof {lemma}. " for lemma in lemmas)
        how = "assumption." if alias else f"interval with (i_prec {4 * self.digits + 60})."
        yield from self.lemma(f"{name}_value", f"{low} <= {name} <= {high}", start + facts + how)

    def exactly(self, x: Traced, alias: bool) -> str:
        """The end of a proof that a number is a rational."""
        if alias:
            return "reflexivity."
        if exact_square(x):
            root = x.parts[0]
            how = "square" if x.operation == "pow" else "product"
            return f"unfold {self.names[root]}. {self.rewritten(root)}apply {how}_of_root; lra."
        return "lra."

    def opened(self, leaves: list[Traced]) -> str:
        """Tactics in parentheses that put the values of named numbers in their place."""
        given = [self.names[leaf] for leaf in leaves if leaf in self.given]
        return (f"unfold {', '.join(given)}; " if given else "") + self.rewriting(leaves).replace(
            ". ", "; "
        )

    def unfolded(self, x: Traced) -> list[str]:
        return [self.names[leaf] for leaf in self.plan.leaves(x) if leaf in self.given]

    def rewritten(self, x: Traced) -> str:
        return self.rewriting(self.plan.leaves(x))

    def rewriting(self, leaves: list[Traced]) -> str:
        rational = [leaf for leaf in leaves if leaf.rational and leaf not in self.given]
        texts = ", ".join(f"?{self.names[leaf]}_value" for leaf in rational)
        return f"rewrite {texts}. " if texts else ""

    def proof(self, *numbers: Traced) -> str:
        leaves: dict[Traced, None] = {}
        for x in numbers:
            for leaf in [x] if x in self.names else self.plan.leaves(x):
                leaves[leaf] = None
        opened = [self.names[leaf] for leaf in leaves if leaf in self.given]
        start = f"unfold {', '.join(opened)}. " if opened else ""
        facts = "".join(
            f"pose proof {self.names[leaf]}_value. " for leaf in leaves if leaf not in self.given
        )
        return f"{start}{facts}lra."

    def side_proof(self) -> str:
        return "pose proof lhs_value. pose proof rhs_value. lra."

    def negation(self, one: Violation) -> str:
        return "pose proof violation; lra" if one.kind != "eq" else "exact violation"


def _decimal(x: Fraction) -> str:
    """A multiple of a power of ten as a decimal, or as a fraction if it would be a long one."""
    digits = 0
    while (x * 10**digits).denominator > 1:
        digits += 1
    whole = abs(int(x * 10**digits))
    text = str(whole) if not digits else f"{whole // 10**digits}.{whole % 10**digits:0{digits}d}"
    return f"(-{text})" if x < 0 else text
