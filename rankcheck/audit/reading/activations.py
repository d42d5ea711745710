"""What is said of activations that no theorem is about, and of slopes that a caller names."""

from __future__ import annotations

import math

from torch import fx

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.kinds.activation import NOT_HOMOGENEOUS
from rankcheck.audit.model import ModelError
from rankcheck.audit.reading.opening import label, require

__all__ = ["AS_IT_IS", "check_activations", "check_slopes", "hidden_activation"]

AS_IT_IS = "--no-theorems (theorems=False in Python) measures the network as it is"
_AT_THE_END = ("Sigmoid", "Tanh", "softmax", "log softmax")


def hidden_activation(name: str, kind: str) -> str:
    """Why a network with an activation that is not homogeneous is refused."""
    return (
        f"the activation {name} ({kind}) is not homogeneous, and no theorem here is about such a "
        f"network; without it this would be another network. {AS_IT_IS}"
    )


def check_activations(graph: Graph, theorems: bool) -> None:
    """Check that all activations are homogeneous, if theorems are to be evaluated.

    Raises:
        ModelError: one is not.
    """
    if not theorems:
        return
    followed: dict[fx.Node, bool] = {}
    for node in reversed(graph.module.graph.nodes):
        followed[node] = any(
            followed[user] or (user.name in graph.layers and bool(graph.layers[user.name].maps))
            for user in node.users
        )
    for node in graph.module.graph.nodes:
        layer = graph.layers.get(node.name)
        if layer is None or layer.slope is not None:
            continue
        if layer.title in _AT_THE_END and not followed[node]:
            raise ModelError(
                f"the network ends with {label(layer.name)} ({layer.title}); leave it out: the "
                f"theory is about what comes before it. {AS_IT_IS}"
            )
        if layer.title in NOT_HOMOGENEOUS:
            raise ModelError(hidden_activation(label(layer.name), layer.title))


def check_slopes(graph: Graph, slope: float | None) -> None:
    """Check that the slope that a caller names is that of all activations.

    Raises:
        ModelError: one has another slope.
    """
    for layer in graph.layers.values():
        if slope is not None and layer.slope is not None:
            require(
                math.isclose(slope, layer.slope, rel_tol=1e-6),
                f"the slope is said to be {slope}, and that of {label(layer.name)} is "
                f"{layer.slope}; leave it out",
            )
