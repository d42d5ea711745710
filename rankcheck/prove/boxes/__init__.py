"""Boxes: polynomials that are not negative on a box, by intervals on smaller and smaller ones.

What lives here: the subdivision (`boxes`), enclosures of polynomials and their slopes, and
intervals of floats that are rounded outwards.
"""
