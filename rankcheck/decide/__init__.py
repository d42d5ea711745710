"""Decide: whether a claim is true at a shape, for all entries.

What lives here: the prover (`prove`) and the numbers that it puts into bodies (`algebra`).
May import: `theory`, `balls`, `claims`, `engine`, `sharpen`.
"""
