"""Making a counterexample small while it stays one.

What lives here: cropping and simplifying in the domain, then the hand-over to Hypothesis.
May import: the rest of `counterexamples`, and what is below it.
"""

from __future__ import annotations

from rankcheck.counterexamples.shrinking.handover import HandoverError, Shrunk
from rankcheck.counterexamples.shrinking.record import shrink

__all__ = ["HandoverError", "Shrunk", "shrink"]
