"""“Rescaling invariance”, slides A of `linear`: units scaled by λ > 0, the bias included."""

import torch

from rankcheck import Erratum, eq, identity, paper, refuted
from rankcheck.instances.matrices import matrix, positive
from rankcheck.instances.source import Source, instances
from rankcheck.instances.units import away_from_zero
from rankcheck.linalg import power


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
    return function(scales.unsqueeze(-1) * W, power(scales, exponent) * b, a / scales, c, x)


@identity(
    "linear.rescaling",
    paper("linear", "slides A, “Rescaling invariance” (corrected)"),
    instances=rescaled_units(),
    needs={"λ > 0": rescaled_units(negative=True)},
    mutants={"b unscaled, as printed": {"exponent": 0}},
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


@instances
def biased_units(source: Source):
    """The same with non-zero weights, outer weights and biases."""
    K, D = source.integer(1, 4), source.integer(1, 4)
    W, b, a = (away_from_zero(source, *shape) for shape in ((K, D), (K,), (K,)))
    return W, b, a, source.tensor(), positive(source, K), source.tensor(D)


@refuted(
    "linear.rescaling-as-printed",
    paper("linear", "slides A, “Rescaling invariance”"),
    instances=biased_units(),
    errata=Erratum(
        printed="“∀λ > 0, a_k[w_k^T x − b_k]_+ + c = (a_k/λ)[λw_k^T x − b_k]_+ + c. Similarly, ∀λ ≻ 0, "
        "a^T[Wx − b]_+ + c = (D_λ^{−1}a)^T[D_λWx − b]_+ + c”",
        right="The bias is scaled like the weights: (a_k/λ)[λw_k^T x − λb_k]_+ (linear.rescaling). With "
        "a = w = b = 1, λ = 2, x = 2 the printed unit has the value 1 before and 3/2 after.",
        survives="All of it: biases do not count in the cost, so the minimum over networks takes the scaled "
        "bias, and Φ_L does not contain it.",
        weight="formula",
    ),
    readings={
        "the scalar formula, or the one with matrices": "they are the same for one unit, and fail together",
        "for every λ, or for some λ ≠ 1": "with b ≠ 0 there is an x for every λ ≠ 1 at which the sides differ",
        "only for units without bias": "the formula carries b_k, and the networks of the slides have biases",
        "b stands for another bias on the right": "one letter stands twice in one equation; and then nothing "
        "is said about which bias",
        "a symbol before b is lost in the text at hand": "the text keeps λ before w_k and D_λ before W in the "
        "same lines; b stands bare in both formulas on each of three overlays",
    },
    corrected_by="linear.rescaling",
)
def test_rescaling_as_printed(W, b, a, c, scales, x):
    r"""A unit that is scaled before and after its activation, with an unscaled bias.

    $a^T[Wx - b]_+ + c = (D_\lambda^{-1}a)^T[D_\lambda W x - b]_+ + c$ for $\lambda > 0$, in the text at
    hand.
    """
    return eq(
        rescaled(W, -b, a, c, scales, x, 0),
        function(W, -b, a, c, x),
        scale=size(W, b, a, c, x),
    )
