r"""`measure(module, X)`: what the theory counts of any module of torch, and no theorem.

Write f for the module and Jf(x) for its Jacobian at a point x. What is measured is

* the cost :math:`\|\theta\|^2` of the parameters that f depends on, each counted once however often
  it is used: a bias where there is one, a tied weight once, no parameter that `forward` leaves out;
* at points the singular values of Jf(x), its numerical rank (`rankcheck.audit.ranks` says what
  counts as zero), and :math:`\operatorname{tr}\Theta(x, x) = \|\partial_\theta f(x)\|_F^2`, the
  trace of the tangent kernel, in the same parameters;
* the same of the modules inside: g at the inputs z that f gives it, and where as many numbers come
  out also Jg(z) − 1, which is the Jacobian of what a residual block adds to its input.

The theorems are about chains of affine maps, which `rankcheck.audit.audit` is for. A module that is
no chain has these numbers too, but no bound of this theory connects them.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from rankcheck.audit.ranks import GAP, ranks_and_gaps
from rankcheck.errors import InputError

_Values: TypeAlias = tuple[Tensor, float] | None

#: The sum of m·n·min(m, n) over the m × n Jacobians of one module, some seconds; no more are taken.
WORK = 2**33
#: The trace of the kernel is left out if the derivative in the parameters has more entries.
ENTRIES = 2**27
#: Of modules with the forward of one of these the Jacobian is the same everywhere.
AFFINE = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
#: So many singular values are shown as text.
VALUES = 4


@dataclass(frozen=True)
class Spectra:
    """Matrices at points: their numerical ranks and singular values.

    Attributes:
        ranks: by point, of large ones at the first points; None where the matrix is not finite.
        undecided: at how many points s_k / s_{k+1} is below `GAP`, so that the rank is not clear.
        singular_values: the medians over the points, the largest first.
    """

    ranks: tuple[int | None, ...]
    undecided: int
    singular_values: tuple[float, ...]

    @property
    def text(self) -> str:
        """At how many points which rank is, and the largest singular values."""
        counts = Counter("unknown" if one is None else str(one) for one in self.ranks)
        said = ", ".join(f"{k} at {number}" for k, number in sorted(counts.items()))
        undecided = f", undecided at {self.undecided}" * bool(self.undecided)
        values = [f"{s:.3g}" for s in self.singular_values[:VALUES]]
        more = ", …" * (len(self.singular_values) > VALUES)
        return f"rank {said}{undecided}; singular values {', '.join(values)}{more}"


@dataclass(frozen=True)
class ModuleFacts:
    """A module inside of f, with parameters that f depends on; or f itself.

    Attributes:
        name: of the module; empty for f.
        kind: its class.
        shape: (m, n): numbers that come out and go in. Of a linear layer, which acts on the last
            axis alone, those of its matrix.
        cost: the sum of squares of these parameters, those of the modules in it included.
        jacobian: at the inputs of its first call, in the first tensor that it takes. One matrix of
            linear layers and convolutions, whose Jacobian is the same everywhere; None without any.
        added: the Jacobians minus 1 of a module of others with as many numbers out as in.
        note: what is to be known beside the numbers, in words.
    """

    name: str
    kind: str
    shape: tuple[int, int]
    cost: float
    jacobian: Spectra | None = None
    added: Spectra | None = None
    note: str = ""

    def lines(self) -> list[str]:
        """The numbers as text."""
        m, n = self.shape
        block = [f"{self.name} ({self.kind}, {m} × {n}): cost {self.cost:.4g}".strip()]
        for what, spectra in (("J", self.jacobian), ("J − 1", self.added)):
            block += [] if spectra is None else [f"  {what}: {spectra.text}"]
        return [*block, f"  note: {self.note}"] if self.note else block


@dataclass(frozen=True, repr=False)
class Measured:
    """What was measured of a module.

    Attributes:
        whole: of f itself.
        kernel_trace: tr Θ(x, x) by point; None where the derivative is too large.
        modules: those inside, in the order of their first calls.
        unused: the names of the parameters that f does not depend on.
        notes: what is to be known beside the numbers, in sentences.
    """

    whole: ModuleFacts
    kernel_trace: tuple[float, ...] | None
    modules: tuple[ModuleFacts, ...]
    unused: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def cost(self) -> float:
        """‖θ‖², of the parameters that f depends on."""
        return self.whole.cost

    def lines(self) -> list[str]:
        """The numbers as text; the modules come last."""
        block = self.whole.lines()
        if self.kernel_trace is not None:
            middle = torch.tensor(self.kernel_trace).median()
            block += [f"  tr Θ(x, x): {float(middle):.4g}, the median"]
        if self.unused:
            block += [f"  note: f does not depend on {', '.join(self.unused)}"]
        block += [f"  note: {one}" for one in self.notes]
        return [*block, *(f"  {line}" for one in self.modules for line in one.lines())]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """As plain JSON. What is not finite is a ValueError, as JSON has no word for it."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self), allow_nan=False))
        return data


