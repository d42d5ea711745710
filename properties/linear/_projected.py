"""Weights projected onto the principal subspace of a function."""

from rankcheck import linalg


def projected(V, root):
    """VP, with P the projection onto the range of C_f, for a root A, AᵀA = C_f."""
    P = linalg.range_projection(root.mT)
    # In floats the second factor takes what the first one leaves outside the range.
    return V @ P @ P
