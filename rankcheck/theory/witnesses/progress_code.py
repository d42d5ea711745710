r"""The identity of [0, 1] as a ReLU network whose hidden layers have small derivatives.

The point $t$ is coded by the progress of $2K$ steps,

$$\alpha_j(t) = \tfrac14 + \min(1, [Kt - c_j]_+), \qquad
  c = (-\tfrac14, \tfrac14, \tfrac34, \tfrac54, \dots),\ c_{j+1} = c_j + \tfrac12,$$

and read as

$$f = \frac1{2K} \sum_j \bigl([2\alpha_j - 1]_+ - [2\alpha_j - 2]_+\bigr) .$$

The j-th summand rises from 0 to 1 while $\alpha_j$ does so from 1/2 to 1, that is on
$j/2 \le Kt \le (j+1)/2$, and is constant elsewhere. So $f(t) = t$ on [0, 1], and at each point
one coordinate of α matters, with the derivative $1/K$. The code is at least 1/4 everywhere, so
identity layers keep it; each adds $(\|\alpha(t)\|^2 + 1)/K^2 \le (25K/8 + 1)/K^2$ to the trace of
the tangent kernel of weights and biases. The four other layers add at most $8K + 12$:

* the first, $(t^2 + 1)/K^2 \le 2$;
* the second, $(1 + \sum_j [Kt - c_j]_+^2 + [Kt - c_j - 1]_+^2)/K^2$, at most
  $(1 + 4 \sum_{i \le K} (i + \frac14)^2)/K^2 \le \frac43 K + 6$;
* the last but one, $(\|\alpha\|^2 + 1) \cdot 4K/(2K)^2 \le \frac{25}8 + \frac1K$;
* the last, $1 + 2K(\frac94 + \frac14) = 5K + 1$ at most.

For $K = \lceil \sqrt L \rceil$ the trace is at most $12 \sqrt L + 20$.

Used by bottleneck.ntk-below-linear.
"""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck.theory.linalg import Array, eye
from rankcheck.theory.networks.network import Network
from rankcheck.theory.scalars import scalar


def progress_code(K: int, depth: int, like: Array) -> Network:
    """The network of 2K steps, with depth − 4 identity layers in the middle.

    Args:
        like: an array of the kind of number and the device of the network.

    Raises:
        ValueError: if K < 1 or the depth is less than 4.
    """
    if K < 1 or depth < 4:
        raise ValueError(
            f"received K = {K} and depth {depth}; K is at least 1, the depth at least 4"
        )
    count = 2 * K

    def vector(entries: list[Fraction]) -> Array:
        return torch.stack([scalar(entry, like) for entry in entries])

    starts = vector([Fraction(2 * j - 1, 4) for j in range(count)])
    ones, zeros = vector([Fraction(1)] * count), vector([Fraction(0)] * count)
    same = eye(count, like=like)
    both = torch.cat((same, -same), -1)
    step = scalar(Fraction(1, count), like)
    layers = [
        (torch.cat((ones, ones)).unsqueeze(-1) * K, torch.cat((-starts, -starts - ones))),
        (both, ones / 4),
        *[(same, zeros)] * (depth - 4),
        (torch.cat((same, same), -2) * 2, torch.cat((-ones, -2 * ones))),
        (torch.cat((ones, -ones)).unsqueeze(-2) * step, zeros[:1]),
    ]
    weights, biases = zip(*layers, strict=True)
    return Network(weights, biases)
