"""Regions against brute force over all patterns, and against proofs in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from flint import fmpq_mat
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from rankcheck.balls import BallArray, NoBallForm
from rankcheck.networks import Network
from rankcheck.regions import Regions, jacobian_rank, regions
from rankcheck.theory.regions.exact import rational, rational_matrix

pytestmark = pytest.mark.slow  # regions against brute force over all activation patterns


def random_network(widths, seed, slope=0.0, bits=None):
    """Normal entries; with ``bits`` rounded to multiples of 2^-bits, so that many coincide."""
    g = np.random.default_rng(seed)
    weights = [g.standard_normal((m, n)) for n, m in pairwise(widths)]
    biases = [0.5 * g.standard_normal(m) for m in widths[1:]]
    if bits is not None:
        weights = [np.round(w * 2**bits) / 2**bits for w in weights]
        biases = [np.round(b * 2**bits) / 2**bits for b in biases]
    return Network.of(weights, biases, slope)


def with_duplicate(net):
    """A first neuron twice, with half the outgoing weight each."""
    W, V, *rest = net.weights
    b, *others = net.biases
    twice = torch.cat((W[:1], W)), torch.cat((V[:, :1] / 2, V[:, :1] / 2, V[:, 1:]), 1)
    return Network((*twice, *rest), (torch.cat((b[:1], b)), *others), net.slope)


def with_opposites(net):
    """A first layer of pairs ±z, read back as z by the second."""
    W, V, *rest = net.weights
    b, *others = net.biases
    pairs = torch.cat((W, -W)), torch.cat((V, -V), 1)
    return Network((*pairs, *rest), (torch.cat((b, -b)), *others), net.slope)


def with_identity(net):
    """x = relu(x) - relu(-x) before the network: two lines at which the function is not bent."""
    W, *rest = net.weights
    n = W.shape[1]
    eye = torch.eye(n, dtype=torch.float64)
    zero = torch.zeros(2 * n, dtype=torch.float64)
    return Network(
        (torch.cat((eye, -eye)), torch.cat((W, -W), 1), *rest), (zero, *net.biases), net.slope
    )


def with_identity_layer(net):
    """The first activations once more: every hyperplane of the second layer is one of the first."""
    n = net.widths[1]
    eye, zero = torch.eye(n, dtype=torch.float64), torch.zeros(n, dtype=torch.float64)
    return Network(
        (net.weights[0], eye, *net.weights[1:]),
        (net.biases[0], zero, *net.biases[1:]),
        net.slope,
    )


# Oracles


def by_linear_programmes(net, low, high, margin=1e-7):
    """The patterns of all regions that contain a ball of radius ``margin``, by one LP each.

    A neuron that vanishes identically for the pattern has to be inactive in it.
    """
    d, hidden = net.widths[0], net.widths[1:-1]
    found = set()
    for bits in product((False, True), repeat=sum(hidden)):
        A, c, rows, sides, consistent, left = np.eye(d), np.zeros(d), [], [], True, list(bits)
        for W, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
            A, c = W.numpy() @ A, W.numpy() @ c + b.numpy()
            active, left = np.array(left[: len(c)]), left[len(c) :]
            for a, offset, on in zip(A, c, active, strict=True):
                sign, length = (1 if on else -1), np.linalg.norm(a)
                if length < 1e-12:
                    consistent &= offset > 1e-12 if on else offset < 1e-12
                else:
                    rows.append([*(-sign * a), length])
                    sides.append(sign * offset)
            scale = np.where(active, 1.0, float(net.slope))
            A, c = scale[:, None] * A, scale * c
        if consistent:
            bounds = [(None, None)] * d + [(0, 1)]
            box = np.column_stack((np.vstack((np.eye(d), -np.eye(d))), np.ones(2 * d)))
            edge = np.repeat([high, -low], d)
            answer = linprog(
                [0] * d + [-1],
                np.vstack((np.reshape(rows, (-1, d + 1)), box)),
                np.concatenate((sides, edge)),
                bounds=bounds,
            )
            if answer.status == 0 and -answer.fun > margin:
                found.add(bits)
    return found


def patterns(cells: Regions):
    rows = [tuple(row) for row in cells.patterns.tolist()]
    assert len(set(rows)) == len(rows)
    return set(rows)


def signs(net, x):
    """Hidden pre-activations at a rational point, in rational arithmetic."""
    slope, signs = Fraction(net.slope), []
    for W, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
        z = [
            sum((Fraction(w) * y for w, y in zip(row, x, strict=True)), Fraction(offset))
            for row, offset in zip(W.tolist(), b.tolist(), strict=True)
        ]
        signs += z
        x = [y if y >= 0 else slope * y for y in z]
    return signs


def prove_complete(net, cells: Regions, low, high):
    """Check distinct patterns, every vertex on the right side, and that volumes fill the box.

    This is a proof: each cell lies in the closed region of its pattern, and no volume is left for
    another region.
    """
    patterns(cells)
    assert sum(cells.exact_volume()) == prod([Fraction(high) - Fraction(low)] * net.widths[0])
    for r, pattern in enumerate(cells.patterns.tolist()):
        for on, z in zip(pattern, signs(net, cells.exact_interior(r)), strict=True):
            assert (z > 0) == on
        gradients = hidden_gradients(net, pattern)
        for vertex in cells.exact_vertices(r):
            assert all(Fraction(low) <= x <= Fraction(high) for x in vertex)
            tight = [
                [int(i == k) for i in range(len(vertex))]
                for k, x in enumerate(vertex)
                if x in (Fraction(low), Fraction(high))
            ]
            for on, z, row in zip(pattern, signs(net, vertex), gradients, strict=True):
                assert z == 0 or (z > 0) == on
                if z == 0:
                    tight.append(row)
            # A vertex, and no other point of the boundary: d constraints meet there.
            entries = [y for row in tight for y in row]
            assert fmpq_mat(len(tight), len(vertex), entries).rank() == len(vertex)


def hidden_gradients(net, pattern):
    """The gradient of every hidden neuron on the region of a pattern, rows of rationals."""
    d, slope, rows, left = net.widths[0], rational(Fraction(net.slope)), [], list(pattern)
    A = fmpq_mat(d, d, [int(i == k) for i in range(d) for k in range(d)])
    for W in net.weights[:-1]:
        A = rational_matrix(W.numpy()) * A
        layer = A.tolist()
        rows += layer
        masked = [y if on else slope * y for on, row in zip(left, layer, strict=False) for y in row]
        A, left = fmpq_mat(len(layer), d, masked), left[len(layer) :]
    return rows


SMALL = [((1, 3, 2, 1), 0.0), ((2, 4, 3, 1), -0.5), ((3, 3, 2, 2), 0.0), ((2, 2, 2, 2, 1), 0.5)]


@pytest.mark.parametrize(("widths", "slope"), SMALL)
@pytest.mark.oracle("rankcheck.regions.regions", "scipy.optimize.linprog over all patterns")
def test_patterns_are_those_of_brute_force(widths, slope):
    net = random_network(widths, len(widths), slope)
    cells = regions(net, -1, 1)
    assert patterns(cells) == by_linear_programmes(net, -1, 1)
    assert cells.cells.decided == 0


SPECIAL = [with_duplicate, with_opposites, with_identity, with_identity_layer]


@pytest.mark.parametrize("change", SPECIAL)
@pytest.mark.parametrize(("widths", "slope"), [((2, 5, 4, 1), 0.0), ((2, 3, 2, 1), -0.25)])
def test_coinciding_hyperplanes_are_proved_complete(change, widths, slope):
    net = change(random_network(widths, 6, slope, bits=3))
    prove_complete(net, regions(net, -2, 2), -2, 2)


def test_coinciding_planes_leave_only_true_vertices():
    """Two equal constraints in space do not make every diagonal an edge."""
    net = with_identity_layer(random_network((3, 4, 2, 1), 7, 0.0, bits=3))
    prove_complete(net, regions(net, -1, 1), -1, 1)


@pytest.mark.parametrize("seed", range(4))
def test_degenerate_vertices_are_proved_complete(seed):
    """Entries in {-1, 0, 1}, no bias: dozens of hyperplanes through one point, dead neurons."""
    net = random_network((3, 6, 5, 2), seed, 0.0, bits=0)
    central = Network(net.weights, tuple(b * (seed % 2) for b in net.biases))
    cells = regions(central, -1, 1)
    prove_complete(central, cells, -1, 1)
    exact = regions(central, -1, 1, exact=True)
    assert patterns(cells) == patterns(exact)


@pytest.mark.parametrize("seed", range(6))
def test_numbers_that_underflow_are_proved_complete(seed):
    """Layers of sizes 2^-700 to 2^300: products are below the least double, and are not 0."""
    g = np.random.default_rng(seed)
    n = 1 + seed % 2
    sizes = 2.0 ** g.integers(-700, 300, 3)
    weights = [s * g.integers(-2, 3, (3, k)) for s, k in zip(sizes, (n, 3, 3), strict=True)]
    biases = [2.0 ** -g.integers(200, 1074, 3) * g.integers(-1, 2, 3) for _ in range(3)]
    net = Network.of([*weights, np.ones((1, 3))], [*biases, [0]], 0.5)
    high = 2.0 ** -int(g.integers(0, 500))
    prove_complete(net, regions(net, -high, high), -high, high)


def test_a_product_below_the_least_double_is_not_zero():
    """2^-600 x >= 2^-1100 for x >= 2^-500: in floats it is 0, and the second layer sees it."""
    net = Network.of([[[2.0**-600]], [[1.0]], [[1.0]]])
    low = 2.0**-500
    assert patterns(regions(net, low, 2 * low)) == {(True, True)}
    assert patterns(regions(net, -low, 2 * low)) == {(False, False), (True, True)}


def test_a_steep_slope_is_proved_complete():
    """Controls of other claims use slopes outside (-1, 1); the regions are right for them too."""
    net = random_network((2, 5, 5, 1), 8)
    steep = Network.unchecked_slope(net.weights, net.biases, -3.0)
    prove_complete(steep, regions(steep, -1, 1), -1, 1)


def test_lines_in_general_position_with_duplicates_are_counted_by_zaslavsky():
    """Eight tangents of a circle, none parallel: 1 + 8 + 28 = 37 regions, also when doubled."""
    angle = 2.6 * np.arange(8)
    directions = np.column_stack((np.cos(angle), np.sin(angle)))
    once = Network.of([directions, np.ones((1, 8))], [np.full(8, 0.25), [0]])
    assert len(regions(once, -16, 16)) == 37
    for change in (with_duplicate, with_opposites):
        assert len(regions(change(once), -16, 16)) == 37


def test_rounding_that_moves_a_hyperplane_is_resolved_and_not_guessed():
    """Two copies of a neuron, one times 3 in floats: its zero set is another line, by 1e-17."""
    W, b = torch.tensor([[0.1, 0.7]], dtype=torch.float64), torch.tensor([0.3], dtype=torch.float64)
    net = Network.of([torch.cat((W, 3 * W)), [[1.0, 1.0]]], [torch.cat((b, 3 * b)), [0.0]])
    cells = regions(net, -1, 1)
    assert cells.cells.decided > 0
    # The two lines cross: between the halves lie two needles.
    assert len(cells) == 4
    prove_complete(net, cells, -1, 1)
    assert 0 < sorted(cells.exact_volume())[1] < 1e-14
    true_multiple = Network.of([torch.cat((W, 4 * W)), [[1.0, 1.0]]], [torch.cat((b, 4 * b)), [0]])
    assert len(regions(true_multiple, -1, 1)) == 2


@pytest.mark.parametrize(
    ("widths", "slope"), [((2, 9, 9, 1), 0.0), ((3, 7, 7, 2), 0.5), ((1, 20, 20, 1), 0.0)]
)
def test_affine_maps_are_those_of_the_network(widths, slope):
    net = random_network(widths, 3, slope)
    cells = regions(net, -1, 1)
    x = torch.from_numpy(cells.interior)
    np.testing.assert_allclose(cells.jacobians, net.jacobian(x).numpy(), atol=1e-12)
    values = np.einsum("rij,rj->ri", cells.jacobians, cells.interior) + cells.offsets
    np.testing.assert_allclose(values, net(x).numpy(), atol=1e-12)
    assert np.array_equal(np.concatenate([p.numpy() for p in net.pattern(x)], 1), cells.patterns)


@pytest.mark.parametrize("widths", [(2, 10, 8, 1), (3, 8, 6, 1), (4, 8, 1)])
def test_volumes_are_those_of_the_convex_hulls(widths):
    net = random_network(widths, 4)
    cells = regions(net, -1, 2)
    volumes = cells.volume()
    assert volumes.sum() == pytest.approx(3.0 ** widths[0], rel=1e-13)
    large = np.flatnonzero(volumes > 1e-6)[:200]
    hulls = [ConvexHull(cells.vertices(r)).volume for r in large]
    np.testing.assert_allclose(volumes[large], hulls, rtol=1e-7)
    assert len(large) > 20


def test_volumes_of_degenerate_cells():
    """A cube cut by all planes x_i = ± x_j: 24 cells of volume 1/3, many facets at each vertex."""
    rows = [[1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1], [0, 1, 1], [0, 1, -1]]
    net = Network.of([rows, np.ones((1, 6))])
    cells = regions(net, -1, 1)
    assert len(cells) == 24
    assert set(cells.exact_volume()) == {Fraction(1, 3)}
    np.testing.assert_allclose(cells.volume(), 1 / 3, rtol=1e-14)


def with_cancellation(net):
    """A second layer that reads differences of first activations 2^-30 apart, 2^30 times."""
    W, b = net.weights[0], net.biases[0]
    g = np.random.default_rng(0)
    nudge = torch.from_numpy(g.standard_normal(W.shape)) / 2**30
    scale = torch.eye(len(W), dtype=torch.float64) * 2**30
    return Network.of(
        [torch.cat((W, W + nudge)), torch.cat((-scale, scale), 1), *net.weights[1:]],
        [torch.cat((b + 8, b + 8)), torch.zeros(len(W)), *net.biases[1:]],
    )


@pytest.mark.parametrize("change", [lambda net: net, with_cancellation])
def test_vertex_errors_enclose_the_true_vertices(change):
    net = change(random_network((3, 9, 9, 1), 9))
    cells = regions(net, -1, 1)
    for r in range(0, len(cells), 1 + len(cells) // 40):
        error = np.array(
            [
                [abs(float(Fraction(x) - y)) for x, y in zip(rounded, exact, strict=True)]
                for rounded, exact in zip(
                    cells.vertices(r).tolist(), cells.exact_vertices(r), strict=True
                )
            ]
        )
        begin, end = cells.cells.starts[r : r + 2]
        assert (error <= cells.cells.errors[cells.cells.members[begin:end]] * (1 + 1e-9)).all()


def test_exact_arithmetic_gives_the_same_cells_and_rounds_vertices_correctly():
    net = random_network((2, 8, 8, 1), 10, Fraction(1, 3))
    floats, exact = regions(net, -1, 1), regions(net, -1, 1, exact=True)
    assert patterns(floats) == patterns(exact)
    assert exact.cells.decided > 0
    for r in range(0, len(exact), 5):
        rounded = [[float(x) for x in row] for row in exact.exact_vertices(r)]
        assert exact.vertices(r).tolist() == rounded


def test_neurons_that_vanish_on_a_whole_region():
    """Dead first layer, no second bias: the second layer is zero there, and counts as inactive."""
    net = Network.of([[[1.0, 0.0], [0.0, 1.0]], [[1.0, -1.0]], [[1.0]]])
    cells = regions(net, -1, 1)
    assert patterns(cells) == {
        (False, False, False),
        (True, False, True),
        (False, True, False),
        (True, True, True),
        (True, True, False),
    }
    assert patterns(cells) == by_linear_programmes(net, -1, 1)


def test_a_network_without_hidden_layers_has_one_region():
    cells = regions(Network.of([[[1.0, 2.0, 3.0]]], [[4.0]]), [0, 0, 0], [1, 2, 3])
    assert cells.patterns.shape == (1, 0)
    assert cells.volume().tolist() == [6.0]
    assert cells.jacobians.tolist() == [[[1.0, 2.0, 3.0]]]
    assert cells.offsets.tolist() == [[4.0]]


def test_many_cells_are_split_in_pieces(monkeypatch):
    net = random_network((3, 10, 10, 1), 12)
    whole = regions(net, -1, 1)
    monkeypatch.setattr("rankcheck.theory.regions.splitting.PAIRS_AT_ONCE", 50)
    monkeypatch.setattr("rankcheck.theory.regions.cells.REGIONS_AT_ONCE", 7)
    pieces = regions(net, -1, 1)
    assert patterns(pieces) == patterns(whole)
    assert pieces.volume().sum() == pytest.approx(8, rel=1e-13)


def test_more_than_64_constraints():
    net = random_network((2, 40, 40, 1), 13)
    cells = regions(net, -1, 1)
    assert cells.volume().sum() == pytest.approx(4.0)
    patterns(cells)
    grid = np.random.default_rng(0).uniform(-1, 1, (4000, 2))
    seen = np.concatenate([p.numpy() for p in net.pattern(torch.from_numpy(grid))], 1)
    assert {tuple(row) for row in seen.tolist()} <= patterns(cells)


# Jacobian rank


@pytest.mark.oracle("rankcheck.regions.jacobian_rank", "a network of known rank")
def test_rank_is_a_maximum_over_all_regions():
    """Full rank only in a sliver of width 2^-20 that sampling does not see."""
    edge = 2.0**-20
    net = Network.of([[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]]],
                     [[0.0, -edge, 0.0], [0.0, 0.0]])  # fmt: skip
    found = jacobian_rank(net, -1, 1)
    proved = jacobian_rank(net, -1, 1, exact=True)
    assert found.rank == proved.rank == 2
    assert proved.gap == float("inf")
    x, y = proved.point
    assert 0 < x < Fraction(edge)
    assert y > 0
    # The other five regions have rank at most one.
    J = regions(net, -1, 1).jacobians
    assert sorted(np.linalg.matrix_rank(J)) == [0, 0, 1, 1, 1, 2]


def test_exact_rank_sees_what_rounding_hides():
    """[[1, 1], [1, 1 + 2^-52]] has rank 2; its second singular value is 1e-16."""
    net = Network.of([[[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]])
    assert jacobian_rank(net, -1, 1).rank == 1
    assert jacobian_rank(net, -1, 1, exact=True).rank == 2
    assert jacobian_rank(net, -1, 1).gap < 100


@pytest.mark.parametrize("side", [1, -1])
def test_exact_rank_sees_it_in_whichever_region_it_is(side):
    """s = x + y twice, the second time plus 2^-52·relu(± y): rank 2 on half of the box."""
    up, down = (2.0**-52, 0.0) if side == 1 else (0.0, 2.0**-52)
    net = Network.of(
        [
            [[1.0, 1.0], [-1.0, -1.0], [0.0, 1.0], [0.0, -1.0]],
            [[1.0, -1.0, 0.0, 0.0], [1.0, -1.0, up, down]],
        ]
    )
    found = jacobian_rank(net, -1, 1, exact=True)
    assert found.rank == 2
    assert found.point[1] * side > 0
    assert jacobian_rank(net, -1, 1).rank == 1


# Errors


@pytest.mark.parametrize(
    ("net", "low", "error", "rule"),
    [
        (random_network((2, 3, 1), 0), 1, ValueError, "finite with low < high"),
        (random_network((2, 3, 1), 0), -np.inf, ValueError, "finite with low < high"),
        (
            SimpleNamespace(weights=[np.ones((1, 1))], biases=[], slope=0),
            -1,
            ValueError,
            "0 biases",
        ),
        (Network.of([torch.ones(5, 3, 2)]), -1, ValueError, "without batch axes"),
        (Network.of([[[1e100]], [[1e100]]]), -1, ValueError, r"1e\+200 .* at most 1e\+150"),
        (SimpleNamespace(weights=[object()], biases=[], slope=0), -1, TypeError, "of floats"),
        (Network.linear([BallArray.exact([[2]]).sqrt()]), -1, NoBallForm, "enumeration of regions"),
    ],
    ids=["empty", "infinite", "no bias", "batch", "large", "objects", "balls"],
)
def test_errors_say_the_rule(net, low, error, rule):
    with pytest.raises(error, match=rule):
        regions(net, low, 1)
