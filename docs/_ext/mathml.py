"""Formulas as MathML, made while the pages are built: a browser needs no script and no network."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.addnodes import desc_signature
from sphinx.application import Sphinx
from sphinx.util import logging

_LOG = logging.getLogger(__name__)
#: What a formula leaves behind that is not read as one.
_LEFT = re.compile(r"\$\S.{0,20}|\\[a-z]{2,}.{0,20}")
_TAG = re.compile(r"\\tag\{([^{}]*)\}")
_CONVERTER = LatexToMathML(fancy_error=False)


def mathml(latex: str, *, display: bool) -> str:
    r"""The formula as a `<math>` element; the number of a `\tag` stands behind it.

    Raises:
        LatexError: if the formula has something that math-core does not know.
    """
    latex = _TAG.sub(r"\\qquad (\1)", latex)
    return _CONVERTER.convert_with_local_state(latex, displaystyle=display)


def _visit_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_converted(node, display=False))
    raise nodes.SkipNode


def _visit_block(writer: Any, node: nodes.math_block) -> None:
    # No div: a display may stand inside a paragraph.
    writer.body.append(f'<span class="math-block">{_converted(node, display=True)}</span>\n')
    raise nodes.SkipNode


def _converted(node: nodes.Element, *, display: bool) -> str:
    """The formula of a node; if it is unknown, its LaTeX with a warning."""
    try:
        return mathml(node.astext(), display=display)
    except LatexError as error:
        _LOG.warning("the formula %s is not converted: %s", node.astext(), error, location=node)
        return f"<code>{escape(node.astext())}</code>"


def _warn(_app: Sphinx, doctree: nodes.document) -> None:
    """Warn of what looks like a formula and was read as text."""
    for text in doctree.findall(nodes.Text):
        found = _LEFT.search(text.astext())
        if found and not _is_code(text):
            _LOG.warning("the formula at %s is read as text", found[0], location=text.parent)


def _is_code(node: nodes.Node) -> bool:
    """Whether a node stands in code, in a signature, or is not shown as it is."""
    code = (nodes.FixedTextElement, nodes.literal, nodes.raw, nodes.math, desc_signature)
    while node.parent is not None:
        node = node.parent
        if isinstance(node, code):
            return True
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_visit_inline, None), block_renderers=(_visit_block, None)
    )
    app.connect("doctree-read", _warn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
