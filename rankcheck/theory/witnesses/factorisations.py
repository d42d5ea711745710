r"""Factorisations f = h∘g through $\mathbb R^k$, and those of compositions, sums and affine maps.

The inner dimension has the properties of a rank:

* f_1∘f_2 factors through $\mathbb R^{\min(k_1, k_2)}$: as $h_1 \circ (g_1 \circ f_2)$ or as
  $(f_1 \circ h_2) \circ g_2$;
* f_1 + f_2 factors through $\mathbb R^{k_1 + k_2}$: $x \mapsto (g_1(x), g_2(x))$, then
  $(u, v) \mapsto h_1(u) + h_2(v)$;
* x ↦ UVx + b factors through $\mathbb R^k$ for V of size k × n and U of size m × k.

Each factor is a network, merged at the seams, so the factorisation equals the function everywhere
(to the last bit where the arithmetic is exact).

Used by rank.bottleneck-rank-axioms and rank.jacobian-below-bottleneck. Source: A. Jacot, *Implicit
bias of large depth networks*, Definition 2, Proposition 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankcheck.theory.linalg import Array, Number, eye
from rankcheck.theory.networks.network import Network
from rankcheck.theory.witnesses.deepen import deepen


@dataclass(frozen=True, eq=False)
class Factorisation:
    """A factorisation f = ``outer``∘``inner`` on all of R^n: the bottleneck rank of f is at most k.

    Raises ValueError if the two networks do not fit together.
    """

    outer: Network
    inner: Network

    def __post_init__(self) -> None:
        if self.outer.widths[0] != self.inner.widths[-1] or self.outer.batch != self.inner.batch:
            raise ValueError(
                f"received widths {self.outer.widths} after {self.inner.widths}, batch axes "
                f"{self.outer.batch} and {self.inner.batch}; the inputs of the outer network are "
                "the outputs of the inner one, on the same batch"
            )

    @property
    def dimension(self) -> int:
        """k, the inner dimension."""
        return self.inner.widths[-1]

    def __call__(self, x: Array) -> Array:
        """f at points (*B, n) or (*B, N, n)."""
        return self.outer(self.inner(x))

    def network(self) -> Network:
        """f as one network of depth L_h + L_g − 1."""
        return self.outer.merged_after(self.inner)


def compose(f1: Factorisation, f2: Factorisation) -> Factorisation:
    """f_1∘f_2 through R^{min(k_1, k_2)}."""
    if f1.dimension <= f2.dimension:
        return Factorisation(f1.outer, f1.inner.merged_after(f2.network()))
    return Factorisation(f1.network().merged_after(f2.outer), f2.inner)


def add(f1: Factorisation, f2: Factorisation) -> Factorisation:
    """f_1 + f_2 through R^{k_1 + k_2}."""
    inner = _equally_deep(f1.inner, f2.inner)
    first, second = _coordinates(f1.dimension, f2.dimension, f1.outer)
    outer = _equally_deep(f1.outer.merged_after(first), f2.outer.merged_after(second), least=2)
    return Factorisation(outer[0].add(outer[1]), inner[0].parallel(inner[1]))


def affine(U: Array, V: Array, b: Array | None = None, slope: Number | Array = 0) -> Factorisation:
    """x ↦ U V x + b through R^k: U (*B, m, k), V (*B, k, n), b (*B, m) or zero."""
    offset = U.new_zeros(U.shape[:-1]) if b is None else b
    return Factorisation(
        Network((U,), (offset,), slope), Network((V,), (V.new_zeros(V.shape[:-1]),), slope)
    )


def _equally_deep(f: Network, g: Network, least: int = 1) -> tuple[Network, Network]:
    depth = max(f.depth, g.depth, least)
    return deepen(f, depth), deepen(g, depth)


def _coordinates(k1: int, k2: int, like: Network) -> tuple[Network, Network]:
    """(u, v) ↦ u and (u, v) ↦ v on R^{k1 + k2}."""
    one = eye(k1 + k2, like.weights[0]).expand(*like.batch, k1 + k2, k1 + k2)
    zero = one.new_zeros((*like.batch, k1 + k2))
    return (
        Network.unchecked_slope((one[..., :k1, :],), (zero[..., :k1],), like.slope),
        Network.unchecked_slope((one[..., k1:, :],), (zero[..., k1:],), like.slope),
    )
