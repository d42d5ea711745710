"""Makes a counterexample small while it stays one.

What lives here: `shrink_violation`, which keeps a violation of a claim proved; under it
`shrink_record`, which keeps any property of a record: it crops shapes, simplifies entries, and then
hands the record to Hypothesis.
May import: `judge`, `rounding` and `instance` of `counterexamples`, and what is below that.
"""

from __future__ import annotations

from rankcheck.engine.counterexamples.shrinking.violations import (
    BUDGET,
    shrink_record,
    shrink_violation,
)

__all__ = ["BUDGET", "shrink_record", "shrink_violation"]
