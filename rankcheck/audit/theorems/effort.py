r"""How many operations a claim takes at N points of a network, and how a budget is shared out.

The counts are estimates from the widths alone: $abc/2$ for a product of an $a \times b$ and a
$b \times c$ matrix, and `DECOMPOSITION` $\cdot\, mn^2$ for the singular values of an $m \times n$
matrix, $n \le m$, which run at a lower rate. One core does about $2 \cdot 10^{10}$ a second.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from typing import TypeAlias

__all__ = ["Effort", "shared_out"]

Widths: TypeAlias = tuple[int, ...]
Effort: TypeAlias = Callable[[Widths, int], float]
"""The operations that a claim takes for widths (n_0, ..., n_L) at N points."""

#: Singular values, in multiples of mn².
DECOMPOSITION = 5.0
#: The pseudo-inverse, which takes singular vectors, in multiples of singular values.
VECTORS = 3.0
#: What a number costs of which memory is allocated and read.
MEMORY = 100.0
#: What each step in a layer takes beside its arithmetic.
OVERHEAD = 1e6


def decomposition(m: int, n: int) -> float:
    """The singular values of an m × n matrix."""
    return DECOMPOSITION * max(m, n) * min(m, n) ** 2


def weights(widths: Widths) -> list[tuple[int, int]]:
    """The shapes (n_ℓ, n_{ℓ−1})."""
    return [(n, m) for m, n in pairwise(widths)]


def forward(widths: Widths, number: int) -> float:
    """f at N points."""
    return number * sum(0.5 * n * m for n, m in weights(widths)) + OVERHEAD * len(widths)


def jacobians(widths: Widths, number: int) -> float:
    """f, Jf, the bound of its error, and the singular values of Jf."""
    narrow = min(widths[0], widths[-1])
    products = number * sum(1.0 * narrow * n * m for n, m in weights(widths))
    return forward(widths, number) + products + number * decomposition(widths[-1], widths[0])


def partial_jacobians(widths: Widths, number: int) -> float:
    """The Jacobians of all first and all last layers."""
    ends = widths[0] + widths[-1]
    products = number * sum(0.5 * ends * n * m for n, m in weights(widths))
    return jacobians(widths, number) + products


def kernel_traces(widths: Widths, number: int) -> float:
    """tr Θ(x, x), and the ranks."""
    return partial_jacobians(widths, number)


def masks(widths: Widths, number: int) -> float:
    """f, and the weights multiplied by the masks."""
    return forward(widths, number) + number * MEMORY * sum(n * m for n, m in weights(widths))


def spectra_of_weights(widths: Widths, number: int) -> float:
    """Three times the singular values of the weights, whatever N; and Jf."""
    return jacobians(widths, number) + 3 * sum(decomposition(*shape) for shape in weights(widths))


def projections(widths: Widths, number: int) -> float:
    """The projections onto the images of the row space of Jf."""
    n_0 = widths[0]
    each = sum((1 + VECTORS) * decomposition(n, n_0) + 1.0 * n * n * n_0 for n in widths)
    return partial_jacobians(widths, number) + number * each


def one_sided(widths: Widths, number: int) -> float:
    """The distances of the weights to partial isometries, and the losses of the masks."""
    each = sum(1.0 * n * m * m + decomposition(n, m) for n, m in weights(widths))
    return 2 * projections(widths, number) + number * each


def chained(widths: Widths, number: int) -> float:
    """The distances of the weights to one chain of frames, and its turns."""
    each = sum(2.0 * n * m * (n + m) + 3 * decomposition(n, m) for n, m in weights(widths))
    return 2 * projections(widths, number) + number * each


def mixed_derivative(widths: Widths, number: int) -> float:
    """The mixed derivative of the kernel, a matrix with n_0 n_L rows, and its norm."""
    rows = widths[0] * widths[-1]
    each = decomposition(rows, rows) + 2.0 * len(widths) * rows**2
    return partial_jacobians(widths, number) + number * each


def growing(widths: Widths, number: int) -> float:
    """The singular values of the Jacobians of the first layers on the row space of Jf."""
    each = sum(2 * decomposition(n, widths[0]) for n in widths[1:])
    return 2 * partial_jacobians(widths, number) + number * each


def two_jacobians(widths: Widths, number: int) -> float:
    """The norms of all partial Jacobians, at both points of N pairs."""
    each = sum(decomposition(n, widths[0]) + decomposition(widths[-1], n) for n in widths)
    return 2 * (2 * partial_jacobians(widths, number) + number * each)


def segments(widths: Widths, number: int) -> float:
    """The kernel at both ends of N segments, and its norm."""
    return 2 * partial_jacobians(widths, number) + 2 * number * decomposition(
        widths[-1], widths[-1]
    )


def features(widths: Widths, number: int) -> float:
    """The singular values of the pre-activations and the extended activations of N points."""
    each = [decomposition(number, n + 1) for n in widths]
    return forward(widths, number) + 2 * sum(each)


def features_and_weights(widths: Widths, number: int) -> float:
    """These, and the singular values of the weights."""
    return features(widths, number) + sum(decomposition(*shape) for shape in weights(widths))


def features_and_kernel(widths: Widths, number: int) -> float:
    """These, Jf and the traces of the kernel."""
    return features(widths, number) + 2 * kernel_traces(widths, number)


def variances(widths: Widths, number: int) -> float:
    """The total variance of all activations from the distances, and the bounds of its error."""
    return 3.0 * number**2 * sum(widths) + len(widths) * forward(widths, number) / 2


def one_dimensional_layers(widths: Widths, number: int) -> float:
    """The variances, and the singular values of the weights."""
    return variances(widths, number) + sum(decomposition(*shape) for shape in weights(widths))


def covariances(widths: Widths, number: int) -> float:
    """The variances, and the singular values of the covariances of all activations."""
    each = sum(decomposition(n, n) + 1.0 * number * n * n for n in widths)
    return variances(widths, number) + each


def kernel_matrix(widths: Widths, number: int) -> float:
    """Θ(X, X), a matrix with N n_L rows, and its norm."""
    rows = number * widths[-1]
    each = sum(1.0 * rows * rows * n for n in widths)
    return partial_jacobians(widths, number) + each + decomposition(rows, rows)


def parameters(widths: Widths, number: int) -> float:
    """The cost of the network, and f at one point."""
    return 4 * forward(widths, 1)


def shared_out(
    efforts: Mapping[str, Effort],
    widths: Widths,
    least: Mapping[str, int],
    most: Mapping[str, int],
    budget: float,
    first: Collection[str] = (),
) -> dict[str, int]:
    """At how many points each claim is evaluated, at most `most`; 0 if it is not affordable.

    First each claim gets the points without which it says little (`least`), the cheapest claims
    before the others, and those of `first` before all. What is left goes to all in equal shares,
    in the same order.
    """
    order = sorted(efforts, key=lambda name: (name not in first, efforts[name](widths, 1)))
    numbers: dict[str, int] = {}
    left = budget
    for name in order:
        wanted = _affordable(efforts[name], widths, min(least[name], most[name]), left)
        numbers[name] = wanted
        left -= efforts[name](widths, wanted) if wanted else 0.0
    chosen = [name for name in order if numbers[name]]
    for place, name in enumerate(chosen):
        effort = efforts[name]
        before = effort(widths, numbers[name])
        share = left / (len(chosen) - place)
        numbers[name] = max(numbers[name], _affordable(effort, widths, most[name], before + share))
        left -= effort(widths, numbers[name]) - before
    return numbers


def _affordable(effort: Effort, widths: Widths, most: int, share: float) -> int:
    """The largest number of points up to `most` whose effort is at most the share."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if effort(widths, middle) <= share else (low, middle - 1)
    return low