def measure(module: nn.Module, X: Any, *, points: int = 64) -> Measured:
    """Measure a module at points, in evaluation mode, in double precision, each point alone.

    All is done on a copy of the module, on its device, and the module stays as it is. Of an output
    of several tensors f is the first one with floats. Where the copy does not run in double
    precision, its own is taken, and a note says so.

    Args:
        X: points (N, ...) as the module takes them. Whole numbers, such as tokens, have no
            Jacobian; modules behind an embedding have.
        points: at most so many are taken, at even distances in X.

    Raises:
        InputError: there is no module, no point, or no number in f(x).
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"the module is a {type(module).__name__}; measure takes one of torch")
    X = torch.as_tensor(X).detach()
    if not X.ndim or not X.numel() or points < 1:
        raise InputError(f"X has the shape {tuple(X.shape)}; it has points (N, ...), one or more")
    places = torch.arange(min(points, len(X))) * len(X) // min(points, len(X))
    with (
        torch.inference_mode(False),
        torch.enable_grad(),
        sdpa_kernel(SDPBackend.MATH),
        torch.random.fork_rng(devices=[]),
    ):
        net, X, notes = _ready(module, X[places.to(X.device)])
        own = {name: p for name, p in net.named_parameters() if p.requires_grad}
        seen, used = dict[str, _Seen](), set[str]()
        traces: list[float] | None = []
        for x in X:
            _look(net, x, seen)
            y = _first(net(x[None]))
            here = _needed(y, own)
            used |= here.keys()
            if y.numel() * sum(p.numel() for p in here.values()) > ENTRIES:
                traces = None
            if traces is not None:
                rows = _derivatives(y, [*here.values()])
                traces.append(sum(float((one.double() ** 2).sum()) for one in rows))
    known = {id(own[name]) for name in used}
    whole, *modules = (one.facts(name, known) for name, one in seen.items())
    return Measured(
        whole=whole,
        kernel_trace=None if traces is None else tuple(traces),
        modules=tuple(one for one in modules if known & seen[one.name].own),
        unused=tuple(name for name in own if name not in used),
        notes=notes,
    )


def _needed(y: Tensor, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The parameters that y depends on."""
    if not y.requires_grad or not parameters:
        return {}
    wanted = [*parameters.values()]
    found = torch.autograd.grad(y.sum(), wanted, retain_graph=True, allow_unused=True)
    pairs = zip(parameters.items(), found, strict=True)
    return {name: p for (name, p), one in pairs if one is not None}


def _ready(module: nn.Module, X: Tensor) -> tuple[nn.Module, Tensor, tuple[str, ...]]:
    """A copy that is measured, the points where it is and in its precision, and notes.

    All its parameters want gradients: then no module takes a way that calls none inside.
    """
    held = [*module.parameters(), *module.buffers()]
    own = next((one.dtype for one in held if one.is_floating_point()), torch.float32)
    X = X.to(held[0].device) if held else X
    # A tensor on a graph, such as a weight that a hook computes anew, is no leaf to be copied.
    attributes = [one for inner in module.modules() for one in vars(inner).values()]
    loose = [one for one in attributes if isinstance(one, Tensor) and not one.is_leaf]
    for dtype in dict.fromkeys((torch.float64, own)):
        net = copy.deepcopy(module, {id(one): one.detach().clone() for one in loose}).eval()
        net = net.double() if dtype == torch.float64 else net
        for p in net.parameters():
            p.requires_grad_(p.is_floating_point())
        points = X.to(dtype) if X.is_floating_point() else X
        try:
            alone, again = (
                torch.cat([_first(net(x[None])).detach().reshape(-1) for x in points[:4]])
                for _ in range(2)
            )
        except (RuntimeError, TypeError):
            if dtype == own:
                raise
            continue
        break
    notes = [] if dtype == torch.float64 else [f"measured in {dtype}: it does not run in double"]
    close = partial(torch.allclose, rtol=torch.finfo(dtype).eps ** 0.5, equal_nan=True)
    if not close(alone, again):
        notes += ["f is random: it gave two values at one point"]
    elif len(points) > 1:
        together = _first(net(points[:4])).detach().reshape(-1)
        if len(together) != len(alone) or not close(alone, together):
            notes += ["the points of a batch change one another's values; f takes one alone"]
    return net, points, tuple(notes)


