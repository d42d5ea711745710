"""The second checker: it accepts a proof only if it finds again that each step of it follows.

What lives here: its own polynomials (`polynomials`) and what follows of signs (`signs`), the trees
and faces (`trees`, `faces`), certificates (`goals`), and the comparison with the body of the claim
at points (`points`, `bodies`, `connection`); `check` does all of it. docs/proving.md says how.
May import: `verification` and what is below, and of this room `prove.proof` alone: nothing that
makes proofs, and nothing of `algebra`.
"""

from rankcheck.decide.prove.checking.check import Checked, check
from rankcheck.decide.prove.checking.errors import UnsoundError

__all__ = ["Checked", "UnsoundError", "check"]
