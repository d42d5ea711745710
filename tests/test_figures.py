"""The scripts of examples/figures: what they train and measure, against torch and numpy."""

import importlib
import itertools
import json
import math
import runpy
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles
from torch import nn

from rankcheck.claims import trials
from rankcheck.data import crossing_angles
from rankcheck.networks import Network

FOLDER = Path(__file__).parents[1] / "examples" / "figures"
SCRIPTS = {
    "rank_figure_1": "rank.figure-1",
    "rank_figure_2": "rank.figure-2",
    "rank_figure_3": "rank.figure-3",
    "bottleneck_figure_1": "bottleneck.figure-1",
    "bottleneck_figure_2": "bottleneck.figure-2",
    "linear_trained_singular_values": "linear.trained-singular-values",
}


def record_of(name):
    return FOLDER.parents[1] / "properties" / name.split(".")[0] / "recorded" / f"{name}.json"


@pytest.fixture
def script(monkeypatch):
    """`script(name)`: a module of the folder."""
    pytest.importorskip("matplotlib", reason="draws the figures")
    pytest.importorskip("sklearn", reason="has the images")
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


def run(name, monkeypatch, *arguments):
    """As from the shell."""
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
    threads = torch.get_num_threads()
    try:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    finally:
        torch.set_num_threads(threads)


def draw(seed=3):
    return torch.Generator().manual_seed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_trains_writes_its_record_and_draws(script, monkeypatch, tmp_path, name):
    run(name, monkeypatch, "--quick", "--folder", str(tmp_path / "new"))
    monkeypatch.setattr(trials, "project_folder", lambda: tmp_path)
    trials._record.cache_clear()
    written = tmp_path / "new" / f"{SCRIPTS[name]}.json"
    place = tmp_path / SCRIPTS[name].split(".")[0] / "recorded"
    place.mkdir(parents=True)
    written.rename(place / written.name)
    runs = trials._record(SCRIPTS[name])
    trials._record.cache_clear()
    kept = json.loads(record_of(SCRIPTS[name]).read_text("utf-8"))["runs"]
    assert {*runs[0].settings} == {*kept[0]["settings"]}
    assert {*runs[0].measured} == {*kept[0]["measured"]}
    drawn = {path.name for path in (tmp_path / "new").iterdir()}
    again = ("--folder", str(tmp_path / "again"), "--draw", str(record_of(SCRIPTS[name])))
    run(name, monkeypatch, *again)
    assert {path.name for path in (tmp_path / "again").iterdir()} == drawn != set()


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_record_has_the_runs_of_its_script(script, name):
    parts = script(name).parts
    data = json.loads(record_of(SCRIPTS[name]).read_text("utf-8"))
    expected = Counter(
        (part.name, seed, tuple(sorted(part.settings.items())))
        for part in parts(1)
        for seed in part.seeds
    )
    assert expected == Counter(
        (run["part"], run["seed"], tuple(sorted(run["settings"].items()))) for run in data["runs"]
    )
    assert data["pilot"] == sorted({seed for part in parts(0) for seed in part.seeds})
    assert data["experiment"] == SCRIPTS[name]
    assert data["command"].endswith(f"examples/figures/{name}.py --seed 1")


WIDTHS = (3, 5, 4, 6, 2)


def stack_of(lab, linear=0, biases=(True,) * 4):
    """Networks in float64 with biases that are not zero, where there are any."""
    made = lab.Stack.random(WIDTHS, lab.generators((0, 1, 2)))
    found = [
        torch.randn(b.shape, generator=draw(9)).double() if has else None
        for b, has in zip(made.biases, biases, strict=True)
    ]
    return lab.Stack([W.double() for W in made.weights], found, linear=linear)


def sequential(stack, run):
    """One of the networks, made of layers of torch."""
    layers: list[nn.Module] = []
    for number, (W, b) in enumerate(zip(stack.weights, stack.biases, strict=True), 1):
        layer = nn.Linear(*W.shape[:0:-1], bias=b is not None, dtype=torch.float64)
        with torch.no_grad():
            layer.weight.copy_(W[run])
            if b is not None:
                layer.bias.copy_(b[run])
        layers += [layer, nn.ReLU()] if number > stack.linear else [layer]
    return nn.Sequential(*layers[:-1])


