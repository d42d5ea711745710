"""Maps of layers against the dense matrix that autograd finds of the module itself."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit.graph import convolution_map, largest
from rankcheck.audit.graph.convolution_map import ConvolutionMap
from rankcheck.audit.graph.linear_map import DiagonalMap
from rankcheck.audit.graph.tracing import graph_of
from rankcheck.audit.model import ModelError
from tests.audit.nets import normal

CONVOLUTIONS = {
    "padding": (nn.Conv2d(3, 4, 3, padding=1), (3, 6, 5)),
    "stride and groups": (nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), (4, 7, 6)),
    "strides differ": (nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(0, 1)), (2, 7, 6)),
    "depthwise": (nn.Conv2d(4, 4, 3, padding=1, groups=4, bias=False), (4, 5, 5)),
    "same and dilation": (nn.Conv1d(2, 3, 4, padding="same", dilation=2), (2, 9)),
    "one axis": (nn.Conv1d(3, 5, 3, padding="valid"), (3, 8)),
    "three axes": (nn.Conv3d(2, 3, 2, padding=1), (2, 3, 4, 3)),
    "circular": (nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular"), (2, 4, 4)),
    "circular, wider than the point": (
        nn.Conv2d(2, 2, 5, padding=2, padding_mode="circular"),
        (2, 4, 3),
    ),
    "reflect": (nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect"), (2, 4, 4)),
    "replicate": (nn.Conv2d(2, 2, 3, padding=2, padding_mode="replicate"), (2, 4, 4)),
}
TRANSPOSED = {
    "transposed": (nn.ConvTranspose2d(3, 4, 3, padding=1), (3, 4, 5)),
    "transposed, with stride and groups": (
        nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
        (4, 3, 4),
    ),
    "transposed, dilated": (nn.ConvTranspose1d(2, 3, 3, dilation=2, bias=False), (2, 7)),
}
CONVOLUTIONS |= TRANSPOSED
DISJOINT = {
    "patches put side by side": (nn.ConvTranspose2d(3, 2, 2, stride=2), (3, 3, 4)),
    "pointwise": (nn.Conv2d(4, 3, 1), (4, 3, 3)),
    "pointwise with stride": (nn.Conv2d(4, 2, 1, stride=3), (4, 7, 7)),
    "patches": (nn.Conv2d(3, 5, 2, stride=2), (3, 5, 6)),
    "patches in groups": (nn.Conv2d(4, 6, 2, stride=2, groups=2), (4, 4, 4)),
}


def only_map(module, shape):
    module = drawn(module)
    graph = graph_of(nn.Sequential(module), shape, "made up")
    [layer] = graph.layers.values()
    [one] = layer.maps
    return one, dense(module, shape)


def drawn(module):
    """The module in float64 with entries that are not those of an initialisation."""
    module = copy.deepcopy(module).double().eval()
    for index, parameter in enumerate(module.parameters()):
        parameter.data = normal(*parameter.shape, seed=index)
    return module


def dense(module, shape):
    """The derivative of a module at 0, by autograd."""
    at = torch.func.jacrev(lambda x: module(x.reshape(1, *shape)).reshape(-1))
    return at(torch.zeros(math.prod(shape), dtype=torch.float64)).detach()


@pytest.mark.parametrize(("module", "shape"), CONVOLUTIONS.values(), ids=CONVOLUTIONS)
@pytest.mark.parametrize("entries", [0, 2**22], ids=["by products", "all of them"])
def test_a_convolution_is_its_dense_matrix(module, shape, entries, monkeypatch):
    monkeypatch.setattr(convolution_map, "ENTRIES", entries)
    one, A = only_map(module, shape)
    assert one.shape == one.block == tuple(A.shape)
    assert one.copies == 1
    assert one.frobenius_squared() == pytest.approx(float((A * A).sum()), rel=1e-12)
    expected = torch.linalg.svdvals(A)
    found, complete = one.singular_values(5)
    assert complete == (entries > 0)
    assert len(found) == (len(expected) if complete else 5)
    torch.testing.assert_close(found, expected[: len(found)], rtol=0, atol=1e-9 * expected[0])


@pytest.mark.parametrize(("module", "shape"), DISJOINT.values(), ids=DISJOINT)
def test_where_no_number_is_read_twice_all_singular_values_are_those_of_one_copy(module, shape):
    one, A = only_map(module, shape)
    expected = torch.linalg.svdvals(A)
    expected = expected[expected > 1e-9]
    found, complete = one.singular_values(1)
    assert complete
    assert one.shape == tuple(A.shape)
    assert one.copies * len(found) == len(expected)
    torch.testing.assert_close(found.repeat_interleave(one.copies), expected, rtol=0, atol=1e-10)
    whole = one.copies * one.frobenius_squared()
    assert whole == pytest.approx(float((A * A).sum()), rel=1e-12)


@pytest.mark.parametrize(
    ("module", "shape"), {**CONVOLUTIONS, **DISJOINT}.values(), ids=[*CONVOLUTIONS, *DISJOINT]
)
def test_channels_scaled_are_channels_of_the_scaled_convolution(module, shape):
    one, A = only_map(module, shape)
    rows, columns = normal(one.units, seed=3), normal(one.channels, seed=4)
    weight, bias = one.scaled(rows, columns)
    changed = drawn(module)
    changed.weight.data = weight
    out = torch.arange(A.shape[0]) * one.units // A.shape[0]  # channels come first
    into = torch.arange(A.shape[1]) * one.channels // A.shape[1]
    expected = rows[out].unsqueeze(1) * A * columns[into]
    torch.testing.assert_close(dense(changed, shape), expected)
    assert (bias is None) == (module.bias is None)
    if bias is not None:
        torch.testing.assert_close(bias, rows * one.offset)
    squares = one.squares()
    assert squares.shape == (one.units, one.channels)
    assert float(squares.sum()) == pytest.approx(one.weights)
    torch.testing.assert_close((squares * rows[:, None] ** 2 * columns**2).sum(), (weight**2).sum())


def test_singular_values_that_occur_often_are_all_found():
    """Kernels of one shape on eight channels: each value is that of B ⊗ B, eight times."""
    n, channels = 20, 8
    kernel = torch.tensor([0.3, 0.5, 0.4], dtype=torch.float64)
    weight = torch.einsum("ij,k,l->ijkl", torch.eye(channels).double(), kernel, kernel)
    B = sum(kernel[1 + i].expand(n - abs(i)).diag(i) for i in (-1, 0, 1))
    one = ConvolutionMap(
        "made up", ("weight", None), weight, None, (n, n), (1, 1), ((1, 1), (1, 1)), (1, 1)
    )
    s = torch.linalg.svdvals(B)
    expected = torch.outer(s, s).flatten().sort(descending=True).values.repeat_interleave(channels)
    found, complete = one.singular_values(20)
    assert not complete
    torch.testing.assert_close(found, expected[:20], rtol=1e-9, atol=0)
    assert torch.equal(found, one.singular_values(20)[0]), "the start is fixed"


def test_zeros_and_matrices_of_small_rank_by_products():
    A = normal(40, 3) @ normal(3, 50, seed=1)
    for matrix in (A, 0 * A):
        found = largest.largest_singular_values(matrix.mv, matrix.T.mv, 50, 6)
        expected = torch.linalg.svdvals(matrix)[:6]
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-6 * float(A.norm()))


def test_an_iteration_that_does_not_end_is_an_error(monkeypatch):
    A = normal(40, 50)
    monkeypatch.setattr(largest, "MOST", 1)
    with pytest.raises(ArithmeticError, match="6 singular values"):
        largest.largest_singular_values(A.mv, A.T.mv, 50, 6)


def test_little_memory_takes_more_products_to_the_same_values(monkeypatch):
    A = normal(400, 300) * torch.linspace(1, 2, 300).double()
    monkeypatch.setattr(largest, "MEMORY", 0)
    found = largest.largest_singular_values(A.mv, A.T.mv, 300, 6)
    torch.testing.assert_close(found, torch.linalg.svdvals(A)[:6], rtol=1e-9, atol=0)


class Functional(nn.Module):
    """Convolutions, norms and pooling as functions."""

    def __init__(self):
        super().__init__()
        self.w, self.b = nn.Parameter(normal(4, 2, 3)), nn.Parameter(normal(4))
        self.v = nn.Parameter(normal(4, 1, 3, seed=7))
        self.gamma, self.beta = nn.Parameter(normal(4, seed=2)), nn.Parameter(normal(4, seed=3))
        self.register_buffer("mean", normal(4, seed=4))
        self.register_buffer("var", normal(4, seed=5).abs() + 0.1)

    def forward(self, x):
        x = functional.conv1d(x, self.w, self.b, stride=2, padding=1)
        x = functional.conv_transpose1d(x, self.w, None, 2, 1, 1, 1, 1)
        x = functional.conv1d(x, self.v, dilation=2, groups=2, padding="same")[..., ::2]
        x = functional.batch_norm(x, self.mean, self.var, self.gamma, self.beta)
        return functional.layer_norm(functional.avg_pool1d(x, 2), (2,))


def test_functions_are_read_as_modules_are():
    graph = graph_of(Functional(), (2, 8), "made up")
    convolution, transposed, again, _, norm, pooling, last = graph.layers.values()
    [one], [back], [third], [two] = (x.maps for x in (convolution, transposed, again, norm))
    assert (back.shape, third.shape, third.groups, third.dilation) == ((16, 16), (32, 16), 2, (2,))
    assert (one.name, two.name) == ("w", "gamma")
    assert (one.parameters, two.parameters) == (("w", "b"), ("gamma", "beta"))
    assert one.shape == (16, 16)
    assert isinstance(two, DiagonalMap)
    assert (pooling.title, pooling.affine, last.title, last.affine, last.rowwise, last.maps) == (
        *("mean pooling", True),
        *("layer norm", False, True, ()),
    )


class Blur(nn.Module):
    """A convolution with a kernel that is no parameter."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kernel", torch.ones(1, 1, 3).double() / 3)

    def forward(self, x):
        return functional.conv1d(x, self.kernel)


