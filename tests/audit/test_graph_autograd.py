"""Every figure of an audit of networks that are no chains, against plain autograd on the module.

The reference goes through points, outputs and parameters one by one, in double precision, with the
layers of torch as they are called: no graph, no `vmap`, no `torch.func`.
"""

import math

import numpy as np
import pytest
import torch

from rankcheck.audit.graph.block_facts import SHOWN
from rankcheck.audit.ranks import GAP, NEAR, TOLERANCE

from .graph_cases import (
    POINTS,
    ConvolutionCase,
    ResidualCase,
    TransformerCase,
    jacobian,
    square,
)

CASES = {"residual": ResidualCase(), "convolution": ConvolutionCase(), "block": TransformerCase()}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def close(got, expected, scale=1.0):
    """Equal to ten digits of the largest number that there is."""
    return np.allclose(got, expected, rtol=1e-9, atol=1e-9 * scale)


def five(values):
    return np.quantile(np.array([float(one) for one in values]), [0, 0.25, 0.5, 0.75, 1])


def numbers(q):
    return [q.least, q.quarter, q.median, q.three_quarters, q.most]


def check_jacobians(found, matrices, values="singular_values", ranks="ranks", undecided=True):
    """Singular values, ranks and gaps of some facts are those of these matrices."""
    spectra = [torch.linalg.svdvals(J) for J in matrices]
    for i, q in enumerate(getattr(found, values)):
        assert close(numbers(q), five(s[i] for s in spectra), float(spectra[0][0])), i
    shown = SHOWN if hasattr(found, "branch") else len(spectra[0])
    assert len(getattr(found, values)) == min(shown, len(spectra[0]))
    counted = [int((s > TOLERANCE * s[0]).sum()) for s in spectra]
    assert dict(getattr(found, ranks)) == {k: counted.count(k) for k in sorted(set(counted))}
    gaps = []
    for s, k in zip(spectra, counted, strict=True):
        real = s[s > 1e-12 * s[0]]
        gaps += [float(real[k - 1] / real[k])] if 0 < k < len(real) else []
    if undecided:
        assert found.undecided == sum(gap < GAP for gap in gaps)
        exact = all(float(s[-1]) > 1e-9 * float(s[0]) for s in spectra)
        if exact:
            assert (found.gaps is None) == (not gaps)
            assert found.gaps is None or close(numbers(found.gaps), five(gaps))


def least(depth, matrices):
    """depth · max ‖J‖_{S^{2/depth}}^{2/depth}."""
    spectra = [torch.linalg.svdvals(J) for J in matrices]
    clear = [s[s > 1e-12 * s[0]] for s in spectra]
    return depth * max(float((s ** (2 / depth)).sum()) for s in clear)


def test_the_network_as_a_whole(case):
    model = case.audit.model
    with torch.no_grad():
        out = case.module(case.X[:1]).numel()
    assert model.widths == (case.X[0].numel(), out)
    assert model.depth == case.depth
    assert model.cost == pytest.approx(square(*case.parameters))
    assert model.stored_cost == model.cost
    assert (model.slope, model.guessed) == (None, False)


def test_jacobians_of_the_network(case):
    data = case.audit.data
    check_jacobians(data, case.jacobians)
    assert (data.points, data.complete, data.kinks) == (POINTS, True, 0)
    if case.claimed:
        assert data.least_cost == pytest.approx(least(case.depth, case.jacobians))
    else:
        assert data.least_cost is None
    counted = sorted(data.ranks, key=lambda k: (-data.ranks[k], k))
    assert case.audit.rank == counted[0]


def test_the_mean_of_squared_jacobians(case):
    data = case.audit.data
    C = torch.stack([J.T @ J for J in case.jacobians]).mean(0)
    values = torch.linalg.eigvalsh(C).flip(0)
    assert close(data.egop, values, float(values[0]))
    roots = values.clamp_min(0).sqrt()
    assert data.index_rank.rank == int((roots > TOLERANCE * roots[0]).sum())


