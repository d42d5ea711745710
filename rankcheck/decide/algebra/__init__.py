"""Exact algebra: rational functions of the entries of an instance, as numbers inside ball arrays.

What lives here: polynomials and what is known of their signs, rational functions that ask for
signs, roots and logarithms as formal variables, and linear algebra over them.
May import: `balls` and what is below.
"""
