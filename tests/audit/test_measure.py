"""`rankcheck.measure`: every number against plain autograd in a loop; the module stays as it is."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import rankcheck
from rankcheck import measure
from rankcheck.audit import audit
from rankcheck.audit.ranks import GAP, TOLERANCE
from rankcheck.errors import InputError

from .nets import normal


class Residual(nn.Module):
    """x plus a branch of x, which is written over; and a layer that nobody calls."""

    def __init__(self, *branch):
        super().__init__()
        self.branch = nn.Sequential(*branch)
        self.idle = nn.Linear(2, 2)

    def forward(self, x):
        return x + self.branch(x)


def drawn(*layers):
    """A Sequential in float32 and training mode with random parameters and averages."""
    module = nn.Sequential(*layers)
    for index, p in enumerate(module.parameters()):
        p.data = 0.7 * normal(*p.shape, seed=index).float()
    for index, (name, b) in enumerate(module.named_buffers()):
        if b.is_floating_point():
            values = normal(*b.shape, seed=90 + index).float()
            b.data = values.abs() + 0.2 if name.endswith("var") else values
    return module


def residual():
    branch = nn.Linear(5, 7), nn.ReLU(inplace=True), nn.Linear(7, 5)
    return drawn(nn.Linear(3, 5), Residual(*branch), nn.Linear(5, 2)), normal(9, 3, seed=33)


def convolution():
    stem = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(inplace=True))
    branch = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.ReLU(), nn.Conv2d(4, 3, 1)
    end = nn.Sequential(nn.AvgPool2d(2), nn.Flatten(), nn.Linear(12, 3))
    return drawn(stem, Residual(*branch), end), normal(9, 2, 4, 4, seed=34)


def transformer():
    block = nn.TransformerEncoderLayer(
        6, 2, 8, dropout=0.5, activation="gelu", batch_first=True, norm_first=True
    )
    end = nn.Sequential(nn.Flatten(), nn.Linear(18, 4))
    return drawn(nn.Linear(2, 6), block, end), normal(9, 3, 2, seed=35)


CASES = {"residual": residual, "convolution": convolution, "transformer": transformer}


def jacobian(run, x):
    """The Jacobian at one point, row by row."""
    x = x.clone().requires_grad_()
    y = run(x.clone().unsqueeze(0)).flatten()
    return torch.stack(
        [torch.autograd.grad(one, x, retain_graph=True)[0].flatten() for one in y]
    ).numpy()


def check(found, matrices):
    """Ranks and singular values of some facts are those of these matrices."""
    s = np.stack([np.linalg.svd(J, compute_uv=False) for J in matrices])
    ranks = (s > TOLERANCE * s[:, :1]).sum(1)
    assert found.ranks == tuple(ranks)
    after = np.pad(s, ((0, 0), (0, 1)))[np.arange(len(s)), ranks]
    assert found.undecided == (s[np.arange(len(s)), ranks - 1] < GAP * after).sum()
    assert found.singular_values == pytest.approx(
        torch.from_numpy(s).median(0).values.tolist(), rel=1e-9, abs=1e-11 * s.max()
    )


@pytest.fixture(params=CASES, scope="module")
def case(request):
    """A module, what was measured of it, its copy in double precision, and points."""
    module, X = CASES[request.param]()
    plain = CASES[request.param]()[0].double().eval()
    return SimpleNamespace(module=module, plain=plain, X=X, found=measure(module, X))


def test_the_whole(case):
    found, used = case.found, [(n, p) for n, p in case.plain.named_parameters() if "idle" not in n]
    assert found.cost == pytest.approx(sum(float((p.detach() ** 2).sum()) for _, p in used))
    assert {name.split(".")[-2] for name in found.unused} <= {"idle"}
    check(found.whole.jacobian, [jacobian(case.plain, x) for x in case.X])
    traces = []
    for x in case.X:
        y = case.plain(x.unsqueeze(0)).flatten()
        rows = [torch.autograd.grad(one, [p for _, p in used], retain_graph=True) for one in y]
        traces.append(sum(float((g * g).sum()) for row in rows for g in row))
    assert found.kernel_trace == pytest.approx(traces)
    assert found.notes == ()


def test_the_modules_inside(case):
    """What goes into each is taken from the modules before, called one after the other."""
    first, block, end = case.plain
    facts = {one.name: one for one in case.found.modules}
    Z = case.X
    for name, one in (("0", first), ("1", block), ("2", end)):
        matrices = [jacobian(one, z) for z in Z]
        if isinstance(one, nn.Linear):  # the same for each token
            check(facts[name].jacobian, [one.weight.detach().numpy()])
        else:
            assert facts[name].shape == matrices[0].shape
            check(facts[name].jacobian, matrices)
        own = [p for n, p in one.named_parameters() if "idle" not in n]
        assert facts[name].cost == pytest.approx(sum(float((p.detach() ** 2).sum()) for p in own))
        assert (facts[name].added is None) == (one is not block)
        with torch.no_grad():
            before, Z = Z, one(Z.clone())
        if one is block:
            check(facts["1"].added, [J - np.eye(len(J)) for J in matrices])
            X = before
    if isinstance(block, Residual):
        check(facts["1.branch"].jacobian, [jacobian(block.branch, x) for x in X])
        check(facts["1.branch.0"].jacobian, [jacobian(block.branch[0], X[0])])
    assert not any("idle" in name for name in facts)


def state(module):
    return {name: (p.clone(), p.dtype, p.requires_grad, p.grad) for name, p in
            (*module.named_parameters(), *module.named_buffers())}  # fmt: skip


def same(one, other):
    return all(
        torch.equal(a[0], b[0]) and a[1:] == b[1:]
        for a, b in zip(one.values(), other.values(), strict=True)
    )


@pytest.mark.parametrize("fails", [False, True])
def test_the_module_stays_as_it_is(case, fails):
    module = CASES["convolution"]()[0]
    module[1].train(False)
    module[0][0].weight.requires_grad_(False)
    module[2][2].weight.grad = grad = torch.ones_like(module[2][2].weight)
    seen = []
    module[0].register_forward_hook(lambda *given: seen.append(0))
    before, training = state(module), [one.training for one in module.modules()]
    hooks = [(len(one._forward_hooks), len(one._forward_pre_hooks)) for one in module.modules()]
    fast = torch.backends.mha.get_fastpath_enabled()
    X = normal(3, 2, 4, 4)
    if fails:
        with pytest.raises(RuntimeError, match="channels"):
            measure(module, X[:, :1])
    else:
        with torch.inference_mode():
            assert measure(module, X).kernel_trace == pytest.approx(measure(module, X).kernel_trace)
    assert same(before, state(module))
    assert module[2][2].weight.grad is grad
    assert training == [one.training for one in module.modules()]
    assert hooks == [(len(o._forward_hooks), len(o._forward_pre_hooks)) for o in module.modules()]
    assert torch.backends.mha.get_fastpath_enabled() == fast


def test_a_chain_is_measured_as_an_audit_measures_it():
    net = drawn(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 5, bias=False), nn.ReLU(), nn.Linear(5, 2))
    X = normal(20, 3, seed=5)
    found, other = measure(net, X), audit(net, X, theorems=False)
    assert found.cost == pytest.approx(other.model.cost)
    assert {k: found.whole.jacobian.ranks.count(k) for k in other.data.ranks} == other.data.ranks
    assert np.median(found.kernel_trace) == pytest.approx(other.data.kernel_trace.median)
    for one, layer in zip(found.modules, other.layers, strict=True):
        assert one.jacobian.singular_values == pytest.approx(layer.singular_values)


def test_tied_layers_are_counted_once_and_their_kernel_has_the_cross_term():
    """f(x) = w σ(w x): ∂_w f = 2wx for x > 0; the cost is w², also of two layers."""
    one = nn.Linear(1, 1, bias=False)
    two = nn.Linear(1, 1, bias=False)
    one.weight.data.fill_(3.0)
    two.weight = one.weight
    for net in (nn.Sequential(one, nn.ReLU(), one), nn.Sequential(one, nn.ReLU(), two)):
        found = measure(net, torch.tensor([[2.0]]))
        assert found.cost == 9.0
        assert found.kernel_trace == pytest.approx((144.0,))
        assert float(net(torch.ones(1, 1)).detach()) == 9.0  # its weights are still there
    [layer] = measure(nn.Sequential(one, nn.ReLU(), one), torch.tensor([[2.0]])).modules
    assert "2 times" in layer.note


def test_what_torch_func_has_no_rule_for_is_differentiated_row_by_row():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return 3 * ctx.saved_tensors[0] ** 2 * g

    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.tensor([2.0, 1.0]))

        def forward(self, x):
            return Cube.apply(self.w * x)

    found = measure(Odd(), torch.tensor([[1.0, 2.0]]))
    assert found.whole.jacobian.singular_values == pytest.approx((24.0, 12.0))  # 3 (wx)² w
    assert found.kernel_trace == pytest.approx((12.0**2 + 24.0**2,))  # 3 (wx)² x


class Single(nn.Module):
    """A matrix that is no parameter and stays in single precision; None as the second output."""

    def __init__(self):
        super().__init__()
        self.A = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return {"none": None, "value": self.scale * (x @ self.A)}


class Batch(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.scale * (x - x.mean(0))


class Random(nn.Linear):
    def forward(self, x):
        return super().forward(x) + torch.rand(())


@pytest.mark.parametrize(
    ("module", "note"),
    [
        (Single(), "float32"),
        (Batch(), "one another"),
        (Random(2, 2), "random"),
        (nn.Linear(2, 2), None),
        (nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)), None),
    ],
)
def test_what_is_to_be_known_is_said(module, note):
    found = measure(module, torch.randn(4, 2))
    assert len(found.notes) == (note is not None)
    assert note is None or note in found.notes[0]
    assert note is None or note in str(found)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_weight_that_a_hook_computes_anew():
    module = nn.utils.weight_norm(nn.Linear(2, 2))
    module(torch.ones(1, 2))
    s = torch.linalg.svdvals(module.weight.detach().double())
    found = measure(module, torch.randn(3, 2))
    assert found.whole.jacobian.singular_values == pytest.approx(s.tolist())


def test_tokens_have_no_jacobian_and_what_comes_behind_them_has():
    module = nn.Sequential(nn.Embedding(7, 3), nn.Flatten(), nn.Linear(6, 2))
    found = measure(module, torch.tensor([[0, 1], [2, 3]]))
    assert found.whole.jacobian is None
    assert found.modules[0].jacobian is None
    assert found.modules[1].jacobian.ranks == (2,)
    assert found.cost == pytest.approx(sum(float((p.detach() ** 2).sum()) for p in
                                           module.parameters()))  # fmt: skip


def test_a_linear_layer_with_a_forward_of_its_own_is_no_matrix():
    class Squared(nn.Linear):
        def forward(self, x):
            return super().forward(x) ** 2

    net = Squared(1, 1, bias=False)
    net.weight.data.fill_(3.0)
    found = measure(net, torch.tensor([[1.0], [2.0]]))
    assert found.whole.jacobian.singular_values == (18.0,)  # the lower one of 2w²x


def test_a_block_that_adds_nothing_adds_rank_zero():
    """Two layers, Q and its transpose: their Jacobian is 1 up to rounding."""
    there, back = nn.Linear(5, 5).double(), nn.Linear(5, 5).double()
    there.weight.data = torch.linalg.qr(normal(5, 5)).Q
    back.weight.data = there.weight.data.mT.contiguous()
    found = measure(nn.Sequential(there, back), normal(4, 5)).whole
    assert found.added.singular_values[0] > 0
    assert found.added.ranks == (0,) * 4


def test_what_is_not_finite_has_no_rank():
    module = nn.Linear(1, 1, bias=False)
    module.weight.data.fill_(float("inf"))
    found = measure(module, torch.ones(2, 1))
    assert found.whole.jacobian.ranks == (None,)
    assert "unknown" in str(found)


def test_large_matrices_are_left_out(monkeypatch):
    monkeypatch.setattr("rankcheck.audit.measure.WORK", 4 * 3 * 3)
    monkeypatch.setattr("rankcheck.audit.measure.ENTRIES", 50)
    net = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 4))
    found = measure(net, torch.randn(2, 4))
    assert (found.whole.jacobian, found.kernel_trace) == (None, None)
    assert "at 0 points, not at 2" in str(found)
    assert [one.jacobian is None for one in found.modules] == [False, False]
    monkeypatch.setattr("rankcheck.audit.measure.WORK", 2 * 4**3)
    found = measure(net, torch.randn(3, 4))
    assert len(found.whole.jacobian.ranks) == 2
    assert "at 2 points, not at 1" in str(found)


def test_at_most_so_many_points_at_even_distances():
    X = torch.arange(10.0).reshape(10, 1)
    module = nn.Sequential(nn.Linear(1, 1, bias=False))
    assert measure(module, X, points=5).kernel_trace == pytest.approx((0.0, 4.0, 16.0, 36.0, 64.0))
    assert len(measure(module, X).kernel_trace) == 10


def test_text_and_json(case):
    found = case.found
    assert repr(found) == str(found) == "\n".join(found.lines())
    assert f"cost {found.cost:.4g}" in found.lines()[0]
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["whole"]["cost"] == found.cost
    assert data["modules"][1]["shape"] == list(found.modules[1].shape)


@pytest.mark.parametrize(
    ("module", "X"),
    [
        ("file.pt", [[1.0]]),
        (nn.Linear(1, 1), 3.0),
        (nn.Linear(1, 1), torch.zeros(0, 1)),
        (nn.Sequential(nn.Flatten(0), nn.Threshold(1, 2)), torch.zeros(2, 0)),
    ],
)
def test_what_is_no_module_or_no_point_is_one_line(module, X):
    with pytest.raises(InputError) as error:
        rankcheck.measure(module, X)
    assert "\n" not in str(error.value)


def test_a_module_that_draws_leaves_the_generator_as_it_was():
    module, before = Random(2, 2), torch.get_rng_state()
    measure(module, torch.ones(3, 2))
    assert torch.equal(torch.get_rng_state(), before)