def test_the_tangent_kernel(case):
    gradients = []
    for x in case.X:
        y = case.module(x.unsqueeze(0)).flatten()
        for one in y:
            found = torch.autograd.grad(one, case.parameters, retain_graph=True)
            gradients.append(torch.cat([g.flatten() for g in found]))
    rows = torch.stack(gradients)
    traces = rows.square().sum(1).reshape(POINTS, -1).sum(1)
    data = case.audit.data
    assert close(numbers(data.kernel_trace), five(traces))
    assert data.kernel_points == POINTS
    top = float(torch.linalg.eigvalsh(rows @ rows.T)[-1]) / POINTS
    assert data.kernel_top == pytest.approx(top, rel=1e-9)


def test_layers(case):
    assert [layer.name for layer in case.audit.layers] == list(case.matrices)
    k = case.audit.rank
    for layer in case.audit.layers:
        A, bias, copies = case.matrices[layer.name]
        A = A.detach()
        s = torch.linalg.svdvals(A)
        assert (layer.shape, layer.copies, layer.complete) == (tuple(A.shape), copies, True)
        assert close(layer.singular_values, s, float(s[0]))
        kernel = getattr(case, "kernels", {}).get(layer.name)
        weights = square(A) if kernel is None else square(kernel.weight)
        assert layer.weights == pytest.approx(weights)
        assert layer.bias == pytest.approx(0 if bias is None else square(bias))
        assert layer.near_one == int(((s - 1).abs() <= NEAR).sum())
        assert layer.rank.rank == int((s > TOLERANCE * s[0]).sum())
        assert layer.stable_rank == pytest.approx(float((s / s[0]).square().sum()))
        p = s / s.sum()
        entropy = -float((p * torch.where(p > 0, p, 1).log()).sum())
        assert layer.effective_rank == pytest.approx(math.exp(entropy))
        fourth = float(s.square().sum() ** 2 / (s**4).sum())
        assert layer.participation == pytest.approx(fourth)
        if k <= len(s) and not layer.kind.endswith("norm"):
            near = s - (torch.arange(len(s)) < k).double()
            assert layer.distance == pytest.approx(float(near.square().sum()))
        else:
            assert layer.distance is None


def test_hidden_units_and_representations(case):
    for layer in case.audit.layers:
        if layer.name in case.hidden:
            with torch.no_grad():
                z = case.hidden[layer.name](case.X)
            above, below = ((z > 0).any(0).any(0), (z < 0).any(0).any(0))
            assert (layer.dead, layer.linear) == (int((~above).sum()), int((~below).sum()))
            assert layer.bent == int((above & below).sum())
            values = z.clamp_min(0).flatten(1)
        elif layer.name == list(case.matrices)[-1]:
            with torch.no_grad():
                values = case.module(case.X).flatten(1)
        else:
            assert layer.dead is layer.energy is layer.representation is None
            continue
        assert layer.energy == pytest.approx(float(values.square().sum(1).mean()))
        s = torch.linalg.svdvals(values / math.sqrt(POINTS))
        assert np.allclose(layer.representation, s, rtol=1e-9, atol=1e-7 * float(s[0]))


def test_balance(case):
    for name, (enter, leave, _) in case.scaled.items():
        (layer,) = (one for one in case.audit.layers if one.name == name)
        share = float(((enter - leave).abs() / (enter + leave)).max())
        assert layer.imbalance == pytest.approx(share)
    assert [one.name for one in case.audit.layers if one.imbalance is not None] == [*case.scaled]
    assert case.audit.balanced.cost == pytest.approx(square(*case.parameters) - case.saved)


def test_blocks(case):
    blocks = case.audit.blocks
    assert len(blocks) == len(case.parts)
    for block, (part, X) in zip(blocks, case.inputs(), strict=True):
        matrices = [jacobian(part.run, x) for x in X]
        assert block.shape == tuple(matrices[0].shape)
        assert (block.points, block.rowwise) == (len(X), part.rows)
        assert (block.depth, block.kind) == (part.depth, "residual" if part.added else "chain")
        assert block.cost == pytest.approx(square(*part.parameters))
        check_jacobians(block, matrices)
        assert (block.unclaimed == "") == part.claimed
        if part.claimed:
            assert block.least_cost == pytest.approx(least(part.depth, matrices))
        else:
            assert block.least_cost is None
        if part.added is not None:
            added = [jacobian(part.added, x) for x in X]
            check_jacobians(block, added, "branch", "branch_ranks", undecided=False)
        else:
            assert (block.branch, dict(block.branch_ranks)) == ((), {})
