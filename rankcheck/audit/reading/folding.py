r"""Affine maps, batch norms and activations in a row, as a network.

Between two activations everything is affine: x ↦ W₂(W₁x + b₁) + b₂ = W₂W₁x + (W₂b₁ + b₂), and a
batch norm in eval mode is x ↦ s ⊙ x + t with s = γ / √(σ² + ε) and t = β − s ⊙ μ, for its running
mean μ and variance σ². Folding keeps the function and changes ‖θ‖². Without any activation the
depth is kept, with slope 1, and only batch norms are folded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.arrays import check_finite, check_size
from rankcheck.audit.reading.opening import LARGEST_ENTRIES, label, require
from rankcheck.networks import Network

__all__ = ["Activation", "Affine", "Diagonal", "assemble", "batch_norm", "check_slope", "squares"]

#: The most affine maps that a network may have.
MOST_LAYERS = 1000


@dataclass(frozen=True, eq=False)
class Affine:
    """x ↦ Wx + b.

    Attributes:
        name: as in the file.
        weight: (n, m).
        bias: (n), or None.
        parameters: the names of both in the file; None if they are stored in another form.
        stored: the sum of squares of the parameters as they are stored.
    """

    name: str
    weight: Tensor
    bias: Tensor | None
    parameters: tuple[str, str | None] | None
    stored: float

    @property
    def sizes(self) -> tuple[int, int]:
        """How many numbers go in, and how many come out."""
        return self.weight.shape[1], self.weight.shape[0]


@dataclass(frozen=True, eq=False)
class Diagonal:
    """x ↦ s ⊙ x + t, with s and t of shape (n); `kind` says in words what it is."""

    name: str
    scale: Tensor
    shift: Tensor
    stored: float
    kind: str = "the batch norm"

    @property
    def sizes(self) -> tuple[int, int]:
        """How many numbers go in, and how many come out."""
        return len(self.scale), len(self.scale)


@dataclass(frozen=True)
class Activation:
    """σ_a, neuron by neuron; a = 1 is the identity."""

    name: str
    slope: float


Step = Affine | Diagonal | Activation


def squares(*arrays: Tensor | None) -> float:
    """The sum of squares of all entries."""
    return math.fsum(float((a * a).sum()) for a in arrays if a is not None)


def batch_norm(
    name: str,
    mean: Tensor,
    variance: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Diagonal:
    """A batch norm in eval mode. Its parameters are γ and β; running statistics are none.

    Args:
        mean, variance, weight, bias: μ, σ², γ, β, of shape (n) each; γ = 1 and β = 0 if None.

    Raises:
        ModelError: the shapes differ, or σ² + ε is not positive.
    """
    shapes = [tuple(array.shape) for array in (mean, variance, weight, bias) if array is not None]
    require(
        len(shapes[0]) == 1 and len(set(shapes)) == 1,
        f"the batch norm {label(name)} has averages, weights and biases of the shapes "
        f"{', '.join(map(str, shapes))}; all have one axis and one length",
    )
    total = variance + eps
    fault = f"has the variance {float(variance.min())}; with eps = {eps} it must be positive"
    require(bool((total > 0).all()), f"the batch norm {label(name)} {fault}")
    scale = total.rsqrt() if weight is None else weight * total.rsqrt()
    shift = -scale * mean if bias is None else bias - scale * mean
    return Diagonal(name, scale, shift, squares(weight, bias))


def check_slope(slope: object) -> float | None:
    """The slope that a caller names: in (−1, 1), or 1 for the identity; None stays None.

    Raises:
        ModelError: it is anything else.
    """
    if slope is None:
        return None
    if isinstance(slope, bool) or not isinstance(slope, int | float):
        raise ModelError(f"the slope is a {type(slope).__name__}; it must be a number")
    require(-1 < slope <= 1, f"the slope is {slope}; it must lie in (-1, 1), or be 1: the identity")
    return float(slope)


def assemble(
    steps: Iterable[Step],
    source: str,
    *,
    slope: float | None = None,
    assumed: Sequence[str] = (),
    cut: str = "leave it out",
) -> Model:
    """The network that these steps are, one after the other.

    Args:
        slope: what a caller says of the activations; it must agree with what they are.
        cut: what to do about an activation behind the last affine map, in words.

    Raises:
        ModelError: the first or the last step is an activation, two activations follow one another,
            slopes differ, sizes do not chain, or numbers overflow.
    """
    steps = list(steps)
    maps = [step for step in steps if not isinstance(step, Activation)]
    linear = any(isinstance(step, Affine) for step in maps)
    require(linear, "there is no linear layer; a network has at least one")
    groups = _groups(steps, cut)
    many = len(groups)
    require(many <= MOST_LAYERS, f"there are {many} affine maps; at most {MOST_LAYERS} are read")
    _check_sizes(maps)
    a = _slope([step for step in steps if isinstance(step, Activation)], len(groups), slope)
    folded: list[str] = []
    weights, biases = [], []
    for group in groups:
        weight, bias = _fold(group, folded)
        weights.append(weight)
        biases.append(weight.new_zeros(len(weight)) if bias is None else bias)
        for array in (weights[-1], biases[-1]):
            check_finite(f"{_joined(group)}, folded,", array)
    net = (Network.unchecked_slope if a == 1 else Network)(weights, biases, a)
    stored = math.fsum(step.stored for step in maps)
    finite = math.isfinite(stored + float(net.cost()))
    require(finite, "the sum of squares of the parameters overflows")
    return Model(
        net=net,
        source=source,
        names=tuple(_joined(group) for group in groups),
        parameters=tuple(_parameters(group) for group in groups),
        stored_cost=stored,
        folded=tuple(folded),
        assumed=tuple(assumed),
    )


def _groups(steps: Sequence[Step], cut: str) -> list[list[Affine | Diagonal]]:
    """What stands between activations; without any, each affine map with its batch norms."""
    groups: list[list[Affine | Diagonal]] = [[]]
    active = any(isinstance(step, Activation) for step in steps)
    for i, step in enumerate(steps):
        if isinstance(step, Activation):
            name = label(step.name)
            last = i == len(steps) - 1
            require(i, f"the network begins with the activation {name}, not with an affine map")
            require(not last, f"the network ends with the activation {name}, no affine map; {cut}")
            require(groups[-1], f"the activation {name} follows another one, no affine map")
            groups.append([])
            continue
        full = any(isinstance(other, Affine) for other in groups[-1])
        if not active and full and isinstance(step, Affine):
            groups.append([])
        groups[-1].append(step)
    return groups


def _check_sizes(maps: Sequence[Affine | Diagonal]) -> None:
    """Check that sizes chain, and that there are not too many numbers."""
    for one, two in pairwise(maps):
        require(
            one.sizes[1] == two.sizes[0],
            f"{_described(one)} is followed by {_described(two)}; what comes out must go in",
        )
    entries = sum(
        step.weight.numel() if isinstance(step, Affine) else len(step.scale) for step in maps
    )
    fit = entries <= LARGEST_ENTRIES
    require(fit, f"there are {entries} parameters; at most {LARGEST_ENTRIES} are read")


def _described(step: Affine | Diagonal) -> str:
    shape = step.weight.shape if isinstance(step, Affine) else step.scale.shape
    return f"{label(step.name)} of shape {tuple(shape)}"


def _slope(activations: Sequence[Activation], depth: int, named: float | None) -> float:
    """The one slope of all activations; 1 if there is none where one could be, and 0 at depth 1."""
    if not activations:
        require(
            depth == 1 or named in (None, 1.0),
            f"the slope is said to be {named}, and there is no activation between the affine "
            "maps; leave it out",
        )
        return (0.0 if named is None else named) if depth == 1 else 1.0
    first = activations[0]
    for other in activations:
        name, a = label(other.name), other.slope
        require(-1 < a <= 1, f"the activation {name} has the slope {a}; it must lie in (-1, 1)")
        require(
            a == first.slope,
            f"the activations have the slopes {first.slope} ({label(first.name)}) and {a} "
            f"({name}); all must be equal",
        )
    # A file may hold the slope in single precision.
    require(
        named is None or math.isclose(named, first.slope, rel_tol=1e-6),
        f"the slope is said to be {named}, and that of {label(first.name)} is {first.slope}; "
        "leave it out",
    )
    return first.slope


def _fold(group: Sequence[Affine | Diagonal], folded: list[str]) -> tuple[Tensor, Tensor | None]:
    """The weights and the bias of the composition of some affine maps."""
    affine = [step for step in group if isinstance(step, Affine)]
    names = " and ".join(label(step.name) for step in affine)
    for step in group:
        if isinstance(step, Diagonal):
            folded.append(
                f"{step.kind} {label(step.name)} was folded into {names}"
                if affine
                else f"{step.kind} {label(step.name)} between two activations is an affine map "
                "with a diagonal matrix"
            )
    if len(affine) > 1:
        folded.append(f"{names} have no activation between them: they are one affine map")
    weight: Tensor | None = None
    bias: Tensor | None = None
    scale: Tensor | None = None  # until the first matrix, W = diag(scale)
    for step in group:
        if isinstance(step, Affine):
            carried = None if bias is None else step.weight @ bias
            if weight is not None:
                weight = step.weight @ weight
            else:
                weight = step.weight if scale is None else step.weight * scale
            parts = [part for part in (carried, step.bias) if part is not None]
            bias = sum(parts[1:], start=parts[0]) if parts else None
        else:
            bias = step.shift if bias is None else step.scale * bias + step.shift
            if weight is not None:
                weight = step.scale.unsqueeze(-1) * weight
            else:
                scale = step.scale if scale is None else step.scale * scale
    if weight is None:
        assert scale is not None
        check_size(f"{label(_joined(group))}, as a matrix,", (len(scale), len(scale)))
        weight = torch.diag(scale)
    return weight, bias


def _joined(group: Sequence[Affine | Diagonal]) -> str:
    names = (step.name if step.name.isprintable() else label(step.name) for step in group)
    return "+".join(name if len(name) <= 200 else f"{name[:197]}..." for name in names)


def _parameters(group: Sequence[Affine | Diagonal]) -> tuple[str, str | None] | None:
    """The names of the parameters of a map that was not folded."""
    [first, *rest] = group
    return first.parameters if isinstance(first, Affine) and not rest else None