@pytest.mark.parametrize("linear", [0, 1, 3])
@pytest.mark.parametrize(
    "biases", [(True,) * 4, (False,) * 4, (False, True, False, True), (True, False, True, False)]
)
def test_each_run_is_a_network_of_torch(script, linear, biases):
    many = stack_of(script("_training"), linear, biases)
    x = torch.randn(3, 6, 3, dtype=torch.float64, generator=draw(1))
    for run, plain in enumerate(many.networks()):
        net = sequential(many, run)
        assert torch.allclose(many(x)[run], net(x[run]), rtol=1e-12, atol=1e-12)
        cost = sum(float((p.detach() ** 2).sum()) for p in net.parameters())
        assert float(many.costs()[run]) == pytest.approx(cost)
        assert plain.depth == 4 - linear
        assert torch.allclose(plain(x[run]), net(x[run]), rtol=1e-11, atol=1e-11)


def test_the_first_weights_have_the_variance_of_their_fan_in_and_a_seed_each(script):
    lab = script("_training")
    wide = lab.Stack.random((300, 200, 100), lab.generators((5, 0)))
    alone = lab.Stack.random((300, 200, 100), lab.generators((0,)))
    for W, own, columns in zip(wide.weights, alone.weights, (300, 200), strict=True):
        assert float(W.var()) * columns == pytest.approx(2, rel=0.05)  # the usual gain is √2
        assert torch.equal(W[1], own[0])


def test_each_run_is_what_torch_trains_alone(script):
    """Layers of torch.nn, one network at a time, in a plain loop."""
    lab = script("_training")
    stack, steps, ridge = stack_of(lab), 60, 1e-2
    x, y = (torch.randn(3, 7, n, generator=draw(n)).double() for n in (3, 2))
    alone = []
    for run in range(3):
        net = sequential(stack, run)
        adam = torch.optim.Adam(net.parameters(), foreach=False)
        for step in range(steps):
            cosine = 0.5 * (1 + np.cos(np.pi * step / steps))
            adam.param_groups[0]["lr"] = 0.02 * min((step + 1) / 10, 1) * (0.01 + 0.99 * cosine)
            adam.zero_grad()
            loss = nn.functional.mse_loss(net(x[run]), y[run])
            cost = sum((p**2).sum() for p in net.parameters())
            (loss + ridge * cost).backward()
            adam.step()
        alone.append((net, [loss.item(), cost.item()]))
    kept, errors, costs = lab.train(
        stack, lambda out: (out - y).square().mean((1, 2)), x, ridge, steps, 0.02, warm=10
    )
    assert kept[-1] == steps - 1
    for run, (net, last) in enumerate(alone):
        with torch.no_grad():
            assert torch.allclose(stack(x)[run], net(x[run]), rtol=1e-9, atol=1e-11)
        assert [float(errors[-1, run]), float(costs[-1, run])] == pytest.approx(last, rel=1e-9)
    with pytest.raises(FloatingPointError, match="diverged"):
        lab.train(stack, lambda out: out.sum((1, 2)) * math.nan, x, ridge, 2, 0.02)


def test_the_task_of_low_rank_in_numpy(script):
    """x = g(z) and y = h(z_1, z_2) from the weights of g and h, shifted and scaled."""
    lab = script("_training")
    settings = {"points": 50, "latent": 6, "size": 9, "width": 4, "depth": 3}
    xs, ys, _ = lab.learners(lab.Part("a", settings, (4, 5)), 2, 1.1)
    own = draw(5)
    z = torch.randn(50, 6, generator=own).numpy()
    for n, found, size in ((6, xs, 1), (2, ys, 1 / 9)):
        W, b, V = (part.numpy() for part in lab.shallow_network(n, 9, 100, own))
        expected = np.maximum(z[:, :n] @ W.T + b, 0) @ V.T
        expected -= expected.mean(0)
        expected *= np.sqrt(size / (expected**2).mean())
        np.testing.assert_allclose(found[1].numpy(), expected, atol=1e-5)


