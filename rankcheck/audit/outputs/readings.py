"""What else a network with these parameters may compute: other activations, skip connections.

Parameters tell neither. Where outputs are at hand, each of these readings can be compared with
them, so that whoever made the outputs learns what their network has and the file does not say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch
from torch import Tensor
from torch.nn import functional

from rankcheck.audit.model import Model
from rankcheck.audit.reading.opening import label
from rankcheck.networks import leaky

__all__ = ["Reading", "other_activations", "with_endings", "with_skips"]

#: Slopes of leaky ReLUs that libraries have by default, and the identity.
_SLOPES = (0.0, 0.01, 0.1, 0.2, 0.3, 1.0)
_SMOOTH: dict[str, Callable[[Tensor], Tensor]] = {
    "GELU": functional.gelu,
    "GELU in the approximation by tanh": partial(functional.gelu, approximate="tanh"),
    "tanh": torch.tanh,
    "SiLU": functional.silu,
    "ELU": functional.elu,
    "sigmoid": torch.sigmoid,
    "softplus": functional.softplus,
}
_ENDINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": partial(torch.softmax, dim=-1),
    "log-softmax": partial(torch.log_softmax, dim=-1),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "ReLU": torch.relu,
}
_FILES = "audit the module, or its ONNX file, which tell it"
#: At most so many layers lie in a block that a skip connection goes around.
_LONGEST = 3


@dataclass(frozen=True, eq=False)
class Reading:
    """A function that the network may be.

    Attributes:
        words: what it has, behind `with`.
        advice: what to do if it is the one.
        compute: f(x_i) of points (N, n_0), as (N, n_L).
    """

    words: str
    advice: str
    compute: Callable[[Tensor], Tensor]


def other_activations(model: Model) -> Iterator[Reading]:
    """The same chain with other activations."""
    if model.net.depth == 1:
        return
    for name, advice, activation in _activations(model):
        yield Reading(f"{name} as the activation", advice, _chain(model, activation))


def with_endings(compute: Callable[[Tensor], Tensor]) -> Iterator[Reading]:
    """The same network with something behind its last layer."""
    for name, ending in _ENDINGS.items():
        yield Reading(
            f"a {name} at the end",
            "give the outputs before it, which are those of the network that is audited",
            partial(_ended, ending, compute),
        )


def with_skips(model: Model, *, own: bool = False) -> Iterator[Reading]:
    """Blocks of one to three layers whose inputs are added to what they compute.

    All blocks have the same number of layers and the same form; before and behind them there may be
    layers of other sizes.

    Args:
        own: whether the activation is that of the model; if not, others are tried as well.
    """
    named: dict[str, Callable[[Tensor], Tensor]] = {
        "": partial(leaky, slope=float(model.net.slope))
    }
    if not own:
        named |= {f"{name} and ": one for name, _, one in _activations(model)}
    for length in range(1, _LONGEST + 1):
        for starts in _blocks(model.net.widths, length):
            for (name, activation), form, stem, head in product(
                named.items(), _FORMS, (True, False), (True, False)
            ):
                if form == "whole" and not head:
                    continue  # the activation is there in any case
                yield Reading(
                    f"{name}skip connections around {_names(model, starts, length)}",
                    _FILES,
                    partial(_residual, model, activation, starts, length, form, stem, head),
                )


def _activations(model: Model) -> Iterator[tuple[str, str, Callable[[Tensor], Tensor]]]:
    """Names, advice and functions of the activations that the model does not have."""
    own = float(model.net.slope)
    for slope in _SLOPES:
        if abs(slope - own) > 1e-6:
            name = {0.0: "ReLU", 1.0: "the identity"}.get(slope, f"LeakyReLU of slope {slope:g}")
            advice = f"say --slope {slope:g} (Python: slope={slope:g})"
            yield name, advice, partial(leaky, slope=slope)
    for name, activation in _SMOOTH.items():
        yield name, _FILES, activation


def _chain(model: Model, activation: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def compute(X: Tensor) -> Tensor:
        for i in range(model.net.depth):
            X = _affine(model, i, activation(X) if i else X)
        return X

    return compute


def _ended(
    ending: Callable[[Tensor], Tensor], compute: Callable[[Tensor], Tensor], X: Tensor
) -> Tensor:
    return ending(compute(X))


def _affine(model: Model, i: int, X: Tensor) -> Tensor:
    return functional.linear(X, model.net.weights[i], model.net.biases[i])


def _blocks(widths: Sequence[int], length: int) -> Iterator[tuple[int, ...]]:
    """The first layers of blocks of this length, as many as fit, from each of two beginnings."""
    depth, seen = len(widths) - 1, set()
    for first in (0, 1):
        starts, i = [], first
        while i + length <= depth:
            fits = widths[i] == widths[i + length]
            starts += [i] * fits
            i += length if fits else 1
        # Behind the last block there may be a layer of the same size that is none.
        for chosen in (tuple(starts), tuple(s for s in starts if s + length < depth)):
            if chosen and chosen not in seen:
                seen.add(chosen)
                yield chosen


#: σ(z + h), z + h and z + σ(h) with h = W₂ σ(W₁ z); z + W₂ σ(W₁ σ(z)).
_FORMS = ("whole", "sum", "inside", "before")


def _residual(
    model: Model,
    activation: Callable[[Tensor], Tensor],
    starts: Sequence[int],
    length: int,
    form: str,
    stem: bool,
    head: bool,
    X: Tensor,
) -> Tensor:
    """The network with blocks.

    Args:
        stem: whether an activation follows the layers in front of the blocks.
        head: whether one follows the blocks.
    """
    i, depth, blocks = 0, model.net.depth, False
    while i < depth:
        if i in starts:
            h = activation(X) if form == "before" else X
            for j in range(i, i + length):
                h = _affine(model, j, activation(h) if j > i else h)
            X = X + (activation(h) if form == "inside" else h)
            i, blocks = i + length, True
            if form == "whole" and i < depth:
                X = activation(X)
            continue
        if blocks and form != "whole" and head and i - length in starts:
            X = activation(X)
        X = _affine(model, i, X)
        i += 1
        if i < depth and (stem or blocks):
            X = activation(X)
    return X


def _names(model: Model, starts: Sequence[int], length: int, most: int = 4) -> str:
    """The layers of the blocks, the first few of them."""
    blocks = [
        label(model.names[s], 40)
        if length == 1
        else f"{label(model.names[s], 40)} to {label(model.names[s + length - 1], 40)}"
        for s in starts
    ]
    more = f" and {len(blocks) - most} more" if len(blocks) > most else ""
    return ", ".join(blocks[:most]) + more
