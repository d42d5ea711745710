"""Sums of squares: certificates that a polynomial is not negative where facts hold.

What lives here: what is tried (`squares`), Gram matrices, semidefinite programs and their rounding
to rationals. The solver comes with the extra `prove`.
"""
