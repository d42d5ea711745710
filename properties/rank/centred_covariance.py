"""Proof of Prop. 9 of `rank`: the variance of the data after a layer."""

import torch

from rankcheck import Erratum, bound, leq, paper, refuted
from rankcheck.instances.matrices import matrix, orthogonal
from rankcheck.instances.networks import STEEPEST
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import frobenius_squared, operator_norm
from rankcheck.networks.evaluation import leaky


@instances
def data_and_layers(source: Source, *, low: float = -STEEPEST, high: float = STEEPEST):
    """N data points as the rows of Y, a matrix W (m × n), and a slope a in [low, high]."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    W = matrix(source, m, n, bound=4.0)
    Y = source.tensor(source.integer(1, 5), n, low=-4.0, high=4.0)
    return Y, W, source.tensor(low=low, high=high)


@instances
def positive_data_and_rotations(source: Source):
    """Points in the positive orthant, where σ_a is the identity, and an orthogonal W."""
    n = source.integer(1, 4)
    Y = source.tensor(source.integer(2, 5), n, low=0.0, high=4.0)
    return Y, orthogonal(source, n), source.tensor(low=-STEEPEST, high=STEEPEST)


def covariance(Y):
    """The covariance of the rows of Y, n × n."""
    centred = Y - Y.mean(-2, keepdim=True)
    return centred.mT @ centred / Y.shape[-2]


def trace(A):
    """The trace, shape (*B)."""
    return torch.diagonal(A, dim1=-2, dim2=-1).sum(-1)


@bound(
    "rank.centred-covariance",
    paper("rank", "proof of Prop. 9 (corrected)"),
    instances=data_and_layers(),
    tight=positive_data_and_rotations(),
    needs={"|a| ≤ 1": data_and_layers(low=1.5, high=4.0)},
    mutants={"the largest variance, as printed": {"size": operator_norm}},
)
def test_centred_covariance(Y, W, a, *, size=trace):
    r"""A layer multiplies the total variance of its data by at most its squared norm.

    With the data points as the rows of $Y$:
    $\operatorname{tr} \operatorname{Cov}(\sigma_a(Y)) \le \operatorname{tr} \operatorname{Cov}(Y)$ for
    $|a| \le 1$, and $\operatorname{tr} \operatorname{Cov}(Y W^\top) \le
    \|W\|_{op}^2 \operatorname{tr} \operatorname{Cov}(Y)$.

    The total variance is half the mean squared distance of two points, and neither $\sigma_a$ nor
    $W / \|W\|_{op}$ raises a distance.
    """
    norm, energy = operator_norm(W) ** 2, frobenius_squared(Y) / Y.shape[-2]
    before = size(covariance(Y))
    return (
        leq(
            size(covariance(leaky(Y, a[..., None, None]))),
            before,
            scale=energy,
            label="the activation",
        ),
        leq(size(covariance(Y @ W.mT)), norm * before, scale=norm * energy, label="the weights"),
    )


@refuted(
    "rank.centred-covariance-as-printed",
    paper("rank", "proof of Prop. 9"),
    instances=data_and_layers(),
    errata=Erratum(
        printed="TODO",
        right="The weights multiply the operator norm of the covariance by at most ‖W‖², but the "
        "activation can raise it: it can turn variance in several directions into variance in one. The "
        "trace does not grow.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="rank.centred-covariance",
)
def test_centred_covariance_as_printed(Y, W, a):
    r"""A layer multiplies the largest variance of its data by at most its squared norm.

    $\|\operatorname{Cov}(\sigma_a(Y W^\top))\|_{op} \le
    \|W\|_{op}^2\,\|\operatorname{Cov}(Y)\|_{op}$, with the data points as the rows of $Y$.
    """
    after = leaky(Y @ W.mT, a[..., None, None])
    norm, energy = operator_norm(W) ** 2, frobenius_squared(Y) / Y.shape[-2]
    return leq(
        operator_norm(covariance(after)),
        norm * operator_norm(covariance(Y)),
        scale=norm * energy,
    )
