"""Every way to call a function: balls mean what torch means, or say that they have no such form.

A row of `FORMS` names functions of torch and the argument lists that they are tried with; a name in
braces stands for each of its `VARIANTS` in turn. Each is called as a function and as a method, on
tensors and on exact balls: each form at one of the `SHAPES` by day, and at all of them by night.
The balls have to contain the numbers of torch, in the same shape; or both raise; or the balls raise
NoBallForm or Undecided.
"""

import itertools
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from rankcheck.balls import BallArray, NoBallForm, Undecided
from rankcheck.balls.array import FUNCTIONS

from .test_agreement import assert_same

pytestmark = pytest.mark.slow  # 10 seconds, for a seventh of 170 000 expressions

VARIANTS = {
    "dim": "0|1|-1|-2|3|-4|True|False",
    "dims": "0|-1|(0, 1)|[0, -1]|(-2, -1)|()|(0, 0)|3|None|True",
    "bool": "True|False",
    "float": "torch.float32|torch.float64",
    "dtype": "torch.float32|torch.float64|torch.int64|torch.bool|None",
    "int": "0|1|2|-1|-2|7|True",
    "number": "2|0.5|-3|True|0",
    "other": "y|2|0.5|k|u|b|y[:1]|True",
    "index": "k|u|b|k.int()|-k|k + 9|u[:2]|0|-1|[1, 0]|y|k.double()",
    "shape": "-1|(2, -1)|[-1]|(-1, -1)|(5, 2)|()|x.shape|True",
    "sizes": "2|(2, 1)|[1, 2, 3, 1]|()|0|-1|True",
    "like": "k|u|b|y|y.float()",
    "cut": "1|2|7|0|-1|[1, 2]|[2, 2]|(1, 1, 1)",
    "order": "2|1|0|3|0.5|-1|inf|-inf|'fro'|'nuc'|None|-2|True",
    "interpolation": "'lower'|'higher'|'nearest'|'midpoint'|'linear'|'x'",
    "norm": "None|'backward'|'ortho'|'forward'|'x'",
    "reduction": "'mean'|'sum'|'none'|'x'",
    "square": "y|y.mT|y[..., 0]|k|y.float()",
}
"""What stands for a name in braces. Beside `x`, the array, there are `y`, another of its shape, and
`k`, `u` and `b`, tensors of that shape of int64, uint8 and bool."""

UNARY = """neg negative positive reciprocal square abs absolute sign floor ceil trunc fix sqrt rsqrt
    log log2 log10 log1p special.log1p exp exp2 special.exp2 expm1 special.expm1 sin cos tan
    asin arcsin acos arccos atan arctan sinh cosh tanh erf special.erf sigmoid special.expit
    asinh arcsinh acosh arccosh atanh arctanh erfc special.erfc fliplr flipud atleast_3d
    functional.logsigmoid diagflat lgamma special.gammaln isfinite isnan isinf numel nelement
    float half bfloat16 is_floating_point is_complex conj conj_physical real double detach
    clone contiguous cpu resolve_conj resolve_neg adjoint t atleast_1d atleast_2d ravel trace
    det logdet inverse linalg.det linalg.inv matrix_exp linalg.matrix_exp linalg.eigvals imag
    dim size len isreal"""
BINARY = """sub subtract rsub mul multiply true_divide floor_divide remainder pow float_power
    maximum fmax minimum fmin lt less le less_equal gt greater ge greater_equal eq ne not_equal
    equal add div divide atan2 arctan2"""
