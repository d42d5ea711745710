"""Attention as a graph: what the module of torch computes, and what is known of its parts."""

import math
import pickle
import re

import pytest
import torch
from torch import nn
from torch.func import jacfwd, jacrev
from torch.nn import functional

from rankcheck.audit import audit
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


class ByHand(nn.Module):
    """Causal attention with learned positions, as it is written by hand."""

    def __init__(self):
        super().__init__()
        self.ways, self.back = nn.Linear(SIZE, 3 * SIZE), nn.Linear(SIZE, SIZE)
        self.place = nn.Embedding(TOKENS, SIZE)
        self.register_buffer("seen", torch.tril(torch.ones(TOKENS, TOKENS)))

    def forward(self, x):
        number, tokens, size = x.size()
        x = x + self.place(torch.arange(tokens, device=x.device))
        shape = (number, tokens, HEADS, size // HEADS)
        q, k, v = (y.view(*shape).transpose(1, 2) for y in self.ways(x).split(size, dim=2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.seen[:tokens, :tokens] == 0, float("-inf"))
        y = (functional.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous()
        return x + self.back(y.view(number, tokens, size))


class Fused(nn.Module):
    """The kernel of torch, with fewer keys than queries."""

    def __init__(self, **options):
        super().__init__()
        self.q, self.kv = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)
        self.options = options

    def forward(self, x):
        q = self.q(x).unflatten(-1, (4, -1)).transpose(1, 2)
        k, v = (y.unflatten(-1, (2, -1)).transpose(1, 2) for y in self.kv(x).chunk(2, -1))
        y = functional.scaled_dot_product_attention(q, k, v, enable_gqa=True, **self.options)
        return y.transpose(1, 2).flatten(2)


class Products(nn.Module):
    """Attention with stored matrices and einsum."""

    def __init__(self):
        super().__init__()
        self.queries, self.keys = (nn.Parameter(torch.zeros(SIZE, 3)) for _ in range(2))
        self.register_buffer("fixed", normal(SIZE, SIZE))

    def forward(self, x):
        scores = torch.einsum("btd,bsd->bts", x @ self.queries, torch.matmul(x, self.keys))
        return torch.bmm(scores.softmax(-1), x @ self.fixed)


def encoder(layers=1, **options):
    layer = nn.TransformerEncoderLayer(SIZE, HEADS, 12, batch_first=True, **options)
    return layer if layers == 1 else nn.TransformerEncoder(layer, layers, nn.LayerNorm(SIZE))


LATER = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
PER_HEAD = "a mask for each head"  # of torch it takes one point at a time
MODULES = {
    "plain": lambda: SelfAttention(),
    "weights": lambda: SelfAttention(weights=True),
    "no bias": lambda: SelfAttention(bias=False),
    "mask": lambda: SelfAttention(LATER),
    "mask and weights": lambda: SelfAttention(LATER, weights=True),
    "mask of numbers": lambda: SelfAttention(normal(TOKENS, TOKENS)),
    "causal": lambda: SelfAttention(LATER, causal=True),
    PER_HEAD: lambda: SelfAttention(normal(HEADS, TOKENS, TOKENS)),
    "dropout": lambda: SelfAttention(dropout=0.5),
    "SwiGLU": Gated,
    "by hand": ByHand,
    "fused": Fused,
    "fused and causal": lambda: Fused(is_causal=True, scale=0.3),
    "fused with a mask": lambda: Fused(attn_mask=~LATER),
    "products": Products,
    "encoder layer": encoder,
    "encoder layer, norm first": lambda: encoder(norm_first=True),
    "encoder layer, GELU": lambda: encoder(norm_first=True, activation="gelu"),
    "encoder": lambda: encoder(2),
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


@pytest.mark.parametrize("name", [name for name in MODULES if name != PER_HEAD])
def test_each_is_audited(name):
    module = drawn(MODULES[name]())
    X = normal(3, TOKENS, SIZE, seed=9)
    found = audit(module, X, theorems=False)
    spectra = []
    for x in X:
        J = torch.autograd.functional.jacobian(lambda x: module(x[None]).flatten(), x)
        spectra.append(torch.linalg.svdvals(J.flatten(1)))
    largest = sorted(float(s[0]) for s in spectra)
    assert found.data is not None
    assert found.data.singular_values[0].most == pytest.approx(largest[-1], rel=1e-9)
    assert found.model.cost == pytest.approx(
        sum(float(p.square().sum()) for p in parameters(module))
    )
    assert found.balanced.change is None or found.balanced.change < 1e-9


def parameters(module):
    return [p.detach() for p in module.parameters()]


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


def test_matrices_that_are_parameters_are_maps_and_others_are_not():
    graph = graph_of(drawn(Products()), (TOKENS, SIZE), "torch module")
    maps = [one for layer in graph.layers.values() for one in layer.maps]
    assert [one.parameters for one in maps] == [("queries", None), ("keys", None)]
    assert {one.block for one in maps} == {(3, SIZE)}


@pytest.mark.parametrize("first", [False, True])
def test_an_encoder_layer_is_two_residual_blocks(first):
    module = encoder(norm_first=first)
    found = blocks(graph_of(drawn(module), (TOKENS, SIZE), "torch module"))
    kinds = [block.kind for block in found]
    assert kinds == (["residual"] * 2 if first else ["residual", "chain"] * 2)
    maps = [[m.name for la in block.graph.layers.values() for m in la.maps] for block in found]
    inner = [name for names in maps for name in names if not name.startswith("norm")]
    attention = [f"self_attn.{way}" for way in ("q", "k", "v", "out_proj")]
    assert inner == [*attention, "linear1", "linear2"]


def test_derivatives_in_both_directions():
    graph = graph_of(drawn(encoder(norm_first=True)), (TOKENS, SIZE), "torch module")
    X = normal(3, TOKENS * SIZE)
    there, back = (torch.vmap(jac(graph.at))(X) for jac in (jacfwd, jacrev))
    torch.testing.assert_close(there, back)


@pytest.mark.parametrize("name", MODULES)
def test_a_graph_and_its_blocks_travel(name):
    graph = graph_of(drawn(MODULES[name]()), (TOKENS, SIZE), "torch module")
    for part in (graph, *(block.graph for block in blocks(graph))):
        X = normal(2, part.widths[0])
        assert torch.equal(pickle.loads(pickle.dumps(part))(X), part(X))


def test_blocks_and_rows():
    (attention,) = blocks(graph_of(drawn(SelfAttention()), (TOKENS, SIZE), "torch module"))
    (gated,) = blocks(graph_of(drawn(Gated()), (TOKENS, SIZE), "torch module"))
    assert (attention.kind, attention.name, attention.graph.depth) == ("residual", "attend", 2)
    assert (gated.kind, gated.graph.depth, gated.graph.piecewise) == ("residual", 2, False)
    assert not all(layer.rowwise for layer in attention.graph.layers.values())
    assert all(layer.rowwise for layer in gated.graph.layers.values())


class Padded(nn.Module):
    """Attention that leaves tokens out."""

    def __init__(self):
        super().__init__()
        self.layer = encoder()

    def forward(self, x):
        return self.layer(x, src_key_padding_mask=torch.zeros(x.shape[:2], dtype=torch.bool))


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (SelfAttention(batch_first=False), "'attend' (MultiheadAttention) has batch_first=False"),
        (SelfAttention(add_zero_attn=True), "add_zero_attn"),
        (SelfAttention(add_bias_kv=True), "add_bias_kv"),
        (SelfAttention(causal=True), "is_causal and needs its attn_mask"),
        (Padded(), "'layer.self_attn' (MultiheadAttention) gets a padding mask"),
        (Fused(dropout_p=0.5), "dropout_p=0"),
    ],
)
def test_what_is_refused(module, said):
    with pytest.raises(ModelError, match=re.escape(said)):
        graph_of(drawn(module), (TOKENS, SIZE), "torch module")


def test_a_point_has_tokens():
    with pytest.raises(ModelError, match=r"of shape \(8,\); attention takes .*tokens"):
        graph_of(drawn(SelfAttention()), (SIZE,), "torch module")


def test_attention_in_training_mode_is_refused():
    with pytest.raises(ModelError, match=r"'attend' .* training mode"):
        graph_of(SelfAttention(dropout=0.5).train(), (TOKENS, SIZE), "torch module")
