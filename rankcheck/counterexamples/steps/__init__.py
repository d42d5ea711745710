"""The steps from an instance to the two sides that it refutes: which matrix, norm and number.

`steps` evaluates the body of a claim at a proved counterexample once more, in ball arithmetic, with
the values of its assignments and calls recorded. `tree` rewrites the text of a body so that it
records them and finds which of them lead to the two sides, `trace` runs it, and `texts` writes
values down. This room may import what the room around it may.
"""

from rankcheck.counterexamples.steps.trace import steps

__all__ = ["steps"]