FORMS: dict[str, str] = {
    UNARY: "|1|-1|out=None|dtype=torch.int64",
    BINARY: "{other}|other={other}|y, out=None||{other}, 2",
    "pow float_power": "exponent={other}",
    "rpow": "",
    "add sub subtract rsub": "{other}, alpha={number}",
    "div divide": "{other}, rounding_mode='floor'|{other}, rounding_mode='trunc'|"
    "{other}, rounding_mode=None|{other}, rounding_mode='up'|{other}, 'floor'",
    "addcmul": "y, y|y, y, value={number}|k, y|{number}, y, y|{other}, {other}",
    "round": "|decimals={int}|{int}",
    "relu functional.relu": "|False|True|inplace=False|inplace=True",
    "functional.elu": "|{number}|alpha=0.3|0.5, True|k",
    "functional.leaky_relu": "|0.25|negative_slope=-1|0.25, True|negative_slope=2, inplace=True|k",
    "clamp clip": "0|0, 1|min=0|max=1|min=1, max=0|None, 1||None|y|y, 2|max=y|min=k|k, y|b",
    "clamp_min": "0|min=1|y|k|b|None",
    "clamp_max": "0|max=1|y|k|b|None",
    "masked_fill": "b, 2|b, 0.5|u, 2|k, 2|b, y|b, y.sum()|mask=b, value=1|~b[..., :1], 3|"
    "b, k.sum()",
    "x.where": "b, y|b, 2|u, y|k, y|condition=b, other=y|x > 0, 0|other=y, condition=b",
    # Shapes.
    "reshape view": "{shape}|2, -1|*x.shape|shape={shape}|{float}|torch.int64|2, 2.0",
    "view_as reshape_as": "{like}|other={like}|y[:1]",
    "flatten": "|{dim}|{dim}, {dim}|start_dim={dim}|end_dim={dim}|1, 0",
    "unflatten": "{dim}, {shape}|dim={dim}, sizes={shape}|-1, (1, -1)|-1, [-1, 2]|-1, (0, -1)",
    "squeeze": "|{dims}|dim={dims}",
    "unsqueeze": "{dim}|dim={dim}||{dims}",
    "expand broadcast_to": "{shape}|size={shape}|2, -1|2, *x.shape|(2, *x.shape)|-1, *x.shape",
    "expand_as": "{like}|y[None]",
    "broadcast_tensors": "y|y[:1]|k|y[..., None]",
    "permute": "{dims}|dims={dims}|1, 0|0, 1|0, 0|-1, 0, 1|2, 0, 1|*range(x.ndim)",
    "transpose swapaxes swapdims": "{dim}, {dim}|dim0={dim}, dim1={dim}|axis0=0, axis1=1|0",
    "movedim moveaxis": "{dim}, {dim}|(0, 1), (1, 0)|source=0, destination=-1|(0,), (1, 0)|0, (1,)",
    "[cat concat concatenate]": "|{dim}|dim={dim}|axis={dim}",
    "[stack]": "|{dim}|dim={dim}",
    "[hstack vstack row_stack dstack column_stack atleast_1d atleast_2d atleast_3d]": "",
    "[meshgrid]": "|indexing='ij'|indexing='xy'",
    "split": "{cut}|{cut}, {dim}|{cut}, dim={dim}",
    "split_with_sizes": "{cut}|{cut}, {dim}",
    "chunk": "{int}|{int}, {dim}|chunks={int}, dim={dim}",
    "unbind": "|{dim}|dim={dim}",
    "narrow": "{dim}, {int}, {int}|dim=0, start={int}, length=1|0, torch.tensor(1), 1|0, 1, 2.0",
    "select": "{dim}, {int}|dim=0, index={int}",
    "flip": "{dims}|dims={dims}|0, 1|",
    "roll": "{int}|{int}, {dim}|(1, 2), (0, 1)|shifts=1, dims=0|(1, 2)|1, (0, 1)|(1, 1), (0, 0)|"
    "1, None|1, ()",
    "rot90": "|{int}|{int}, (0, 1)|k=1, dims=[-1, 0]|2, (1, 0)",
    "tensor_split": "{int}|{int}, {dim}|[1, 2]|(1, 2), -1|torch.tensor([1])",
    "hsplit vsplit dsplit": "{int}|[1, 2]|(1,)",
    "unfold": "{dim}, {int}, {int}|0, 2, 1|dimension=-1, size=2, step=1",
    "repeat": "{sizes}|2, 1|repeats={sizes}",
    "tile": "{sizes}|2, 1|dims={sizes}",
    "repeat_interleave": "{int}|{int}, {dim}|2, dim={dim}|repeats=2|torch.tensor([1, 2]), 0|"
    "torch.tensor([2]), -1|2, output_size=4|k|0.5",
    "functional.pad": "(1, 2)|(1, 0, 0, 1)|[-1, 0]|(1,)|(1, 1), 'reflect'|(1, 1), value={number}|"
    "(1, 1), 'constant', 0.25|()|(1, 1, 1, 1, 1, 1)|(1, 1), 'replicate'|(0, 0), 'reflect'",
    "diagonal": "|{int}|{int}, {dim}, {dim}|offset={int}, dim1={dim}, dim2=-1",
    "linalg.diagonal": "|offset={int}|offset=1, dim1={dim}, dim2={dim}|1",
    "diag_embed": "|{int}|{int}, {dim}, {dim}|dim1={dim}|0, 2, 1|1, -1, -2|-1, 1, 0",
    "diag tril triu": "|{int}|diagonal={int}|offset=1",
    # Constructors and conversions.
    "new_zeros new_ones": "{sizes}|2, 1|size={sizes}|{sizes}, dtype={dtype}|2, device='cpu'|"
    "2, requires_grad=True",
    "new_full": "(2,), {number}|(2,), {number}, dtype={dtype}|size=(2,), fill_value=1|2, 1|(), 0.5|"
    "(2,), torch.tensor(1)|(2,), 1, torch.int64",
    "new_tensor": "{number}|{number}, dtype={dtype}|[[1, 2]]|[True, False]|[]|k|b|x",
    "zeros_like ones_like": "|dtype={dtype}|torch.int64|device='cpu'",
    "full_like": "{number}|{number}, dtype={dtype}|fill_value=1.5|torch.tensor(2)",
    "type_as": "{like}",
    "to": "{like}|{dtype}|dtype={dtype}|'cpu'|'cpu', {dtype}|other={like}|device='cpu'|"
    "y, copy=True|"
    "torch.float64, False, True|{dtype}, True||torch.complex128",
    "complex": "y|k|y.float()|imag=y",
    # Indexing.
    "index_select": "{dim}, k[..., 0]|0, k.flatten()|0, u.flatten()|0, -k.flatten()|0, k + 9|"
    "dim=0, index=k.flatten()|0, b.flatten()|0, k.flatten().int()|0, torch.tensor(1)|0, [0]|-1, k",
    "gather": "{dim}, {index}|dim=0, index=k|0, k[:1]|-1, k[..., :1]|0, k[0]|"
    "0, k, sparse_grad=True|"
    "0, torch.cat([k, k])",
    "take_along_dim": "{index}|{index}, {dim}|indices=k, dim=0|k[:1], 0|k[..., :1], -1|k[0], 0",
    "take": "{index}",
    "masked_scatter": "b, y|b, x|u, y|mask=b, source=y|b, y[:1]|b, k|b[:1], y",
    "select_scatter": "y[0], 0, 0|y[..., 0], -1, 1|y, 0, 0|src=y[0], dim=0, index={int}|k[0], 0, 0",
    "slice_scatter": "y|y[:1], 0, 0, 1|y[..., ::2], -1, 0, None, 2|k|src=y[:1], dim=0, start=1",
    "diagonal_scatter": "y.diagonal()|y|y.diagonal(1), 1|y.diagonal(dim1=-1, dim2=0), 0, -1, 0",
    "masked_select": "{index}|mask=b|b[..., :1]|b[None]",
    "[]": "{index}|{index}, {index}|..., {index}|None, {index}|True|False|{index}, None|"
    "slice(1, None)|slice(None, None, 2)|slice(None, None, -1)|slice(-1, 9)|{int}, ..., {int}|"
    "u[..., 0]|b[..., 0]|b[..., 0], 0|u[0], 0|k[0] > 0|[True, False]|[[0, 1], [1, 0]]|..., ...|"
    "b.any()|torch.tensor(True)|torch.tensor(1, dtype=torch.uint8)|torch.tensor(1)|"
    "torch.tensor([True]), 0|(0, 1)|[slice(0, 1)]|'a'|1.0|range(2)|k.numpy()|u.numpy()|b.numpy()|"
    "torch.tensor([], dtype=torch.uint8)|k.short()|slice(torch.tensor(0), 1)|slice(0, 0)|b, b",
    # Reductions.
    "sum mean nansum": "|{dims}|dim={dims}|{dims}, {bool}|{dims}, keepdim={bool}|dtype={dtype}|"
    "{dims}, dtype={dtype}|axis=0|keepdim=True|{dims}, False, dtype=torch.int64|{dtype}",
    "prod": "|{dims}|dim={dim}|{dim}, {bool}|{dim}, keepdim={bool}|dtype={dtype}|keepdim=True|"
    "{dim}, dtype={dtype}|{dtype}",
    "var std": "|{dims}|dim={dims}|{bool}|unbiased={bool}|{dims}, {bool}|{dims}, {bool}, {bool}|"
    "{dims}, unbiased={bool}|{dims}, unbiased={bool}, keepdim={bool}|correction={number}|"
    "{dims}, correction={number}|{dims}, correction={number}, keepdim={bool}|keepdim=True|"
    "{dims}, keepdim=True|dim=None, correction=0|correction=None|{bool}, {bool}|axis=0|"
    "{bool}, dim=0",
    "cumsum cumprod": "{dims}|dim={dims}||{dim}, dtype={dtype}|{dim}, {dtype}|axis=0",
    "diff": "|{int}|{int}, {dim}|n={int}|dim={dim}|1, -1, y|prepend=y|append=k",
    "logsumexp special.logsumexp": "{dims}|dim={dims}||{dims}, {bool}|{dims}, keepdim={bool}|"
    "axis=0",
    "softmax special.softmax": "{dims}|dim={dims}||{dim}, {dtype}|{dim}, dtype={dtype}",
    "functional.log_softmax": "{dims}|dim={dims}|{dim}, dtype={dtype}|",
    "log_softmax special.log_softmax": "{dims}|dim={dims}||{dim}, {dtype}|{dim}, dtype={dtype}",
    "functional.softmax": "|{dim}|dim={dims}|{dim}, dtype={dtype}|{dim}, 3, {dtype}|_stacklevel=3",
    "amax amin": "|{dims}|dim={dims}|{dims}, {bool}|{dims}, keepdim={bool}|axis=0|keepdim=True",
    "max min": "|{dims}|dim={dim}|{dim}, {bool}|{dim}, keepdim={bool}|{other}|other={other}|"
    "keepdim=True|y, 0|axis=0",
    "argmax argmin": "|{dims}|dim={dim}|{dim}, {bool}|{dim}, keepdim={bool}|keepdim=True|axis=0",
    "argsort sort msort": "|{dims}|dim={dim}|{dim}, {bool}|{dim}, {bool}, {bool}|{bool}|"
    "descending={bool}|{dim}, descending={bool}|stable={bool}|stable=True, dim={dim}|"
    "stable=True, dim={dim}, descending=True|stable=None",
    "topk": "{int}|{int}, {dim}|k={int}, dim={dim}, largest={bool}|2, -1, {bool}|"
    "2, -1, {bool}, {bool}|2, largest=False, sorted=False|1, {bool}",
    "any all": "|{dims}|dim={dims}|{dims}, {bool}|{dims}, keepdim={bool}|keepdim=True|axis=0",
    "count_nonzero": "|{dims}|dim={dims}|{dims}, keepdim=True",
    "functional.softplus": "|{number}|2, 1|beta={number}|1, {number}|threshold=-1",
    "functional.gelu": "|approximate='none'|approximate='tanh'|'none'",
    "functional.silu": "|{bool}|inplace=False",
    "linalg.vander": "|N={int}|3",
    "kthvalue": "{int}|{int}, {dim}|k={int}, dim={dim}|1, -1, {bool}|1, keepdim={bool}|2, 0, "
    "{bool}",
    "median nanmedian": "|{dims}|dim={dim}|{dim}, {bool}|{dim}, keepdim={bool}|keepdim=True",
    "quantile": "0.5|0.25|0|1|1.5|torch.tensor(0.5)|"
    "torch.tensor([0.0, 0.3, 1.0], dtype=torch.float64)|"
    "0.75, {dims}|q=0.75, dim={dim}, keepdim={bool}|0.3, -1, {bool}|"
    "torch.tensor([0.25, 0.75]).double(), 0, {bool}|[0.5]|0.4, interpolation={interpolation}|"
    "0.75, -1, interpolation={interpolation}|torch.tensor([0.0, 0.125, 1.0]).double(), "
    "interpolation={interpolation}",
    # Transforms and convolutions.
    "fft.fft fft.ifft": "|{int}|{int}, {dim}|dim={dim}|norm={norm}|3, -1, "
    "{norm}|"
    "n={int}, norm={norm}|4, 0",
    "functional.conv1d conv1d": "y|y[:, :, :2]|y[:, :1], None, 1, 1, 1, 3|y[..., :2], y[:, 0, "
    "0], 2, 1|"
    "weight=y[..., :2], padding='same'|y[..., :2], padding='valid', dilation=2|y[0, None, :, :1]|"
    "y, stride=2, padding=2, dilation=2|y, stride=2, padding='same'|y, k[:, 0, 0]|y, groups=3|"
    "y[..., :0]",
    "functional.conv2d conv2d": "y[None]|y[None, :, :2, :2]|y[None, :, :2, :2], y[:1, 0, 0], (1, "
    "2), (1, 0)|"
    "y[None, :, :2, :1], padding='same'|y[:, None, :2], groups=2, dilation=(2, 1), padding=1|"
    "y[None], stride={int}|y",
    # Products, norms, matrices.
    "dot matmul linalg.matmul mm bmm mv outer ger kron": "{square}|other={square}|"
    "y[0]|y[..., :2]|y, y|2|out=None|y[None]|y.mT, out=None",
    "mv": "vec=y[0]|y[0]|y[:, 0]|k[0]",
    "outer ger": "vec2=y|y|k|y[..., 0]",
    "functional.linear": "y|y, y[..., 0]|y[..., 0]|weight=y, bias=y[..., 0]|k|y, 2",
    "matrix_power linalg.matrix_power": "{int}|n={int}|2.0",
    "linalg.vector_norm": "|{order}|ord={order}|2, {dims}|{order}, -1|2, {dims}, {bool}|dim={dims}|"
    "{order}, dim={dims}, keepdim={bool}|dtype={dtype}|2, None, True",
    "linalg.matrix_norm": "|{order}|ord={order}|{order}, (0, 1)|{order}, (-1, -2), {bool}|"
    "keepdim=True|"
    "dim=(-2, -1), keepdim=True|dtype={dtype}|'fro', -1|'fro', (0, 0)|2, (0, 2)",
    "linalg.norm": "|{order}|ord={order}|{order}, {dims}|None, {dims}|dim={dims}|"
    "{order}, (-2, -1), {bool}|{order}, -1, {bool}|keepdim=True|dtype={dtype}|2, -1, dtype={dtype}",
    "norm": "|{order}|p={order}|{order}, {dims}|dim={dims}|p={order}, dim={dims}|"
    "{order}, -1, {bool}|"
    "2, {dims}, {bool}|keepdim=True|dtype={dtype}|'nuc', (0, 1)|2, -1, False, None, {dtype}",
    "linalg.svdvals": "|driver=None|driver='gesvd'|1",
    "linalg.eigvalsh linalg.eigh": "|'U'|UPLO='L'|UPLO='u'|'X'|1",
    "linalg.solve": "{square}|{square}, left=False|B={square}|y[0]|y, left=True|y[:1]|2",
    "linalg.pinv": "|rtol={number}|atol={number}|hermitian={bool}|1e-3|1e-3, True|"
    "atol=0.0, rtol=0.0",
    "pinverse": "|1e-3|rcond=1e-15",
    "linalg.matrix_rank": "|tol={number}|{number}|{number}, {bool}|atol={number}|rtol={number}|"
    "hermitian={bool}|atol=0.0, rtol=0.0|atol={number}, rtol={number}|atol=y[..., 0, 0]|None|"
    "atol={number}, hermitian=True|rtol=y[..., 0, 0].abs(), hermitian={bool}|atol=y[..., 0, "
    "0].abs() + 1|"
    "tol=y[..., 0, 0]|atol=y[..., 0, 0], rtol=0.25",
    "linalg.cholesky": "|upper={bool}|True|check_errors=True",
    "linalg.svd": "|full_matrices={bool}|{bool}|False, driver=None",
    "linalg.qr": "|'reduced'|mode='r'|'complete'|mode='x'|'r'",
    "": "x + {other}|y - x|k - x|2 - x|x * {other}|{other} / x|x // {other}|{other} % x|"
    "x ** {other}|"
    "{other} ** x|x < {other}|{other} >= x|x == {other}|x != {other}|x @ {square}|{square} @ x|"
    "-x|+x|"
    "abs(x)|x.T|x.mT|x.H|x.mH|x.real|x.shape|x.size()|x.size(-1)|x.size(3)|x.size(dim=0)|x.dim()|"
    "x.ndim|len(x)|list(x)|y + x|k * x|torch.sum(x > 0)|x @ y.mT|x.is_complex()|x.device.type|"
    "torch.einsum('ij,jk->ik', x, y)|torch.einsum('ij,jk', [x, y])|torch.einsum('...i->...', x)|"
    "torch.einsum('ii->i', x)|torch.einsum('ij,kj->ik', x, k)|"
    "torch.einsum('i j -> j i', x)|torch.einsum('ij->k', x)|torch.einsum('aij,ajk->aik', x, y)|"
    "torch.einsum('ij,ij->', x, y)|torch.einsum('ji', x)|torch.cartesian_prod(x, y)|"
    "torch.where(b, x, y)|torch.where(b, y, x)|torch.where(b, 1, x)|torch.where(b, x, 0.5)|"
    "torch.where(u, x, y)|torch.where(k, x, y)|torch.where(b, x)|torch.where(b, k, x)|"
    "torch.where(condition=b, input=x, other=y)|torch.where(x > 0, x, u)|torch.where(b, b, x)|"
    "torch.block_diag(x, y)|torch.linalg.cholesky(x @ x.mT + torch.eye(3))|"
    "torch.conv3d(x[None], y[None, None, :1, :2, :2])|"
    "torch.nn.functional.conv3d(x[None, None], y[None, None], padding=1)|"
    "torch.nn.functional.avg_pool3d(x[None], 2)",
}
"""The argument lists, separated by bars. A name in brackets takes a list of arrays, `x.` stands
before a method that is no function, [] is an index, and the last row has whole expressions."""


