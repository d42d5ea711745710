"""Prove a claim at a shape: it is true of all entries, and not only of those that were tried.

What lives here: what is written down of a proof (`proof`), the ways to make one, the second
checker, which shares no code with them, and `run`, which goes through the shapes of a claim. The
room can be called: `rankcheck.prove(claim, seconds=20.0)` is `rankcheck.prove.run.prove`.
May import: `sharpen` and what is below.
"""

from rankcheck.doors import function_of

function_of(__name__, ".run")
