"""An instance of a claim: judged in floats and balls, made small, described, certified, replayed.

What lives here: everything that happens to a given instance of one claim. Nothing here searches.
May import: `catalogue`, `claims`, and what is below them.
"""

from rankcheck.engine.counterexamples.replay import replay

__all__ = ["replay"]
