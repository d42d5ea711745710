r"""Two networks compared at points: in floats, and exactly.

In floats, f(x) = W_L σ(… W_1 x + b_1 …) + b_L errs by at most

.. math::
    \varepsilon \sum_\ell (n_{\ell-1} + 2) \cdot
    \bigl(|W_L| (\cdots (|W_1| |x| + |b_1|) \cdots) + |b_L|\bigr)

in every output, to first order and with |a| ≤ 1 (Higham, *Accuracy and Stability of Numerical
Algorithms*, §3.5, layer after layer). What two networks differ by is rounding if it is no more than
these bounds of both, `ALLOWED` times, as coefficients that were computed are rounded as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.audit.model import ModelError
from rankcheck.audit.part import batch_size
from rankcheck.balls import BallArray, balls
from rankcheck.networks import Network

__all__ = ["Proved", "difference", "proved"]

#: Differences up to so many bounds of rounding are rounding.
ALLOWED = 16
#: Multiplications of rational numbers that a proof may take: some seconds.
PRODUCTS = 10_000_000


@dataclass(frozen=True)
class Proved:
    """What rational arithmetic says about two networks, as they are in float64.

    Attributes:
        points: at how many points they were compared.
        bound: the largest |f(x) − g(x)| of an output there, rounded up; 0 if they are equal.
    """

    points: int
    bound: float


def difference(net: Network, other: Network, X: Tensor) -> float:
    """max |f(x) − g(x)| / max |f(x)| over the points X (N, n_0) and the outputs; 0 if f = g.

    Raises:
        ModelError: it is more than rounding at some point.
    """
    largest = different = 0.0
    done = 0
    for x in X.split(min(batch_size(net), batch_size(other))):
        here, there = net(x), other(x)
        gap = (here - there).abs()
        allowed = ALLOWED * (_rounding(net, x) + _rounding(other, x))
        bad = (~(gap <= allowed)).any(1)
        if bool(bad.any()):
            place = int(bad.nonzero()[0])
            output = int((gap[place] - allowed[place]).nan_to_num(math.inf).argmax())
            raise ModelError(
                f"the smaller network would differ at point {done + place} in output {output}: "
                f"{float(there[place, output]):.17g} for {float(here[place, output]):.17g}, and "
                f"rounding explains {float(allowed[place, output]):.2g}; it is not written"
            )
        largest = max(largest, float(here.abs().max()))
        different = max(different, float(gap.max()))
        done += len(x)
    return different / largest if largest else different


def _rounding(net: Network, x: Tensor) -> Tensor:
    """The bound of the rounding of f(x), (N, n_L)."""
    sizes = x.abs()
    for w, b in zip(net.weights, net.biases, strict=True):
        sizes = sizes @ w.abs().mT + b.abs()
    roundings = sum(width + 2 for width in net.widths[:-1])
    return sizes * (roundings * torch.finfo(torch.float64).eps)


def proved(net: Network, other: Network, X: Tensor) -> Proved | None:
    """Compare two networks in rational arithmetic at points of X (N, n_0), at even distances.

    As many points as `PRODUCTS` allow; None if that is none.
    """
    products = sum(w.numel() for one in (net, other) for w in one.weights)
    number = min(len(X), PRODUCTS // products)
    if number == 0:
        return None
    places = torch.arange(number) * len(X) // number
    points = BallArray.exact(X[places])
    gap = balls((_exact(net)(points) - _exact(other)(points)).abs())
    largest = max(gap.upper().ravel().tolist(), default=Fraction(0))
    bound = float(largest)
    return Proved(number, bound if Fraction(bound) >= largest else math.nextafter(bound, math.inf))


def _exact(net: Network) -> Network:
    """The network whose numbers are exactly the floats of this one."""
    weights, biases = map(BallArray.exact, net.weights), map(BallArray.exact, net.biases)
    return Network.unchecked_slope(weights, biases, Fraction(float(net.slope)))