def test_ranks_of_layers_and_bends_in_numpy(script):
    module = script("rank_figure_1")
    net = stack_of(module.lab).networks()[1]
    X = torch.randn(30, 3, dtype=torch.float64, generator=draw())
    x, bent = X.numpy(), []
    found = {centred: module.layer_ranks(net, X, centred=centred) for centred in (False, True)}
    for layer, (W, b) in enumerate(zip(net.weights[:-1], net.biases, strict=False)):
        before = x @ W.numpy().T + b.numpy()
        x = np.maximum(before, 0)
        bent.append(np.linalg.norm(before - x) / np.linalg.norm(before))
        for centred, (ranks, gaps) in found.items():
            s = np.linalg.svd(x - x.mean(0) if centred else x, compute_uv=False)
            rank = int((s > 0.05 * s[0]).sum())
            rest = s[rank] if rank < len(s) and s[rank] > 0 else s[rank - 1] / 1e9
            assert ranks[layer] == rank
            assert gaps[layer] == pytest.approx(min(s[rank - 1] / rest, 1e9))
    assert module.bends(net, X) == pytest.approx(bent)
    s = np.linalg.svd(net.weights[1].numpy(), compute_uv=False)
    assert module.lab.near_one(net)[1] == (abs(s - 1) <= 0.25).sum()
    flat = Network.of([[[1, 0], [0, 1]], [[1, 0], [0, 1e-3]]])  # the second entry is no dimension
    assert module.lab.jacobian_rank(flat, torch.ones(3, 2, dtype=torch.float64)) == 1


#: Eight points whose box is [1, 3.5]²: the origin is a share of 0.4 of its sides away.
AWAY = torch.tensor([[1.0, 1.0], [3.5, 3.5]] * 4, dtype=torch.float64)


