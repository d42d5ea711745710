"""Rational polytopes of small dimension, and their classes modulo translations and products.

What lives here: polytopes as the points that they are the hulls of (`polytope`), and the module in
which a polytope is the sum of its pieces, translates are equal and products are zero (`flags`).
May import: python-flint alone.
"""

from __future__ import annotations

from rankcheck.theory.polytopes.flags import (
    Class,
    combined,
    facet_class,
    fan_class,
    flag_class,
    graphs,
    on_graph,
    power,
    twisted,
)
from rankcheck.theory.polytopes.polytope import (
    Vector,
    cut,
    dot,
    dual,
    facets,
    fan,
    image,
    minkowski,
    moment,
    support,
    wedge,
)

__all__ = [
    "Class",
    "Vector",
    "combined",
    "cut",
    "dot",
    "dual",
    "facet_class",
    "facets",
    "fan",
    "fan_class",
    "flag_class",
    "graphs",
    "image",
    "minkowski",
    "moment",
    "on_graph",
    "power",
    "support",
    "twisted",
    "wedge",
]
