r"""At which points of the data the theorems are evaluated: those where they say most come first.

The candidates are evenly spaced in the data, without those at which a hidden unit is at its kink or
f, Jf are not finite. First come, for each numerical rank of Jf that occurs, the point with the
largest $\log |Jf|_+$, then the point with the largest $\|Jf\|_{op}$, then the rest, evenly spaced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from rankcheck.theory.linalg import log_pseudo_determinant, operator_norm, rank
from rankcheck.theory.networks import Network

#: At most so many points are looked at, and so many that their Jacobians take a few seconds.
CANDIDATES, MULTIPLICATIONS = 2048, 5e9
#: Numbers in the largest arrays of one batch of points.
BATCH = 2**23


@dataclass(frozen=True, eq=False)
class Points:
    """The candidates, M of them.

    Attributes:
        x: the points, (M, n_0).
        places: their numbers in the data, (M,), increasing.
        ranks: the rank of Jf in floats, (M,).
        logs: log |Jf|_+, (M,).
        norms: ‖Jf‖_op, (M,).
        clearance: the least |α̃| of the hidden units, (M,); infinite at depth 1.
        seen: how many points were looked at.
        kinks: at how many of these a hidden pre-activation is 0.
        overflows: at how many of the others f or Jf is not finite.
    """

    x: Tensor
    places: Tensor
    ranks: Tensor
    logs: Tensor
    norms: Tensor
    clearance: Tensor
    seen: int
    kinks: int
    overflows: int

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def counted(self) -> Mapping[int, int]:
        """How many candidates have which rank, the most frequent first, then the larger."""
        counts = Counter(self.ranks.tolist())
        return dict(sorted(counts.items(), key=lambda item: (-item[1], -item[0])))

    @cached_property
    def _first(self) -> list[int]:
        """The candidates that come first."""
        first = []
        for k in self.counted:
            alone = torch.where(self.ranks == k, self.logs, -torch.inf)
            first.append(int(alone.argmax()))
        if len(self):
            first.append(int(self.norms.argmax()))
        return list(dict.fromkeys(first))

    def chosen(self, number: int, among: Tensor | None = None) -> Tensor:
        """The indices of up to so many candidates; `among`, bools (M,), limits them.

        Those that say most come first, the others in an order without a pattern.
        """
        allowed = torch.ones(len(self), dtype=torch.bool) if among is None else among
        first = [i for i in self._first if allowed[i]][:number]
        free = allowed.clone()
        free[first] = False
        rest = free.nonzero().reshape(-1)
        more = rest[evenly_spaced(len(rest), number - len(first))]
        mixed = torch.randperm(len(more), generator=torch.Generator().manual_seed(0))
        return torch.cat((torch.tensor(first, dtype=torch.long), more[mixed]))


def evenly_spaced(total: int, number: int) -> Tensor:
    """Up to `number` of the integers 0, ..., total − 1, evenly spaced, both ends among them."""
    number = max(min(total, number), 0)
    if number <= 1:
        return torch.arange(number)
    return torch.arange(number) * (total - 1) // (number - 1)


def choose_points(net: Network, X: Tensor) -> Points:
    """Look at points of X (N, n_0), on the device of the network and of X."""
    narrow = min(net.widths[0], net.widths[-1])
    each = narrow * sum(w.numel() for w in net.weights)
    wanted = evenly_spaced(len(X), max(1, min(CANDIDATES, int(MULTIPLICATIONS / each))))
    step = max(1, BATCH // (max(net.widths) * narrow))
    parts = [_measured(net, X[some.to(X.device)], some) for some in wanted.split(step)]
    *arrays, kinks, overflows = zip(*parts, strict=True)
    x, places, ranks, logs, norms, clearance = map(torch.cat, arrays)
    return Points(x, places, ranks, logs, norms, clearance, len(wanted), sum(kinks), sum(overflows))


def _measured(net: Network, x: Tensor, places: Tensor) -> tuple[Any, ...]:
    """The fields of `Points` from `x` on."""
    at = net.at(x)
    noise = net.jacobian_noise(x)
    finite = noise.isfinite() & at.jacobian.isfinite().all(-1).all(-1)
    for z in at.preactivations:
        finite = finite & z.isfinite().all(-1)
    kink = finite & ~at.is_differentiable
    usable = finite & ~kink
    J, noise = at.jacobian[usable], noise[usable]
    return (
        x[usable],
        places[usable.cpu()],
        rank(J, noise).cpu(),
        log_pseudo_determinant(J, noise).cpu(),
        operator_norm(J).cpu(),
        at.boundary_distance[usable].cpu(),
        int(kink.sum()),
        int((~finite).sum()),
    )
