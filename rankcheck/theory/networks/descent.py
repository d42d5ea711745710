"""Steps of gradient descent in the parameters of a network. Runs on floats and on balls."""

from __future__ import annotations

from collections.abc import Sequence

from rankcheck.theory.linalg import Array, Number
from rankcheck.theory.networks.network import Network
from rankcheck.theory.scalars import scalar


def sgd_step(
    net: Network,
    gradient: tuple[Sequence[Array], Sequence[Array]],
    rate: Number | Array,
    decay: Number | Array = 0,
) -> Network:
    r"""The network with the parameters $(1 - \eta\lambda)\,\theta - \eta\, g$: one step of descent.

    g is the gradient of the loss of a batch, the arrays of the weights and those of the biases as
    :func:`rankcheck.networks.squared_error_gradient` returns them. The rate η and the decay λ are
    numbers, or arrays (*B). It is the step of SGD with weight decay and without momentum.

    Raises:
        ValueError: the gradient does not have the shapes of the parameters.
    """
    parameters, found = (*net.weights, *net.biases), (*gradient[0], *gradient[1])
    shapes = [[tuple(a.shape) for a in arrays] for arrays in (parameters, found)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"received a gradient of shapes {shapes[1]} for parameters of shapes {shapes[0]}; "
            "they are equal"
        )
    like = net.weights[0]
    one = like.new_ones(net.batch)
    eta, lam = (one * (scalar(a, like) if isinstance(a, Number) else a) for a in (rate, decay))
    keep = 1 - eta * lam
    moved = []
    for a, g in zip(parameters, found, strict=True):
        axes = (...,) + (None,) * (a.ndim - len(net.batch))
        moved.append(keep[axes] * a - eta[axes] * g)
    return net.with_parameters(moved[: net.depth], moved[net.depth :])
