r"""Every homogeneous activation as a rescaled $\sigma_a$ with $a \in (-1, 1)$.

$\sigma(x) = \alpha x$ for $x \ge 0$ and $\beta x$ for $x < 0$, $|\alpha| \ne |\beta|$, equals
$c\,\sigma_a(b x)$ with

* $b = |\alpha|$, $c = \operatorname{sign}\alpha$, $a = \beta/\alpha$ where $|\alpha| > |\beta|$;
* $b = -|\beta|$, $c = -\operatorname{sign}\beta$, $a = \alpha/\beta$ where $|\beta| > |\alpha|$.

Used by rank.homogeneous-activation. Source: A. Jacot, *Implicit bias of large depth networks*, §2.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from rankcheck.theory.linalg import Array


class HomogeneousForm(NamedTuple):
    """$\\sigma(x) = c\\,\\sigma_a(b x)$: slope a, outer sign c, inner factor b, each `(*B)`."""

    slope: Array
    sign: Array
    factor: Array


def homogeneous_form(alpha: Array, beta: Array) -> HomogeneousForm:
    """The activation with slopes alpha (x ≥ 0) and beta (x < 0), (*B), as a rescaled σ_a.

    There is no such form where |alpha| = |beta|; the slope returned there is 1 or −1.

    >>> homogeneous_form(torch.tensor(2.0), torch.tensor(-1.0))
    HomogeneousForm(slope=tensor(-0.5000), sign=tensor(1.), factor=tensor(2.))
    """
    right = alpha.abs() > beta.abs()
    larger, smaller = torch.where(right, alpha, beta), torch.where(right, beta, alpha)
    one = torch.ones_like(larger)
    safe = torch.where(larger == 0, one, larger)
    sign = torch.where(larger < 0, -one, one)
    return HomogeneousForm(
        slope=torch.where(larger == 0, one, smaller / safe),
        sign=torch.where(right, sign, -sign),
        factor=torch.where(right, larger.abs(), -larger.abs()),
    )