def places(name: str) -> Iterator[str]:
    """How one calls that function: its parts before the list of arguments."""
    if name == "[]":
        yield "x["
    elif name.startswith("x."):
        yield f"{name}("
    else:
        head, _, last = name.rpartition(".")
        if head:
            module = "torch.nn.functional" if head == "functional" else f"torch.{head}"
            yield f"{module}.{last}(x, "
        else:
            for where in (torch, torch.nn.functional):
                if hasattr(where, last):
                    yield (
                        f"torch.{last}(x, " if where is torch else f"torch.nn.functional.{last}(x, "
                    )
                    break
            if hasattr(torch.Tensor, last):
                yield f"x.{last}("


def forms(names: str, arguments: str) -> Iterator[str]:
    """The expressions of a row."""
    lists = names.startswith("[") and names != "[]"
    before = (
        [""] if not names else [p for n in names.strip("[]").split() or ["[]"] for p in places(n)]
    )
    if lists:
        first = ("[x, x]", "(x, y)", "[x]", "[x, y[:1]]", "[x, k]", "[]")
        before = [f"torch.{n}({array}, " for n in names.strip("[]").split() for array in first]
    after = {"": "", "[]": "]"}.get(names, ")")
    for template in arguments.split("|"):
        keys = re.findall(r"\{(\w+)\}", template)
        for values in itertools.product(*(VARIANTS[key].split("|") for key in keys)):
            filled = re.sub(r"\{\w+\}", "{}", template).format(*values)
            yield from (f"{place}{filled}{after}" for place in before)