def test_a_tripoint_counts_in_the_boxes_that_contain_it(script):
    """max(x, y, −x − y, −50): three classes meet in the origin, and in no other point nearby."""
    module = script("rank_figure_2")
    sectors = Network.of([[[1, 0], [0, 1], [-1, -1], [0, 0]]], [[0, 0, 0, -50]])
    assert module.tripoints(sectors, AWAY) == [0, 0, 1, 1]
    found = module.drawing(sectors, AWAY)
    assert found["tripoints"] == [[0.0, 0.0]]
    sizes = []
    for rings in found["classes"]:
        arrays = [np.array(ring).T for ring in rings]
        sizes.append(sum((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2 for x, y in arrays))
    # x or y is larger on a half of the box each, but for its lower corner, where −x − y is: the
    # kite of the corners (−1/4, −1/4), (1/8, −1/4), (0, 0), (−1/4, 1/8).
    kite = 0.25 * 0.375
    assert sizes == pytest.approx([(25 - kite) / 2, (25 - kite) / 2, kite, 0], abs=0.05)


def test_classes_are_translated_copies(script):
    """x − sin(2πy/3) of class c is c − 3/2 but for the noise, so that they are intervals."""
    points = script("rank_figure_2").inverted_s(2000, draw()).double().numpy()
    along = points[..., 0] - np.sin(2 * np.pi * points[..., 1] / 3)
    assert np.abs(along - (np.arange(4) - 1.5)[:, None]).max() < 0.5
    assert along.mean(axis=1) == pytest.approx(np.arange(4) - 1.5, abs=0.01)
    # t is uniform: so are the heights, between −3/2 and 3/2.
    assert points[..., 1].std() == pytest.approx(3 / 12**0.5, rel=0.02)


def test_distance_to_a_path_is_the_least_distance_to_its_points(script):
    generator = np.random.default_rng(5)
    points, knots = generator.normal(size=(12, 3)), generator.normal(size=(5, 3))
    knots[2] = knots[1]  # a segment of length zero
    shares = np.linspace(0, 1, 2001)[:, None]
    path = np.concatenate([a + shares * (b - a) for a, b in itertools.pairwise(knots)])
    least = np.linalg.norm(points[:, None] - path, axis=-1).min(1)
    found = script("rank_figure_3").distance_to_path(torch.tensor(points), torch.tensor(knots))
    np.testing.assert_allclose(found, least, rtol=1e-4)


def test_the_curve_is_that_of_its_network(script):
    """g by numpy: the data are its values, and the path passes through all of them."""
    data = script("rank_figure_3").curve({"points": 30, "test": 50, "inner": 9}, draw(7))
    same = draw(7)
    z = torch.randn(30, 1, generator=same).double().numpy()
    W = torch.randn(9, 1, generator=same).double().numpy()
    b = torch.randn(9, generator=same).double().numpy() / 2
    V = torch.randn(2, 9, generator=same).double().numpy() * math.sqrt(2 / 9)

    def g(z):
        return np.maximum(z @ W.T + b, 0) @ V.T

    shift = g(z).mean(0)
    scale = np.sqrt(np.mean((g(z) - shift) ** 2))
    np.testing.assert_allclose(data.x, (g(z) - shift) / scale, atol=1e-6)
    many = torch.tensor((g(np.linspace(-8, 8, 4001)[:, None]) - shift) / scale)
    assert float(data.distance(many).max()) < 1e-6
    assert float(torch.cdist(data.path, many).amin(-1).max()) < 0.05  # no knot is elsewhere
    assert float(data.distance(data.new).max()) < 1e-12
    torch.randn(50, 1, generator=same)  # the new points; then the inputs, in a larger box
    share = torch.rand(50, 2, generator=same).double().numpy()
    low, high = (ends(data.x.numpy(), axis=0) for ends in (np.min, np.max))
    np.testing.assert_allclose(data.inputs[0], low + (1.5 * share - 0.25) * (high - low))


def test_noisy_images_are_new_images_with_noise(script):
    module = script("rank_figure_3")
    rows = {tuple(row) for row in module.images().tolist()}
    data = module.digits({"points": 200, "test": 150}, draw())
    train, new = ({tuple(row) for row in each.tolist()} for each in (data.x, data.new))
    assert (len(train), len(new)) == (200, 150)
    assert train | new <= rows
    assert not train & new
    for noise, level in zip(module.NOISES, data.inputs, strict=True):
        difference = (level - data.new).numpy()
        assert difference.std() == pytest.approx(noise, rel=0.03)
        distances = np.sqrt((difference**2).sum(-1))
        np.testing.assert_allclose(data.distance(level), distances, rtol=1e-12)


@pytest.mark.parametrize(
    ("A", "left", "error"),
    [([[1, 0], [0, 0]], 0, 0), ([[0.5, 0], [0, 0.5]], 0.5, 0.25), ([[1, 0], [0, 1]], 1, 0)],
    ids=["a projection", "half", "the identity"],
)
def test_what_a_linear_map_leaves_of_the_distance(script, A, left, error):
    """To the x-axis from −1 to 1, of inputs above and below it."""
    module = script("rank_figure_3")
    x = torch.tensor([[-1.0, 0], [0, 0], [1, 0]], dtype=torch.float64)
    inputs = torch.tensor([[[0.5, 1], [-0.25, -3]]], dtype=torch.float64)
    data = module.Data(x, x, inputs, lambda points: module.distance_to_path(points, x[[0, 2]]))
    A, eye = torch.tensor(A, dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    found = module.measure(Network.linear((torch.cat((eye, -eye)), torch.cat((A, -A), 1))), data)
    assert (found["left"], found["lefts"]) == (left, [left])
    assert found["error"] == found["new_error"] == pytest.approx(error * 2 / 6)
    assert found["variance"] == pytest.approx(2 / 6)


SETTINGS = {"inputs": 5, "points": 30, "noise": 0.1, "descent_rate": 0.04, "descent_steps": 6}


def numpy_losses(v, w, noise, rate, steps):
    """The losses along the descent, with the gradient of ‖vvᵀ − M‖² for any M."""
    M = np.outer(w, w) + noise
    losses = []
    for _ in range(steps):
        v = v - rate * (4 * (v @ v) * v - 2 * (M + M.T) @ v)
        losses.append(np.linalg.norm(np.outer(v, v) - M) ** 2)
    return np.array(losses)


def test_the_values_are_those_of_a_descent_in_numpy(script):
    module = script("bottleneck_figure_2")
    task, x, y = module.Task.drawn(SETTINGS | {"points": 300}, draw())
    starts, w = (x * task.size).numpy(), task.w.numpy()
    along = starts @ w
    for values in (along, -along, np.linalg.norm(starts - np.outer(along, w), axis=1)):
        assert 0.9 * module.REACH < values.max() <= module.REACH
    expected = np.array([numpy_losses(v, w, task.noise.numpy(), 0.04, 6) for v in starts])
    np.testing.assert_allclose(y.numpy(), (expected - expected.mean(0)) / task.scale, atol=1e-9)
    assert np.sqrt(np.mean((expected - expected.mean(0)) ** 2)) == pytest.approx(task.scale)
    assert float(x.square().mean()) == pytest.approx(1)
    assert np.linalg.norm(w) == pytest.approx(1)
    assert np.std(task.noise.numpy()) == pytest.approx(0.1, rel=0.5)


def test_orbits_keep_the_statistics_and_without_noise_the_losses(script):
    module = script("bottleneck_figure_2")
    task, *_ = module.Task.drawn(SETTINGS | {"noise": 0.0}, draw())
    w = task.w.numpy()
    for orbits, signed in (
        (module.rotated(task, draw()), True),
        (module.reflected(task, draw()), False),
    ):
        v = orbits.numpy()
        along = v @ w
        beside = np.linalg.norm(v - along[..., None] * w, axis=-1)
        along = along if signed else np.abs(along)
        assert np.ptp(along, axis=1).max() < 1e-12
        assert np.ptp(beside, axis=1).max() < 1e-12
        assert np.ptp(v, axis=1).max() > 1
        values = task.values(orbits.flatten(0, 1)).unflatten(0, orbits.shape[:2])
        assert module.shares_within([values])[0] < 1e-20


def test_shares_within_orbits_by_hand(script):
    shares_within = script("bottleneck_figure_2").shares_within
    two = torch.tensor([[[0.0], [2.0]], [[10.0], [12.0]]], dtype=torch.float64)
    collapsed = torch.tensor([[[0.0], [0.0]], [[10.0], [10.0]]], dtype=torch.float64)
    constant = torch.full((2, 3, 3), 0.1, dtype=torch.float64)
    assert shares_within([two, collapsed, constant]) == pytest.approx([1 / 26, 0, 0])
    many = torch.randn(6, 5, 3, generator=draw(), dtype=torch.float64)
    expected = many.numpy().var(1).sum(-1).mean() / many.numpy().reshape(30, 3).var(0).sum()
    assert shares_within([many]) == pytest.approx([expected])


def stretches(depth):
    """α_1 = x + 100, α_2 = 3 α_1, and in α_3 the entries of α_2 are stretched differently."""
    eye, zeros = torch.eye(5, dtype=torch.float64), torch.zeros(5, dtype=torch.float64)
    last = torch.diag(torch.tensor([1.0, 1.0, 1.0, 2.0, 4.0], dtype=torch.float64))
    weights = [eye, 3 * eye, last, *[eye] * (depth - 3)]
    return Network(weights, [zeros + 100, *[zeros] * (depth - 1)])


def test_distances_of_a_multiple_are_those_of_the_plane(script):
    module = script("bottleneck_figure_2")
    task, *_ = module.Task.drawn(SETTINGS, draw())
    share, shown = module.measured_distances(stretches(4), task, draw())
    half, spot, cells = module.HALF, module.SPOT, module.CELLS
    ticks = (np.arange(cells) + 0.5) * 2 * half / cells - half
    expected = 3 * np.hypot(ticks[None] - spot, ticks[:, None]) / task.size
    np.testing.assert_allclose(shown["distances"], expected, rtol=0.06)  # two digits
    radii, angles = np.linspace(0, module.REACH, 14)[1:, None], np.arange(48) * 2 * np.pi / 48
    around = np.hypot(radii * np.cos(angles) - spot, radii * np.sin(angles))
    assert share == pytest.approx(around.var(1).mean() / around.var())


def test_paths_are_projected_to_the_principal_plane_of_their_layer(script):
    module = script("bottleneck_figure_2")
    task, x, _ = module.Task.drawn(SETTINGS, draw())
    # At depth 3 the layer is α_2, which is like the inputs.
    measured, shown = module.measured_paths(stretches(3), task, x, 40, draw())
    assert measured["crossing_layer"] == 2
    lengths = np.linalg.norm(np.diff(shown["paths_layer"], axis=1), axis=-1)
    path = task.path(task.points(40, draw())).numpy() / task.size
    axes = np.linalg.svd(x.numpy() - x.numpy().mean(0))[2][:2]
    angles = np.array(list(crossing_angles(path @ axes.T).values()))
    assert measured["crossing_at_all"]["layer"] == len(angles)
    assert len(angles) > measured["crossing"]["layer"] == sum(angles > 30)
    expected = 3 * np.linalg.norm(np.diff(path[:24] @ axes.T, axis=1), axis=-1)
    np.testing.assert_allclose(lengths, expected, atol=2e-2)


@pytest.mark.parametrize(
    ("r", "first", "last"),
    [
        (1, (2.8498, 1.3553, -7.2570), (0.7691, -12.6291, 1.3051)),
        (2, (1.5574, 7.7949, 19.1428), (8.1604, 10.2077, 3.3550)),
    ],
)
def test_the_target_has_the_values_that_the_notebooks_print(script, r, first, last):
    x = np.random.RandomState(101).rand(20, 2**18).astype(np.float32)[:, :2048] - 0.5
    target = script("linear_trained_singular_values").target(r)
    values = target(torch.from_numpy(x).T.double()).squeeze(-1).tolist()
    assert values[:3] == pytest.approx(first, abs=1e-4)
    assert values[-3:] == pytest.approx(last, abs=1e-4)


@pytest.mark.parametrize("r", [1, 2])
def test_the_target_itself_has_no_error_and_no_distance(script, r):
    module = script("linear_trained_singular_values")
    fresh = module.uniform(400, [draw(4)])[0]
    found = module.measure(module.target(r), r, fresh)
    assert found["generalisation"] == found["outside"] == 0.0
    assert found["effective_rank"] == r
    assert found["distance"] < 1e-6
    assert found["sigma"][r] < 1e-12 * found["sigma"][0]


def test_singular_values_and_angles_are_those_of_numpy_and_scipy(script):
    module = script("linear_trained_singular_values")
    [net] = module.first_stack(4, 9, [draw(5)]).networks()
    fresh = module.uniform(300, [draw(6)])[0]
    x = fresh.clone().requires_grad_()
    with torch.enable_grad():
        (gradients,) = torch.autograd.grad(net(x).sum(), x)
    _, sigma, directions = np.linalg.svd(gradients.numpy() / np.sqrt(300))
    for r in (1, 2):
        found = module.measure(net, r, fresh)
        # Values below 1e-12 of the largest are rounding.
        assert found["sigma"] == pytest.approx(sigma, rel=1e-9, abs=1e-12 * sigma[0])
        angles = subspace_angles(directions[:r].T, module.drawn(r)[1])
        assert found["distance"] == pytest.approx(np.sin(angles[0]), rel=1e-6)
        assert found["effective_rank"] == sum(sigma > module.SHARE * sigma[0])
