r"""Networks with a homogeneous activation: evaluation, Jacobians, cost, composition.

A network of depth L ≥ 1 computes α_0 = x, α̃_ℓ = W_ℓ α_{ℓ−1} + b_ℓ, α_ℓ = σ_a(α̃_ℓ) for ℓ < L,
f(x) = α̃_L, with σ_a(z) = z for z ≥ 0 and a·z for z < 0. Its cost is ‖θ‖² = Σ ‖W_ℓ‖_F² + ‖b_ℓ‖².
With D_ℓ(x) = diag(σ_a′(α̃_ℓ(x))), where σ_a′(0) is taken to be 1, the Jacobian wherever no hidden
pre-activation vanishes is Jf(x) = W_L D_{L−1} W_{L−1} ··· D_1 W_1.

All arrays carry the same leading batch axes, one network for each, and are torch float64 tensors or
:class:`rankcheck.balls.BallArray`; see docs/architecture.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rankcheck.balls import BallArray
from rankcheck.linalg import Array, Number, block_diagonal, frobenius_squared
from rankcheck.networks.evaluation import AtPoints, Slope, leaky, leaky_derivative

__all__ = ["AtPoints", "Network", "PartialJacobians", "leaky", "leaky_derivative", "literal"]


class PartialJacobians(NamedTuple):
    """Jacobians of the two halves of a network at a point, for every place to cut it.

    ``inner[l]`` is Jα_l(x), shape (*B, [N,] n_l, n_0), and ``outer[l]`` that of α̃_{l+1} → f at x,
    shape (*B, [N,] n_L, n_{l+1}), for l = 0..L−1; so Jf = outer[l] · W_{l+1} · inner[l] for each l.
    """

    inner: tuple[Array, ...]
    outer: tuple[Array, ...]


@dataclass(frozen=True, eq=False, init=False)
class Network:
    """A batch of networks of one shape.

    Args:
        weights: L arrays; ``weights[l]`` is W_{l+1}, shape (*B, n_{l+1}, n_l).
        biases: L arrays; ``biases[l]`` is b_{l+1}, shape (*B, n_{l+1}).
        slope: a in (−1, 1), a number or an array of shape (*B).

    Raises:
        TypeError: an array is neither a float64 tensor nor a BallArray, or the kinds are mixed.
        ValueError: shapes do not chain, batch axes differ, an entry is not finite, or a slope lies
            outside (−1, 1).

    A point is an array (*B, n_0), one for each network; N points for each are (*B, N, n_0). What is
    evaluated at points returns the same axes.
    """

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]
    slope: Slope

    def __init__(
        self, weights: Iterable[Array], biases: Iterable[Array], slope: Slope = 0.0
    ) -> None:
        self._set(weights, biases, slope)
        inside = abs(self.slope) < 1
        if not (inside if isinstance(inside, bool) else inside.all()):
            raise ValueError(f"the slope lies in (-1, 1), received {slope}")

    def _set(self, weights: Iterable[Array], biases: Iterable[Array], slope: Slope) -> None:
        object.__setattr__(self, "weights", tuple(weights))
        object.__setattr__(self, "biases", tuple(biases))
        object.__setattr__(self, "slope", slope)
        self._check_arrays()

    def _check_arrays(self) -> None:
        weights, biases = self.weights, self.biases
        if len(weights) == 0 or len(weights) != len(biases):
            raise ValueError(
                "a network has at least one layer, and as many biases as weights, "
                f"received {len(weights)} weights and {len(biases)} biases"
            )
        kind = type(weights[0])
        arrays = {f"W_{i}": w for i, w in enumerate(weights, 1)}
        arrays |= {f"b_{i}": b for i, b in enumerate(biases, 1)}
        if not isinstance(self.slope, Number):
            arrays["slope"] = self.slope
        for name, array in arrays.items():
            _check_kind(name, array, kind)
        batch = weights[0].shape[:-2]
        fan_in = weights[0].shape[-1] if weights[0].ndim >= 2 else 0
        for i, (w, b) in enumerate(zip(weights, biases, strict=True), 1):
            if w.ndim < 2 or w.shape[:-2] != batch or w.shape[-1] != fan_in:
                raise ValueError(
                    f"W_{i} has shape (*{tuple(batch)}, n_{i}, {fan_in}), received {tuple(w.shape)}"
                )
            if b.shape != w.shape[:-1]:
                raise ValueError(
                    f"b_{i} has the shape of W_{i} less its last axis, {tuple(w.shape[:-1])}, "
                    f"received {tuple(b.shape)}"
                )
            fan_in = w.shape[-2]
        if not isinstance(self.slope, Number) and self.slope.shape != batch:
            raise ValueError(
                f"an array of slopes has the batch axes {tuple(batch)}, "
                f"received shape {tuple(self.slope.shape)}"
            )

    @classmethod
    def unchecked_slope(
        cls, weights: Iterable[Array], biases: Iterable[Array], slope: Slope
    ) -> Network:
        """A network whose slope may lie outside (−1, 1): for controls that drop that hypothesis."""
        net = object.__new__(cls)
        net._set(weights, biases, slope)
        return net

    @classmethod
    def linear(cls, weights: Iterable[Array], slope: Slope = 0.0) -> Network:
        """The network with these weights and zero biases, shapes and errors as for the class.

        The biases have the shapes, the device and the kind of number of the weights.

        >>> import torch
        >>> net = Network.linear([torch.tensor([[2.0, 1.0]], dtype=torch.float64)])
        >>> print(net)
        depth 1, slope 0, W_1 = [[2, 1]], b_1 = [0]
        """
        weights = tuple(weights)
        return cls(weights, tuple(w.new_zeros(w.shape[:-1]) for w in weights), slope)

    @classmethod
    def of(
        cls, weights: Iterable[Any], biases: Iterable[Any] | None = None, slope: Slope = 0
    ) -> Network:
        """A network from nested lists, numpy arrays or tensors, converted to float64.

        Without ``biases`` they are zero. Gradients pass through tensors.
        """
        W = tuple(torch.as_tensor(w, dtype=torch.float64) for w in weights)
        if biases is None:
            return cls.linear(W, slope)
        return cls(W, tuple(torch.as_tensor(b, dtype=torch.float64) for b in biases), slope)

    @classmethod
    def from_module(cls, module: nn.Sequential) -> Network:
        """The network that a trained ``Sequential`` of Linear, (Leaky)ReLU, ..., Linear computes.

        The parameters are detached and converted to float64, which is exact.

        Raises:
            TypeError: another kind of layer, or the two kinds do not alternate.
            ValueError: activations of different slopes.
        """
        layers = list(module)
        linear = [layer for layer in layers[::2] if isinstance(layer, nn.Linear)]
        activations = [a for a in layers[1::2] if isinstance(a, nn.ReLU | nn.LeakyReLU)]
        if len(layers) != 2 * len(linear) - 1 or len(activations) != len(linear) - 1:
            raise TypeError(
                "layers alternate Linear, ReLU or LeakyReLU, ..., Linear; received "
                + ", ".join(type(layer).__name__ for layer in layers)
            )
        slopes = {getattr(layer, "negative_slope", 0.0) for layer in activations}
        if len(slopes) > 1:
            raise ValueError(f"all activations have one slope, received {sorted(slopes)}")
        weights = tuple(layer.weight.detach().double() for layer in linear)
        biases = tuple(
            w.new_zeros(w.shape[0]) if layer.bias is None else layer.bias.detach().double()
            for layer, w in zip(linear, weights, strict=True)
        )
        return cls(weights, biases, *slopes)

    # Shape

    @property
    def depth(self) -> int:
        """L, the number of affine maps."""
        return len(self.weights)

    @property
    def widths(self) -> tuple[int, ...]:
        """(n_0, ..., n_L)."""
        return (self.weights[0].shape[-1], *(w.shape[-2] for w in self.weights))

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading batch axes."""
        return tuple(self.weights[0].shape[:-2])

    def map_arrays(self, function: Callable[[Array], Array]) -> Network:
        """The network with ``function`` applied to every weight, bias and array of slopes."""
        slope = self.slope if isinstance(self.slope, Number) else function(self.slope)
        return Network.unchecked_slope(
            map(function, self.weights), map(function, self.biases), slope
        )

    def with_parameters(self, weights: Iterable[Array], biases: Iterable[Array]) -> Network:
        """A network of other arrays with this one's slope, which is not checked again."""
        return Network.unchecked_slope(weights, biases, self.slope)

    def __getitem__(self, index: Any) -> Network:
        """The networks at an index of the leading batch axes: ints, slices, tensors, or a tuple.

        Raises:
            IndexError: the index reaches beyond the batch axes, or has an ellipsis.
        """
        parts = index if isinstance(index, tuple) else (index,)
        masks = [p.ndim for p in parts if isinstance(p, Tensor) and p.dtype == torch.bool]
        if Ellipsis in [p for p in parts if not isinstance(p, Tensor)] or (
            len(parts) - len(masks) + sum(masks) > len(self.batch)
        ):
            raise IndexError(
                f"an index of a network addresses its batch axes {self.batch}, received {index}"
            )
        return self.map_arrays(lambda array: array[index])

    def detach(self) -> Network:
        """The same networks, without gradients."""
        return self.map_arrays(lambda array: array.detach())

    def to(self, device: torch.device | str) -> Network:
        """The same networks on another device."""
        return self.map_arrays(lambda array: array.to(device=device))

    # Evaluation

    def at(self, x: Array) -> AtPoints:
        """Everything that one forward pass at the points x gives; the methods below are views."""
        return AtPoints(self.weights, self.biases, self.slope, x)

    def __call__(self, x: Array) -> Array:
        """f(x), shape (*B, [N,] n_L)."""
        return self.at(x).value

    def preactivations(self, x: Array) -> tuple[Array, ...]:
        """α̃_1(x), ..., α̃_L(x) = f(x), shapes (*B, [N,] n_l)."""
        return self.at(x).preactivations

    def activations(self, x: Array) -> tuple[Array, ...]:
        """α_0 = x, α_1(x), ..., α_{L−1}(x), shapes (*B, [N,] n_l)."""
        return self.at(x).activations

    def pattern(self, x: Array) -> tuple[Array, ...]:
        """Which hidden pre-activations are ≥ 0: L − 1 arrays of bools, shapes (*B, [N,] n_l)."""
        return self.at(x).pattern

    def masks(self, x: Array) -> tuple[Array, ...]:
        """The diagonals of D_1(x), ..., D_{L−1}(x), shapes (*B, [N,] n_l)."""
        return self.at(x).masks

    def boundary_distance(self, x: Array) -> Array:
        """min |α̃_ℓ,i(x)| over the hidden neurons, shape (*B, [N]); infinite at depth 1.

        No distance in input space: it is zero exactly when some hidden neuron sits at its kink.
        """
        return self.at(x).boundary_distance

    def is_differentiable_at(self, x: Array) -> Array:
        """Bools (*B, [N]): no hidden pre-activation vanishes. Sufficient, not necessary."""
        return self.at(x).is_differentiable

    def jacobian(self, x: Array) -> Array:
        """Jf(x) = W_L D_{L−1} ··· D_1 W_1, shape (*B, [N,] n_L, n_0)."""
        return self.at(x).jacobian

    def jacobian_noise(self, x: Array) -> Array:
        """A bound on the rounding error of ``jacobian(x)`` in operator norm, shape (*B, [N])."""
        return self.at(x).jacobian_noise

    def partial_jacobians(self, x: Array) -> PartialJacobians:
        """Jα_{ℓ−1}(x) and the Jacobian of α̃_ℓ → f at x, for ℓ = 1..L."""
        at = self.at(x)
        return PartialJacobians(at.inner_jacobians, at.outer_jacobians)

    # Cost

    def layer_costs(self) -> tuple[Array, ...]:
        """‖W_ℓ‖_F² + ‖b_ℓ‖² for ℓ = 1..L, each of shape (*B)."""
        return tuple(
            frobenius_squared(w) + (b * b).sum(-1)
            for w, b in zip(self.weights, self.biases, strict=True)
        )

    def cost(self) -> Array:
        """‖θ‖², the biases included, shape (*B)."""
        first, *rest = self.layer_costs()
        return sum(rest, start=first)

    # Composition

    def after(self, g: Network) -> Network:
        """The concatenation: g's layers, the activation, these layers. Depths and costs add.

        It computes f ∘ σ_a ∘ g, hence f ∘ g wherever g ≥ 0.
        """
        self._check_partner(g, self.widths[0] == g.widths[-1], "f after g: n_0 of f is n_L of g")
        return self.with_parameters(g.weights + self.weights, g.biases + self.biases)

    def merged_after(self, g: Network) -> Network:
        """f ∘ g everywhere, of depth L_f + L_g − 1: g's last affine map merged with f's first."""
        self._check_partner(g, self.widths[0] == g.widths[-1], "f after g: n_0 of f is n_L of g")
        v, c = self.weights[0], self.biases[0]
        seam = (v @ g.biases[-1].unsqueeze(-1)).squeeze(-1) + c
        return self.with_parameters(
            (*g.weights[:-1], v @ g.weights[-1], *self.weights[1:]),
            (*g.biases[:-1], seam, *self.biases[1:]),
        )

    def parallel(self, g: Network) -> Network:
        """x ↦ (f(x), g(x)), for equal depths: block-diagonal above the shared input. Costs add."""
        self._check_partner(
            g,
            self.depth == g.depth and self.widths[0] == g.widths[0],
            "parallel networks have equal depths and inputs",
        )
        first = torch.cat((self.weights[0], g.weights[0]), -2)
        rest = map(block_diagonal, self.weights[1:], g.weights[1:])
        biases = (torch.cat(pair, -1) for pair in zip(self.biases, g.biases, strict=True))
        return self.with_parameters((first, *rest), biases)

    def add(self, g: Network) -> Network:
        """f + g, for equal depths L ≥ 2: block-diagonal, the last biases added.

        Its cost is ‖θ_f‖² + ‖θ_g‖² + 2⟨b_{L,f}, b_{L,g}⟩.
        """
        self._check_partner(
            g, self.depth >= 2 and self.widths[-1] == g.widths[-1], "f + g: L ≥ 2 and equal outputs"
        )
        both = self.parallel(g)
        last = torch.cat((self.weights[-1], g.weights[-1]), -1)
        return self.with_parameters(
            (*both.weights[:-1], last), (*both.biases[:-1], self.biases[-1] + g.biases[-1])
        )

    def _check_partner(self, g: Network, fits: bool, rule: str) -> None:
        if not fits or self.batch != g.batch:
            raise ValueError(
                f"{rule}; received widths {self.widths} and {g.widths}, "
                f"batch axes {self.batch} and {g.batch}"
            )
        if not _same(self.slope, g.slope):
            raise ValueError(f"both networks have one slope, received {self.slope} and {g.slope}")

    # Text

    def describe(self) -> str:
        """Numbers to retype: ``depth 1, slope 0, W_1 = [[1]], b_1 = [0]``. One network only."""
        if self.batch:
            raise ValueError(
                f"one network is described at a time, received batch axes {self.batch}: index first"
            )
        parts = [f"depth {self.depth}", f"slope {literal(self.slope)}"]
        for i, (w, b) in enumerate(zip(self.weights, self.biases, strict=True), 1):
            parts += [f"W_{i} = {literal(w)}", f"b_{i} = {literal(b)}"]
        return ", ".join(parts)

    def __str__(self) -> str:
        if self.batch:
            return f"networks {self.batch}, widths {self.widths}, slope {self.slope}"
        return self.describe()


