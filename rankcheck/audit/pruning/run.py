"""`prune(model, data)`: a smaller network with the same values."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.model import ModelError
from rankcheck.audit.pruning.chain import Chain
from rankcheck.audit.pruning.proof import difference, proved
from rankcheck.audit.pruning.result import Pruned, Size
from rankcheck.audit.pruning.signs import Signs, at_points, everywhere, holds, on_box
from rankcheck.audit.reading import check_width, data_of, model_of
from rankcheck.networks import Network
from rankcheck.parallel.arithmetic import single_thread

__all__ = ["prune"]


def prune(model: Any, data: Any = None, *, slope: float | None = None) -> Pruned:
    """Leave out of a chain what its function does not need, at the data or everywhere.

    Neurons that are dead on the data are left out, linear ones are replaced by others of which they
    are combinations, proportional ones are merged, and two affine maps with nothing but linear
    neurons between become one where that is smaller. Without data, only what changes the function
    nowhere is left out.

    Args:
        model, data, slope: as for `rankcheck.audit.audit`; a chain.

    Raises:
        ModelError: as for `audit`, the model is no chain, or the outputs would differ by more than
            rounding.
    """
    with single_thread():
        points = None if data is None else data_of(data)
        shape = None if points is None else tuple(points.shape[1:])
        read = model_of(model, slope=slope, shape=shape)
        if isinstance(read, Graph):
            raise ModelError(
                "the network is no chain; chains are pruned, and of other networks the audit says "
                "how many neurons of each layer are dead on the data"
            )
        X = None if points is None else points.flatten(1)
        if X is not None:
            check_width(read, X)
        net = read.net
        always = everywhere(net)
        chain = Chain(net, read.names)
        chain.shrink(always)
        anywhere = chain.removed.total()
        if X is not None:
            chain.shrink(always | at_points(net, X))
        other = chain.net
        changed = bool(chain.removed or chain.joined)
        return Pruned(
            net=other,
            before=Size.of(net),
            after=Size.of(other),
            removed=dict(chain.removed),
            anywhere=anywhere,
            joined=tuple(chain.joined),
            rounded=chain.rounded,
            change=None if X is None else difference(net, other, X),
            proved=proved(net, other, X) if X is not None and changed else None,
            domain=_domain(chain, always, X, read.net),
        )


def _domain(
    chain: Chain, always: Signs, X: Tensor | None, net: Network
) -> Literal["everywhere", "box", "data"]:
    """Where the signs that the steps took for granted are proved."""
    if holds(always, chain.claims) or X is None:
        return "everywhere"
    return "box" if holds(on_box(net, X.amin(0), X.amax(0)), chain.claims) else "data"