def test_kernels_and_norms_that_are_no_parameters_cost_nothing():
    graph = graph_of(Blur(), (1, 5), "made up")
    [layer] = graph.layers.values()
    assert (layer.affine, layer.maps, graph.depth) == (True, (), 0)


def test_a_layer_that_inherits_the_forward_of_torch_is_read():
    class Own(nn.Conv1d):
        pass

    graph = graph_of(nn.Sequential(Own(1, 2, 3)).eval(), (1, 5), "made up")
    [layer] = graph.layers.values()
    assert (layer.title, [one.parameters for one in layer.maps]) == (
        "Conv1d",
        [("0.weight", "0.bias")],
    )


class Drawn(nn.Module):
    def forward(self, x):
        return functional.conv1d(x, x)


def test_a_kernel_that_depends_on_the_point_is_no_layer_that_is_known():
    with pytest.raises(ModelError, match="conv1d"):
        graph_of(Drawn(), (1, 3), "made up")


@pytest.mark.parametrize(
    ("module", "shape"),
    [(nn.BatchNorm1d(3), (3,)), (nn.BatchNorm1d(3), (3, 2)), (nn.BatchNorm2d(3), (3, 2, 4))],
)
def test_a_batch_norm_is_a_diagonal_matrix(module, shape):
    module.running_mean, module.running_var = normal(3, seed=8), normal(3, seed=9).abs() + 0.1
    one, A = only_map(module, shape)
    torch.testing.assert_close(one.scale.repeat_interleave(one.copies), A.diagonal())
    assert one.shape == tuple(A.shape)
    assert one.singular_values(1)[0].tolist() == sorted(one.scale.abs().tolist(), reverse=True)


