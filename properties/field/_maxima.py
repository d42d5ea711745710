"""What the claims on maxima share: numbers in their order, and changed identities of pairs."""

import torch

from rankcheck import Network, witnesses
from rankcheck.instances import Source, instances


@instances
def sorted_numbers(source: Source, *, n: int):
    """x_0 + (1 + t²)(0, g_1, g_1 + g_2, …) with 0 ≤ g ≤ 1: all x_0 ≤ … ≤ x_{n−1}."""
    gaps, size = source.tensor(n - 1, low=0.0, high=1.0), source.tensor(1)
    steps = torch.cat((gaps.new_zeros(1), gaps)).cumsum(0)
    return source.tensor(1) + (1 + size * size) * steps


def without_a_unit(identity: witnesses.MaxIdentity, layer: int, unit: int) -> Network:
    """Its network, whose next layer does not read a unit of a hidden layer."""
    weights = [w.clone() for w in identity.network().weights]
    weights[layer][:, unit] = 0
    return Network.linear(weights)


def with_coefficients(identity: witnesses.MaxIdentity, changed) -> witnesses.MaxIdentity:
    """The identity with other coefficients of some of its terms, by their places."""
    terms = (
        witnesses.MaxTerm(changed.get(i, t.coefficient), t.left, t.right)
        for i, t in enumerate(identity.terms)
    )
    return witnesses.MaxIdentity(identity.n, tuple(terms))
