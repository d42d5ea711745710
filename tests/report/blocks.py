"""Made-up audits of networks with blocks: a residual one, convolutions, a transformer's block."""

from __future__ import annotations

from dataclasses import replace

from rankcheck.audit.result import Audit, Balanced, BlockFacts, RankFacts

from .audits import around, layer, made_up

WIDTH, DEPTH = 16, 3
SMOOTH = "GELU is not piecewise linear, and the theorems are about ReLU"
ATTENTION = "attention is no composition of affine maps and activations"


def block(name: str, kind: str = "residual", **changes) -> BlockFacts:
    """A block of two layers, J near the identity, a branch of small singular values."""
    made = BlockFacts(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        layers=(f"{name}.first", f"{name}.second"),
        shape=(WIDTH, WIDTH),
        rowwise=False,
        depth=2,
        cost=12.5,
        unclaimed="",
        least_cost=30.25,
        imbalance=0.125,
        balanced=12.25,
        points=240,
        ranks={WIDTH: 230, WIDTH - 1: 10},
        undecided=3,
        gaps=around(40.0),
        singular_values=tuple(around(1.4 - 0.02 * i, 0.05) for i in range(WIDTH)),
        branch=tuple(around(0.9 * 0.7**i) for i in range(WIDTH)) if kind == "residual" else (),
        branch_ranks={4: 200, 5: 40} if kind == "residual" else {},
        branch_undecided=20 if kind == "residual" else 0,
    )
    return replace(made, **changes)


def _of(usual: Audit, blocks: tuple[BlockFacts, ...], **changes) -> Audit:
    """An audit without what is said of chains alone."""
    model = replace(
        usual.model, source="torch module", depth=6, widths=(10, 5), slope=None, folded=(),
        assumed=(), activations=("ReLU",), cost=sum(each.cost for each in blocks),
    )  # fmt: skip
    data = usual.data and replace(
        usual.data, schatten=None, bounds=(), least_cost=4.5, dead_cost=None
    )
    layers = tuple(replace(one, distance=None) for one in usual.layers)
    made = replace(
        usual, name="Residual", model=model, data=data, layers=layers, theorems=(), blocks=blocks,
        balanced=Balanced(model.cost - 1, 2e-16),
        words=("The rank of $Jf$ is 2 at 220 of 240 points.",),
    )  # fmt: skip
    return replace(made, **changes)


def residual(**changes) -> Audit:
    """A chain in front, three residual blocks, a chain behind."""
    stem = block("stem", "chain", depth=1, shape=(WIDTH, 10), ranks={10: 240}, undecided=0,
                 cost=20.0, least_cost=9.5, imbalance=None, balanced=None)  # fmt: skip
    middle = tuple(
        block(f"blocks.{n}", ranks={WIDTH: 240}, undecided=240 * (n == 1), cost=10.0 + n)
        for n in range(DEPTH)
    )
    head = replace(stem, name="head", shape=(5, WIDTH), cost=4.0, least_cost=3.5, ranks={5: 240})
    return _of(made_up(), (stem, *middle, head), **changes)


def convolutional() -> Audit:
    """Convolutions of which the largest singular values alone are known; two blocks."""
    spectrum = tuple(2.0 * 0.95**i for i in range(32))
    wide = replace(
        layer(1), name="features.0", kind="convolution", shape=(3136, 784), complete=False,
        singular_values=spectrum, rank=RankFacts(32, None, 0.1, True), near_one=9,
        effective_rank=None, participation=None, distance=None, representation=None,
    )  # fmt: skip
    some = replace(wide, name="features.3", rank=RankFacts(20, 1.1, 1.0, False))
    features = block("features", "chain", shape=(784, 784), ranks={300: 240}, undecided=240,
                     singular_values=(around(3.0),), least_cost=800.0, points=24)  # fmt: skip
    pooled = block("blocks.0", "branches", shape=(64, 784), imbalance=None, balanced=None,
                   ranks={}, points=0, singular_values=(), gaps=None, undecided=0,
                   least_cost=None, unclaimed="its Jacobians are too large")  # fmt: skip
    last = replace(layer(8), name="classifier")
    return _of(made_up(), (features, pooled), name="Convolutional", layers=(wide, some, last))


def transformer() -> Audit:
    """One block: attention over all tokens, and an MLP on each of them."""
    attention = block("attention", least_cost=None, unclaimed=ATTENTION, imbalance=None,
                      balanced=None, depth=2, shape=(128, 128))  # fmt: skip
    rows = block("mlp", rowwise=True, least_cost=None, unclaimed=SMOOTH, imbalance=None,
                 balanced=None)  # fmt: skip
    again = replace(rows, name="encoder.layers.0.feed_forward_with_a_long_name")
    layers = tuple(
        replace(layer(n), name=f"mlp.{n}", copies=8, shape=(WIDTH, WIDTH), representation=None)
        for n in (2, 3)
    )
    made = _of(made_up(), (attention, rows, again), name="Encoder", layers=layers)
    model = replace(made.model, activations=("softmax", "GELU"), widths=(128, 128))
    data = made.data and replace(made.data, least_cost=None)
    return replace(made, model=model, data=data)


def odd_blocks(text: str) -> Audit:
    """All of whose texts are the given one."""
    usual = residual()
    blocks = tuple(replace(each, name=text, layers=(text,)) for each in usual.blocks)
    last = replace(blocks[-1], unclaimed=text)
    model = replace(usual.model, source=text, activations=(text,))
    return replace(usual, name=text, model=model, blocks=(*blocks[:-1], last), words=(text,))
