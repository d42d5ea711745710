"""A smaller chain with the same values: what is removed, and what is proved of it.

What lives here: what is known of the signs of neurons (`signs`), the steps that make a chain
smaller (`chain`), the comparison of two networks, in floats and in rational arithmetic (`proof`),
and `prune` with what it returns (`run`, `result`).
May import: `audit.model`, `audit.reading` and what is below `audit`.
"""
