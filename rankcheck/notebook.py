"""What a notebook shows of an object: the same HTML as the report."""

from __future__ import annotations

import importlib

__all__ = ["InNotebooks"]


class InNotebooks:
    """A base of what people look at in notebooks: claims, rows, ledgers and hunts.

    The room `report` lies above theirs, so it is asked by name, when a notebook wants to show
    something; nothing is imported before.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = importlib.import_module("rankcheck.report.notebook").html(self)
        return html
