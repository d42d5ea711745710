"""All ratios in one table: what is done here against the alternative, measured in one run.

    python -m benchmarks [NAME ...] [--quick]

A ratio above 1 says that rankcheck is faster. `--quick` measures small sizes, to see that all of it
runs; its numbers mean little. The file of a name says what is measured. `python -m benchmarks.NAME`
prints more of `hunt_speed`, `hunt` and `sharpen`.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module

from rankcheck.engine.parallel.arithmetic import fix_arithmetic

fix_arithmetic()  # one thread, before torch is imported

from benchmarks.measuring import table  # noqa: E402

NAMES = ("drivers", "hunt_speed", "hunt", "sharpen", "audit")


def lines(names: Sequence[str], quick: bool) -> Iterator[tuple[str, ...]]:
    """A line of the table for each ratio, as it is measured."""
    for name in names:
        for what, against, ratio in import_module(f"benchmarks.{name}").ratios(quick=quick):
            yield name, what, against, f"{ratio:.3g}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark is called {min(unknown)!r}; there are {', '.join(NAMES)}")
    warnings.simplefilter("ignore")
    table(("benchmark", "what", "against", "ratio"), lines(options.names or NAMES, options.quick))


if __name__ == "__main__":
    main()
