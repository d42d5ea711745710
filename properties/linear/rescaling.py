"""“Rescaling invariance”, slides A of `linear`: units scaled by λ > 0, the bias included."""

import torch

from rankcheck import Erratum, eq, identity, linalg, paper
from rankcheck.instances import Source, instances, matrix, positive


@instances
def rescaled_units(source: Source, *, negative: bool = False):
    """W (K × D), b, a, c of a two-layer network, scales λ (K), and a point."""
    K, D = source.integer(1, 4), source.integer(1, 4)
    W, b, a, c = matrix(source, K, D), source.tensor(K), source.tensor(K), source.tensor()
    scales = positive(source, K)
    return W, b, a, c, -scales if negative else scales, source.tensor(D)


def function(W, b, a, c, x):
    """aᵀ[Wx + b]_+ + c."""
    return (a * torch.relu((W @ x.unsqueeze(-1)).squeeze(-1) + b)).sum(-1) + c


def size(W, b, a, c, x):
    """The sum of the absolute values of all that is added in it."""
    inner = (W.abs() @ x.abs().unsqueeze(-1)).squeeze(-1) + b.abs()
    return (a.abs() * inner).sum(-1) + c.abs()


def rescaled(W, b, a, c, scales, x, exponent):
    """The function of D_λW, λ^e b and D_λ^{−1}a, with e the exponent."""
    return function(scales.unsqueeze(-1) * W, linalg.power(scales, exponent) * b, a / scales, c, x)


@identity(
    "linear.rescaling",
    paper("linear", "slides A, “Rescaling invariance”"),
    instances=rescaled_units(),
    needs={"λ > 0": rescaled_units(negative=True)},
    mutants={"b unscaled, as printed": {"exponent": 0}},
    errata=Erratum(
        printed=r"“$\forall \lambda > 0$, $a_k[w_k^T x - b_k]_+ + c = (a_k/\lambda)[\lambda w_k^T "
        r"x - b_k]_+ + c$. Similarly, $\forall \lambda \succ 0$, $a^T[Wx - b]_+ + c = "
        r"(D_\lambda^{-1}a)^T[D_\lambda Wx - b]_+ + c$”, on each of three overlays",
        right=r"The bias is scaled like the weights: $(a_k/\lambda)[\lambda w_k^T x - \lambda "
        r"b_k]_+$, and $D_\lambda b$. With $a = w = b = 1$, $\lambda = 2$, $x = 2$ the printed "
        "unit has the value 1 before and 3/2 after.",
        survives="All of it: biases do not count in the cost, so the least over networks takes "
        r"the scaled bias, and $\Phi_L$ does not contain it.",
    ),
)
def test_rescaling(W, b, a, c, scales, x, *, exponent=1):
    r"""A unit that is scaled before and after its activation computes the same function.

    $a^T[Wx + b]_+ + c = (D_\lambda^{-1}a)^T[D_\lambda W x + D_\lambda b]_+ + c$ for $\lambda > 0$.
    """
    return eq(
        rescaled(W, b, a, c, scales, x, exponent),
        function(W, b, a, c, x),
        scale=size(W, b, a, c, x),
    )
