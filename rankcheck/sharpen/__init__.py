"""How much: the largest certified ratio of a relation, and the instance that attains it.

What lives here: `run`, the search, and what is made of its result. The room can be called:
`rankcheck.sharpen(claim, budget=10.0)` is `rankcheck.sharpen.run.sharpen(claim, budget=10.0)`.
May import: `hunt`, `records`, and what is below them.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankcheck.sharpen.result import Sharpened


class _Room(ModuleType):
    def __call__(self, *args: Any, **settings: Any) -> Sharpened:
        """Sharpen a claim; see `rankcheck.sharpen.run.sharpen`."""
        from rankcheck.sharpen.run import sharpen

        return sharpen(*args, **settings)


sys.modules[__name__].__class__ = _Room
