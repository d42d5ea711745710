"""What the claims on depth three share: maxima in two hidden layers."""

from rankcheck import witnesses


def two_layers(pieces: int) -> witnesses.Maximum:
    """The maximum of at most six numbers in two hidden layers, or one, times a whole number."""
    if pieces <= 4:
        return witnesses.binary_tree(pieces)
    identity = witnesses.maximum_by_pairs(pieces)
    return witnesses.Maximum(identity.network().weights, identity.denominator)
