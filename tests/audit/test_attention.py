"""Attention as a graph: what the module of torch computes, and what is known of its parts."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.blocks import blocks
from rankcheck.audit.graph.tracing import graph_of
from rankcheck.audit.model import ModelError

from .nets import normal

TOKENS, SIZE, HEADS = 5, 8, 2


def drawn(module, seed=0):
    """The module in eval mode with random parameters, in float64."""
    module = module.double().eval()
    for index, p in enumerate(module.parameters()):
        p.data = 0.5 * normal(*p.shape, seed=seed + index)
    return module


class SelfAttention(nn.Module):
    """x plus `nn.MultiheadAttention` of it, with some mask."""

    def __init__(self, mask=None, weights=False, causal=False, **options):
        super().__init__()
        options = {"batch_first": True, **options}
        self.attend = nn.MultiheadAttention(SIZE, HEADS, **options)
        self.weights, self.causal = weights, causal
        self.register_buffer("mask", mask)

    def forward(self, x):
        y, _ = self.attend(
            x, x, x, attn_mask=self.mask, need_weights=self.weights, is_causal=self.causal
        )
        return x + y


class Gated(nn.Module):
    """SwiGLU."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(SIZE, 12), nn.Linear(SIZE, 12, bias=False)
        self.back = nn.Linear(12, SIZE)

    def forward(self, x):
        return x + self.back(functional.silu(self.one(x)) * self.two(x))


LATER = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
MODULES = {
    "plain": lambda: SelfAttention(),
    "weights": lambda: SelfAttention(weights=True),
    "no bias": lambda: SelfAttention(bias=False),
    "mask": lambda: SelfAttention(LATER),
    "mask and weights": lambda: SelfAttention(LATER, weights=True),
    "mask of numbers": lambda: SelfAttention(normal(TOKENS, TOKENS)),
    "causal": lambda: SelfAttention(LATER, causal=True),
    "a mask for each head": lambda: SelfAttention(normal(HEADS, TOKENS, TOKENS)),
    "dropout": lambda: SelfAttention(dropout=0.5),
    "SwiGLU": Gated,
}


@pytest.mark.parametrize("name", MODULES)
def test_the_graph_computes_what_the_module_does(name):
    module = drawn(MODULES[name]())
    graph = graph_of(module, (TOKENS, SIZE), "torch module")
    X = normal(4, TOKENS, SIZE, seed=9)
    with torch.no_grad():
        expected = torch.stack([module(x[None]).flatten() for x in X])
    torch.testing.assert_close(graph(X.flatten(1)), expected)
    assert set(graph.parameters) == {name for name, _ in module.named_parameters()}


def test_the_maps_of_attention():
    module = drawn(SelfAttention())
    graph = graph_of(module, (TOKENS, SIZE), "torch module")
    maps = {one.name: one for layer in graph.layers.values() for one in layer.maps}
    assert list(maps) == ["attend.q", "attend.k", "attend.v", "attend.out_proj"]
    stacked = module.attend.in_proj_weight.detach()
    assert torch.equal(maps["attend.k"].weight, stacked[SIZE : 2 * SIZE])
    assert torch.equal(maps["attend.v"].offset, module.attend.in_proj_bias.detach()[2 * SIZE :])
    assert {one.copies for one in maps.values()} == {TOKENS}
    assert sum(one.weights + one.bias for one in maps.values()) == pytest.approx(graph.stored_cost)


def test_blocks_and_rows():
    (attention,) = blocks(graph_of(drawn(SelfAttention()), (TOKENS, SIZE), "torch module"))
    (gated,) = blocks(graph_of(drawn(Gated()), (TOKENS, SIZE), "torch module"))
    assert (attention.kind, attention.name, attention.graph.depth) == ("residual", "attend", 2)
    assert (gated.kind, gated.graph.depth, gated.graph.piecewise) == ("residual", 2, False)
    assert not all(layer.rowwise for layer in attention.graph.layers.values())
    assert all(layer.rowwise for layer in gated.graph.layers.values())


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (SelfAttention(batch_first=False), "batch_first"),
        (SelfAttention(add_zero_attn=True), "add_zero_attn"),
        (SelfAttention(add_bias_kv=True), "add_bias_kv"),
    ],
)
def test_what_is_refused(module, said):
    with pytest.raises(ModelError, match=said):
        graph_of(drawn(module), (TOKENS, SIZE), "torch module")


def test_attention_in_training_mode_is_refused():
    with pytest.raises(ModelError, match=r"'attend' .* training mode"):
        graph_of(SelfAttention(dropout=0.5).train(), (TOKENS, SIZE), "torch module")
