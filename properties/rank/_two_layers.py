"""What the claims on depth three share: maxima in two hidden layers."""

from rankcheck.witnesses import Maximum, binary_tree, maximum_by_pairs


def two_layers(pieces: int) -> Maximum:
    """The maximum of at most six numbers in two hidden layers, or one, times a whole number."""
    if pieces <= 4:
        return binary_tree(pieces)
    identity = maximum_by_pairs(pieces)
    return Maximum(identity.network().weights, identity.denominator)
