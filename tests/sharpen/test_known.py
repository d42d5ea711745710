"""Sharpening finds again what is known: the best constants of two claims of the ledger."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch

from rankcheck import leq
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.linalg import nuclear_norm, power
from rankcheck.sharpen.run import sharpen
from rankcheck.theory.costs.corrections import linear_cost
from rankcheck.theory.instances.kinks import clear_of_boundaries
from rankcheck.theory.instances.networks import network
from rankcheck.theory.instances.source import instances
from rankcheck.theory.networks.lipschitz import lipschitz_square_at


@pytest.mark.slow
def test_the_density_near_zero_is_at_least_its_value_in_two_dimensions(tmp_path):
    [claim] = load(select(["separation.density-lower-bound"]))
    result = sharpen(claim, budget=None, tasks=6, shrink=0.0, folder=tmp_path)
    density = result.relation("the density")
    assert density.ratio == pytest.approx(1 / (math.sqrt(2) * math.e), rel=1e-12)
    assert density.best.key == (2,)
    assert density.looks_like[0].text == "1/(√2·e)"


@instances
def opposite_points(source):
    """A ReLU network of depth 2 to 4 at x and −x."""
    net = network(source, depth=(2, 4), width=(1, 2), slopes="relu")
    x = source.tensor(net.widths[0])
    points = torch.stack((x, -x), -2)
    return clear_of_boundaries(source, net, points), points


def two_jacobians(net, x):
    J, L = net.jacobian(x), net.depth
    slopes = linear_cost(J, L, net.jacobian_noise(x)).sum(-1) / 2
    square = torch.relu(lipschitz_square_at(net, x) - 1) + 1
    gap = nuclear_norm(J[..., 0, :, :] - J[..., 1, :, :])
    factor = power(square, Fraction(2 - L, 2 * L))
    return leq(gap * factor, net.cost() - slopes, scale=net.cost())


@pytest.mark.nightly
def test_two_jacobians_have_the_constant_kappa_at_each_depth(declare, tmp_path):
    claim = declare(two_jacobians, opposite_points(), kind="conjecture")
    (only,) = sharpen(claim, budget=None, tasks=90, shrink=0.0, folder=tmp_path).relations
    found = {one.key[0]: one.attained.value for one in only.groups}
    for L in (2, 3, 4):
        assert found[L] == pytest.approx(2 / (L * (4 ** (1 / L) - 1)), rel=1e-6)
