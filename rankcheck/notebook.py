"""What a prompt and a notebook show of an object: the text and the HTML that were registered."""

from __future__ import annotations

from collections.abc import Callable

_html: Callable[[object], str] | None = None
_text: Callable[..., str] | None = None


def register(html: Callable[[object], str], text: Callable[..., str]) -> None:
    """From now on, notebooks and prompts show objects as these two functions write them.

    `text(shown)` is a few lines, `text(shown, whole=True)` all that there is to say.
    """
    global _html, _text
    _html, _text = html, text


class Readable:
    """A base of what people look at: its `repr` is a text of a few lines, `print` shows all.

    A dataclass that has this base is declared with `repr=False`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return object.__repr__(self) if _text is None else _text(self)

    def __str__(self) -> str:
        return object.__repr__(self) if _text is None else _text(self, whole=True)


class InNotebooks(Readable):
    """A base of what has a card in notebooks, too: claims, rows, ledgers, hunts, audits, …"""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """The HTML of the object, or None where nothing is registered: then its text is shown."""
        return None if _html is None else _html(self)
