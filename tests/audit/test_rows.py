"""Parts of a network that treat rows alike and alone, as maps of one row."""

import pytest
import torch
from torch import nn
from torch.func import jacrev

from rankcheck.audit import audit
from rankcheck.audit.graph.rows import number_of_rows, of_one_row, rows_of
from rankcheck.audit.graph.tracing import graph_of

from .nets import normal

TOKENS, SIZE = 4, 3


class Network(nn.Module):
    """A residual block of layers that are given, on tokens, with a position added if there is."""

    def __init__(self, *layers, position=None):
        super().__init__()
        self.layers = nn.Sequential(*layers)
        self.position = None if position is None else nn.Parameter(position)

    def forward(self, x):
        y = self.layers(x)
        return x + y if self.position is None else x + y + self.position


def read(module, shape=(TOKENS, SIZE)):
    module = module.double().eval()
    for index, p in enumerate(module.parameters()):
        p.data = normal(*p.shape, seed=index)
    return graph_of(module, shape, "torch module")


def mlp():
    return nn.LayerNorm(SIZE), nn.Linear(SIZE, 5), nn.GELU(), nn.Linear(5, SIZE)


def test_a_row_alone_has_the_values_and_the_jacobian_that_it_has_among_others():
    graph = read(Network(*mlp()))
    X = normal(6, TOKENS * SIZE, seed=3)
    assert number_of_rows(graph) == TOKENS
    one, rows = of_one_row(graph), rows_of(graph, X, 100)
    assert one.widths == (SIZE, SIZE)
    torch.testing.assert_close(one(rows).reshape(6, -1), graph(X))
    J = jacrev(graph.at)(X[0])
    alone = [jacrev(one.at)(row) for row in rows[:TOKENS]]
    torch.testing.assert_close(J, torch.block_diag(*alone))


def test_one_row_has_one_copy_of_each_map_and_the_same_parameters():
    graph = read(Network(*mlp()))
    one = of_one_row(graph)
    maps = [m for layer in one.layers.values() for m in layer.maps]
    assert {m.copies for m in maps} == {1}
    assert one.stored_cost == graph.stored_cost
    assert one.depth == graph.depth


@pytest.mark.parametrize("shape", [(SIZE,), (1, SIZE)])
def test_a_point_of_one_row_is_left_as_it_is(shape):
    assert number_of_rows(read(Network(*mlp()), shape)) is None


def test_rows_along_several_axes():
    assert number_of_rows(read(Network(*mlp()), (2, TOKENS, SIZE))) == 2 * TOKENS


def test_softmax_along_the_last_axis_alone_is_of_rows():
    assert number_of_rows(read(Network(nn.Softmax(-1)))) == TOKENS
    assert number_of_rows(read(Network(nn.Softmax(2)))) == TOKENS
    assert number_of_rows(read(Network(nn.Softmax(1)))) is None


def test_a_norm_by_hand_is_of_rows():
    class Root(nn.Module):
        def __init__(self, axis):
            super().__init__()
            self.axis, self.weight = axis, nn.Parameter(torch.ones(SIZE))

        def forward(self, x):
            return x * torch.rsqrt(x.pow(2).mean(self.axis, keepdim=True) + 1e-5) * self.weight

    assert number_of_rows(read(Network(Root(-1), *mlp()))) == TOKENS
    assert number_of_rows(read(Network(Root((2,)), *mlp()))) == TOKENS
    assert number_of_rows(read(Network(Root(1), *mlp()))) is None
    assert number_of_rows(read(Network(Root((1, 2)), *mlp()))) is None


def test_a_norm_over_tokens_and_a_position_tell_rows_apart():
    over_all = nn.LayerNorm((TOKENS, SIZE))
    assert number_of_rows(read(Network(over_all, nn.Linear(SIZE, SIZE)))) is None
    assert number_of_rows(read(Network(*mlp(), position=torch.zeros(1, SIZE)))) == TOKENS
    assert number_of_rows(read(Network(*mlp(), position=torch.zeros(TOKENS, SIZE)))) is None


@pytest.mark.parametrize("points", [2, 7, 64, 100])
def test_some_of_many_rows_are_distinct_and_of_all_points_and_places(points):
    most, rows = 64, 32
    graph = read(Network(nn.Linear(1, 1)), (rows, 1))
    chosen = rows_of(graph, torch.arange(points * rows).double().reshape(points, rows), most)
    assert chosen.shape == (most, 1)
    seen = chosen.flatten().long()
    assert len(set(seen.tolist())) == most
    assert set((seen % rows).tolist()) == set(range(rows))
    assert len(set((seen // rows).tolist())) == min(points, most)


def test_an_audit_measures_a_block_of_rows_on_rows():
    module = nn.Sequential(Network(*mlp()), nn.Flatten(), nn.Linear(TOKENS * SIZE, 2)).double()
    found = audit(module.eval(), normal(5, TOKENS, SIZE), theorems=False)
    block, end = found.blocks
    assert (block.rowwise, block.shape, block.points) == (True, (SIZE, SIZE), 5 * TOKENS)
    assert (end.rowwise, end.shape, end.points) == (False, (2, TOKENS * SIZE), 5)
