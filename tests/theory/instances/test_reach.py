"""What generators reach: cases that no hypothesis mentions, and whose loss nothing else notices."""

from collections import Counter
from itertools import pairwise

import pytest
import torch

from rankcheck.costs import egop, two_layer_network
from rankcheck.theory import linalg
from rankcheck.theory.instances.factorisations import (
    factorised_functions,
    isometries_in_the_orthant,
)
from rankcheck.theory.instances.loops import bent_loops, loops, planar_loops, stopped_loops
from rankcheck.theory.instances.matrices import balanced_factors
from rankcheck.theory.instances.networks import networks_with_inputs
from rankcheck.theory.instances.units import (
    DEEP,
    functions_of_any_rank,
    parallel_units,
    separate_units_at_points,
    units_at_points,
    units_on_a_line,
    units_with_scales,
)


@pytest.mark.parametrize("family", [factorised_functions(), isometries_in_the_orthant()], ids=repr)
def test_depths_begin_at_the_seam(family, swept):
    """L = L_g + L_h, without an identity layer, one more, and many more."""
    more = {depth - h.depth - g.depth for _, (h, g, _, depth, _), _ in swept(family, 150, size=1)}
    assert min(more) == 0
    assert 1 in more
    assert max(more) >= 10


@pytest.mark.parametrize(
    "family",
    [units_with_scales(), units_at_points(), units_on_a_line(), parallel_units()],
    ids=repr,
)
def test_units_are_shorter_and_longer_than_one(family, swept):
    short = long = 0
    for _, (W, *_), _ in swept(family, 40):
        lengths = W.norm(dim=-1)
        short += int(((lengths > 0) & (lengths < 1)).sum())
        long += int((lengths > 1).sum())
    assert short > 100
    assert long > 100


def test_loops_have_layers_of_every_width(swept):
    """Free inner widths; before the last layer as many units as rays, or one more or less."""
    inner, last, lengths = set(), set(), set()
    for _, (loop,), _ in swept(loops(), 300, size=1):
        lengths.add(len(loop.weights))
        *free, before = [W.shape[-2] for W in loop.weights[:-1]] or [None]
        inner |= set(free)
        if before is not None:
            last.add(before - loop.rays.shape[-1])
    assert lengths == {1, 2, 3, 4}
    assert inner == {1, 2, 3, 4}
    assert last == {-1, 0, 1}


def test_networks_without_biases_have_units_of_every_kind(swept):
    """Dead at all points, active at all, and both; and points on both sides of the origin."""
    family = networks_with_inputs(slopes="relu", biases=False, points=(2, 4))
    found: Counter[str] = Counter()
    for _, (net, x), _ in swept(family, 150):
        found["depth 1"] += net.depth == 1
        found["width 1"] += 1 in net.widths
        found["no map"] += int((net.weights[-1] == 0).all(-1).all(-1).sum())
        for active in net.pattern(x):
            found["dead"] += int((~active).all(-2).sum())
            found["linear"] += int(active.all(-2).sum())
            found["bent"] += int((active.any(-2) & ~active.all(-2)).sum())
        found["across"] += int(((x[:, :1] * x).sum(-1) < 0).any(-1).sum())
    assert min(found[kind] for kind in ("depth 1", "width 1", "no map")) > 5
    assert min(found[kind] for kind in ("dead", "linear", "bent", "across")) > 500


@pytest.mark.parametrize("family", [planar_loops(), bent_loops(), stopped_loops()], ids=repr)
def test_loops_of_every_length(family, swept):
    assert {len(loop.weights) for _, (loop,), _ in swept(family, 60, size=1)} == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("family", "zero"),
    [(units_on_a_line(), 0.25), (functions_of_any_rank(least=2), 0.35)],
    ids=repr,
)
def test_gradients_of_every_rank(swept, family, zero):
    counts = torch.zeros(5)
    for _, (W, b, a, x, p, *_), _ in swept(family, 60):
        gradients = two_layer_network(W, b, a).jacobian(x).squeeze(-2)
        root = p.sqrt().unsqueeze(-1) * gradients
        counts += torch.bincount(torch.linalg.matrix_rank(root, rtol=1e-13), minlength=5)
    share = counts / counts.sum()
    assert share[0] < zero
    assert bool((share[1:] > 0.05).all())


def test_separate_units_have_equal_singular_values_and_are_deep(swept):
    depths = set()
    for _, (W, b, a, x, p, L, _), _ in swept(separate_units_at_points(), 20):
        gradients = two_layer_network(W, b, a).jacobian(x).squeeze(-2)
        s = linalg.singular_values(egop(gradients, p))[..., : W.shape[-2]]
        torch.testing.assert_close(s, s[..., :1].expand(s.shape), rtol=1e-9, atol=0)
        depths.add(L)
    assert depths == set(DEEP)


def test_balanced_factors_are_balanced_and_of_every_rank(swept):
    ranks = set()
    for _, layers, _ in swept(lambda source: balanced_factors(source, low=0.5), 150, size=4):
        product = layers[0]
        for W, V in pairwise(layers):
            torch.testing.assert_close(W @ W.mT, V.mT @ V, rtol=0, atol=1e-12)
            product = V @ product
        ranks |= {(product.shape[-1], int(r)) for r in linalg.rank(layers[0])}
        expected = linalg.singular_values(layers[0]) ** len(layers)
        torch.testing.assert_close(linalg.singular_values(product), expected, rtol=0, atol=1e-9)
    assert ranks == {(n, r) for n in range(1, 5) for r in range(1, n + 1)}
