r"""A continuous function of Jacobian rank 1 and bottleneck rank 2.

$$f(x) = (\operatorname{sign}(x_0)\,m,\ \operatorname{sign}(x_1)\,m), \qquad
  m = \min(|x_0|, |x_1|),$$

is continuous and piecewise linear. Inside each of its eight linear regions (between the axes and
the diagonals) it depends on x_0 alone or on x_1 alone, so its Jacobian has rank 1; on the cross
|x_0| = |x_1| it is the identity. A factorisation f = h∘g through R would make g injective on the
cross, but no continuous g: R² → R is: of its rises from the centre to the ends of the four arms two
have one sign, and g attains the smaller rise on the other arm too. :func:`equal_values` finds that
point.

*Network.* With c = |x_1|, $\operatorname{sign}(x_0)\min(|x_0|, c)$ is x_0 clipped to [−c, c], that
is $[x_0 + c]_+ - [x_0 - c]_+ - c$. The depth is 3 = ⌈log2(n + 1)⌉ + 1 for n = 2.

*In print* the two cases are exchanged, and the map is discontinuous: (x_0, sign(x_1)|x_0|) for
|x_0| ≥ |x_1| takes (1, 0±) to (1, ±1).

Used by rank.cross-example and rank.cross-example-as-printed. Source: A. Jacot, *Implicit bias of
large depth networks*, Example 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.network import Network


def cross(x: Array) -> Array:
    """The function above at points (..., 2): of Jacobian rank 1 and bottleneck rank 2.

    >>> cross(torch.tensor([[3.0, -1.0], [2.0, 2.0]]))
    tensor([[ 1., -1.],
            [ 2.,  2.]])
    """
    size = x.abs()
    m = torch.minimum(size[..., 0], size[..., 1]).unsqueeze(-1)
    return torch.where(x < 0, -m, m)


def cross_as_printed(x: Array) -> Array:
    """(x_0, sign(x_1)|x_0|) where |x_0| ≥ |x_1|, else (sign(x_0)|x_1|, x_1); sign(0) = 1 here."""
    size = x.abs()
    m = torch.maximum(size[..., 0], size[..., 1]).unsqueeze(-1)
    return torch.where(x < 0, -m, m)


def cross_network(like: Array | None = None) -> Network:
    """The function :func:`cross` as a ReLU network of widths (2, 4, 6, 2).

    ``like`` is an array that gives the kind of number and the device.
    """
    zero = torch.zeros((), dtype=torch.float64) if like is None else like.new_zeros(())
    weights = (
        [[1, 0], [-1, 0], [0, 1], [0, -1]],
        [
            *([1, -1, 1, 1], [1, -1, -1, -1], [0, 0, 1, 1]),
            *([1, 1, 1, -1], [-1, -1, 1, -1], [1, 1, 0, 0]),
        ],
        [[1, -1, -1, 0, 0, 0], [0, 0, 0, 1, -1, -1]],
    )
    arrays = [zero + torch.tensor(w, dtype=torch.float64, device=zero.device) for w in weights]
    return Network(tuple(arrays), tuple(w.new_zeros(w.shape[:-1]) for w in arrays))


@dataclass(frozen=True, eq=False)
class EqualValues:
    """Two points of the cross where a continuous g: R² → R has one value.

    ``point`` (*B, 2) is the end of an arm, (±1, ±1). ``low`` and ``high`` (*B, 2) lie on another
    arm, within 2⁻ˢ of each other in each coordinate after s steps, and g(low) and g(high) enclose
    g(point): by the intermediate value theorem g takes the value g(point) between them.
    """

    point: Array
    low: Array
    high: Array


def equal_values(g: Callable[[Array], Array], like: Array, steps: int = 40) -> EqualValues:
    """Two points of the cross where g has one value, for g from points (*B, N, 2) to (*B, N, 1).

    ``like`` is an array of shape (*B), which gives the batch axes and the kind of number.
    """
    corners = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]]
    ends = torch.tensor(corners, dtype=torch.float64, device=like.device)
    ends = like.new_zeros((*like.shape, 5, 2)) + ends
    values = g(ends).squeeze(-1)
    rise = values[..., :4] - values[..., 4:]
    order = rise.argsort(-1)
    sorted_rise = rise.gather(-1, order)
    # The two lowest arms go down, or else the two highest go up. Bisection on the arm that goes
    # further finds the value at the end of the other.
    down = sorted_rise[..., 1:2] <= 0
    near = torch.where(down, order[..., 1:2], order[..., 2:3])
    far = torch.where(down, order[..., :1], order[..., 3:])
    target = rise.gather(-1, near)
    point, arm = _row(ends, near), _row(ends, far)
    low, high = like.new_zeros((*like.shape, 1)), like.new_ones((*like.shape, 1))
    for _ in range(steps):
        middle = (low + high) / 2
        here = g((middle * arm).unsqueeze(-2)).squeeze(-1) - values[..., 4:]
        beyond = torch.where(down, target - here, here - target) >= 0
        low, high = torch.where(beyond, low, middle), torch.where(beyond, middle, high)
    return EqualValues(point, low * arm, high * arm)


def _row(rows: Array, index: torch.Tensor) -> Array:
    """rows[..., index, :] for rows (*B, 5, 2) and index (*B, 1)."""
    return rows.gather(-2, index.unsqueeze(-1).expand(*index.shape, 2)).squeeze(-2)