@dataclass(eq=False)
class _Seen:
    """A module, and of what was seen of it singular values with their rounding, if finite."""

    module: nn.Module
    shape: tuple[int, int] = (0, 0)
    calls: int = 1
    left: int = 0
    values: list[_Values] = field(default_factory=list)
    added: list[_Values] = field(default_factory=list)

    @property
    def own(self) -> set[int]:
        """The identities of its parameters."""
        return {id(p) for p in self.module.parameters()}

    def look(self, g: Callable[[Tensor], Any], z: Tensor) -> None:
        """Take the Jacobian of g at z, if there is one, within `WORK`."""
        forward = type(self.module).forward
        if self.values and any(forward is one.forward for one in AFFINE):
            return
        linear = isinstance(self.module, nn.Linear) and forward is nn.Linear.forward
        W: Any = self.module.weight if linear else None
        z = z.detach().requires_grad_(z.is_floating_point())
        y = _first(g(z.clone()))  # g may write over what it is given
        m, n = (y.numel(), z.numel()) if W is None else W.shape
        self.shape = m, n
        if (len(self.values) + 1) * m * n * min(m, n) > WORK:
            self.left += 1
            return
        if not z.requires_grad:
            return
        J = _derivatives(y, [z])[0] if W is None else W
        J, eps = J.detach().reshape(m, n).double(), torch.finfo(J.dtype).eps
        if not bool(J.isfinite().all()):
            self.values.append(None)
            return
        s = torch.linalg.svdvals(J).cpu()
        rounding = 8 * max(m, n) * eps * float(s[0])
        self.values.append((s, rounding))
        if m == n and any(True for _ in self.module.children()):
            minus = J - torch.eye(m, dtype=J.dtype, device=J.device)
            self.added.append((torch.linalg.svdvals(minus).cpu(), rounding))

    def facts(self, name: str, known: set[int]) -> ModuleFacts:
        """What was seen, with the cost of the parameters that are known."""
        own = [p.detach().double() for p in self.module.parameters() if id(p) in known]
        note = "" if self.calls == 1 else f"called {self.calls} times at a point; this is the first"
        if self.left:
            note = f"large: Jacobians were taken at {len(self.values)} points, not at {self.left}"
        return ModuleFacts(
            name=name,
            kind=type(self.module).__name__,
            shape=self.shape,
            cost=sum(float((p * p).sum()) for p in own),
            jacobian=_spectra(self.values, self.shape),
            added=_spectra(self.added, self.shape),
            note=note,
        )


def _look(net: nn.Module, x: Tensor, seen: dict[str, _Seen]) -> None:
    """Look at f and at each module inside at what goes into its first call when f is taken at x."""
    calls: Counter[str] = Counter()
    entered: dict[str, tuple[Callable[[Tensor], Any], Tensor]] = {}

    def entering(name: str, one: nn.Module, args: Any, kwargs: Any) -> None:
        calls[name] += 1
        leaves, spec = tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        tensors.sort(key=lambda leaf: not leaf.is_floating_point())
        if name in entered or not tensors:
            return

        def call(z: Tensor) -> Any:
            given = [z if leaf is tensors[0] else leaf for leaf in leaves]
            args, kwargs = tree_unflatten(given, spec)
            return one(*args, **kwargs)

        entered[name] = call, tensors[0].detach().clone()  # what comes in may be written over

    hooks = [
        one.register_forward_pre_hook(partial(entering, name), with_kwargs=True)
        for name, one in net.named_modules()
    ]
    net(x[None])
    for hook in hooks:
        hook.remove()
    for name, (call, z) in entered.items():
        one = seen.setdefault(name, _Seen(net.get_submodule(name)))
        one.calls = max(one.calls, calls[name])
        one.look(call, z)


def _derivatives(y: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The derivatives of y in each of the inputs, (m, ...); zero where it does not depend on it."""
    y, m = y.reshape(-1), y.numel()
    if not y.requires_grad or not inputs:
        return [one.new_zeros(m, *one.shape) for one in inputs]
    grad = partial(torch.autograd.grad, inputs=inputs, retain_graph=True, materialize_grads=True)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop", UserWarning)
            eye = torch.eye(m, dtype=y.dtype, device=y.device)
            return list(grad(y, grad_outputs=eye, is_grads_batched=True))
    except (RuntimeError, ValueError):  # a function without a rule for torch.func: row by row
        return [torch.stack(rows) for rows in zip(*(grad(one) for one in y), strict=True)]


def _spectra(values: Sequence[_Values], shape: tuple[int, int]) -> Spectra | None:
    """Of singular values by point; None without any."""
    finite = [one for one in values if one is not None]
    if not finite:
        return Spectra((None,) * len(values), 0, ()) if values else None
    s, noise = torch.stack([s for s, _ in finite]), torch.tensor([r for _, r in finite])
    ranks, gaps = ranks_and_gaps(s.new_empty(0, *shape), s, noise.to(s))
    known = iter(ranks.tolist())
    return Spectra(
        ranks=tuple(None if one is None else next(known) for one in values),
        undecided=int((gaps < GAP).sum()),
        singular_values=tuple(s.median(0).values.tolist()),
    )


def _first(value: Any) -> Tensor:
    """The first tensor of floats.

    Raises:
        InputError: there is none, or it is empty.
    """
    floats = [one for one in tree_leaves(value) if isinstance(one, Tensor) and one.numel()]
    floats = [one for one in floats if one.is_floating_point()]
    if not floats:
        raise InputError(f"a {type(value).__name__} came out, without a tensor of floats")
    return floats[0]
