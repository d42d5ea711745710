"""Pairs of points by their regions: against the enumeration of all regions, and what is reached."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from rankcheck.instances import pairs_of_points
from rankcheck.regions import region_arrays
from rankcheck.theory.instances.drivers import BatchSource
from tests.draws import batch_of


def drawn(regions, seed, **options):
    built, valid = batch_of(pairs_of_points(regions=regions, **options), BatchSource(seed, 32))
    return *built, valid


@pytest.mark.parametrize("kind", ["one", "neighbouring"])
def test_they_are_pairs_of_the_list_of_regions(kind):
    """In a box around both points, whose neighbours are found by their common vertices."""
    checked = 0
    for seed in range(24):
        net, x, y, valid = drawn(kind, seed, depth=(2, 3), width=(1, 3))
        if net.widths[0] > 2:
            continue
        low, high = torch.minimum(x, y) - 1, torch.maximum(x, y) + 1
        cells = region_arrays(net, low, high)
        places = [
            (cells.patterns == torch.cat(net.pattern(point), -1).unsqueeze(-2)).all(-1)
            for point in (x, y)
        ]
        if kind == "one":
            found = (places[0] & places[1]).any(-1)
        else:
            (a, b), (c, d) = (cells.across(place) for place in places)
            found = (cells.neighbours & ((a & d) | (b & c))).any(-1)
        assert found[valid].all()
        checked += int(valid.sum())
    assert checked > 100


def test_the_pairs_reach_what_they_are_for():
    """Different points of one region; neighbours across every layer; regions many units apart."""
    layers: Counter[int] = Counter()
    apart: Counter[int] = Counter()
    same = total = 0
    for seed in range(16):
        net, x, y, valid = drawn("one", seed)
        same, total = same + int((x == y).all(-1).sum()), total + len(x)
        net, x, y, valid = drawn("neighbouring", seed, depth=(3, 4))
        for layer, (a, b) in enumerate(zip(net.pattern(x), net.pattern(y), strict=True)):
            layers[layer] += int((a != b).any(-1)[valid].sum())
        net, x, y, valid = drawn("different", seed)
        turned = torch.cat(net.pattern(x), -1) != torch.cat(net.pattern(y), -1)
        apart.update(turned.sum(-1)[valid].tolist())
    assert same < 0.2 * total
    assert min(layers[0], layers[1]) > 40
    assert apart[1] > 40
    assert sum(count for number, count in apart.items() if number > 2) > 30


def test_a_network_of_one_layer_has_no_pairs():
    with pytest.raises(ValueError, match="depth 2 or more"):
        drawn("one", 0, depth=(1, 2))
