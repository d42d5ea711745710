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
from math import isclose
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.func import functional_call, jacrev
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from rankcheck.audit.ranks import GAP, TOLERANCE, ranks_and_gaps
from rankcheck.errors import InputError
from rankcheck.networks import Network, balance_neurons

_Values: TypeAlias = tuple[Tensor, float] | None

__all__ = ["Measured", "ModuleFacts", "Spectra", "measure"]

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
        counts = Counter(one for one in self.ranks if one is not None)
        said = ", ".join(f"{k} at {number}" for k, number in sorted(counts.items()))
        undecided = f", undecided at {self.undecided}" if self.undecided else ""
        if len(self.ranks) == 1:
            said, undecided = ", ".join(map(str, counts)), ", undecided" * self.undecided
        values = [f"{s:.3g}" for s in self.singular_values[:VALUES]]
        more = ", …" if len(self.singular_values) > VALUES else ""
        return f"rank {said or 'unknown'}{undecided}; singular values {', '.join(values)}{more}"


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


@dataclass(frozen=True, repr=False)
class Measured:
    """What was measured of a module.

    Attributes:
        whole: of f itself.
        balanced: the cost after rescaling hidden neurons with the same function
            (`rankcheck.networks.balance_neurons`), for a `Sequential` of linear layers with one
            (leaky) ReLU between them that share nothing; None for others.
        kernel_trace: tr Θ(x, x) by point; None where the derivative is too large.
        modules: those inside, in the order of their first calls.
        unused: the names of the parameters that f does not depend on.
        notes: what is to be known beside the numbers, in sentences.
    """

    whole: ModuleFacts
    balanced: float | None
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
        balanced = "" if self.balanced is None else f", {self.balanced:.4g} after balancing"
        m, n = self.whole.shape
        block = [f"{self.whole.kind}: {n} numbers in, {m} out; cost {self.cost:.4g}{balanced}"]
        if self.whole.jacobian is not None:
            block += [f"Jf: {self.whole.jacobian.text}"]
        if self.kernel_trace is not None:
            middle = torch.tensor(self.kernel_trace).median()
            block += [f"tr Θ(x, x): {float(middle):.4g}, the median"]
        notes = [self.whole.note] if self.whole.note else []
        if self.unused:
            notes += [f"f does not depend on {', '.join(self.unused)}"]
        block += [f"note: {one}" for one in (*notes, *self.notes)]
        for one in self.modules:
            m, n = one.shape
            block += [f"  {one.name} ({one.kind}, {m} × {n}): cost {one.cost:.4g}"]
            for what, spectra in (("J", one.jacobian), ("J − 1", one.added)):
                block += [] if spectra is None else [f"    {what}: {spectra.text}"]
            block += [f"    note: {one.note}"] if one.note else []
        return block

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """As plain JSON. What is not finite is a ValueError, as JSON has no word for it."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self), allow_nan=False))
        return data


def measure(
    module: nn.Module, X: Any, *, tolerance: float = TOLERANCE, points: int = 64
) -> Measured:
    """Measure a module at points, in evaluation mode, in double precision, each point alone.

    All is done on a copy of the module, on its device, and the module stays as it is. Of an output
    of several tensors f is the first one with floats. Where the copy does not run in double
    precision, its own is taken, and a note says so.

    Args:
        X: points (N, ...) as the module takes them. Whole numbers, such as tokens, have no
            Jacobian; modules behind an embedding have.
        tolerance: singular values up to this share of the largest one count as zero.
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
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # calls no module inside, has no derivative
    try:
        with torch.inference_mode(False), torch.enable_grad(), sdpa_kernel(SDPBackend.MATH):
            return _measured(module, X[places.to(X.device)], tolerance)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def _measured(module: nn.Module, X: Tensor, tolerance: float) -> Measured:
    net, X, notes = _ready(module, X)
    used = _used(net, X)
    whole, inside = _Seen(net), dict[str, _Seen]()
    traces: list[float] | None = []
    for x in X:
        whole.look(lambda z: net(z[None]), x)
        _look_inside(net, x, inside)
        if traces is not None and whole.shape[0] * sum(map(torch.numel, used.values())) > ENTRIES:
            traces = None
        if traces is not None:
            traces.append(_trace(net, used, x))
    facts = whole.facts("", used, tolerance)
    modules = [one.facts(name, used, tolerance) for name, one in inside.items()]
    assert facts is not None
    return Measured(
        whole=facts,
        balanced=_balanced(net, facts.cost),
        kernel_trace=None if traces is None else tuple(traces),
        modules=tuple(one for one in modules if one is not None),
        unused=tuple(name for name, _ in net.named_parameters() if name not in used),
        notes=notes,
    )


