r"""Networks with a homogeneous activation: evaluation, Jacobians, cost, composition.

A network of depth L ≥ 1 computes α_0 = x, α̃_ℓ = W_ℓ α_{ℓ−1} + b_ℓ, α_ℓ = σ_a(α̃_ℓ) for ℓ < L,
f(x) = α̃_L, with σ_a(z) = z for z ≥ 0 and a·z for z < 0. Its cost is ‖θ‖² = Σ ‖W_ℓ‖_F² + ‖b_ℓ‖².
With D_ℓ(x) = diag(σ_a′(α̃_ℓ(x))), where σ_a′(0) is taken to be 1, the Jacobian wherever no hidden
pre-activation vanishes is Jf(x) = W_L D_{L−1} W_{L−1} ··· D_1 W_1.

All arrays have the same leading batch axes, one network for each index, and are either torch
float64 tensors or :class:`rankcheck.balls.BallArray`; see docs/architecture.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rankcheck.balls import mapped
from rankcheck.text import array_text
from rankcheck.theory.linalg import Array, Number, block_diagonal, frobenius_squared
from rankcheck.theory.networks.evaluation import (
    AtPoints,
    Slope,
    check_array,
    leaky,
    leaky_derivative,
)
from rankcheck.theory.networks.modules import parameters_of
from rankcheck.theory.networks.parameters import check_parameters, float64, layers
from rankcheck.theory.networks.words import network_text

__all__ = ["AtPoints", "Network", "PartialJacobians", "leaky", "leaky_derivative"]


class PartialJacobians(NamedTuple):
    """Jacobians of the two halves of a network at a point, for every place to cut it.

    ``inner[l]`` is Jα_l(x), shape (*B, [N,] n_l, n_0), and ``outer[l]`` that of α̃_{l+1} → f at x,
    shape (*B, [N,] n_L, n_{l+1}), for l = 0..L−1; so Jf = outer[l] · W_{l+1} · inner[l] for each l.
    """

    inner: tuple[Array, ...]
    outer: tuple[Array, ...]


@dataclass(frozen=True, eq=False, init=False, repr=False)
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

    A point is an array (*B, n_0), one for each network; N points for each network are (*B, N, n_0).
    Methods that evaluate at points return the same leading axes.

    >>> import torch
    >>> net = Network.of([[[1.0], [-1.0]], [[1.0, 1.0]]])  # |x|
    >>> x = torch.tensor([[-3.0], [2.0]], dtype=torch.float64)  # two points
    >>> net(x).tolist(), net.jacobian(x).flatten().tolist(), float(net.cost())
    ([[3.0], [2.0]], [-1.0, 1.0], 4.0)
    """

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]
    slope: Slope

    def __init__(
        self, weights: Iterable[Array], biases: Iterable[Array], slope: Slope = 0.0
    ) -> None:
        self._set(weights, biases, slope)
        if isinstance(slope, Number):
            inside = -1 < slope < 1
        else:
            inside = mapped() is not None or bool((slope.abs() < 1).all())
        if not inside:
            raise ValueError(f"the slope is {slope}; it must lie in (-1, 1)")

    def _set(self, weights: Iterable[Array], biases: Iterable[Array], slope: Slope) -> None:
        object.__setattr__(self, "weights", layers("weights", weights))
        object.__setattr__(self, "biases", layers("biases", biases))
        object.__setattr__(self, "slope", slope)
        check_parameters(self.weights, self.biases, slope)

    @classmethod
    def unchecked_slope(
        cls, weights: Iterable[Array], biases: Iterable[Array], slope: Slope
    ) -> Network:
        """A network whose slope may lie outside (−1, 1), for controls that drop this hypothesis."""
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
        weights = layers("weights", weights)
        for i, w in enumerate(weights, 1):
            check_array(f"W_{i}", w)
        return cls(weights, tuple(w.new_zeros(w.shape[:-1]) for w in weights), slope)

    @classmethod
    def of(
        cls, weights: Iterable[Any], biases: Iterable[Any] | None = None, slope: Slope = 0
    ) -> Network:
        """A network from nested lists, numpy arrays or tensors, converted to float64.

        The biases are zero by default. Gradients pass through tensors.

        Raises:
            TypeError, ValueError: an array has no float64 form, or as for the class.
        """
        W = tuple(float64(f"W_{i}", w) for i, w in enumerate(layers("weights", weights), 1))
        if biases is None:
            return cls.linear(W, slope)
        b = tuple(float64(f"b_{i}", b) for i, b in enumerate(layers("biases", biases), 1))
        return cls(W, b, slope)

    @classmethod
    def from_module(cls, module: nn.Sequential) -> Network:
        """The network that a trained ``Sequential`` of Linear, (Leaky)ReLU, ..., Linear computes.

        The parameters are detached and converted to float64, which is exact.

        >>> module = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> Network.from_module(module).widths
        (3, 8, 2)

        Raises:
            TypeError: there is another kind of layer, or the two kinds do not alternate.
            ValueError: the activations have different slopes.
        """
        return cls(*parameters_of(module))

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
        """A network with other arrays and the slope of this one, which is not checked again."""
        return Network.unchecked_slope(weights, biases, self.slope)

    def __getitem__(self, index: Any) -> Network:
        """The networks at an index of the leading batch axes: ints, slices, tensors, or a tuple.

        Raises:
            IndexError: the index reaches beyond the batch axes, has an ellipsis, or is no index.
        """
        if isinstance(index, list):
            index = torch.as_tensor(index)
        parts = index if isinstance(index, tuple) else (index,)
        masks = [p.ndim for p in parts if isinstance(p, Tensor) and p.dtype == torch.bool]
        if Ellipsis in [p for p in parts if not isinstance(p, Tensor)] or (
            len(parts) - len(masks) + sum(masks) > len(self.batch)
        ):
            raise IndexError(
                f"received the index {index}; an index of a network addresses its batch axes "
                f"{self.batch}, without an ellipsis"
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
        """The results of one forward pass at the points x; the methods below return parts of it."""
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

        Not a distance in input space. It is zero if and only if some hidden neuron is at its kink.
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
        _check_network(g)
        self._check_partner(g, self.widths[0] == g.widths[-1], "n_0 of f must equal n_L of g")
        return self.with_parameters(g.weights + self.weights, g.biases + self.biases)

    def merged_after(self, g: Network) -> Network:
        """f ∘ g everywhere, of depth L_f + L_g − 1: g's last affine map merged with f's first."""
        _check_network(g)
        self._check_partner(g, self.widths[0] == g.widths[-1], "n_0 of f must equal n_L of g")
        v, c = self.weights[0], self.biases[0]
        seam = (v @ g.biases[-1].unsqueeze(-1)).squeeze(-1) + c
        return self.with_parameters(
            (*g.weights[:-1], v @ g.weights[-1], *self.weights[1:]),
            (*g.biases[:-1], seam, *self.biases[1:]),
        )

    def parallel(self, g: Network) -> Network:
        """x ↦ (f(x), g(x)), for equal depths: block-diagonal above the shared input. Costs add."""
        _check_network(g)
        self._check_partner(
            g,
            self.depth == g.depth and self.widths[0] == g.widths[0],
            "parallel networks need equal depths and input widths",
        )
        first = torch.cat((self.weights[0], g.weights[0]), -2)
        rest = map(block_diagonal, self.weights[1:], g.weights[1:])
        biases = (torch.cat(pair, -1) for pair in zip(self.biases, g.biases, strict=True))
        return self.with_parameters((first, *rest), biases)

    def add(self, g: Network) -> Network:
        """f + g, for equal depths L ≥ 2: block-diagonal, the last biases added.

        Its cost is ‖θ_f‖² + ‖θ_g‖² + 2⟨b_{L,f}, b_{L,g}⟩.
        """
        _check_network(g)
        self._check_partner(
            g,
            self.depth >= 2 and self.widths[-1] == g.widths[-1],
            "f + g needs L ≥ 2 and equal output widths",
        )
        both = self.parallel(g)
        last = torch.cat((self.weights[-1], g.weights[-1]), -1)
        return self.with_parameters(
            (*both.weights[:-1], last), (*both.biases[:-1], self.biases[-1] + g.biases[-1])
        )

    def _check_partner(self, g: Network, fits: bool, rule: str) -> None:
        if not fits or self.batch != g.batch:
            raise ValueError(
                f"received widths {self.widths} and {g.widths}, batch axes {self.batch} and "
                f"{g.batch}; {rule}, and the batch axes must be equal"
            )
        if not _same(self.slope, g.slope):
            raise ValueError(
                f"the networks have slopes {self.slope} and {g.slope}; they must be equal"
            )

    # Text

    def describe(self) -> str:
        """All numbers as text that can be typed back, for a network without batch axes.

        For example ``depth 1, slope 0, W_1 = [[1]], b_1 = [0]``.
        """
        if self.batch:
            raise ValueError(
                f"the network has batch axes {self.batch}; describe takes one, so index first"
            )
        parts = [f"depth {self.depth}", f"slope {array_text(self.slope)}"]
        for i, (w, b) in enumerate(zip(self.weights, self.biases, strict=True), 1):
            parts += [f"W_{i} = {array_text(w)}", f"b_{i} = {array_text(b)}"]
        return ", ".join(parts)

    def __repr__(self) -> str:
        return network_text(self.weights, self.biases, self.slope, self.batch)

    def __str__(self) -> str:
        if self.batch:
            return f"networks {self.batch}, widths {self.widths}, slope {self.slope}"
        return self.describe()


def _same(a: Slope, b: Slope) -> bool:
    if isinstance(a, Number) or isinstance(b, Number):
        return isinstance(a, Number) and isinstance(b, Number) and a == b
    return a is b or mapped() is not None or bool((a == b).all())


def _check_network(g: Any) -> None:
    if not isinstance(g, Network):
        raise TypeError(f"received {type(g).__name__}; networks are combined with a Network")