SHAPES = [(), (4,), (2, 3), (3, 3), (2, 3, 3), (0, 3), (2, 1, 3)]


def inputs(shape: tuple[int, ...]) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(len(shape))
    x, y = torch.randint(-7, 8, (2, *shape), generator=generator).double() / 4
    k = torch.randint(0, 2, shape, generator=generator)
    return {"x": x, "y": y, "k": k, "u": k.to(torch.uint8), "b": k.bool(), "inf": float("inf")}


def known(form: str, values: dict[str, Any]) -> Any:
    """The value of an expression, or the exception that it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(form, {"torch": torch, **values})
    except Exception as error:
        return error


def difference(form: str, values: dict[str, Any]) -> str:
    """How balls and torch differ on an expression; empty if they do not."""
    expected = known(form, values)
    got = known(form, values | {"x": BallArray.exact(values["x"])})
    if isinstance(got, NoBallForm | Undecided):
        return ""
    if isinstance(expected, Exception) or isinstance(got, Exception):
        both = isinstance(expected, Exception) and isinstance(got, Exception)
        return "" if both else f"{form} of {tuple(values['x'].shape)}: {expected!r}, balls {got!r}"
    try:
        assert_same(expected, got, unknown=True, narrow="y.float()" in form)
    except (AssertionError, AttributeError, TypeError):
        return f"{form} of {tuple(values['x'].shape)}: {expected!r}, balls {got!r}"
    except (NoBallForm, Undecided):  # eigenvectors, say, which are computed on first use
        return ""
    return ""


@pytest.mark.parametrize("names", FORMS)
def test_balls_mean_what_torch_means(names):
    shapes = itertools.cycle(SHAPES)
    found = [difference(form, inputs(next(shapes))) for form in forms(names, FORMS[names])]
    assert not any(found), [text for text in found if text][:5]


@pytest.mark.nightly
@pytest.mark.parametrize("names", FORMS)
def test_balls_mean_what_torch_means_at_every_shape(names):
    found = (difference(form, inputs(s)) for form in forms(names, FORMS[names]) for s in SHAPES)
    assert not list(itertools.islice(filter(None, found), 5))


REFUSED = {"isreal", "msort", "nanmedian", "nansum", "unfold"}
"""Functions that balls refuse in every form: `unfold` that of torch.nn.functional."""


def test_every_function_has_a_form_on_balls():
    """Each way to call it that torch knows has one that balls know, at some shape."""
    of_torch, of_balls = set(), set()
    for names in FORMS.keys() - {"", "[]"}:
        for form, shape in itertools.product(forms(names, FORMS[names]), SHAPES):
            called = form.partition("(")[0]
            if called in of_balls or isinstance(known(form, inputs(shape)), Exception):
                continue
            of_torch.add(called)
            exact = inputs(shape) | {"x": BallArray.exact(inputs(shape)["x"])}
            if not isinstance(known(form, exact), Exception):
                of_balls.add(called)
    assert {called.rpartition(".")[2] for called in of_torch - of_balls} == REFUSED


def test_every_function_has_a_row():
    rows = {name.rpartition(".")[2] for names in FORMS for name in names.strip("[]").split()}
    prefix = re.compile("^(linalg|special|fft)_")
    names = {prefix.sub("", name) for name in FUNCTIONS if not name.startswith("__")}
    assert names <= rows | {*re.findall(r"\w+", FORMS[""])} | {"log_sigmoid"}
