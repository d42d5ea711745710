"""End of the proof of Prop. 9 of `rank`: two printed ratios that are upside down."""

from fractions import Fraction

from rankcheck import Erratum, leq, paper, refuted
from rankcheck.instances.matrices import positive
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import power
from rankcheck.scalars import square_root


@instances
def spectra(source: Source):
    """λ_1 ≥ λ_2 > 0, a constant C in [1, 8] and a depth L > 64, where every such C fails."""
    smaller = positive(source)
    larger = smaller + source.tensor(low=0.0, high=4.0)
    return larger, smaller, source.tensor(low=1.0, high=8.0), source.integer(65, 400)


@refuted(
    "rank.layer-ratio-as-printed",
    paper("rank", "end of Prop. 9"),
    instances=spectra(),
    errata=Erratum(
        printed="TODO",
        right="The fractions are upside down. λ_1 ≥ λ_2 by definition, so λ_1/λ_2 ≥ 1 at every depth; "
        "λ_2/λ_1 = O(L^{-1/2}) and s_2/s_1 = O(L^{-1/4}) are right.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
)
def test_layer_ratio_as_printed(larger, smaller, constant, L):
    r"""The ratio of the first to the second eigenvalue of a layer decays with the depth.

    $\lambda_1/\lambda_2 = O(1/\sqrt{L})$ and $s_1/s_2 = O(L^{-1/4})$ for $\lambda_i = s_i^2$.

    Checked for a given constant $C$: $\lambda_1/\lambda_2 \le C/\sqrt L$ and
    $s_1/s_2 \le \sqrt{C}\, L^{-1/4}$. Every spectrum violates this for $L > C^2$.
    """
    ratio = larger / smaller
    root = square_root(L, ratio)
    return (
        leq(ratio, constant / root, label="the eigenvalues"),
        leq(
            power(ratio, Fraction(1, 2)), power(constant / root, Fraction(1, 2)), label="the roots"
        ),
    )
