"""Proof of Prop. 9 of `rank`: the energy of the data after a layer."""

import torch

from rankcheck import Erratum, bound, leq, paper, refuted
from rankcheck.instances.matrices import matrix
from rankcheck.instances.networks import STEEPEST
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import frobenius_squared, operator_norm
from rankcheck.networks.evaluation import leaky


@instances
def layers_on_data(source: Source, *, low: float = -STEEPEST, high: float = STEEPEST):
    """A layer W (m × n), b, a slope a in [low, high], and N data points as the rows of Z."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    W, b = matrix(source, m, n, bound=4.0), source.tensor(m, low=-4.0, high=4.0)
    Z = source.tensor(source.integer(1, 5), n, low=-4.0, high=4.0)
    return Z, W, b, source.tensor(low=low, high=high)


@instances
def aligned_layers(source: Source):
    """[W, b] = u[z, 1]ᵀ with u ≥ 0, and all points equal to z."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    u, z = source.tensor(m, low=0.0, high=2.0), source.tensor(n, low=-4.0, high=4.0)
    Z = z.unsqueeze(-2).expand(*source.batch, source.integer(1, 4), n)
    return Z, u.unsqueeze(-1) * z.unsqueeze(-2), u, source.tensor(low=-STEEPEST, high=STEEPEST)


def energy_of(Z):
    """‖ZᵀZ‖_op / N."""
    return operator_norm(Z.mT @ Z) / Z.shape[-2]


def with_the_biases(Z, W, b):
    """‖[Z, 1]ᵀ[Z, 1]/N‖_op (‖W‖_F² + ‖b‖²)."""
    ones = torch.ones_like(Z[..., :1])
    return energy_of(torch.cat((Z, ones), -1)) * (frobenius_squared(W) + (b * b).sum(-1))


def without_the_cross_term(Z, W, b):
    """‖ZᵀZ/N‖_op ‖W‖_F² + ‖b‖²."""
    return energy_of(Z) * frobenius_squared(W) + (b * b).sum(-1)


def energy_after(Z, W, b, a):
    """‖σ_a(ZWᵀ + b)‖_F² / N."""
    after = leaky(Z @ W.mT + b.unsqueeze(-2), a[..., None, None])
    return frobenius_squared(after) / Z.shape[-2]


@bound(
    "rank.layer-energy",
    paper("rank", "proof of Prop. 9 (corrected)"),
    instances=layers_on_data(),
    tight=aligned_layers(),
    needs={"|a| ≤ 1": layers_on_data(low=1.5, high=4.0)},
    mutants={"the cross term dropped, as printed": {"bound": without_the_cross_term}},
)
def test_layer_energy(Z, W, b, a, *, bound=with_the_biases):
    r"""A layer multiplies the energy of its data by at most its cost.

    For $N$ points as the rows of $Z$ and $|a| \le 1$:
    $\frac1N \|\sigma_a(ZW^T + 1b^T)\|_F^2 \le
    \big\|\tfrac1N [Z, 1]^T [Z, 1]\big\|_{op}\,(\|W\|_F^2 + \|b\|^2)$.
    """
    return leq(energy_after(Z, W, b, a), bound(Z, W, b))


@refuted(
    "rank.layer-energy-as-printed",
    paper("rank", "proof of Prop. 9"),
    instances=layers_on_data(),
    errata=Erratum(
        printed="TODO",
        right="‖Wz + b‖² has the cross term 2bᵀWz; its mean over the data is dropped in print. For "
        "N = Z = W = b = 1 the printed inequality is 4 ≤ 2.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="rank.layer-energy",
)
def test_layer_energy_as_printed(Z, W, b, a):
    r"""A layer multiplies the energy of its data by ‖W‖² and adds ‖b‖², at most.

    $\frac1N \operatorname{tr}\big[\sigma_a(ZW^T + 1b^T)\, \sigma_a(ZW^T + 1b^T)^T\big] \le
    \big\|\tfrac1N Z^T Z\big\|_{op} \|W\|_F^2 + \|b\|^2$ for $N$ points as the rows of $Z$.
    """
    return leq(energy_after(Z, W, b, a), without_the_cross_term(Z, W, b))
