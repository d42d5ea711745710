"""Theory: the mathematics that claims are about, and the generators that draw its objects.

What lives here: networks, linear algebra, costs, linear regions, witnesses, depth separation, data
sets, polytopes, and `instances`. A definition is written once, for floats and for balls. The rooms
have public names: `rankcheck.networks` is `rankcheck.theory.networks`.
May import: `balls`, and what stands alone beside the wings.
"""
