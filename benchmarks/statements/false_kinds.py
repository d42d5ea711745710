"""Twelve false statements that are hard in kind: a plausible lemma each, and what breaks it.

Counts that are equal almost everywhere, one shape in hundreds, linear regions, permutations,
integers, strict inequalities, and bounds that are reached along a ridge. Below each
stands an instance that refutes it, and the keyword with which it is true.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, permutations
from typing import Any

import torch
from flint import fmpz_mat

from rankcheck import conjecture, eq, leq, lt
from rankcheck.instances import doubly_stochastic_matrices, positive_definite_matrices
from rankcheck.linalg import frobenius_squared, symmetric_sqrt
from rankcheck.regions import region_arrays

from ._families import (
    deep_networks,
    metrics,
    pairs_of_shallow_networks,
    points,
    sizes,
    square,
    whole_numbers,
)


@dataclass(frozen=True)
class Counterexample:
    """An instance as text, and the keywords that make the statement true.

    As text, since Hypothesis draws the numbers that it finds in the code.
    """

    choices: str
    true: Mapping[str, Any]


#: By the id of the statement.
COUNTEREXAMPLES: dict[str, Counterexample] = {}


def trace(A):
    return A.diagonal(dim1=-2, dim2=-1).sum(-1)


def lines(n):
    """In how many regions n lines cut the plane, if they are in general position."""
    return 1 + n + n * (n - 1) // 2


def positive(eigenvalues):
    """How many are positive, by more than 10⁻⁹ of the largest in absolute value."""
    return (eigenvalues > 1e-9 * eigenvalues.abs().amax(-1, keepdim=True)).sum(-1)


@conjecture(
    "false.index-of-a-jordan-product",
    instances=positive_definite_matrices(size=(2, 3), condition=100.0, count=2),
)
def test_index_of_a_jordan_product(A, B, *, most=1):
    r"""$AB + BA$ has at most one negative eigenvalue, for positive definite $A$, $B$ up to $3 \times 3$.

    True for $2 \times 2$, since $\operatorname{tr} AB > 0$, which leaves two for $3 \times 3$. Every
    symmetric $C$ with positive diagonal is $AB + BA$, with a graded diagonal $A$ and
    $b_{ij} = c_{ij} / (a_i + a_j)$.
    """
    return leq(positive(-torch.linalg.eigvalsh(A @ B + B @ A)), most)


COUNTEREXAMPLES["false.index-of-a-jordan-product"] = Counterexample(
    "[3, 1, [[1, 1, 1], [0, 0, 0], [0, 0, 0]], [-1, 0, 1], 1, 1, [[0, 0, 0], [0, 0, 0], "
    "[0, 0, 0]], [-1, 0, 1], 1]",
    true={"most": 2},
)


@conjecture("false.index-of-a-metric", instances=metrics(points=(3, 5)))
def test_index_of_a_metric(D, *, most=1):
    r"""The matrix of the distances of a finite metric space has at most one positive eigenvalue.

    True for trees, in Euclidean spaces, and for four points. False for the graph $K_{2,3}$, with
    $3 \pm \sqrt 7$. A trace of zero leaves at most four for five points.
    """
    return leq(positive(torch.linalg.eigvalsh(D)), most)


COUNTEREXAMPLES["false.index-of-a-metric"] = Counterexample(
    "[5, [2, 1, 1, 1, 1, 2, 1, 1, 1, 2]]", true={"most": 4}
)


@conjecture("false.no-conic", instances=points(dimension=(12, 12), bound=4.0))
def test_no_conic(x, *, relation=lt):
    r"""Six points of the plane, no three of them on a line, lie on no conic.

    With the areas of their triangles: $[123][145][246][356] \ne [124][135][236][456]$. False for any
    six points of a circle.
    """
    u, v = x[..., :6], x[..., 6:]

    def area(i, j, k):
        i, j, k = int(i) - 1, int(j) - 1, int(k) - 1
        first = (u[..., j] - u[..., i]) * (v[..., k] - v[..., i])
        return first - (u[..., k] - u[..., i]) * (v[..., j] - v[..., i])

    left = area(*"123") * area(*"145") * area(*"246") * area(*"356")
    right = area(*"124") * area(*"135") * area(*"236") * area(*"456")
    triangles = torch.stack([area(*corners) for corners in combinations("123456", 3)], -1)
    return relation(0, (left - right).abs(), where=(triangles != 0).all(-1))


COUNTEREXAMPLES["false.no-conic"] = Counterexample(
    "[12, [1, 2, 2, -1, -2, -2, 2, 1, -1, 2, 1, -1]]", true={"relation": leq}
)


@conjecture("false.singular-points-of-a-form", instances=sizes(ranges=((3, 6), (2, 4), (1, 20))))
def test_singular_points_of_a_form(d, n, r, *, defect=()):
    r"""To be singular at $r$ general points is $\min(rn, \binom{n+d-1}{d})$ conditions on a form of
    degree $d \ge 3$ in $n$ variables.

    Alexander and Hirschowitz: true but for $(d, n, r) = (3, 5, 7), (4, 3, 5), (4, 4, 9), (4, 5, 14)$,
    where it is one less. So it is for the sums of $r$ powers, a layer of $r$ units $z^d$. The points
    are $(j^2 i^3 + 7ij + j^3 \bmod 23) - 11$: their rank is at most that of general points.
    """
    degrees = list(combinations_with_replacement(range(n), d))
    rows = []
    for j in range(1, r + 1):
        v = [(j * j * i**3 + 7 * i * j + j**3) % 23 - 11 for i in range(1, n + 1)]
        for i in range(n):
            row = []
            for form in degrees:
                rest = list(form)
                count = rest.count(i)
                if count:
                    rest.remove(i)
                row.append(count * math.prod(v[k] for k in rest))
            rows.append(row)
    expected = min(r * n, len(degrees)) - ((d, n, r) in defect)
    return eq(fmpz_mat(rows).rank(), expected)


COUNTEREXAMPLES["false.singular-points-of-a-form"] = Counterexample(
    "[4, 3, 5]", true={"defect": ((4, 3, 5), (4, 4, 9))}
)


@conjecture("false.strictly-unimodal", instances=sizes(ranges=((7, 30), (7, 30))))
def test_strictly_unimodal(m, n, *, relation=lt):
    r"""The coefficients of $\binom{m+n}{n}_q$ increase strictly from $q^1$ to the middle, for $m, n \ge 7$.

    They count the partitions into at most $n$ parts of at most $m$. Sylvester: they do not decrease.
    Pak and Panova: strictly for $m, n \ge 8$. False for $7$ and $10$, as enumeration shows.
    """
    counts = [1] + [0] * (m * n)
    for i in range(1, n + 1):  # times 1 - q^(m+i), divided by 1 - q^i
        for k in range(m * n, m + i - 1, -1):
            counts[k] -= counts[k - m - i]
        for k in range(i, m * n + 1):
            counts[k] += counts[k - i]
    half = torch.tensor(counts[1 : m * n // 2 + 1])
    return relation(-half.diff().amin(), 0)


COUNTEREXAMPLES["false.strictly-unimodal"] = Counterexample("[7, 10]", true={"relation": leq})


@conjecture("false.robin", instances=whole_numbers(low=2521, high=6020))
def test_robin(n, *, more=0.0):
    r"""$\sigma(n) \le e^\gamma n \log \log n$ for $n > 2520$, with the sum $\sigma(n)$ of its divisors.

    Robin: it holds from 5041 on iff the Riemann hypothesis does, and with $0.6483\,n / \log \log n$ more
    for all $n \ge 3$. False for 5040 alone.
    """
    divisors = sum(d for d in range(1, n + 1) if n % d == 0)
    twice = math.log(math.log(n))
    return leq(divisors, math.floor((math.exp(0.5772156649) * twice + more / twice) * n))


COUNTEREXAMPLES["false.robin"] = Counterexample("[5040]", true={"more": 0.6483})


@conjecture("false.regions-as-of-lines", instances=deep_networks(inputs=2, width=(1, 3)))
def test_regions_as_of_lines(net, *, most=lambda m, n: lines(m + n)):
    r"""A network with two inputs and $N$ hidden units, in two layers, has at most $1 + N + \binom N2$
    linear regions: as many as $N$ lines.

    True for one layer, and if the first layer has two units. False for three units and one, which cuts
    six of the seven regions. With $m$ and $n$ units there are at most as many as of $m$ lines times as
    many as of $n$.
    """
    return leq(region_arrays(net, -1, 1).count, most(*net.widths[1:3]))


COUNTEREXAMPLES["false.regions-as-of-lines"] = Counterexample(
    "[3, 1, [[-1, 3], [2, -2], [-2, -1]], [2, -2, 0], [[1, 4, 3]], [-2], [[1]], [0]]",
    true={"most": lambda m, n: lines(m) * lines(n)},
)


@conjecture("false.changes-of-sign", instances=deep_networks(inputs=1, width=(1, 3)))
def test_changes_of_sign(net, *, most=lambda m, n: m + n + 1):
    r"""A network with one input and $N$ hidden units, in two layers, changes its sign at most $N + 1$ times.

    True for one layer, of $N + 1$ pieces. A second layer can break in each piece of the first, so that
    there are at most $(m + 1)(n + 1)$ for $m$ and $n$ units. Evaluated at the points $k/32$ of $[-1, 1]$.
    """
    grid = torch.arange(-32, 33, dtype=torch.float64).unsqueeze(-1) / 32
    y = net(0 * net.weights[0][..., :1, :1] + grid)[..., 0]
    changes = (y[..., :-1] * y[..., 1:] < 0).sum(-1)
    return leq(changes, most(*net.widths[1:3]))


COUNTEREXAMPLES["false.changes-of-sign"] = Counterexample(
    "[3, 2, [[-1.625], [3.375], [-3.875]], [1.375, -1.25, -1], [[-3.75, -2, 3.125], "
    "[3.375, 2.75, -3.625]], [3.625, -4], [[2.75, 1.625]], [-1.625]]",
    true={"most": lambda m, n: (m + 1) * (n + 1)},
)


@conjecture(
    "false.halfway-between-networks",
    instances=pairs_of_shallow_networks(units=(2, 3), number=(4, 4)),
)
def test_halfway_between_networks(P, Q, x, y, *, of_outputs=False):
    r"""The hidden units of one of two shallow networks can be permuted such that the network halfway
    between the two has at most the sum of their losses.

    "Linear mode connectivity up to permutation", as it is conjectured for wide networks. The mean of
    their *outputs* has at most the mean of their losses. The rows of $P$ and $Q$ are $a, w, b$.
    """

    def outputs(network):
        a, w, b = network.unsqueeze(-2).unbind(-3)
        return (a * torch.relu(x.unsqueeze(-1) * w + b)).sum(-1)

    def loss(predicted):
        return (predicted - y).square().sum(-1)

    most = loss(outputs(P)) + loss(outputs(Q))
    if of_outputs:
        return leq(loss((outputs(P) + outputs(Q)) / 2), most)
    orders = map(list, permutations(range(P.shape[-1])))
    losses = [loss(outputs((P + Q[..., order]) / 2)) for order in orders]
    return leq(torch.stack(losses, -1).amin(-1), most)


COUNTEREXAMPLES["false.halfway-between-networks"] = Counterexample(
    "[2, 4, [[0, 0], [0, 0], [0, 1]], [[1, 1], [0, 0], [0, 0]], [0, 0, 0, 0], [0, 0, 0, 0]]",
    true={"of_outputs": True},
)


@conjecture(
    "false.diagonal-of-a-doubly-stochastic",
    instances=doubly_stochastic_matrices(size=(2, 3)),
)
def test_diagonal_of_a_doubly_stochastic(A, *, share=1):
    r"""A doubly stochastic $A$ has a diagonal $\sigma$ with $\sum_i a_{i\sigma(i)} \ge \|A\|_F^2$ and all
    $a_{i\sigma(i)} \ge 1 / \lfloor (n+1)^2/4 \rfloor$.

    Marcus and Ree: it has one with the first, and one with the second. False for both at once.
    """
    n, size = A.shape[-1], frobenius_squared(A)
    rows, parts = torch.arange(n), (n + 1) ** 2 // 4
    diagonals = [A[..., rows, torch.tensor(order)] for order in permutations(range(n))]
    short = [torch.maximum(size - d.sum(-1), share - parts * d.amin(-1)) for d in diagonals]
    return leq(torch.stack(short, -1).amin(-1), 0, scale=size)


COUNTEREXAMPLES["false.diagonal-of-a-doubly-stochastic"] = Counterexample(
    "[3, 0, 3, 0, 3, 1, [1, 1, 0.625]]", true={"share": 0}
)


@conjecture(
    "false.three-positive-matrices",
    instances=positive_definite_matrices(size=(3, 3), count=3),
)
def test_three_positive_matrices(A, B, C, *, factor=7):
    r"""$\operatorname{tr} A \operatorname{tr} BC + \operatorname{tr} B \operatorname{tr} CA
    + \operatorname{tr} C \operatorname{tr} AB + 7 \operatorname{tr} ABC \ge 0$ for positive definite matrices.

    True with 6: by linearity in each it is enough for rank one, where $1 + 2p \ge \sum c_i^2 \ge 3 |p|^{2/3}$
    for the cosines $c_i$ and their product $p$. Tight for three of them at 120° in a plane.
    """
    pairs = trace(A) * trace(B @ C) + trace(B) * trace(C @ A) + trace(C) * trace(A @ B)
    return leq(-factor * trace(A @ B @ C), pairs)


COUNTEREXAMPLES["false.three-positive-matrices"] = Counterexample(
    "[3, 1, [[-1, 0.5, -0.75], [-1.5, 1, 0.5], [-0.25, 0, 1]], [-1, 0, 1], 1, 1, [[0.5, 0, "
    "-1], [0, 1, 0.5], [-0.5, 0, 1]], [-1, 0, 1], 1, 1, [[0.5, 0, -1], [-0.5, 2, 1], [0, 0, "
    "0]], [-1, 0, 1], 1]",
    true={"factor": 6},
)


@conjecture("false.lipschitz-modulus", instances=square(size=(3, 3), count=2))
def test_lipschitz_modulus(A, B, *, square_of_factor=(49, 25)):
    r"""$\| |A| - |B| \|_F \le \frac75 \|A - B\|_F$ with $|A| = (A^T A)^{1/2}$, for $3 \times 3$ matrices.

    Araki and Yamagami: true with $\sqrt 2$, the best constant; for symmetric matrices it is 1. Tight
    where $B$ is close to $A$, and $A$ to rank one.
    """
    change = symmetric_sqrt(A.mT @ A) - symmetric_sqrt(B.mT @ B)
    over, under = square_of_factor
    return leq(under * frobenius_squared(change), over * frobenius_squared(A - B))


COUNTEREXAMPLES["false.lipschitz-modulus"] = Counterexample(
    "[3, [[0.625, 1.3125, 1.3125], [0.625, 1.3125, 1.3125], [0.625, 1.3125, 1.3125]], "
    "[[0.875, 1.25, 1.25], [0.875, 1.25, 1.25], [0.875, 1.25, 1.25]]]",
    true={"square_of_factor": (2, 1)},
)