def _ready(module: nn.Module, X: Tensor) -> tuple[nn.Module, Tensor, tuple[str, ...]]:
    """A copy that is measured, the points where it is and in its precision, and notes."""
    held = [*module.parameters(), *module.buffers()]
    own = next((one.dtype for one in held if one.is_floating_point()), torch.float32)
    X = X.to(held[0].device) if held else X
    # A tensor on a graph, such as a weight that a hook computes anew, is no leaf to be copied.
    attributes = [one for inner in module.modules() for one in vars(inner).values()]
    loose = [one for one in attributes if isinstance(one, Tensor) and not one.is_leaf]
    for dtype in dict.fromkeys((torch.float64, own)):
        net = copy.deepcopy(module, {id(one): one.detach().clone() for one in loose}).eval()
        try:
            net = net.double() if dtype == torch.float64 else net
            points = X.to(dtype) if X.is_floating_point() else X
            with torch.no_grad():
                alone = torch.cat([_first(net(x[None])).reshape(-1) for x in points[:4]])
        except (RuntimeError, TypeError):
            if dtype == own:
                raise
            continue
        break
    notes = [] if dtype == torch.float64 else [f"measured in {dtype}: it does not run in double"]
    close = partial(torch.allclose, rtol=torch.finfo(dtype).eps ** 0.5, equal_nan=True)
    with torch.no_grad():
        again = torch.cat([_first(net(x[None])).reshape(-1) for x in points[:4]])
        if not close(alone, again):
            notes += ["f is random: it gave two values at one point"]
        elif len(points) > 1:
            together = _first(net(points[:4])).reshape(-1)
            if len(together) != len(alone) or not close(alone, together):
                notes += ["the points of a batch change one another's values; f takes one alone"]
    return net, points, tuple(notes)


def _used(net: nn.Module, X: Tensor) -> dict[str, Tensor]:
    """The parameters that f(x) depends on at some of the points; they are those of the network."""
    own = {name: p for name, p in net.named_parameters() if p.is_floating_point()}
    leaves = {name: p.detach().requires_grad_() for name, p in own.items()}
    used: set[str] = set()
    for x in X:
        left = [name for name in own if name not in used]
        y = _with(net, leaves, x)
        if left and y.requires_grad:
            some = [leaves[name] for name in left]
            found = torch.autograd.grad(y.sum(), some, allow_unused=True)
            used |= {name for name, one in zip(left, found, strict=True) if one is not None}
    return {name: p for name, p in own.items() if name in used}


@dataclass(eq=False)
class _Seen:
    """A module, and of what was seen of it singular values with their rounding, if finite."""

    module: nn.Module
    shape: tuple[int, int] = (0, 0)
    calls: int = 1
    left: int = 0
    values: list[_Values] = field(default_factory=list)
    added: list[_Values] = field(default_factory=list)

    def look(self, g: Callable[[Tensor], Any], z: Tensor) -> None:
        """Take the Jacobian of g at z, if there is one, within `WORK`."""
        forward, W = type(self.module).forward, None
        if self.values and any(forward is one.forward for one in AFFINE):
            return
        if isinstance(self.module, nn.Linear) and forward is nn.Linear.forward:
            W = self.module.weight
        with torch.no_grad():
            y = _first(g(z.clone()))
        m, n = (y.numel(), z.numel()) if W is None else (W.shape[0], W.shape[1])
        self.shape = m, n
        if (len(self.values) + 1) * m * n * min(m, n) > WORK:
            self.left += 1
            return
        if not z.is_floating_point():
            return
        J = _derivatives(lambda z: _first(g(z)), z)[0] if W is None else W
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

    def facts(self, name: str, used: Mapping[str, Tensor], tolerance: float) -> ModuleFacts | None:
        """What was seen, with the cost; None of a module inside without parameters."""
        known = {id(p) for p in used.values()}
        own = [p.detach().double() for p in self.module.parameters() if id(p) in known]
        if name and not own:
            return None
        note = "" if self.calls == 1 else f"called {self.calls} times at a point; this is the first"
        if self.left:
            note = f"large: Jacobians were taken at {len(self.values)} points, not at {self.left}"
        return ModuleFacts(
            name=name,
            kind=type(self.module).__name__,
            shape=self.shape,
            cost=sum(float((p * p).sum()) for p in own),
            jacobian=_spectra(self.values, self.shape, tolerance),
            added=_spectra(self.added, self.shape, tolerance),
            note=note,
        )


