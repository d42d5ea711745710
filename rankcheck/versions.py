"""Versions of what the figures depend on."""

from __future__ import annotations

import platform
from importlib import metadata


def versions() -> dict[str, str]:
    """Versions of what the figures depend on."""
    packages = ("rankcheck", "torch", "numpy", "scipy", "hypothesis", "python-flint")
    return {"python": platform.python_version()} | {
        name: metadata.version(name) for name in packages
    }
