r"""A multiple of a network, with all layers scaled alike.

For $c = s t^L$ with s = ±1 and t > 0, the parameters
$W_\ell \mapsto t W_\ell$, $b_\ell \mapsto t^\ell b_\ell$, with the sign s in the last layer,
compute c f. The weights cost $|c|^{2/L}$ times what they did, and the biases of layer ℓ
$|c|^{2\ell/L}$ times.

Used by field.representation-cost-of-a-multiple.
"""

from __future__ import annotations

from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.balancing import layer_rescaling
from rankcheck.theory.networks.network import Network


def multiple(net: Network, root: Array, sign: Array) -> Network:
    """The network of sign · root^L · f, each layer of weights times root; both arrays are (*B).

    >>> import torch
    >>> net = Network.of([[[3]], [[2]]], [[1], [5]])  # 2 [3x + 1]_+ + 5
    >>> print(multiple(net, torch.tensor(2.0, dtype=torch.float64), torch.tensor(-1.0)))
    depth 2, slope 0, W_1 = [[6]], b_1 = [2], W_2 = [[-4]], b_2 = [-20]

    Raises:
        ValueError: an array has other axes than the batch of the network.
    """
    for name, array in (("root", root), ("sign", sign)):
        if tuple(array.shape) != net.batch:
            raise ValueError(
                f"received a {name} of shape {tuple(array.shape)}; each network of the batch "
                f"{net.batch} takes one number"
            )
    scaled = layer_rescaling(net, [root] * net.depth)
    return scaled.with_parameters(
        (*scaled.weights[:-1], scaled.weights[-1] * sign[..., None, None]),
        (*scaled.biases[:-1], scaled.biases[-1] * sign[..., None]),
    )