def _look_inside(net: nn.Module, x: Tensor, inside: dict[str, _Seen]) -> None:
    """Look at each module inside at what goes into its first call when f is taken at x."""
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

        entered[name] = call, tensors[0].clone()  # what comes in may be written over

    hooks = [
        one.register_forward_pre_hook(partial(entering, name), with_kwargs=True)
        for name, one in net.named_modules()
        if name
    ]
    with torch.no_grad():
        net(x[None])
    for hook in hooks:
        hook.remove()
    for name, (call, z) in entered.items():
        seen = inside.setdefault(name, _Seen(net.get_submodule(name)))
        seen.calls = max(seen.calls, calls[name])
        seen.look(call, z)


def _with(net: nn.Module, given: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """f(x) with other parameters, by name.

    A module that is called under two names is changed under one: `functional_call` would leave it
    with what was given.
    """
    new = {id(p): given[name] for name, p in net.named_parameters() if name in given}
    places = {
        f"{name}.{own}".lstrip("."): new[id(p)]
        for name, one in net.named_modules()
        for own, p in one.named_parameters(recurse=False, remove_duplicate=False)
        if id(p) in new
    }
    return _first(functional_call(net, places, (x[None],), tie_weights=False))


def _derivatives(f: Callable[..., Tensor], *inputs: Tensor) -> Sequence[Tensor]:
    """The derivatives of a vector in each of the inputs, all with the vector's axis first."""

    def vector(*given: Tensor) -> Tensor:
        return f(*(one.clone() for one in given)).reshape(-1)  # f may write over what it is given

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop", UserWarning)
            found: Sequence[Tensor] = jacrev(vector, argnums=tuple(range(len(inputs))))(*inputs)
    except (RuntimeError, ValueError):  # a function without a rule for torch.func: row by row
        found = torch.autograd.functional.jacobian(vector, inputs)
    return found


def _trace(net: nn.Module, used: Mapping[str, Tensor], x: Tensor) -> float:
    """tr Θ(x, x): the sum of squares of the derivative in the parameters."""
    if not used:
        return 0.0

    def f(*parameters: Tensor) -> Tensor:
        return _with(net, dict(zip(used, parameters, strict=True)), x)

    found = _derivatives(f, *(p.detach() for p in used.values()))
    return sum(float((one.double() ** 2).sum()) for one in found)


def _spectra(values: Sequence[_Values], shape: tuple[int, int], tolerance: float) -> Spectra | None:
    """Of singular values by point; None without any."""
    finite = [one for one in values if one is not None]
    if not finite:
        return Spectra((None,) * len(values), 0, ()) if values else None
    s, noise = torch.stack([s for s, _ in finite]), torch.tensor([r for _, r in finite])
    ranks, gaps, _ = ranks_and_gaps(s.new_empty(0, *shape), s, tolerance, noise.to(s))
    known = iter(ranks.tolist())
    return Spectra(
        ranks=tuple(None if one is None else next(known) for one in values),
        undecided=int((gaps < GAP).sum()),
        singular_values=tuple(s.median(0).values.tolist()),
    )


def _balanced(module: nn.Module, cost: float) -> float | None:
    """The cost of the balanced network, if it is a chain with weights that are its parameters."""
    try:
        net = Network.from_module(module)  # type: ignore[arg-type]
        return float(balance_neurons(net).cost()) if isclose(float(net.cost()), cost) else None
    except (TypeError, ValueError, ArithmeticError):
        return None


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
