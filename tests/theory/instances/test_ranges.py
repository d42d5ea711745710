"""The ranges of what generators draw: those that they state, each of them, and no others.

A range that is too wide breaks a hypothesis rarely, and one that is too narrow breaks nothing; both
are seen here.
"""

from importlib import import_module

import pytest
import torch

import rankcheck.theory.instances as door
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.record import Entries
from rankcheck.theory.instances.source import Instances, is_factory, seed_of


def module(name):
    """A module of that room; the package has a function of the name of some of them."""
    return import_module(f"rankcheck.theory.instances.{name}")


matrices, networks, loops, units = map(module, ("matrices", "networks", "loops", "units"))
classes, complexes = map(module, ("matrix_classes", "complex_matrices"))
cones, balanced = map(module, ("cones", "balanced"))
factorisations, whole = map(module, ("factorisations", "integer_networks"))
pairs, points, spheres = map(module, ("pairs", "points", "spheres"))


def to(*most, low=0):
    """The integer ranges from `low` to each of these."""
    return {(low, high) for high in most}


def up_to(*ends):
    """Ranges [-end, end]."""
    return {(-end, end) for end in ends}


NETWORK = to(0, 1, 2, 3, 4, 7) | to(1, 2, 3, 4, 5, low=1)
SLOPE = 63 / 64
ROOT, FOURTH = 8**0.5, 8**0.25

