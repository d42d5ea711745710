"""Versions of Python and of the packages on which the numbers depend."""

from __future__ import annotations

import platform
from functools import cache

from rankcheck._version import __version__

#: The packages on which the numbers depend.
PACKAGES = ("rankcheck", "torch", "numpy", "scipy", "hypothesis", "python-flint")


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages on which the numbers depend, by name.

    That of rankcheck is the one of the code that runs, which a checkout may have changed since pip
    installed it.
    """
    from importlib import metadata  # its parser of e-mails takes a while to import

    return {"python": platform.python_version(), "rankcheck": __version__} | {
        name: metadata.version(name) for name in PACKAGES if name != "rankcheck"
    }