def test_a_norm_by_the_averages_of_the_batch_is_refused():
    module = nn.BatchNorm1d(3, track_running_stats=False).eval()
    with pytest.raises(ModelError, match="averages of the batch"):
        graph_of(nn.Sequential(module), (3, 2), "made up")


class Indices(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool1d(2, return_indices=True)

    def forward(self, x):
        return self.pool(x)[0]


def test_pooling_that_returns_indices_is_refused():
    with pytest.raises(ModelError, match="indices"):
        graph_of(Indices().eval(), (3, 4), "made up")


def test_a_variance_that_is_not_positive_is_refused():
    module = nn.BatchNorm1d(2).eval()
    module.running_var[1] = -1.0
    with pytest.raises(ModelError, match="variance -1"):
        graph_of(nn.Sequential(module), (2,), "made up")


class Mean(nn.Module):
    def __init__(self, *axes):
        super().__init__()
        self.axes = axes

    def forward(self, x):
        return x.mean(*self.axes)


@pytest.mark.parametrize("axes", [(), (0,), ((-3, 1),)])
def test_averages_over_the_points_are_refused(axes):
    with pytest.raises(ModelError, match="first axis"):
        graph_of(Mean(*axes), (3, 4), "made up")
    assert graph_of(Mean((1, 2)), (3, 4), "made up").layers["mean"].affine


@pytest.mark.parametrize(
    ("module", "shape", "title", "piecewise", "rowwise", "units"),
    [
        (nn.LayerNorm(4), (3, 4), "layer norm", False, True, 4),
        (nn.LayerNorm((3, 4)), (3, 4), "layer norm", False, False, 12),
        (nn.RMSNorm(4), (3, 4), "RMS norm", False, True, 4),
        (nn.GroupNorm(2, 4), (4, 3), "group norm", False, False, 4),
        (nn.InstanceNorm1d(4), (4, 3), "instance norm", False, False, None),
        (nn.MaxPool2d(2), (2, 4, 4), "max pooling", True, False, None),
        (nn.AdaptiveAvgPool2d(1), (2, 4, 4), "mean pooling", True, False, None),
    ],
)
def test_other_norms_and_pooling(module, shape, title, piecewise, rowwise, units):
    graph = graph_of(nn.Sequential(module.eval()), shape, "made up")
    [layer] = graph.layers.values()
    assert (layer.title, layer.piecewise, layer.rowwise) == (title, piecewise, rowwise)
    assert [one.units for one in layer.maps] == ([] if units is None else [units])
    assert graph.depth == 0, "a norm is no layer of a chain"
    assert sum(one.weights + one.bias for one in layer.maps) == pytest.approx(graph.stored_cost)
