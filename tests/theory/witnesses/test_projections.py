"""Frames along the weights, against numpy for single networks."""

import mpmath
import numpy as np
import pytest
import scipy.linalg
import torch

from rankcheck.networks import Network
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.networks import balanced_linear_networks, networks_at_points
from rankcheck.theory.witnesses.projections import (
    bottleneck,
    chain_turns,
    chained_distances,
    chained_frames,
    isometry_distance,
    log_determinant_of_rank,
    mask_losses,
    middle_frames,
    offsets,
    one_sided_distances,
    one_sided_frames,
    projection_of_rank,
    subspaces,
    surviving_jacobians,
    two_sided_distances,
    two_sided_log_determinant,
)
from tests.draws import batch_of

from ._plain import plain

SEEDS = range(4)


def sample(seed, **options):
    """A batch of networks with points, and the bottleneck of each at its point."""
    (net, x), _ = batch_of(networks_at_points(**options), BatchSource(seed, 40))
    return net, x, bottleneck(net, x)


def singles(seed, **options):
    """Single networks with a point at which the Jacobian has rank k ≥ 1, as numpy arrays."""
    net, x, at = sample(seed, **options)
    for index in range(8):
        if at.rank[index] > 0 and at.error[index] < 1e-9:
            one, point = net[index], x[index]
            weights, masks = plain(one).weights, plain(one).masks(point.numpy())
            k = np.linalg.matrix_rank(plain(one).jacobian(point.numpy()), rtol=1e-10)
            yield one, point, int(k), weights, masks


def test_ranks_in_numpy_and_enough_single_networks():
    count = 0
    for seed in SEEDS:
        net, x, at = sample(seed)
        for index in range(8):
            if at.error[index] < 1e-9:
                J = plain(net[index]).jacobian(x[index].numpy())
                assert at.rank[index].item() == np.linalg.matrix_rank(J, rtol=1e-10)
        count += len(list(singles(seed)))
    assert count >= 20  # of 32


