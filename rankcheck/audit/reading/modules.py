"""Modules of torch in Python, by tracing: chains with one activation, and all other networks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import prod

import torch
from torch import Tensor, fx, nn
from torch.nn.utils.parametrize import is_parametrized

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.layer import kind_of
from rankcheck.audit.graph.tracer import DoesNotFit, line_of
from rankcheck.audit.graph.tracing import doubles, in_double, read_layers, trace
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.activations import AS_IT_IS, check_activations, check_slopes
from rankcheck.audit.reading.arrays import half_precision, parameter
from rankcheck.audit.reading.chain import steps_of
from rankcheck.audit.reading.folding import Activation, Affine, Step, assemble
from rankcheck.audit.reading.opening import LARGEST_ENTRIES, label, require

__all__ = ["compare", "from_module", "model_or_graph"]

#: What to do about an activation at the end, of a Sequential and of other modules.
_CUTS = (
    f"audit the module without it, as module[:-1]; {AS_IT_IS}",
    f"audit a module whose forward ends before it; {AS_IT_IS}",
)
#: The most shapes of a point that are tried if there are no data.
_TRIED = 8


def from_module(
    module: nn.Module,
    *,
    slope: float | None = None,
    shape: tuple[int, ...] | None = None,
    theorems: bool = True,
) -> Model | Graph:
    """The network that a trained module computes in eval mode, whatever its class is.

    Its operations are traced. A chain of linear layers with one activation σ_a between them,
    perhaps with batch norms, sums and factors, becomes a `Model`; any other network of operations
    that are known becomes a `Graph`.

    Args:
        shape: of one point. Without it, it is the width of a linear layer that can be the first.

    Raises:
        ModelError: it has an operation that is not known, hooks, or layers in training mode; its
            forward depends on values of tensors, or mixes the points of a batch; with `theorems`,
            it has an activation that is not homogeneous.
    """
    notes = _check(module)
    graph = _read(in_double(module).eval(), shape)
    require(graph.parameters, "there is no linear layer; a network has at least one")
    _check_training(module, graph)
    graph = replace(graph, assumed=(*notes, *graph.assumed))
    cut = _CUTS[kind_of(module) is not nn.Sequential]
    read = model_or_graph(graph, slope=slope, theorems=theorems, cut=cut)
    compare(in_double(module).eval(), graph, read)
    return read


def model_or_graph(graph: Graph, *, slope: float | None, theorems: bool, cut: str) -> Model | Graph:
    """A graph that is a chain as a `Model`; any other one as it is.

    Args:
        slope, theorems: as for `from_module`.
        cut: what to do about an activation at the end, in words.

    Raises:
        ModelError: it has an activation that is not homogeneous, with theorems, or of another
            slope.
    """
    check_activations(graph, theorems)
    found = steps_of(graph)
    if found is not None and _is_model(found[0], theorems):
        steps, assumed = found
        notes = (*graph.assumed, *assumed)
        return assemble(steps, graph.source, slope=slope, assumed=notes, cut=cut)
    check_slopes(graph, slope)
    return graph


def _is_model(steps: list[Step], theorems: bool) -> bool:
    """Whether steps are those of a `Model`, or of none because of an activation at the end."""
    kinds = [isinstance(step, Activation) for step in steps]
    slopes = {step.slope for step in steps if isinstance(step, Activation)}
    if not any(isinstance(step, Affine) for step in steps) or not any(kinds):
        return True
    between = not kinds[0] and not any(one and two for one, two in pairwise(kinds))
    homogeneous = len(slopes) == 1 and -1 < min(slopes) <= 1
    return between and homogeneous and (theorems or not kinds[-1])


def _check(module: nn.Module) -> tuple[str, ...]:
    """Check what holds for all parts of a module; what was assumed.

    Raises:
        ModelError: hooks, parametrisations, training mode, or parameters without finite numbers.
    """
    for name, one in module.named_modules():
        kind = type(one).__name__
        at = f"{label(name)}: {kind}" if name else kind
        _check_forward(at, one)
        require(
            not (one._forward_hooks or one._forward_pre_hooks),
            f"{at} has hooks, which may change what it computes; remove them first",
        )
        require(
            not is_parametrized(one),
            f"{at} is parametrised; call torch.nn.utils.parametrize.remove_parametrizations first",
        )
        require(
            not (one.training and isinstance(one, _TRAINED_OTHERWISE)),
            f"{at} is in training mode; call module.eval() first, and the audit is of what the "
            "network computes then",
        )
        if isinstance(one, nn.modules.batchnorm._BatchNorm):
            for part in ("running_mean", "running_var"):
                require(
                    getattr(one, part) is not None,
                    f"{at} has no running averages, so what it computes depends on the batch; a "
                    "batch norm is read with them",
                )
                parameter(label(f"{name}.{part}" if name else part), getattr(one, part))
    entries = 0
    for name, array in module.named_parameters():
        parameter(label(name), array)
        entries += array.numel()
    for name, buffer in module.named_buffers():
        require(not buffer.is_meta, f"{label(name)} is a meta tensor; load the weights first")
    fit = entries <= LARGEST_ENTRIES
    require(fit, f"there are {entries} parameters; at most {LARGEST_ENTRIES} are read")
    return half_precision(module.parameters())


#: What computes something else in training mode.
_TRAINED_OTHERWISE = (
    nn.modules.dropout._DropoutNd,
    nn.modules.batchnorm._NormBase,
    nn.RReLU,
    nn.MultiheadAttention,
    nn.TransformerEncoderLayer,
)


def _check_forward(at: str, module: nn.Module) -> None:
    """Check that a module is called by its forward, which is Python or torch's own."""
    wrapper = next((part for part in ("module", "_orig_mod") if _wraps(module, part)), None)
    require(
        wrapper is None,
        f"the module has {at}, which wraps another one; audit its .{wrapper}",
    )
    require(
        not type(module).__module__.startswith("torch.ao."),
        f"the module has {at}, which is quantised; audit the module that it was made from",
    )
    plain = type(module).__call__ is nn.Module.__call__ or isinstance(module, fx.GraphModule)
    require(
        plain and not isinstance(module, torch.jit.ScriptModule),
        f"the module has {at}; its forward, of {type(module).__module__}, cannot be read: audit "
        "the module of Python that it was made from",
    )


