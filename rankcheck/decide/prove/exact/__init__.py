"""Exact algebra: all paths through a body on rational functions, and why a goal follows on each.

What lives here: the proof at a shape (`algebra`) with its trees and faces, the ways to see a sign
(`goals`): eliminating roots and logarithms, linear programs, sums of squares; and `lemmas`.
"""
