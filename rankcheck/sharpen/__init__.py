"""How much: the largest certified ratio of a relation, and the instance that attains it.

What lives here: `run`, the search, and what is made of its result. The room can be called:
`rankcheck.sharpen(claim, budget=10.0)` is `rankcheck.sharpen.run.sharpen(claim, budget=10.0)`.
May import: `hunt`, `records`, and what is below them.
"""

from rankcheck.doors import function_of

function_of(__name__, ".run")