def literal(value: Slope) -> str:
    """A number or array as text that reads back exactly: 1, -0.5, 1/3, [[1, 0], [0.25, 2]]."""
    if isinstance(value, Tensor):
        value = value.tolist()
    elif isinstance(value, BallArray):
        value = value.elements.tolist()
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return str(value)


def _same(a: Slope, b: Slope) -> bool:
    if isinstance(a, Number) or isinstance(b, Number):
        return isinstance(a, Number) and isinstance(b, Number) and a == b
    return a is b or bool((a == b).all())


def _check_kind(name: str, array: Any, kind: type) -> None:
    if isinstance(array, Tensor):
        if array.dtype != torch.float64:
            raise TypeError(f"{name} is a float64 tensor, received {array.dtype}")
        # The sum is finite unless an entry is not, or it overflows: seven times as fast.
        if not (torch.isfinite(array.sum()) or torch.isfinite(array).all()):
            raise ValueError(f"{name} has finite entries, received {array}")
    elif not isinstance(array, BallArray):
        raise TypeError(f"{name} is a tensor or a BallArray, received {type(array).__name__}")
    if isinstance(array, Tensor) != issubclass(kind, Tensor):
        raise TypeError(
            f"all arrays of a network are of one kind, received {name} as "
            f"{type(array).__name__} beside {kind.__name__}"
        )
