"""Modules of torch whose forward hides its operations, taken apart into plain ones.

`torch.fx` takes a module of torch as one operation, and the ones here choose between fused kernels,
some of which neither `vmap` nor forward differentiation knows. In a copy, a class with the same
parameters and a plain forward takes their place.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from rankcheck.audit.graph.tracer import DoesNotFit
from rankcheck.audit.model import ModelError

__all__ = ["attend", "attention", "points_first", "project", "take_apart", "use_plain"]


def take_apart(module: nn.Module) -> None:
    """Give every such module in it the plain forward, in place.

    Raises:
        ModelError: one of them computes something that is not covered.
    """
    for name, one in module.named_modules():
        for kind, (plain, methods) in _PLAIN.items():
            if isinstance(one, kind) and all(_own(one, kind, method) for method in methods):
                title = f"{name!r} ({kind.__name__})" if name else kind.__name__
                one.__class__ = plain
                if isinstance(one, _Attention):
                    one.title = title
                    _check(one)


def use_plain(traced: torch.fx.GraphModule) -> None:
    """Put `attend` in the place of fused kernels that a forward calls itself."""
    for node in traced.graph.nodes:
        if node.target is functional.scaled_dot_product_attention:
            node.target = attend
            node.meta["is_wrapped"] = True  # one operation in copies, too
    traced.graph.eliminate_dead_code()
    traced.recompile()


def _own(module: nn.Module, kind: type[nn.Module], method: str) -> bool:
    """Whether a method is that of torch's class."""
    return getattr(type(module), method) is getattr(kind, method) and method not in vars(module)


def _check(module: _Attention) -> None:
    if module.bias_k is not None or module.add_zero_attn:
        raise ModelError(
            f"{module.title} adds tokens of its own to keys and values (add_bias_kv, "
            "add_zero_attn), which audits do not cover"
        )
    if module.training and module.dropout:
        raise ModelError(
            f"{module.title} is in training mode; call module.eval() first, and the audit is of "
            "what the network computes then"
        )


@torch.fx.wrap
def points_first(x: Tensor, batch_first: bool, title: str) -> Tensor:
    """(1, T, d), the point in front, of what an attention of torch takes.

    Raises:
        DoesNotFit: it has other axes, or the point lies elsewhere.
    """
    if x.dim() != 3:
        raise DoesNotFit(
            f"{title} gets a point of shape {tuple(x.shape[1:])}; attention takes points of shape "
            "(tokens, numbers)"
        )
    x = x if batch_first else x.transpose(0, 1)
    if x.shape[0] != 1:
        raise DoesNotFit(
            f"{title} has batch_first=False, so that points lie along its second axis; audits have "
            "them along the first one: make it with batch_first=True, or transpose in front"
        )
    return x


@torch.fx.wrap
def project(x: Tensor, weight: Tensor, bias: Tensor | None, part: int, parts: int) -> Tensor:
    """x ↦ Wx + b with one of so many equal parts of the rows of a weight and a bias."""
    return functional.linear(
        x, weight.chunk(parts)[part % parts], None if bias is None else bias.chunk(3)[part]
    )


@torch.fx.wrap
def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """`functional.scaled_dot_product_attention` by products and a softmax, without dropout.

    Args:
        query, key, value: (..., heads, tokens, numbers).
    """
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    return attention(query, key, attn_mask, is_causal, scale) @ value


@torch.fx.wrap
def attention(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """How much each token of a head looks at each other one: (..., heads, tokens, tokens)."""
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    if mask is not None:
        hidden = mask.dtype == torch.bool
        scores = scores.masked_fill(~mask, -torch.inf) if hidden else scores + mask
    return scores.softmax(-1)


class _Attention(nn.MultiheadAttention):
    """The same function by four linear maps, products and a softmax.

    Attributes:
        title: its name and class, for messages.
    """

    title: str

    def forward(  # type: ignore[override]
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        if key_padding_mask is not None:
            raise ModelError(f"{self.title} gets a padding mask, which audits do not cover")
        if is_causal and attn_mask is None:
            raise ModelError(f"{self.title} is called with is_causal and needs its attn_mask then")
        stacked = self.in_proj_weight is not None
        ways = []
        for part, (x, separate) in enumerate(
            (
                (query, self.q_proj_weight),
                (key, self.k_proj_weight),
                (value, self.v_proj_weight),
            )
        ):
            weight = self.in_proj_weight if stacked else separate
            x = points_first(x, self.batch_first, self.title)
            y = project(x, weight, self.in_proj_bias, part, 3 if stacked else 1)
            ways.append(y.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2))
        # torch takes is_causal as true and leaves the mask out if no weights are wanted
        causal = is_causal and not need_weights
        mask = None if causal or attn_mask is None else kept(attn_mask)
        y = attend(ways[0], ways[1], ways[2], mask, 0.0, causal)
        y = self.out_proj(y.transpose(1, 2).flatten(2))
        y = y if self.batch_first else y.transpose(0, 1)
        if not need_weights:
            return y, None
        weights = attention(ways[0], ways[1], mask)
        return y, weights.mean(1) if average_attn_weights else weights


@torch.fx.wrap
def kept(mask: Tensor) -> Tensor:
    """The mask of `MultiheadAttention` as that of `attend`: there True says what is left out."""
    return ~mask if mask.dtype == torch.bool else mask


class _EncoderLayer(nn.TransformerEncoderLayer):
    """Two residual blocks."""

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        masks = src_mask, src_key_padding_mask, is_causal
        if self.norm_first:
            x = src + self._sa_block(self.norm1(src), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(src + self._sa_block(src, *masks))
        return self.norm2(x + self._ff_block(x))


class _Encoder(nn.TransformerEncoder):
    """One layer after the other."""

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, bool(is_causal))
        return src if self.norm is None else self.norm(src)


#: What takes the place of what, and the methods that have to be torch's own.
_PLAIN: Mapping[type[nn.Module], tuple[type[nn.Module], tuple[str, ...]]] = {
    nn.MultiheadAttention: (_Attention, ("forward",)),
    nn.TransformerEncoderLayer: (_EncoderLayer, ("forward", "_sa_block", "_ff_block")),
    nn.TransformerEncoder: (_Encoder, ("forward",)),
}
