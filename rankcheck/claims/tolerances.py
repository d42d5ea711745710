r"""Every tolerance of rankcheck, and where it comes from.

Both sides of a relation are computed in float64, unit roundoff $u = 2^{-53}$. A sum of $n$ terms of
total magnitude $m$, each the product of a few factors, is off by at most $\gamma_n m$ with
$\gamma_n \approx n u$ (Higham, *Accuracy and Stability of Numerical Algorithms*, sec. 3.1), and a
singular value of a matrix by a modest multiple of $u$ times the largest one. So

    tolerance = SAFETY · terms · u · max(|lhs|, |rhs|, scale) + error

where `terms` counts the operations behind one side, `scale` is the size of what cancelled in
computing them (by default the sides themselves), and `error` is an absolute error that the body
knows, such as that of a small power of a small singular value.

Violations within the tolerance are ignored. Larger ones are verified in ball arithmetic before they
are reported, so a tolerance that is too small costs time and never a wrong verdict.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import torch

from rankcheck.theory.networks.network import Network

UNIT_ROUNDOFF = 2.0**-53
#: The constant behind "a modest multiple".
SAFETY = 4.0
#: Operations behind one side, by default: the forward pass of a small network.
TERMS = 256
#: A tight family reaches its bound where the ratio of the sides is this close to one.
TIGHT = 1e-6
#: The derived mutant strengthens a bound, or moves one side of an identity, by this fraction.
STRENGTHENING = 0.02
#: In ball arithmetic, an excess provably below this, relative to the sides, is equality.
EQUALITY_ON_BALLS = Fraction(1, 2**80)
#: This equality is relative to the larger side, and absolute for sides smaller than this.
NEARLY_ZERO = Fraction(1, 2**60)


def tolerance(lhs: Any, rhs: Any, scale: Any | None, error: Any | None, terms: int) -> torch.Tensor:
    """The numerical band around equality of `lhs` and `rhs`; see the module's text."""
    magnitude = torch.maximum(lhs.abs(), rhs.abs())
    if scale is not None:
        magnitude = torch.maximum(magnitude, torch.as_tensor(scale).abs())
    band = SAFETY * terms * UNIT_ROUNDOFF * magnitude
    return band if error is None else band + torch.as_tensor(error).abs()


def network_scale(net: Network, x: Any) -> Any:
    r"""The size of what is summed in $f(x)$: $|W_L| (\cdots (|W_1| |x| + |b_1|) \cdots) + |b_L|$.

    The rounding error of a forward pass is a small multiple of the unit roundoff times this, entry
    by entry (Higham, sec. 3.5), whatever cancels. The shape is that of `net(x)`.
    """
    absolute = Network.unchecked_slope(
        tuple(w.abs() for w in net.weights), tuple(b.abs() for b in net.biases), 1.0
    )
    return absolute(x.abs())
