r"""Every tolerance of rankcheck, and where it comes from.

Both sides of a relation are computed in float64, unit roundoff $u = 2^{-53}$. A sum of $n$ terms of
total magnitude $m$, each the product of a few factors, is off by at most $\gamma_n m$ with
$\gamma_n \approx n u$ (Higham, *Accuracy and Stability of Numerical Algorithms*, sec. 3.1), and a
singular value of a matrix by a modest multiple of $u$ times the largest one. So

    tolerance = SAFETY · terms · u · max(|lhs|, |rhs|, scale) + error

where `terms` counts the operations behind one side, `scale` is the size of what cancelled on the
way (by default nothing larger than the sides themselves), and `error` is an absolute error that a
body knows better, such as that of a small power of a small singular value.

A violation inside the tolerance is none. One outside it is not yet a counterexample either: it is
put to ball arithmetic (`certify`), so a tolerance that is too small costs time, not truth.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import torch

from rankcheck.networks.network import Network

UNIT_ROUNDOFF = 2.0**-53
#: What the constant hidden in "a modest multiple" is allowed to be.
SAFETY = 4.0
#: Operations behind one side where a body does not say: a small network's forward pass.
TERMS = 256
#: A tight family reaches its bound when the ratio of the sides is this close to one.
TIGHT = 1e-6
#: Mutants: by how much the engine strengthens a bound, or moves one side of an identity.
STRENGTHENING = 0.02
#: On balls, an excess that is provably below this, relative to the sides, is equality.
EQUALITY_ON_BALLS = Fraction(1, 2**80)


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
