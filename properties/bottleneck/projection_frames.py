"""Theorem 6/15 of `bottleneck`: the frames along which the weights are nearly projections."""

import torch

from rankcheck import construction, eq, linalg, paper, witnesses

from ._bottlenecks import networks_with_bottlenecks
from ._rounding import rounding, size


def mirrored(net, x, k):
    """The one-sided frames, the sign of every U changed."""
    return [(-U, V) for U, V in witnesses.one_sided_frames(net, x, k)]


def reflected(net, x, k):
    """The chained frames, the sign of every second one changed: bases of the same subspaces."""
    return [-A if index % 2 else A for index, A in enumerate(witnesses.chained_frames(net, x, k))]


def defect(frames, k):
    """Σ ‖AᵀA − I_k‖_F² over the frames; all but the first k columns of A have to be zero."""
    total: float | torch.Tensor = 0.0
    for A in frames:
        counted = (torch.arange(A.shape[-1], device=A.device) < k.unsqueeze(-1)).to(A.dtype)
        total = total + linalg.frobenius_squared(A.mT @ A - torch.diag_embed(counted))
    return total


@construction(
    "bottleneck.projection-frames",
    paper("bottleneck", "Thm 6/15"),
    instances=networks_with_bottlenecks(),
    mutants={
        "every left frame reflected": {"pairs": mirrored},
        "every second frame of the chain reflected": {"chain": reflected},
    },
    witness=witnesses.projections,
    no_ball="singular vectors are irrational; the claims that bound the distances run on balls",
    effort=0.5,
    audit="left out: it checks a function of rankcheck, on any network",
)
def test_projection_frames(
    net, x, *, pairs=witnesses.one_sided_frames, chain=witnesses.chained_frames
):
    r"""Orthonormal frames along the weights attain the distances that Theorem 6/15 bounds.

    With $k = \operatorname{rank} Jf(x)$, the polar parts $U_\ell V_\ell^\top$ of
    $W_\ell P_{S_{\ell-1}}$ have

    $$\|W_\ell - U_\ell V_\ell^\top\|_F^2 = \|W_\ell\|_F^2 + k - 2\|W_\ell P_{S_{\ell-1}}\|_*,$$

    and the chained frames $A_\ell$ of $S_\ell$, each turned so that $A_\ell^\top W_\ell A_{\ell-1}$ is
    positive semi-definite, have

    $$\|W_\ell - A_\ell A_{\ell-1}^\top\|_F^2 =
      \|W_\ell\|_F^2 + k - 2\|P_{S_\ell} W_\ell P_{S_{\ell-1}}\|_*.$$

    All of them have $k$ orthonormal columns.
    """
    at = witnesses.bottleneck(net, x)
    k = at.rank
    one, A = pairs(net, x, k), chain(net, x, k)
    near = [
        linalg.frobenius_squared(w - U @ V.mT) for w, (U, V) in zip(net.weights, one, strict=True)
    ]
    steps = zip(net.weights, A[1:], A[:-1], strict=True)
    chained = [linalg.frobenius_squared(w - b @ a.mT) for w, b, a in steps]
    options = {
        "scale": size(net, at).unsqueeze(-1),
        "error": rounding(net, at).unsqueeze(-1),
    }
    frames = [*A, *(frame for pair in one for frame in pair)]
    deviation = defect(frames, k)
    return (
        eq(
            torch.stack(near, -1),
            witnesses.one_sided_distances(net, x, k),
            label="one-sided",
            **options,
        ),
        eq(
            torch.stack(chained, -1),
            witnesses.chained_distances(net, x, k),
            label="chained",
            **options,
        ),
        eq(deviation, 0, scale=torch.ones_like(deviation), label="orthonormal"),
    )
