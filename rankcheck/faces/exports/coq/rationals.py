"""Coq files in which all numbers are rational, and all comparisons are computed."""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq

from rankcheck.faces.exports.coq.writer import Writer, comment
from rankcheck.faces.exports.evaluate import Violation
from rankcheck.faces.exports.traced import Traced


class RationalWriter(Writer):
    """All numbers are of Q, and all comparisons are computed."""

    kind = "Q"
    equal = "=="

    def literal(self, x: fmpq) -> str:
        text = str(int(x.p)) if x.q == 1 else f"{int(x.p)} # {int(x.q)}"
        return text if x >= 0 and x.q == 1 else f"({text})"

    def is_literal(self, x: Traced) -> bool:
        return x.operation in ("sqrt", "root")

    def proof(self, *numbers: Traced) -> str:
        return "computed."

    def values(self) -> Iterator[str]:
        facts = [x for x in self.plan.steps if x.operation == "rank" or self.is_literal(x)]
        if facts:
            yield comment("Ranks and roots.")
            yield ""
        for x in facts:
            if x.operation == "rank":
                yield from self.rank_lemma(x, "vm_compute. repeat split.")
            else:
                name = f"{self.names[x]}_root"
                yield from self.lemma(name, self.root_statement(x), "split; computed.")
        yield ""

    def side_proof(self) -> str:
        return "computed."

    def negation(self, one: Violation) -> str:
        if one.kind == "eq":
            return "exact violation"
        return f"apply {'Qle_not_lt' if one.kind == 'lt' else 'Qlt_not_le'}; exact violation"
