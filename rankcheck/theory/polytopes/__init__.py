"""Rational polytopes of small dimension, and their classes modulo translations and products.

What lives here: polytopes as the points that they are the hulls of (`polytope`), and the module in
which a polytope is the sum of its pieces, translates are equal and products are zero (`flags`).
May import: python-flint alone.
"""
