"""How much: the largest certified ratio of a relation, and the instance that attains it.

What lives here: `run`, the search (`sharpen`), and what is made of its result.
May import: `hunt`, `records`, and what is below them.
"""
