r"""Affine maps and activations in a row, as a chain.

Between two activations everything is affine: x ↦ W₂(W₁x + b₁) + b₂ = W₂W₁x + (W₂b₁ + b₂), and a
batch norm in evaluation mode is x ↦ s ⊙ x + t with s = γ / √(σ² + ε) and t = β − s ⊙ μ, for its
running mean μ and variance σ². Folding keeps the function and changes ‖θ‖². Without any activation
the depth is kept, with slope 1, and only what is diagonal is folded. An activation at the end
stands in front of a last layer, which is the identity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.model import Model, ModelError, label, require
from rankcheck.theory.networks import Network

#: The most numbers of an array: 1 GiB as float64.
LARGEST = 1 << 27
#: The most affine maps that a chain may have.
MOST_LAYERS = 1000
#: What was read is compared at so many random points; this share of the outputs is rounding.
POINTS, CLOSE = 8, 1e-7
#: Programs are compared at points of these sizes: far out, units are on that are off near zero.
SCALES = (1.0, 1e3, 1e6)
_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


@dataclass(frozen=True, eq=False)
class Affine:
    """x ↦ Wx + b.

    Attributes:
        name: as in the file.
        weight: (n, m); or the diagonal of a matrix, (n), or (1) if it is a multiple of 1.
        bias: (n), or (1) if all are equal; None if nothing is added.
    """

    name: str
    weight: Tensor
    bias: Tensor | None = None


@dataclass(frozen=True)
class Activation:
    """σ_a, neuron by neuron; a = 1 is the identity."""

    name: str
    slope: float


Step = Affine | Activation


def numbers(name: str, array: Any, *, whole: bool = False) -> Tensor:
    """The finite numbers of a tensor or array in float64 on the CPU, not shared.

    Args:
        whole: whether integers are taken, too.

    Raises:
        ModelError: it is sparse, quantised, without numbers (`meta`), of another type, empty, too
            large, or not finite.
    """
    if isinstance(array, np.ndarray) and array.size <= LARGEST:
        kind = array.dtype
        narrow = "f4" if kind.name == "bfloat16" else kind.newbyteorder("=")  # as torch takes it
        try:
            array = torch.tensor(array.astype("f8" if whole and kind.kind in "iub" else narrow))
        except TypeError as error:
            text = f"{name} has the type {label(kind.name)}; it must hold real numbers"
            raise ModelError(text) from error
    dtype, shape = array.dtype, tuple(array.shape[:9])
    fits = 0 < math.prod(array.shape) <= LARGEST
    require(fits, f"{name} has the shape {shape}; 1 to {LARGEST} numbers are read")
    plain = type(array) in (Tensor, torch.nn.Parameter) and array.layout is torch.strided
    require(plain and not array.is_meta, f"{name} is sparse, meta or no plain tensor")
    integers = not (dtype.is_floating_point or dtype.is_complex or array.is_quantized)
    known = dtype in _FLOATS or (whole and integers)
    require(known, f"{name} has the type {dtype}; it must hold real numbers of 16 bits or more")
    array = array.detach().to(device="cpu", dtype=torch.float64, copy=True).contiguous()
    wrong = (~torch.isfinite(array)).nonzero()
    if len(wrong):
        place = wrong[0].tolist()
        value = float(array[tuple(place)])
        raise ModelError(f"{name} has the entry {value} at {place}; all must be finite")
    return array


def squares(*arrays: Tensor | None) -> float:
    """The sum of squares of all entries."""
    return math.fsum(float((a * a).sum()) for a in arrays if a is not None)


def batch_norm(
    name: str, mean: Tensor, var: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Affine:
    """A batch norm in evaluation mode, of running averages μ, σ² and of γ, β, shape (n) each.

    Raises:
        ModelError: the shapes differ, or σ² + ε is not positive.
    """
    shapes = {tuple(one.shape) for one in (mean, var, weight, bias) if one is not None}
    fits = len(shapes) == mean.ndim == 1
    require(fits, f"the batch norm {label(name)} has the shapes {sorted(shapes)}; all are one (n)")
    least = float(var.min())
    require(least + eps > 0, f"the batch norm {label(name)} has the variance {least}; eps is {eps}")
    scale = (var + eps).rsqrt() if weight is None else weight * (var + eps).rsqrt()
    return Affine(name, scale, -scale * mean if bias is None else bias - scale * mean)


def diagonal(kind: str, name: str, c: Tensor, left: bool) -> Affine | None:
    """x + c, x − c, xc, x/c, and with `left` c + x, c − x, cx; None for other operations."""
    one = torch.ones(1, dtype=torch.float64)
    match kind, left:
        case ("add", _):
            return Affine(name, one, c)
        case ("sub", _):
            return Affine(name, -one, c) if left else Affine(name, one, -c)
        case ("mul", _):
            return Affine(name, c)
        case ("div", False) if bool((c != 0).all()):
            return Affine(name, 1 / c)
    return None


def assemble(
    steps: Sequence[Step],
    source: str,
    *,
    stored: float,
    slope: float | None = None,
    assumed: Sequence[str] = (),
    guess: str = "",
) -> Model:
    """The chain that these steps are, one after the other.

    Args:
        stored: the sum of squares of the parameters as they are stored.
        slope: what a caller says of the activations; it must agree with what they are.

    Raises:
        ModelError: there is no matrix, the first step is an activation, or two follow one another;
            slopes differ, sizes do not chain, or numbers overflow.
    """
    affine = [one for one in steps if isinstance(one, Affine)]
    n = next((one.weight.shape[1] for one in affine if one.weight.ndim == 2), 0)
    require(n, "there is no linear layer; a network has at least one")
    maps: list[Affine] = []
    folded: list[str] = []
    for group in _groups(steps):
        if not group:
            group = [Affine(steps[-1].name, torch.ones(1, dtype=torch.float64))]
            folded.append(
                f"behind the activation {label(steps[-1].name)} at the end the last layer is the "
                f"identity, which costs {n} and is no parameter"
            )
        maps.append(_fold(group, n))
        n = len(maps[-1].weight)
        each = " and ".join(label(one.name) for one in group)
        if len(group) > 1:
            folded.append(f"{each} have no activation between them: they are one affine map")
        elif len(group[0].weight) > 1 == group[0].weight.ndim:
            folded.append(f"{each} between two activations is a layer with a diagonal matrix")
    a = _slope([one for one in steps if isinstance(one, Activation)], len(maps), slope)
    zeros = [torch.zeros(len(one.weight), dtype=torch.float64) for one in maps]
    biases = [zero if one.bias is None else one.bias for one, zero in zip(maps, zeros, strict=True)]
    make = Network.unchecked_slope if a == 1 else Network
    net = make([one.weight for one in maps], biases, a)
    finite = math.isfinite(stored + float(net.cost()))
    require(finite, "the sum of squares of the parameters overflows")
    names, known = tuple(one.name for one in maps), tuple(one.bias is not None for one in maps)
    return Model(net, source, names, known, stored, tuple(folded), tuple(assumed), guess)


def compare(
    net: Network,
    function: Callable[[Tensor], Any],
    what: str,
    close: float = CLOSE,
    scales: Sequence[float] = (1.0,),
) -> None:
    """Check that a network computes what a function does, at random points together and alone.

    Args:
        close: the share of the outputs that rounding explains.
        scales: the sizes of the points.

    Raises:
        ModelError: it does not, or the function fails there.
    """
    draw = torch.Generator().manual_seed(0)
    drawn = torch.randn(POINTS, net.widths[0], dtype=torch.float64, generator=draw)
    for scale, number in product(scales, (POINTS, 1)):
        X = scale * drawn
        here = net(X)
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]):
                there = torch.as_tensor(function(X[:number].clone())).reshape(number, -1)
        except Exception as error:
            said = " ".join(str(error).split())[:160]
            raise ModelError(
                f"{what} fails at {number} points of {net.widths[0]} numbers: {said}"
            ) from error
        same = there.shape == here[:number].shape
        most = close * max(float(there.abs().max()), 1e-300)
        require(
            same and bool(((there - here[:number]).abs() <= most).all()),
            f"{what} computes something else than the operations and parameters that were read",
        )


def _groups(steps: Sequence[Step]) -> list[list[Affine]]:
    """What stands between activations; without any, each matrix with what is diagonal."""
    groups: list[list[Affine]] = [[]]
    active = any(isinstance(one, Activation) for one in steps)
    for step in steps:
        if isinstance(step, Activation):
            text = f"in front of the activation {label(step.name)} is another one, or none"
            require(groups[-1], f"{text}; an affine map is in front of each")
            groups.append([])
            continue
        full = any(one.weight.ndim == 2 for one in groups[-1])
        if not active and full and step.weight.ndim == 2:
            groups.append([])
        groups[-1].append(step)
    many = len(groups)
    require(many <= MOST_LAYERS, f"there are {many} affine maps; at most {MOST_LAYERS} are read")
    return groups


def _fold(group: Sequence[Affine], n: int) -> Affine:
    """The composition of affine maps, the first of which takes n numbers, as a matrix."""
    W, b = torch.ones(n, dtype=torch.float64), torch.zeros(n, dtype=torch.float64)
    for step in group:
        D, c, size = step.weight, step.bias, len(b)
        sizes = [D.shape[1]] if D.ndim == 2 else [len(one) for one in (D, c) if one is not None]
        wrong = next((one for one in sizes if one != size and (D.ndim == 2 or one != 1)), size)
        require(wrong == size, f"{label(step.name)} takes {wrong} numbers; {size} come in")
        entries = len(D) * n if D.ndim == 2 else 0
        require(entries <= LARGEST, f"{label(step.name)}, folded, has {entries} numbers, too many")
        if D.ndim == 2:
            W, b = (D @ W if W.ndim == 2 else D * W), D @ b
        else:
            W, b = (D.unsqueeze(-1) if W.ndim == 2 else D) * W, D * b
        fits = c is None or len(c) in (1, len(b))
        require(fits, f"{label(step.name)} has {len(b)} rows and a bias of another length")
        b = b if c is None else b + c
    if W.ndim == 1:
        require(n * n <= LARGEST, f"{label(group[0].name)} takes {n} numbers, too many of a matrix")
        W = torch.diag(W)
    name = "+".join(label(one.name)[1:-1] for one in group)
    return Affine(name, W.contiguous(), None if all(one.bias is None for one in group) else b)


def _slope(activations: Sequence[Activation], depth: int, named: float | None) -> float:
    """The one slope of all activations; 1 if there is none where one could be, and 0 at depth 1."""
    if not activations:
        text = f"the slope is said to be {named}, and there is no activation between affine maps"
        require(depth == 1 or named in (None, 1.0), f"{text}; leave it out")
        return (0.0 if named is None else named) if depth == 1 else 1.0
    a = activations[0].slope
    for one in activations:
        text = f"the activation {label(one.name)} has the slope {one.slope}"
        require(-1 < one.slope <= 1, f"{text}; it must lie in (-1, 1), or be 1: the identity")
        require(one.slope == a, f"{text}, and {label(activations[0].name)} {a}; all must be equal")
    agrees = named is None or math.isclose(named, a, rel_tol=1e-6)  # files have single precision
    require(agrees, f"the slope is said to be {named}, and it is {a}; leave it out")
    return a
