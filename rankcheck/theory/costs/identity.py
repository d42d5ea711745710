r"""The cost of the identity at a matrix of representations, of ReLU layers in a residual network.

The columns of A are the representations of the data. A layer $\alpha \mapsto M \sigma(\alpha)$ that
keeps them has $M \sigma(A) = A$. If there is such a layer, $M = A \sigma(A)^+$ has the least norm.

Source: A. Jacot, A. Kaiser, *Hamiltonian mechanics of feature learning: bottleneck structure in
leaky ResNets*, arXiv 2405.17573, for layers without biases.
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array, frobenius_squared, pseudo_inverse


def cost_of_identity(A: Array) -> Array:
    """‖A σ(A)⁺‖_F², shape (*B), for A (*B, m, n) and σ the ReLU; rational for rational A.

    The least ‖M‖_F² of the M that make Mσ(A) as near to A as possible. Mσ(A) is A itself if the row
    space of A lies in that of σ(A).

    >>> A = torch.tensor([[1.0, 2.0], [-1.0, -2.0]], dtype=torch.float64)
    >>> cost_of_identity(A).round(decimals=9)  # M = [[1, 0], [-1, 0]]
    tensor(2., dtype=torch.float64)
    """
    return frobenius_squared(A @ pseudo_inverse(torch.relu(A)))
