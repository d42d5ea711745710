"""A single layer on N data points: weights, biases, slope, and the points as columns."""

from __future__ import annotations

from typing import Any

from rankcheck.evaluation import leaky
from rankcheck.instances.matrices import positive, semi_orthogonal
from rankcheck.instances.networks import slope
from rankcheck.instances.source import Source, instances


def through_layer(W: Any, b: Any, a: Any, Z: Any) -> Any:
    """σ_a(WZ + b) for Z (*B, n, N), W (*B, m, n), b (*B, m), a number or (*B)."""
    steepness = a if isinstance(a, int | float) else a[..., None, None]
    return leaky(W @ Z + b.unsqueeze(-1), steepness)


@instances
def layers_on_data(source: Source, *, size: tuple[int, int] = (1, 3)) -> tuple[Any, ...]:
    """W (m × n), b (m), a slope, and data Z (n × N)."""
    m, n, N = source.integer(*size), source.integer(*size), source.integer(1, 4)
    W, b = source.tensor(m, n, low=-4.0, high=4.0), source.tensor(m, low=-4.0, high=4.0)
    return W, b, slope(source), source.tensor(n, N, low=-4.0, high=4.0)


@instances
def steep_layers(source: Source) -> tuple[Any, ...]:
    """The same with a slope between 3/2 and 4, on data and weights that make it count."""
    W, b, _, Z = layers_on_data()(source)
    return -W.abs(), -b.abs(), source.tensor(low=1.5, high=4.0), Z.abs()


@instances
def aligned_layers(source: Source) -> tuple[Any, ...]:
    """One point z > 0 and rows of (W, b) that are multiples of (z, 1)."""
    m, n = source.integer(1, 3), source.integer(1, 3)
    z, t = positive(source, n), positive(source, m, high=2.0)
    return t.unsqueeze(-1) * z.unsqueeze(-2), t, slope(source), z.unsqueeze(-1)


@instances
def isometric_layers(source: Source) -> tuple[Any, ...]:
    """W with orthonormal columns, and a bias that makes every pre-activation positive."""
    n = source.integer(1, 3)
    m, N = source.integer(n, n + 1), source.integer(2, 4)
    W = semi_orthogonal(source, m, n)
    Z = source.tensor(n, N, low=-4.0, high=4.0)
    return W, 0 * W[..., 0] + 16, slope(source), Z