#: A generator of one argument, the ranges of its entries, and those of its integers.
RANGES = {
    "low rank": (lambda s: matrices.low_rank(s, 3, 2, 1), up_to(3), set()),
    "orthogonal": (lambda s: matrices.orthogonal(s, 3), up_to(2), set()),
    "positive": (lambda s: matrices.positive(s, 2), {(1 / 8, 4)}, set()),
    "away from zero": (lambda s: matrices.away_from_zero(s, 2), up_to(4), set()),
    "signs": (lambda s: matrices.signs(s, 2), up_to(1), set()),
    "balanced factors": (
        matrices.balanced_factors,
        up_to(2) | {(1 / 8, 2)},
        to(0, 1, 2, 3) | to(4, 5, low=1),
    ),
    "balanced factors in a range": (
        lambda s: matrices.balanced_factors(s, layers=(2, 3), size=(2, 2), low=0.5, high=1.0),
        up_to(2) | {(1 / 2, 1)},
        {(2, 3), (2, 2), (0, 1)},
    ),
    "matrix": (lambda s: matrices.matrix(s, 3, 2), up_to(8, ROOT, 2), {(0, 3), (1, 2)}),
    "bounded matrix": (lambda s: matrices.matrix(s, 2, 3, 9.0), up_to(9, 3, 2), {(0, 3), (1, 2)}),
    "matrices": (matrices.matrices(), up_to(8, ROOT, 2), {(0, 3)} | to(1, 2, 3, 4, low=1)),
    "matrix pairs": (matrices.matrix_pairs(), up_to(8, ROOT, 2), {(0, 3)} | to(1, 2, 3, 4, low=1)),
    "chained matrices": (
        matrices.chained_matrices(),
        up_to(8, ROOT, 2),
        {(0, 3)} | to(1, 2, 3, 4, low=1),
    ),
    "orthogonal blocks": (
        matrices.orthogonal_blocks(),
        up_to(8, ROOT, 2),
        {(0, 3)} | to(1, 2, 3, low=1),
    ),
    "partial isometries": (matrices.partial_isometries(), up_to(2), to(1, 2, 3, 4) | {(1, 4)}),
    "any slope": (networks.slope, up_to(SLOPE), {(0, 1)}),
    "negative slope": (lambda s: networks.slope(s, "negative"), {(-SLOPE, -1 / 1024)}, set()),
    "slope of at least 0": (lambda s: networks.slope(s, "nonnegative"), {(0, SLOPE)}, {(0, 1)}),
    "ReLU": (lambda s: networks.slope(s, "relu"), set(), set()),
    "slope in a range": (networks.slope_in_range, up_to(SLOPE), set()),
    "network": (networks.network, up_to(4, 2, SLOPE) | {(1 / 2, 2)}, NETWORK),
    "bounded network": (
        lambda s: networks.network(s, bound=2.25),
        up_to(2.25, 1.5, SLOPE) | {(1 / 2, 2)},
        NETWORK,
    ),
    "networks at points": (
        networks.networks_at_points(),
        up_to(8, 4, 2, SLOPE) | {(1 / 2, 2)},
        NETWORK,
    ),
    "networks with inputs": (
        networks.networks_with_inputs(),
        up_to(8, 4, 2, SLOPE) | {(1 / 2, 2)},
        NETWORK,
    ),
    "balanced linear networks": (
        networks.balanced_linear_networks(),
        up_to(2, SLOPE) | {(1 / 8, 2), (1 / 8, 4)},
        {(0, 1), (1, 6), (1, 3), (1, 2), (2, 3), (3, 4)},
    ),
    "balanced linear networks of a scale": (
        networks.balanced_linear_networks(scale=(0.5, 1.0), depth=(2, 2), width=(2, 2)),
        up_to(2, SLOPE) | {(1 / 2, 1), (1 / 8, 4)},
        {(0, 1), (2, 2), (2, 3)},
    ),
    "steep networks": (
        networks.steep_networks(),
        up_to(8, 4, 2) | {(1 / 2, 2), (3 / 2, 4)},
        NETWORK - {(0, 4), (1, 5)} | {(2, 4)},
    ),
    "loops": (
        loops.loops(),
        up_to(4, 2, SLOPE),
        to(1, 2, 3, 4, 5) | to(3, 4, 5, low=1) | {(2, 4), (3, 5)},
    ),
    "loops around a spine": (
        loops.loops(spine=1),
        up_to(4, 2, SLOPE),
        to(0, 1, 2, 3, 4, 5) | to(4, 5, 6, low=1) | {(2, 4), (3, 5), (4, 6)},
    ),
    "planar loops": (loops.planar_loops(), up_to(4, 2, SLOPE), {(0, 3), (1, 4), (0, 1)}),
    "bent loops": (
        loops.bent_loops(),
        up_to(4, 2, 1, SLOPE) | {(1 / 64, 1 / 4)},
        {(3, 4), (0, 1), (1, 4)},
    ),
    "stopped loops": (
        loops.stopped_loops(),
        up_to(2, 1, SLOPE) | {(1 / 64, 1 / 4)},
        {(0, 2), (0, 1), (1, 4)},
    ),
    "law": (lambda s: units.law(s, 3), up_to(3), set()),
    "law of one point": (lambda s: units.law(s, 1), {(0, 1)}, set()),
    "positive law": (lambda s: units.law(s, 3, everywhere=True), {(5 / 4, 4)}, set()),
    "units with scales": (
        units.units_with_scales(),
        up_to(8, ROOT, 2) | {(1 / 8, 4)},
        {(0, 3), (2, 8)} | to(1, 2, 3, 4, 5, low=1),
    ),
    "orthogonal units": (
        units.orthogonal_units(),
        up_to(2) | {(1 / 2, 2)},
        {(0, 1), (1, 4), (2, 4), (3, 4), (4, 4), (2, 6)},
    ),
    "parallel units": (units.parallel_units(), up_to(4, 1) | {(1 / 2, 2)}, {(1, 4), (2, 8)}),
    "units at points": (
        units.units_at_points(),
        up_to(8, ROOT, 2, 3) | {(0, 1), (1 / 8, 4)},
        {(0, 3), (0, 8)} | to(1, 2, 3, 4, 5, low=1),
    ),
    "aligned units at points": (
        units.aligned_units_at_points(),
        up_to(8, 4, 3, 1) | {(0, 1), (1 / 2, 2)},
        {(1, 3), (1, 4), (2, 8)},
    ),
    "separate units": (
        units.separate_units,
        up_to(2) | {(1 / 2, 2), (5 / 4, 2)},
        {(1, 4), (2, 4), (3, 4), (4, 4)},
    ),
    "separate units at points": (
        units.separate_units_at_points(),
        up_to(2) | {(1 / 2, 2), (5 / 4, 2)},
        {(0, 1), (2, 4), (3, 4), (4, 4)},
    ),
    "units on a line": (
        units.units_on_a_line(),
        up_to(8, 4, 2) | {(1 / 8, 2), (5 / 4, 4)},
        {(1, 4), (2, 4), (3, 4), (4, 4)},
    ),
    "units of full rank on a line": (
        units.units_on_a_line(full_rank=True),
        up_to(8, 4, 2) | {(1 / 8, 2), (5 / 4, 4)},
        {(1, 4)},
    ),
    "functions of any rank": (
        units.functions_of_any_rank(),
        up_to(8, 4, ROOT, 2, 3) | {(0, 1), (1 / 8, 2), (1 / 8, 4), (5 / 4, 4)},
        to(2, 3, 8) | to(1, 2, 3, 4, 5, low=1) | {(2, 4), (3, 4), (4, 4)},
    ),
    "two networks on a line": (
        units.two_networks_on_a_line(),
        up_to(8, 4, 2) | {(1 / 8, 2), (5 / 4, 4)},
        {(0, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 3), (3, 4)},
    ),
    "symmetric": (
        classes.symmetric_matrices(),
        up_to(8, ROOT, FOURTH, 2),
        to(0, 1, 2, 3) | to(1, 2, 3, 4, low=1),
    ),
    "positive definite": (
        classes.positive_definite_matrices(),
        up_to(2, 1),
        to(1) | to(2, 3, 4, low=1),
    ),
    "positive semidefinite": (
        classes.positive_semidefinite_matrices(),
        up_to(2, 1),
        to(1, 2, 3, 4) | to(2, 3, 4, low=1),
    ),
    "projections": (classes.projections(), up_to(2), to(1, 2, 3, 4) | {(1, 4)}),
    "orthogonal matrices": (
        classes.orthogonal_matrices(),
        up_to(2),
        {(1, 4), (0, 1), (1, 2), (2, 3), (3, 4)},
    ),
    "unitary": (
        complexes.unitary_matrices(),
        up_to(4, 2),
        {(0, 2), (1, 4), (0, 1), (1, 2), (2, 3), (3, 4)},
    ),
    "Hermitian": (
        complexes.hermitian_matrices(),
        up_to(8, ROOT, FOURTH, 2),
        to(0, 1, 2, 3) | to(1, 2, 3, 4, low=1),
    ),
    "doubly stochastic": (
        classes.doubly_stochastic_matrices(),
        {(0, 1)},
        to(0, 1, 5, 23) | to(1, 2, 4, 5, 10, low=1),
    ),
    "permutations": (classes.permutation_matrices(), set(), to(0, 1, 5, 23) | {(1, 4)}),
    "isometry": (
        lambda s: cones.isometry_at(s, torch.ones(1, 2, dtype=torch.float64)),
        up_to(2),
        {(0, 2)},
    ),
    "planar domain": (cones.planar_domain, up_to(2) | {(0, 1), (0, 8)}, {(0, 1), (0, 2), (1, 3)}),
    "linear maps on cones": (
        cones.linear_maps_on_cones(),
        up_to(8, 2, SLOPE) | {(0, 1), (0, 2), (0, 8), (1 / 4, 4)},
        {(0, 1), (0, 2), (1, 3), (1, 8)},
    ),
    "unit columns": (lambda s: balanced.unit_columns(s, 2, 3), up_to(2), set()),
    "balanced networks at points": (
        balanced.balanced_networks_at_points(),
        up_to(8, 2, SLOPE) | {(1 / 4, 2), (1 / 2, 2)},
        to(0, 1, 2, 3) | to(1, 2, 3, 4, low=1),
    ),
    "rescaled networks at points": (
        balanced.balanced_networks_at_points(constructions=("rescaled",)),
        up_to(8, 2, 2**0.5, SLOPE) | {(1 / 2, 2)},
        to(0, 1, 2, 3, 7) | to(1, 2, 3, 4, low=1),
    ),
    "balanced networks with inputs": (
        balanced.balanced_networks_with_inputs(),
        up_to(8, 2, SLOPE) | {(1 / 4, 2), (1 / 2, 2)},
        to(0, 1, 2, 3) | to(1, 2, 3, 4, low=1),
    ),
    "pairs of points": (
        pairs.pairs_of_points(),
        up_to(8, 4, 2, SLOPE) | {(1 / 2, 2), (1 / 8, 7 / 8)},
        NETWORK - {(0, 4), (1, 5)} | {(2, 4)},
    ),
    "factorised functions": (
        factorisations.factorised_functions(),
        up_to(3, 2, 3**0.5, SLOPE) | {(0, 1), (0, 2), (1 / 2, 2)},
        to(0, 1, 2, 7, 12) | to(1, 2, 3, 4, low=1),
    ),
    "unbounded functions": (
        factorisations.unbounded_functions(),
        up_to(3, 2, 3**0.5, SLOPE) | {(0, 1), (0, 2), (1 / 2, 2)},
        to(0, 1, 2, 7, 12) | to(1, 2, 3, 4, low=1),
    ),
    "isometries in the orthant": (
        factorisations.isometries_in_the_orthant(),
        up_to(2, SLOPE) | {(1 / 8, 4)},
        {(0, 1), (0, 12), (1, 3)},
    ),
    "integer network": (whole.integer_network, up_to(3, 2), {(0, 5), (0, 7), (1, 3), (1, 4)}),
    "integer box": (lambda s: whole.integer_box(s, 2), up_to(2) | {(1, 2)}, set()),
    "unimodular": (lambda s: whole.unimodular(s, 2), up_to(2, 1), set()),
    "integer factors": (lambda s: whole.integer_factors(s, 3, 3, 2), up_to(3), set()),
    "integer bijection": (lambda s: whole.integer_bijection(s, 2), up_to(3, 2, 1), {(1, 3)}),
    "box": (lambda s: points.box(s, 2), up_to(2) | {(0, 2)}, set()),
    "distinct points": (lambda s: points.distinct_points(s, 4, 2), up_to(1), set()),
    "unit vectors": (lambda s: spheres.unit_vectors(s, 3), up_to(3), set()),
    "unit pair": (lambda s: spheres.unit_pair(s, 3, 5), up_to(3, 2, 1), {(0, 4)}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RANGES)
def test_ranges_are_the_stated_ones(name):
    generator, entries, integers = RANGES[name]
    found: dict[bool, set] = {True: set(), False: set()}
    for index in range(400):
        source = BatchSource(seed_of("ranges", name, index), 1)
        generator(source)
        for choice in source.record.choices:
            # A tensor without entries only shows the device.
            if not isinstance(choice, Entries) or choice.values.numel():
                found[isinstance(choice, Entries)].add((choice.low, choice.high))
        if index > 30 and found == {True: entries, False: integers}:
            break
    assert found[True] == entries
    assert found[False] == integers


def test_the_table_has_every_public_family():
    listed = {generator.origin.__name__ for generator, *_ in RANGES.values()
              if isinstance(generator, Instances)}  # fmt: skip
    public = {name for name in door.__all__ if is_factory(getattr(door, name))}
    assert public
    assert public <= listed
