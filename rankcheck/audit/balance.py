"""The cheapest network with the same function that rescaling single neurons reaches."""

from __future__ import annotations

from torch import Tensor

from rankcheck.audit.model import Model
from rankcheck.audit.part import Job, batch_size
from rankcheck.audit.result import Balanced
from rankcheck.networks import Network

__all__ = ["balance"]


def balance(model: Model, X: Tensor | None = None, *, device: str = "cpu") -> Balanced:
    """Balance the neurons, and compare the values at the points X (N, n_0)."""
    net = model.net
    try:
        other = model.balanced
    except ArithmeticError:
        return Balanced(float(net.cost()), None if X is None else 0.0, converged=False)
    change = None if X is None else _change(net, other, X, device)
    return Balanced(min(float(other.cost()), float(net.cost())), change)


def _change(net: Network, other: Network, X: Tensor, device: str) -> float:
    """max |f(x) − g(x)| / max |f(x)|, over the points and the outputs; 0 if f = g."""
    one, two = (Job(each, (), device).on_device().net for each in (net, other))
    largest = different = 0.0
    for x in X.split(batch_size(net)):
        here = one(x.to(device))
        largest = max(largest, float(here.abs().max()))
        different = max(different, float((here - two(x.to(device))).abs().max()))
    return different / largest if largest else different