def _wraps(module: nn.Module, part: str) -> bool:
    ours = type(module).__module__.startswith(("torch.nn.parallel", "torch._dynamo"))
    return ours and part in dict(module.named_children())


def _read(module: nn.Module, shape: tuple[int, ...] | None) -> Graph:
    """The graph of a module at points of this shape, or of one that it takes.

    Raises:
        ModelError: it takes none, or cannot be traced.
    """
    given = [] if shape is None else [shape, (prod(shape),)]
    first: DoesNotFit | None = None
    for one in dict.fromkeys([*given, *_widths(module)]):
        try:
            return read_layers(trace(module, one), one, "torch module")
        except DoesNotFit as error:
            first = first or error
    require(first is not None, "there is no linear layer; a network has at least one")
    if shape is not None:
        raise ModelError(f"the network does not take a point of shape {shape}: {first}") from first
    raise ModelError(
        f"{first}. Without data, a point is taken as the numbers that a linear layer takes; if "
        "that is wrong, give data"
    ) from first


def _check_training(module: nn.Module, graph: Graph) -> None:
    """Check that a forward of a module's own does the same in training mode, if it is in it.

    Raises:
        ModelError: it does not.
    """
    own = [one for one in module.modules() if one.training and kind_of(one) is None]
    if not own:
        return
    traced = read_layers(trace(in_double(module), graph.shape), graph.shape, "")
    one, two = (
        [(node.op, node.target, str(node.args), str(node.kwargs)) for node in nodes]
        for nodes in (graph.module.graph.nodes, traced.module.graph.nodes)
    )
    require(
        one == two,
        f"{type(own[0]).__name__} is in training mode, and computes something else then; call "
        "module.eval() first, and the audit is of what the network computes then",
    )


def _widths(module: nn.Module) -> list[tuple[int, ...]]:
    """How many numbers the first layer may take, the likeliest first."""
    found: list[tuple[int, ...]] = []
    for one in module.modules():
        if isinstance(one, nn.Linear):
            found.append((one.in_features,))
        elif isinstance(one, nn.BatchNorm1d):
            found.append((one.num_features,))
    for array in module.parameters():
        if array.ndim == 2:
            found += [(array.shape[1],), (array.shape[0],)]
    return list(dict.fromkeys(found))[:_TRIED]


def compare(module: nn.Module, graph: Graph, read: Model | Graph, number: int = 3) -> None:
    """Check that what was read computes what the module computes, at some random points.

    Raises:
        ModelError: it does not: points of a batch are mixed, or the forward has a state.
    """
    X = torch.randn(
        number, *graph.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    there, error = _called(module, X)
    flat = X.flatten(1)
    try:
        here = read(flat) if isinstance(read, Graph) else read.net(flat)
    except (RuntimeError, ValueError) as wrong:
        raise ModelError(
            f"what was read cannot be taken at several points at once: {line_of(wrong)}"
        ) from wrong
    alone, error = _called(module, X[:1])  # second, as it may count its calls
    close = there.shape[:1] == X.shape[:1] and there.numel() == here.numel()
    together = close and _agree(here, there.reshape(len(X), -1), error)
    single = _agree(here[:1], alone.reshape(1, -1), error)
    if together and single:
        return
    require(
        together or not single,
        "the module mixes the points of a batch: what it computes at one depends on the others, so "
        "that it is no function of a point",
    )
    raise ModelError(
        "the module computes something else than the operations in its forward say, as with random "
        "numbers or a state that changes; it must be one function of a point"
    )


def _called(module: nn.Module, X: Tensor) -> tuple[Tensor, float]:
    """What a module computes of points, and how exactly.

    Raises:
        ModelError: it fails.
    """
    failed: Exception | None = None
    for dtype, error in ((torch.float64, 1e-7), (torch.float32, 1e-2)):
        try:
            with torch.no_grad(), doubles(dtype), torch.random.fork_rng(devices=[]):
                return module.to(dtype)(X.to(dtype, copy=True)).double(), error
        except Exception as wrong:  # anything may come from a forward that somebody wrote
            failed = failed or wrong
    raise ModelError(
        f"the module fails at {len(X)} points at once: {type(failed).__name__}: "
        f"{line_of(failed or RuntimeError())}"
    ) from failed


def _agree(one: Tensor, two: Tensor, error: float) -> bool:
    if one.shape != two.shape:
        return False
    finite = torch.isfinite(two)
    scale = float(two[finite].abs().max()) if bool(finite.any()) else 0.0
    return bool(((one - two).abs() <= error * max(scale, 1e-300))[finite].all())