def slow_spaces(weights, masks, k):
    """Orthonormal bases of S_0, ..., S_L from full singular value decompositions."""
    J = weights[0]
    for d, w in zip(masks, weights[1:], strict=True):
        J = w @ d @ J
    bases = [np.linalg.svd(J)[2][:k].T]
    for w, d in zip(weights, [*masks, np.eye(len(weights[-1]))], strict=True):
        bases.append(np.linalg.svd(d @ w @ bases[-1])[0][:, :k])
    return bases


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle("rankcheck.witnesses.one_sided_distances", "numpy.linalg.svd")
@pytest.mark.oracle("rankcheck.witnesses.chained_distances", "numpy.linalg.svd")
def test_subspaces_and_distances_by_singular_vectors(seed):
    for net, x, k, weights, masks in singles(seed):
        bases = slow_spaces(weights, masks, k)
        rank = torch.tensor(k)
        for P, Q in zip(subspaces(net, x, rank), bases, strict=True):
            np.testing.assert_allclose(P.numpy(), Q @ Q.T, atol=1e-7)
        one, two = one_sided_distances(net, x, rank), chained_distances(net, x, rank)
        turned = bases[0]
        for i, (w, Q) in enumerate(zip(weights, bases[:-1], strict=True)):
            U, _, Vt = np.linalg.svd(w @ Q @ Q.T)
            near = np.linalg.norm(w - U[:, :k] @ Vt[:k]) ** 2
            assert one[i].item() == pytest.approx(near, abs=1e-6)
            left, _, right = np.linalg.svd(bases[i + 1].T @ w @ turned)
            following = bases[i + 1] @ left @ right
            H = following.T @ w @ turned
            assert np.linalg.eigvalsh((H + H.T) / 2).min() > -1e-9
            chained = np.linalg.norm(w - following @ turned.T) ** 2
            assert two[i].item() == pytest.approx(chained, abs=1e-6)
            turned = following


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle("rankcheck.witnesses.log_determinant_of_rank", "numpy.linalg.svd")
@pytest.mark.oracle("rankcheck.witnesses.surviving_jacobians", "products and svd in numpy")
def test_surviving_jacobians_multiply_to_the_pseudo_determinant(seed):
    for net, x, k, weights, masks in singles(seed):
        maps = surviving_jacobians(net, x, torch.tensor(k))
        basis = slow_spaces(weights, masks, k)[0]
        image = basis
        assert len(maps) == len(weights)
        for M, w, d in zip(maps, weights, [*masks, None], strict=True):
            image = w @ image
            np.testing.assert_allclose(M.numpy(), image @ basis.T, rtol=1e-7, atol=1e-6)
            volume = np.log(np.linalg.svd(image, compute_uv=False)).sum()
            found = log_determinant_of_rank(M, torch.tensor(k)).item()
            assert found == pytest.approx(volume, abs=1e-7)
            image = image if d is None else d @ image


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle("rankcheck.witnesses.chain_turns", "numpy.linalg.pinv and slogdet")
def test_chain_turns_by_the_inverse_of_the_masks(seed):
    for net, x, k, weights, masks in singles(seed, slopes="nonnegative"):
        turns = chain_turns(net, x, torch.tensor(k))
        assert turns.shape == (net.depth,)
        assert turns[-1].item() == pytest.approx(0, abs=1e-9)
        bases = slow_spaces(weights, masks, k)
        for i, D in enumerate(masks):
            gram = bases[i + 1].T @ np.linalg.pinv(D) @ bases[i + 1]
            expected = np.linalg.slogdet(gram)[1]
            assert turns[i].item() == pytest.approx(expected, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle("rankcheck.witnesses.mask_losses", "numpy.linalg.svd")
def test_mask_losses_by_singular_vectors(seed):
    for net, x, k, weights, masks in singles(seed):
        losses = mask_losses(net, x, torch.tensor(k))
        assert losses.shape == (net.depth,)
        assert losses[-1] == 0
        for i, Q in enumerate(slow_spaces(weights, masks, k)[: net.depth - 1]):
            before = np.linalg.svd(weights[i] @ Q)[0][:, :k]
            kept = np.linalg.norm(masks[i] @ before) ** 2
            assert losses[i].item() == pytest.approx(k - kept, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle("rankcheck.witnesses.offsets", "numpy.linalg.svd")
def test_offsets_by_singular_vectors(seed):
    for net, x, k, weights, masks in singles(seed):
        squares = offsets(net, x, torch.tensor(k))
        alpha = x.numpy()
        for i, Q in enumerate(slow_spaces(weights, masks, k)):
            rest = alpha - Q @ (Q.T @ alpha)
            assert squares[i].item() == pytest.approx(rest @ rest, abs=1e-5, rel=1e-6)
            if i < net.depth:
                alpha = weights[i] @ alpha + net.biases[i].numpy()
                alpha = masks[i] @ alpha if i + 1 < net.depth else alpha


def test_rank_zero_and_full_rank():
    M = torch.tensor([[[3.0, 0.0], [0.0, 1e-3]]]).double()
    for k, expected in ((0, [0, 0]), (1, [1, 0]), (2, [1, 1])):
        P = projection_of_rank(M, torch.tensor([k]))
        torch.testing.assert_close(P[0], torch.diag(torch.tensor(expected).double()))


def slow_projection(M):
    """Onto the row space, and log |M|_+, from a full singular value decomposition."""
    _, s, Vt = np.linalg.svd(M)
    k = int((s > 1e-9 * max(s.max(initial=0.0), 1e-300)).sum())
    return Vt[:k].T @ Vt[:k], float(np.log(s[:k]).sum())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle("rankcheck.witnesses.two_sided_log_determinant", "numpy.linalg.svd")
def test_two_sided_log_determinants_of_deep_networks(seed):
    """Depth 3 to 5: the factors between both ends are projected on both sides."""
    for net, x, _, weights, masks in singles(seed, depth=(3, 5)):
        L = len(weights)
        before = [np.eye(len(x))]  # Jα_0, Jα̃_1, Jα_1, ..., Jα̃_L
        for w, d in zip(weights, [*masks, np.eye(len(weights[-1]))], strict=True):
            before += [w @ before[-1], d @ w @ before[-1]]
        after = [np.eye(len(weights[-1]))]  # from f back: J(α̃_L → f), J(α_{L−1} → f), ...
        for w, d in zip(weights[::-1], [*masks[::-1], None], strict=True):
            after.append(after[-1] @ w)
            if d is not None:
                after.append(after[-1] @ d)
        expected = 0.0
        for index in range(L):  # W_{index+1}, then D_{index+1}
            G, A = after[2 * (L - 1 - index)], before[2 * index]
            P, Q = slow_projection(G)[0], slow_projection(A.T)[0]
            expected += slow_projection(P @ weights[index] @ Q)[1]
            if index + 1 < L:
                G, A = after[2 * (L - 1 - index) - 1], before[2 * index + 1]
                P, Q = slow_projection(G)[0], slow_projection(A.T)[0]
                expected += slow_projection(P @ masks[index] @ Q)[1]
        found = two_sided_log_determinant(net, x).item()
        assert found == pytest.approx(expected, abs=1e-6, rel=1e-6)


def test_gradients_are_finite_at_repeated_singular_values():
    family = balanced_linear_networks(depth=(3, 3), width=(2, 2), equal=True)
    (net, x), _ = batch_of(family, BatchSource(1, 6))
    leaves = [w.clone().requires_grad_() for w in net.weights]
    moved = net.with_parameters(leaves, net.biases)
    k = bottleneck(moved, x).rank
    (one_sided_distances(moved, x, k).sum() + chained_distances(moved, x, k).sum()).backward()
    assert all(leaf.grad.isfinite().all() for leaf in leaves)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle("rankcheck.witnesses.one_sided_frames", "scipy.linalg.polar")
@pytest.mark.oracle(
    "rankcheck.witnesses.chained_frames", "numpy.linalg.svd and eigvalsh: bases, A_ℓᵀW_ℓA_{ℓ−1} ≥ 0"
)
def test_frames_by_polar_parts(seed):
    for net, x, k, weights, masks in singles(seed):
        bases, rank = slow_spaces(weights, masks, k), torch.tensor(k)
        for (U, V), w, Q in zip(one_sided_frames(net, x, rank), weights, bases, strict=False):
            polar = scipy.linalg.polar(w @ Q)[0] @ Q.T
            np.testing.assert_allclose(U.numpy() @ V.numpy().T, polar, atol=1e-6)
            assert not U[:, k:].any()
            assert not V[:, k:].any()
            np.testing.assert_allclose(V.numpy() @ V.numpy().T, Q @ Q.T, atol=1e-6)
        frames = [A.numpy() for A in chained_frames(net, x, rank)]
        for A, Q in zip(frames, bases, strict=True):
            np.testing.assert_allclose(A @ A.T, Q @ Q.T, atol=1e-6)
            assert not A[:, k:].any()
        for w, after, before in zip(weights, frames[1:], frames[:-1], strict=True):
            H = after.T @ w @ before
            np.testing.assert_allclose(H, H.T, atol=1e-6)
            assert np.linalg.eigvalsh((H + H.T) / 2).min() > -1e-6


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle("rankcheck.witnesses.middle_frames", "scipy.linalg.polar, and a midpoint")
def test_middle_frames_by_polar_parts(seed):
    for net, x, k, weights, masks in singles(seed):
        frames = [A.numpy()[:, :k] for A in middle_frames(net, x, torch.tensor(k))]
        before = frames[0]
        for w, mask, A in zip(weights, [*masks, np.eye(len(weights[-1]))], frames[1:], strict=True):
            U = scipy.linalg.polar(w @ before)[0]
            E = scipy.linalg.polar(mask @ U)[0]
            values, vectors = np.linalg.eigh(U.T @ E)
            before = E @ (vectors * np.where(values < 0, -1, 1)) @ vectors.T
            np.testing.assert_allclose(A.T @ A, np.eye(k), atol=1e-6)
            np.testing.assert_allclose(A.T @ U, A.T @ before, atol=1e-6)
            assert np.linalg.norm(A.T @ U, -2) > 0.7


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle("rankcheck.witnesses.isometry_distance", "numpy.linalg.svd")
def test_the_distance_to_partial_isometries(seed):
    """That of the k leading singular vectors; no other partial isometry of rank k is nearer."""
    draw = np.random.default_rng(seed)
    A, k = draw.normal(size=(4, 3)), 1 + seed % 3
    U, s, Vt = np.linalg.svd(A)
    found = isometry_distance(torch.from_numpy(s), torch.tensor(k)).item()
    assert found == pytest.approx(np.linalg.norm(A - U[:, :k] @ Vt[:k]) ** 2)
    for _ in range(20):
        one, two = (np.linalg.qr(draw.normal(size=(n, k)))[0] for n in (4, 3))
        assert np.linalg.norm(A - one @ two.T) ** 2 >= found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle("rankcheck.witnesses.two_sided_distances", "numpy.linalg.svd")
def test_two_sided_distances_by_singular_vectors(seed):
    """W_ℓ to the k leading singular vectors of P W_ℓ P', with P from what follows the layer."""
    for net, x, k, weights, masks in singles(seed):
        found = two_sided_distances(net, x, torch.tensor(k))
        ends = [*masks, np.eye(len(weights[-1]))]
        for i, w in enumerate(weights):
            inner, outer = np.eye(len(x)), np.eye(len(weights[-1]))
            for d, v in zip(masks[:i], weights[:i], strict=True):
                inner = d @ v @ inner
            for d, v in zip(ends[i:-1][::-1], weights[i + 1 :][::-1], strict=True):
                outer = outer @ v @ d
            U, _, Vt = np.linalg.svd(slow_projection(outer)[0] @ w @ slow_projection(inner.T)[0])
            distance = np.linalg.norm(w - U[:, :k] @ Vt[:k]) ** 2
            assert found[i].item() == pytest.approx(distance, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.oracle(
    "rankcheck.witnesses.bottleneck", "numpy.linalg.svd; for the error mpmath.svd_r to 40 digits"
)
def test_bottlenecks_by_singular_values(seed):
    for net, x, k, weights, _ in singles(seed):
        at = bottleneck(net, x)
        s = np.linalg.svd(plain(net).jacobian(x.numpy()), compute_uv=False)[:k]
        assert at.rank.item() == at.count.item() == k
        assert at.log_determinant.item() == pytest.approx(np.log(s).sum(), abs=1e-7)
        excess = plain(net).cost - k * len(weights)
        assert at.excess.item() == pytest.approx(excess)
        assert at.slack.item() == pytest.approx(excess - 2 * np.log(s).sum(), abs=1e-6)
        assert turn_of_the_row_space(net, x, k) <= at.error.item() + 1e-15


def turn_of_the_row_space(net, x, k):
    """The sine of the angle between S_0 in floats and that of the product in 40 digits."""
    weights, masks = plain(net).weights, plain(net).masks(x.numpy())
    with mpmath.workdps(40):
        J = mpmath.matrix(weights[0].tolist())
        for d, w in zip(masks, weights[1:], strict=True):
            J = mpmath.matrix(w.tolist()) * (mpmath.matrix(d.tolist()) * J)
        rows = mpmath.svd_r(J)[2]
    Q = np.array(rows.tolist(), dtype=float)[:k].T
    return np.linalg.norm(subspaces(net, x, torch.tensor(k))[0].numpy() - Q @ Q.T, 2)


def test_the_row_space_of_a_product_that_nearly_cancels():
    """The last layer nearly kills the image of the first, so S_0 turns by 10⁻¹⁰ and more."""
    rng = np.random.default_rng(0)
    turns, bounds = [], []
    for _ in range(8):
        first, extra = rng.normal(size=(3, 2)), rng.normal(size=3)
        kills = np.linalg.svd(first)[0][:, 2:].T
        net = Network.of([first, kills + 1e-7 * extra])
        # Both layers linear: the biases keep all units positive.
        net = net.with_parameters(net.weights, (net.biases[0] + 20, net.biases[1]))
        x = torch.tensor(rng.normal(size=2))
        at = bottleneck(net, x)
        assert at.rank.item() == 1
        turns.append(turn_of_the_row_space(net, x, 1))
        bounds.append(at.error.item())
    assert max(turns) > 1e-11
    assert (np.array(turns) <= bounds).all()


@pytest.mark.parametrize(
    "function", [chain_turns, chained_distances, mask_losses, offsets, one_sided_distances]
)
def test_batches_are_loops(function):
    net, x, at = sample(0, slopes="nonnegative")
    found = function(net, x, at.rank)
    for index in range(4):
        alone = function(net[index], x[index], at.rank[index])
        torch.testing.assert_close(found[index], alone, rtol=1e-6, atol=1e-6)


def test_the_bottleneck_of_a_constant():
    at = bottleneck(Network.of([[[0.0, 0.0]], [[3.0]]]), torch.ones(2, dtype=torch.float64))
    found = (at.rank, at.count, at.log_determinant, at.excess)
    assert [value.item() for value in found] == [0, 1, 0, 9]
    assert at.error.isfinite()
