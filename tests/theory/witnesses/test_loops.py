"""Loops around stars: closing, distinct rays, and repeated loops as networks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource
from rankcheck.theory.instances.loops import bent_loops, loops, stopped_loops
from rankcheck.theory.witnesses.loops import Loop, activate, close, distinct_rays
from rankcheck.theory.witnesses.switching_loops import switching_loop
from tests.draws import batch_of

TRIPOD = torch.tensor([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]], dtype=torch.float64)
NONE = TRIPOD[:, :0]


def test_a_kink_on_the_star_opens_the_loop():
    loop = Loop(TRIPOD, NONE, (torch.eye(2, dtype=torch.float64),), (1,))
    assert not loop.closes()
    assert torch.equal(loop.around(TRIPOD)[:, 2], torch.tensor([0.0, -1.0], dtype=torch.float64))


@pytest.mark.oracle("rankcheck.witnesses.activate", "written out")
def test_the_first_rows_are_kinked():
    z = torch.tensor([[1.0, -2.0], [-3.0, 4.0], [-5.0, 6.0]], dtype=torch.float64)
    assert activate(z, 2, Fraction(1, 4)).tolist() == [[1, -0.5], [-0.75, 4], [-5, 6]]


@pytest.mark.parametrize("a", [0.0, 0.5, -0.75])
@pytest.mark.oracle("rankcheck.witnesses.switching_loop", "numpy")
def test_a_switching_loop_fixes_points_of_its_rays(a):
    loop = switching_loop(2, torch.tensor(a, dtype=torch.float64))
    assert len(loop.weights) == 12
    for point in ([3.0, 0.0], [-2.0, 0.0], [0.0, 5.0]):
        x = np.array(point)
        for W, kinked in zip(loop.weights, loop.kinked, strict=True):
            z = W.numpy() @ x
            x = np.where((np.arange(len(z)) < kinked) & (z < 0), a * z, z)
        np.testing.assert_allclose(x, point, rtol=1e-12, atol=1e-12)


def folding() -> Loop:
    """Three orthogonal rays, folded into the plane and unfolded again by ReLU."""
    rays = torch.eye(3, dtype=torch.float64)
    fold = torch.tensor([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    unfold = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    return Loop(rays, rays[:, :0], (fold, unfold), (0, 3))


def test_a_loop_with_kinks():
    loop = folding()
    assert loop.closes()
    assert distinct_rays(loop.rays)
    assert loop.cost() == 6
    assert loop.shows_a_star(3)
    assert not loop.shows_a_star(4)


@pytest.mark.parametrize(
    ("rays", "different"),
    [
        ([[1, 0], [0, 1]], True),
        ([[1, -1], [0, 0]], True),  # opposite rays are two rays
        ([[1, 2], [0, 0]], False),
        ([[1, 1], [0, 1e-3]], False),
        ([[1, 0], [0, 0]], False),
    ],
)
def test_distinct_rays(rays, different):
    columns = torch.tensor(rays, dtype=torch.float64)
    assert bool(distinct_rays(columns)) is different
    assert bool(distinct_rays(BallArray.exact(columns))) is different


def test_kinked_units_must_not_see_the_spine():
    rays = torch.tensor([[1.0, -1.0], [0.0, 0.0]], dtype=torch.float64)
    spine = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    one = torch.eye(2, dtype=torch.float64)
    assert Loop(rays, spine, (one,), (0,)).closes()
    ahead = torch.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=torch.float64)
    back = torch.tensor([[1.0, -1.0], [0.0, 1.0]], dtype=torch.float64)
    assert Loop(rays, spine, (ahead, back), (0, 0)).closes()
    assert not Loop(rays, spine, (ahead, back), (1, 0), Fraction(1, 2)).closes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "seeds"),
    [
        (loops(rays=(3, 3)), 120),
        (bent_loops(), 24),
        (bent_loops(rays=(3, 3), spine=1), 24),
        (stopped_loops(), 24),
    ],
)
def test_loops_that_close_do_so_exactly(family, seeds):
    """Loops that close in floats close exactly on rationals, and some of them have kinks."""
    closed, kinked = 0, 0
    for seed in range(seeds):
        source = BatchSource(seed)
        (loop,) = family(source)
        if not (loop.closes() and loop.shows_a_star(3)):
            continue
        (exact,) = family(ReplaySource(source.record.instance(0), BallArray.exact))
        assert exact.closes()
        assert exact.shows_a_star(3)
        assert (exact.around(exact.points()) == exact.points()).all()
        closed, kinked = closed + 1, kinked + any(loop.kinked)
    assert closed >= 10
    assert kinked >= 2


@pytest.mark.slow
@pytest.mark.parametrize("family", [bent_loops(), stopped_loops()])
def test_loops_near_planar_ones_come_close_to_two_a_layer(family):
    """At each length, without attaining it; and a third of them or more close."""
    least: dict[int, float] = {}
    closed = drawn = 0
    for seed in range(60):
        (loop,), _ = batch_of(family, BatchSource(seed, 64))
        good = loop.closes() & loop.shows_a_star(3)
        ratio = loop.cost() / (2 * loop.length)
        closed, drawn = closed + int(good.sum()), drawn + 64
        for value in ratio[good & (ratio > 1 + 1e-9)].tolist():
            least[loop.length] = min(value, least.get(loop.length, value))
        assert (ratio[good] > 1 - 1e-9).all()
    assert set(least) == {1, 2, 3, 4}
    assert max(least.values()) < 1.01
    assert 3 * closed > drawn


def between(loop, count=33):
    """Points on all segments of a loop with biases, as columns."""
    points = loop.points()
    shares = torch.linspace(0, 1, count, dtype=torch.float64)
    pieces = [
        points[..., i : i + 1] + shares * (points[..., j : j + 1] - points[..., i : i + 1])
        for i, j in loop.segments()
    ]
    return torch.cat(pieces, -1)


@pytest.mark.slow
def test_loops_with_a_stop_fix_all_points_of_the_star():
    """Also between the centre, the stop and the ends; a loop that only fixes these is open."""
    closed = stray = 0
    for seed in range(120):
        (loop,) = stopped_loops()(BatchSource(seed))
        star = between(loop)
        missed = (loop.around(star) - star).abs().amax()
        ends = (loop.around(loop.points()) - loop.points()).abs().amax()
        if loop.closes():
            assert missed < 1e-7
            closed += 1
        elif ends < 1e-9:
            stray += missed > 1e-4
    assert closed >= 30
    assert stray >= 3


def test_stopped_loops_bend_at_their_stop():
    bends = 0
    for seed in range(40):
        (loop,) = stopped_loops()(BatchSource(seed))
        ((ray, t),) = loop.bent
        centre, *ends, stop = loop.points().unbind(-1)
        straight = centre + float(t) * (ends[ray] - centre)
        assert torch.allclose(straight[2:], stop[2:])
        assert loop.shows_its_stops()
        bends += bool((straight - stop).abs().amax() > 1e-3)
    assert bends >= 20


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_with_biases_the_rays_begin_in_the_centre(shift):
    """A batch of stars in R^3, seen by the two linear units; angles by numpy.arctan2."""
    g = np.random.default_rng(5)
    ends = g.integers(-2, 3, (200, 3, 4)).astype(float)
    centre = shift * np.ones((200, 3, 1))
    stop = centre + 0.25 * (ends[..., 1:2] - centre)
    stop[::2, 0] += 1.0  # a bend that only the kinked unit sees
    stop[::5, 2] += 0.5  # the linear units see the stop beside its ray
    eye = torch.eye(3, dtype=torch.float64).expand(200, 3, 3)
    loop = Loop(
        torch.tensor(ends),
        torch.tensor(ends[..., :0]),
        (eye,),
        (1,),
        biases=(torch.zeros(200, 3, dtype=torch.float64),),
        centre=torch.tensor(centre) if shift else None,
        stops=torch.tensor(stop),
        bent=((1, Fraction(1, 4)),),
    )
    x, y = (ends - centre)[:, 1:].swapaxes(0, 1)
    angles = np.arctan2(y, x)
    turns = np.abs(angles[:, :, None] - angles[:, None, :])
    turns = np.minimum(turns, 2 * np.pi - turns)[:, *np.triu_indices(4, 1)]
    expected = (np.hypot(x, y) > 0).all(1) & (turns > 2.0**-5).all(1)
    assert 10 < expected.sum() < 190
    straight = np.arange(200) % 5 != 0
    assert loop.shows_its_stops().tolist() == straight.tolist()
    assert loop.shows_a_star(4).tolist() == (expected & straight).tolist()
    assert not loop.shows_a_star(5).any()


def test_biases_and_a_spine_exclude_each_other():
    one = torch.eye(2, dtype=torch.float64)
    with pytest.raises(ValueError, match="biases and a spine"):
        Loop(TRIPOD, TRIPOD[:, :1], (one,), (0,), biases=(one[0],))
    with pytest.raises(ValueError, match="received 0 biases for 1 layers"):
        Loop(TRIPOD, NONE, (one,), (0,), biases=())


PLANE = Loop(TRIPOD, NONE, (torch.eye(2, dtype=torch.float64),), (0,))


@pytest.mark.parametrize("loop", [PLANE, folding()], ids=["the plane", "folded"])
def test_a_repeated_loop_is_a_network(loop):
    """The identity on the star, once or four times around; the biases cost nothing in the limit."""
    for repeats in (1, 4):
        net = loop.network(repeats, torch.tensor(0.25, dtype=torch.float64))
        assert net.depth == loop.length * repeats + 2
        for t in (0.0, 0.125, 0.25):
            assert torch.equal(net(t * loop.rays.mT), t * loop.rays.mT)
    small = loop.network(4, torch.tensor(2.0**-20, dtype=torch.float64))
    cost = 4 * float(loop.cost()) + 2 * len(loop.rays)
    assert float(small.cost()) == pytest.approx(cost, abs=1e-9)


def test_a_loop_has_kinks_for_each_layer():
    with pytest.raises(ValueError, match="received 2 numbers of kinked units for 1 layers"):
        Loop(TRIPOD, NONE, (torch.eye(2, dtype=torch.float64),), (0, 0))


@pytest.mark.oracle("rankcheck.witnesses.close", "numpy.linalg.lstsq")
def test_the_last_layer_by_least_squares():
    g = np.random.default_rng(0)
    for k in (1, 3, 5):  # fewer, as many and more units than rays
        start, end = g.normal(size=(6, 2, 3)), g.normal(size=(6, k, 3))
        end[0] = 0
        end[1, -1] = 2 * end[1, 0]
        found = close(torch.tensor(start), torch.tensor(end)).numpy()
        for i in range(6):
            expected = np.linalg.lstsq(end[i].T, start[i].T)[0].T
            np.testing.assert_allclose(found[i], expected, atol=1e-10)


@pytest.mark.oracle(
    "rankcheck.witnesses.distinct_rays", "angles by numpy.arccos, and numpy.linalg.qr for the spine"
)
def test_rays_are_distinct_by_their_angles():
    """Directions differ by more than arcsin 2^(-5); the directions are those beside the spine."""
    g = np.random.default_rng(1)
    least = np.arcsin(2.0**-5)
    told = []
    for case in range(300):
        rays = g.integers(-3, 4, (3, 3)).astype(float)
        if case % 3 == 0:
            turn = least * g.uniform(0.5, 1.5)
            other = np.cross(rays[:, 0], [1.0, 2.0, 3.0])
            size = np.linalg.norm(rays[:, 0]) / max(np.linalg.norm(other), 1e-9)
            rays[:, 1] = 2 * (np.cos(turn) * rays[:, 0] + np.sin(turn) * size * other)
        spine = g.integers(-1, 2, (3, 1)).astype(float) if case % 2 else rays[:, :0]
        sizes = np.linalg.norm(rays, axis=0)
        good = (sizes > 0).all()
        if spine.shape[1] and not spine.any():
            good = False
        elif good and spine.shape[1]:
            Q = np.linalg.qr(spine, mode="complete")[0][:, 1:]  # across the spine
            rays_across = Q.T @ rays
            # The sine of the angle between a ray and the spine.
            good = (np.linalg.norm(rays_across, axis=0) / sizes >= 2.0**-5).all()
        else:
            rays_across = rays
        if good:
            units = rays_across / np.linalg.norm(rays_across, axis=0)
            angles = np.arccos(np.clip(units.T @ units, -1, 1))[np.triu_indices(3, 1)]
            good = (angles > least).all()
        args = [torch.tensor(rays)] + ([torch.tensor(spine)] if spine.shape[1] else [])
        assert bool(distinct_rays(*args)) == good, (rays, spine)
        told.append(good)
    assert 50 < sum(told) < 250
