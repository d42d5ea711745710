"""Linear pieces of a network of one variable, counted exactly."""

from __future__ import annotations

import torch

from rankcheck.theory.regions.arrays import RegionArrays


def linear_pieces(cells: RegionArrays) -> torch.Tensor:
    """How many linear pieces each network has in its interval, integers (*B).

    Two neighbouring activation regions are one piece if f has the same derivative on both. So there
    are as many pieces as regions, or fewer. Which derivatives are equal is decided by the numbers
    at hand: exactly on balls, and in floats where nothing is rounded (dyadic weights and slopes).

    >>> from rankcheck.networks import Network
    >>> from rankcheck.regions import region_arrays
    >>> net = Network.of([[[1], [-1]], [[1, -1]]])  # relu(x) − relu(−x) = x
    >>> cells = region_arrays(net, -2, 2)
    >>> cells.count, linear_pieces(cells)
    (tensor(2), tensor(1))

    Raises:
        ValueError: the networks have several inputs.
    """
    inputs = cells.net.widths[0]
    if inputs != 1:
        raise ValueError(f"received networks with {inputs} inputs; pieces are counted on a line")
    left, right = cells.across(cells.jacobians)
    kink = (left != right).any(-1).any(-1)
    return (kink & cells.neighbours).sum(-1) + 1
