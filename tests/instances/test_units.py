"""Units with scales and with points: their hypotheses hold exactly, and their corners occur."""

import pytest
import torch

from rankcheck.costs import egop, path_norm_lambda, path_norm_of_units, two_layer_network, unit_rank
from rankcheck.instances.units import (
    DEEP,
    aligned_units_at_points,
    away_from_zero,
    functions_of_any_rank,
    law,
    parallel_units,
    separate_units_at_points,
    two_networks_on_a_line,
    units_on_a_line,
)
from rankcheck.linalg import singular_values


def test_laws_have_mass_one_and_are_squares(swept):
    def laws(source):
        n = source.integer(1, 5)
        return law(source, n), law(source, n, everywhere=True)

    empty = False
    for _, (any_law, positive_law) in swept(laws, 20):
        torch.testing.assert_close(any_law.sum(-1), torch.ones(64, dtype=torch.float64))
        torch.testing.assert_close(positive_law.sum(-1), torch.ones(64, dtype=torch.float64))
        n = positive_law.shape[-1]
        assert bool((positive_law >= (2.5 / (1 + 16 * (n - 1))) ** 2 * (n > 1)).all())
        empty = empty or bool((any_law == 0).any())
    assert empty


def test_away_from_zero(swept):
    for _, entries in swept(lambda source: away_from_zero(source, 3), 20):
        assert bool(((entries.abs() >= 0.125) & (entries.abs() <= 4)).all())
        assert bool((entries > 0).any())
        assert bool((entries < 0).any())


def test_neighbours_on_the_line_differ_by_one_unit(swept):
    deficient = full = False
    for _, (W, b, a, x, p) in swept(units_on_a_line(), 40):
        gradients = two_layer_network(W, b, a).jacobian(x).squeeze(-2)
        jumps = gradients[..., 1:, :] - gradients[..., :-1, :]
        rows = (a * W[..., 0].sign()).unsqueeze(-1) * W
        torch.testing.assert_close(jumps, rows, rtol=1e-12, atol=1e-12)
        ranks = unit_rank(W, a)
        torch.testing.assert_close(torch.linalg.matrix_rank(egop(gradients, p), rtol=1e-13), ranks)
        most = min(W.shape[-2:])
        deficient = deficient or bool(((ranks > 0) & (ranks < most)).any())
        full = full or bool((ranks == most).any() and most > 1)
    assert deficient
    assert full


def test_two_networks_on_a_line_differ_by_a_constant_and_sometimes_in_rank(swept):
    same = larger = False
    for source, (W, b, a, x, _, V, d, e) in swept(two_networks_on_a_line(), 40):
        z = torch.cat((x, source.tensor(3, W.shape[-1])), -2)
        first, second = two_layer_network(W, b, a)(z), two_layer_network(V, d, e)(z)
        change = (second - first).squeeze(-1)
        torch.testing.assert_close(change, change[..., :1].expand(change.shape), rtol=0, atol=1e-9)
        rank, other = unit_rank(W, a), unit_rank(V, e)
        assert bool((other >= rank).all())
        same, larger = same or bool((other == rank).any()), larger or bool((other > rank).any())
    assert same
    assert larger


@pytest.mark.parametrize(
    ("family", "zero"),
    [(units_on_a_line(), 0.25), (functions_of_any_rank(least=2), 0.35)],
    ids=repr,
)
def test_every_rank_is_reached(swept, family, zero):
    counts = torch.zeros(5)
    for _, (W, b, a, x, p, *_) in swept(family, 60):
        gradients = two_layer_network(W, b, a).jacobian(x).squeeze(-2)
        root = p.sqrt().unsqueeze(-1) * gradients
        counts += torch.bincount(torch.linalg.matrix_rank(root, rtol=1e-13), minlength=5)
    share = counts / counts.sum()
    assert share[0] < zero
    assert bool((share[1:] > 0.05).all())


def test_parallel_and_aligned_units_are_at_the_scales_of_the_path_norm(swept):
    for family in (parallel_units(), aligned_units_at_points()):
        for _, instance in swept(family, 10):
            W, lam = instance[0], instance[-1]
            a = instance[1] if family.name.startswith("parallel") else instance[2]
            unit = lam / torch.linalg.vector_norm(lam, dim=-1, keepdim=True)
            torch.testing.assert_close(path_norm_lambda(W, a), unit)
            assert bool((unit_rank(W, a) == 1).all())


def test_aligned_units_have_one_gradient_of_the_length_of_the_path_norm(swept):
    for _, (W, b, a, x, p, _, _) in swept(aligned_units_at_points(), 10):
        gradients = two_layer_network(W, b, a).jacobian(x).squeeze(-2)
        lengths = torch.linalg.vector_norm(gradients, dim=-1)
        torch.testing.assert_close(
            lengths, path_norm_of_units(W, a).unsqueeze(-1).expand(lengths.shape)
        )
        assert p.shape == lengths.shape


def test_separate_units_have_equal_singular_values_and_are_deep(swept):
    depths = set()
    for _, (W, b, a, x, p, L, lam) in swept(separate_units_at_points(), 20):
        assert bool((lam == 1).all())
        net = two_layer_network(W, b, a)
        assert bool((net.pattern(x)[0].sum(-1) == 1).all())
        s = singular_values(egop(net.jacobian(x).squeeze(-2), p))[..., : W.shape[-2]]
        torch.testing.assert_close(s, s[..., :1].expand(s.shape), rtol=1e-9, atol=0)
        depths.add(L)
    assert depths == set(DEEP)
