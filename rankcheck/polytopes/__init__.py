"""Rational polytopes of small dimension, and their classes modulo translations and products.

What lives here: polytopes as the points that they are the hulls of (`polytope`), and the module in
which a polytope is the sum of its pieces, translates are equal and products are zero (`flags`).
May import: python-flint alone.

>>> from rankcheck.polytopes.flags import combined, flag_class
>>> from rankcheck.polytopes.polytope import cut, minkowski
>>> square = minkowski([(0, 0), (1, 0)], [(0, 0), (0, 1)])
>>> below, above = cut(square, (1, -1), 0)
>>> flag_class(square), combined((1, flag_class(below)), (1, flag_class(above)))
({}, {})
>>> flag_class(above)
{((0,),): -1, ((1,),): 1}
"""
