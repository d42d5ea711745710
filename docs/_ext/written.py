"""Generated Markdown: text that MyST reads as it is meant; files change only if they must."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

#: What Markdown leaves alone: fenced blocks, code spans, formulas.
_KEPT = re.compile(
    r"(^(`{3,})[^\n]*\n.*?^\2$|(`+)(?!`).+?(?<!`)\3(?!`)|\$\$.+?\$\$|\$(?=\S)[^$]+?(?<=\S)\$)",
    re.DOTALL | re.MULTILINE,
)
#: What begins a tag.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
#: An underscore that is not inside of a word.
_INDEX = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
#: Emphasis by single or double stars.
_EMPHASIS = re.compile(r"((?<![\w*^(])\*{1,2}(?=\w)[^*]*\w[.:]?\*{1,2}(?![\w*]))")


def plain(text: str) -> str:
    """A docstring as Markdown: tags, links and stray stars escaped, a formula on one line."""
    out, end = [], 0
    for kept in _KEPT.finditer(text):
        block = kept[0]
        formula = block.startswith("$")
        out.append(_escaped(text[end : kept.start()]))
        out.append(" ".join(block.split()) if formula else block)
        end = kept.end()
    return "".join([*out, _escaped(text[end:])])


def one_line(text: str) -> str:
    """A text on one line that Markdown shows as it is, but for formulas and code."""
    return " ".join(plain(text).split())


def _escaped(text: str) -> str:
    text = _TAG.sub("&lt;", text).replace("](", "]\\(").replace("$", "\\$")
    return marks(text)


def marks(text: str) -> str:
    """The text with its indices and stars escaped, but for *words* between stars.

    An index behind a bar, as in ‖W‖_F, opens or closes emphasis in Markdown.
    """
    parts = _EMPHASIS.split(_INDEX.sub(r"\\_", text))
    parts[::2] = [re.sub(r"\*(?=\S)", r"\\*", part) for part in parts[::2]]
    return "".join(parts)


def write(folder: Path, pages: Mapping[str, str]) -> None:
    """Make the Markdown files of a folder those of `pages`, by file name; others are removed.

    A file with the right text is not touched, so that Sphinx need not read it again.
    """
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
