"""A ledger of made-up rows: a bound, an identity, a refutation, and one with markup everywhere."""

import pytest

from rankcheck.claims.counterexample import Counterexample
from rankcheck.claims.erratum import Erratum
from rankcheck.claims.reference import Reference
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.ledger import Ledger, Mutants, RelationFacts, Row

MARKUP = "<script>alert(1)</script><img src=http://x.invalid/a onerror=alert(2)>"


def bound(number: int = 0, **values) -> Row:
    """A bound that holds."""
    common = {
        "id": f"rank.bound-{number:03}",
        "title": "The cost bounds the Jacobian",
        "kind": "bound",
        "verdict": "holds",
        "reference": Reference("rank", f"Prop. {number}"),
        "statement": r"$\|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2 / L$ for every *x*.",
        "swept": Counts(5000, 20),
        "tight": "balanced()",
        "relations": (
            RelationFacts(
                "", "leq", 0.98, 0.75 + number / 5000, 1.0,
                sharpest="depth 1, slope 0, W_1 = [[1, 0.12345678901234]], x = [2]",
            ),
        ),
        "reached": {"depth of net": {1: 10, 2: 30}},
        "needs": ("x > 0",),
        "broken_by": {"x > 0": "x = [-1]", "2.04": "x = [1/3]"},
        "mutants": Mutants(2, 2),
    }  # fmt: skip
    return Row(**{**common, **values})


REFUTED = Row(
    id="bottleneck.kernel-as-printed",
    title="The bound on the kernel, with a factor of two",
    kind="refuted",
    verdict="refuted",
    reference=Reference("bottleneck", "Prop. 9/18"),
    statement=r"$\|\partial^2_{xy} \Theta(x, x)\| \ge 2L$.",
    errata=(Erratum(r"we have $\ge 2L$", "without the two", "the corollary", "theorem"),),
    readings={"for large L only": "chains of unit weights have the derivative L"},
    corrected_by="rank.bound-000",
    certificate="properties/bottleneck/certificates/bottleneck.kernel-as-printed.json",
    counterexample=Counterexample(
        label="", kind="leq", lhs="2", rhs="[1.00000000000000000 +/- 8.89e-30]", excess="0.99",
        family="networks()",
        description="depth 1, slope 0, W_1 = [[1]], b_1 = [0], x = [0]", bits=128,
    ),
)  # fmt: skip


@pytest.fixture
def ledger():
    """`ledger(rows)`: a ledger of these rows."""

    def make(*rows: Row) -> Ledger:
        return Ledger(rows, "quick", 0, 12.5, {"python": "3", "torch": "2"})

    return make


@pytest.fixture
def rows():
    """A bound, a refutation, and a row all of whose texts are markup."""
    odd = bound(
        7,
        id=f"me.{MARKUP}",
        title=MARKUP,
        statement=f"{MARKUP} ![pixel](http://x.invalid/p.png) [link](javascript:alert(3)) $<b>$",
        reference=Reference(MARKUP, MARKUP),
        tight=MARKUP,
        relations=(RelationFacts(MARKUP, "leq", 1.0, 0.5, sharpest=MARKUP),),
        needs=(MARKUP,),
        broken_by={MARKUP: MARKUP},
        reached={MARKUP: {1: 1}},
        loose={MARKUP: MARKUP},
        messages=(MARKUP,),
        verdict="failed",
        certificate=MARKUP,
    )
    return [bound(), REFUTED, odd]
