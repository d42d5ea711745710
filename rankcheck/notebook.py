"""What a notebook shows of an object: the HTML that was registered for it."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["InNotebooks", "register"]

_formatter: Callable[[object], str] | None = None


def register(formatter: Callable[[object], str]) -> None:
    """From now on, notebooks show these objects as HTML that this function writes."""
    global _formatter
    _formatter = formatter


class InNotebooks:
    """A base of what people look at in notebooks: claims, rows, ledgers, hunts, audits, …"""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """The HTML of the object, or None where nothing is registered: then its text is shown."""
        return None if _formatter is None else _formatter(self)
