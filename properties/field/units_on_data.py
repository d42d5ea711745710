"""Shenouda, Parhi, Lee, Nowak 2023: a network with one hidden layer needs, at N data, no more units
than its values have numbers, at no larger cost."""

import torch

from rankcheck import Network, construction, eq, leq, networks, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, slope, unit_vectors


def scaled(source: Source, count: int, size: int):
    """`count` vectors of rational lengths up to 2, zero among them, so that costs are rational."""
    return source.tensor(count, 1, low=-2.0, high=2.0) * unit_vectors(source, count, size)


def with_data(source: Source, points: int, outputs: int, more: int):
    """A network with up to N·D + `more` units, and N data; half of the time all units have one of two
    directions."""
    most = points * outputs + more
    units, inputs = source.integer(1, most, range(1, most + 1)), source.integer(1, 3)
    if source.integer(0, 1):
        W = scaled(source, units, inputs)
    else:
        two, size = unit_vectors(source, 2, inputs), source.tensor(units, 1, low=0.0, high=2.0)
        W = size * two[[k % 2 for k in range(units)]]
    b, c = source.tensor(units, low=-2.0, high=2.0), source.tensor(outputs, low=-2.0, high=2.0)
    net = Network((W, scaled(source, units, outputs).mT), (b, c), slope(source))
    return net, source.tensor(points, inputs, low=-4.0, high=4.0)


@instances
def shallow_networks_with_data(source: Source):
    """A network with one hidden layer, D outputs and up to ND + 2 units, and N data."""
    points = source.integer(1, 3)
    return with_data(source, points, source.integer(1, 4 - points), 2)


def without_the_first(net, x):
    """The first of the units that are left is lost."""
    new = witnesses.fewer_units(net, x)
    W, V = new.weights
    return new.with_parameters((W, torch.cat((0 * V[:, :1], V[:, 1:]), 1)), new.biases)


def relations(net, new, x, units, elsewhere):
    """The values, the number of units, and the cost."""
    y, left = x + elsewhere, (new.weights[1] != 0).any(0).sum()
    scale = tolerances.network_scale(net, y) + tolerances.network_scale(new, y)
    return (
        eq(new(y), net(y), scale=scale, label="the values"),
        leq(left, units, label="the units"),
        leq(networks.unit_costs(new).sum(), networks.unit_costs(net).sum(), label="the cost"),
    )


@construction(
    "field.units-on-data",
    paper("shenouda2023", "on the width of solutions, as recalled"),
    instances=shallow_networks_with_data(),
    mutants={
        "the wrong sign": {
            "witness": lambda f, x: witnesses.fewer_units(f, x, -networks.unit_costs(f))
        },
        "ND − 1 units": {"less": 1},
        "a unit lost": {"witness": without_the_first},
        "away from the data": {"elsewhere": 1},
    },
    witness=witnesses.fewer_units,
    audit="left out: a construction: another network with fewer units",
    effort=0.5,
)
def test_units_on_data(net, x, *, witness=witnesses.fewer_units, less=0, elsewhere=0):
    r"""At N data, N·D units are enough, at no larger cost.

    Let $f(x) = \sum_k v_k \sigma(w_k \cdot x + b_k) + c$ have $D$ outputs. There is a network with at
    most $ND$ units, the same values at given points $x_1, \dots, x_N$, and no larger $\sum_k \|v_k\|
    \|w_k\|$. This sum is the least $\frac12 \sum_k \|v_k\|^2 + \|w_k\|^2$ among rescalings of the units,
    so a fit of the data with weight decay on the weights needs no more units.

    By Carathéodory's theorem: the values are a sum of $K$ vectors of $\mathbb R^{ND}$, one for each
    unit; as long as more than $ND$ are left, their outer weights can be multiplied by numbers $t_k
    \ge 0$, one of which is 0, so that neither the values nor the sum of costs increase. If the
    vectors of $ND$ units are independent, no other multiples of them have these values. Not
    checked: whether fewer units with other weights do; see field.units-on-few-data.
    """
    return relations(net, witness(net, x), x, len(x) * net.widths[-1] - less, elsewhere)


@instances
def many_outputs(source: Source):
    """One or two data, more outputs than data, and up to ND + 1 units."""
    points = source.integer(1, 2)
    return with_data(source, points, source.integer(points + 1, 3), 1)


@construction(
    "field.units-on-few-data",
    paper("shenouda2023", "on the width of solutions, as recalled"),
    instances=many_outputs(),
    mutants={
        "without the projection": {"witness": witnesses.fewer_units},
        "N² − 1 units": {"less": 1},
        "away from the data": {"elsewhere": 1},
    },
    witness=witnesses.fewer_units_in_span,
    audit="left out: a construction: another network with fewer units",
    effort=0.5,
)
def test_units_on_few_data(net, x, *, witness=witnesses.fewer_units_in_span, less=0, elsewhere=0):
    r"""At N data, N² units are enough, however many outputs there are.

    As field.units-on-data, with at most $N^2$ units where $N < D$. The outer weights $v_k$ are first
    projected onto the span of $f(x_1) - c, \dots, f(x_N) - c$: that keeps the values at the data
    and makes no $\|v_k\|$ larger. In $N$ coordinates of this span the network has $N$ outputs.
    """
    return relations(net, witness(net, x), x, len(x) ** 2 - less, elsewhere)
