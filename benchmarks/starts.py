"""What a command costs before it works: its processor seconds, and those of importing torch.

`list`, `show` and the errors of a command line need no torch, so they are faster than its import.
What verifies or replays imports it; beyond that it pays for the modules of rankcheck and
Hypothesis, a worker process, and the claim itself, which is a small one. The canaries of a new
installation are asked before anything is measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Ratio

CLAIMS = '''
from rankcheck import conjecture, leq
from rankcheck.instances import networks_at_points
from rankcheck.linalg import schatten_power

@conjecture("mine.{name}", instances=networks_at_points())
def test_it(net, x):
    r"""The Schatten power of the Jacobian is at most {factor} of the cost per layer."""
    return leq(schatten_power(net.jacobian(x), 2 / net.depth), {factor} * net.cost() / net.depth)
'''
COMMANDS: dict[str, tuple[str, ...]] = {
    "rankcheck list": ("list",),
    "rankcheck show CLAIM": ("show", "rank.jacobian-bounds-cost"),
    "rankcheck verify FILE, refuted": ("verify", "false.py"),
    "rankcheck verify FILE, guarded": ("verify", "true.py"),
    "rankcheck replay FILE": ("replay", ".rankcheck/mine.false.json"),
}


def spent(arguments: tuple[str, ...], folder: Path, repeats: int) -> float:
    """The least processor seconds of some runs of Python with arguments, children included."""
    best = float("inf")
    for _ in range(repeats):
        before = os.times()
        subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, check=False)
        after = os.times()
        user = after.children_user - before.children_user
        best = min(best, user + after.children_system - before.children_system)
    return best


def ratios(quick: bool = False) -> Iterator[Ratio]:
    """Each command against `import torch`; quick runs each once."""
    repeats = 1 if quick else 3
    before: tuple[tuple[str, ...], ...] = (("list",), ("verify", "false.py"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for claim, factor in {"false": 0.9, "true": 1.0}.items():
            text = CLAIMS.format(name=claim, factor=factor)
            (folder / f"{claim}.py").write_text(text, encoding="utf-8")
        for arguments in before:  # bytecode, canaries, a certificate
            spent(("-m", "rankcheck", *arguments), folder, 1)
        torch = spent(("-c", "import torch"), folder, repeats)
        for what, arguments in COMMANDS.items():
            seconds = spent(("-m", "rankcheck", *arguments), folder, repeats)
            yield Ratio(what, "import torch", torch / seconds)
