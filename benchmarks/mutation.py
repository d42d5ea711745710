"""Mutation testing: how many small changes of a room, or of claims, does nothing notice?

    python -m benchmarks.mutation ROOM... [--sample N] [--seed S] [--tests PATH...] [--minutes M]
    python -m benchmarks.mutation claims=SELECTOR [--sample N] [--seed S]

A ROOM is a folder or file of the package, or `all`. A mutant is one change of one expression or
statement. The tests that run its line (unit tests, doctests and claims, but no nightly ones; or
those of `--tests`) are measured first, which takes a few times as long as they do. They run in a
fork of a warm process, those of the room first and the fastest first, up to the first failure or to
`--budget` seconds. If all pass, the mutant has survived: it asks for a test, unless nothing can
tell it from the original.

A SELECTOR is one of `rankcheck verify`; `claims=` alone means all. Each claim that is said to hold
is changed in one place at a time: an exponent (the right side of `**`, the argument of `power` and
`schatten_power`, of `exp`, the half of a square root, a fraction k / L) is multiplied by 1.02 and
by 0.98, one of which has to be noticed; a hypothesis (`where=`, `source.require`) is dropped. It
has survived if `rankcheck verify` refutes no such claim, with two seeds. A place of a claim that
says `loose=` counts apart, and one that makes the body raise (2 % more layers) not at all.
Constants and dials are what the derived and the named mutants of `rankcheck verify` change.

Needs coverage.py: `pip install -c constraints.txt -e '.[test,mutation]'`. cosmic-ray starts a
process for each mutant, 3 s for torch alone, and runs the same tests for all.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before torch is imported

import pytest  # noqa: E402

from benchmarks.mutants import Mutant, claim_changes, code_changes, mutants  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
FORK = multiprocessing.get_context("fork")
CLAIMS = "claims="
#: A room, a mutant of it, and its outcome: killed, survived, loose or raises.
Result = tuple[str, Mutant, str]
#: The warm process has imported Hypothesis before pytest could rewrite the asserts of its plugin.
PYTEST = ["-q", "-p", "no:cacheprovider", "-m", "not nightly"]
PYTEST += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]


# Which tests run which line.


@dataclass(frozen=True)
class Reach:
    """The passing tests with their seconds, and the tests of each line of each file."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]

    def tests(self, mutant: Mutant, room: str, budget: float) -> tuple[list[str], list[str]]:
        """The tests of a mutant: those of its room, and others; each the fastest first."""
        by_line = self.lines.get(mutant.file, {})
        first, last = (0, -1) if mutant.at_import else mutant.lines
        found = {test for line in range(first, last + 1) for test in by_line.get(line, ())}
        found = found or {test for tests in by_line.values() for test in tests}
        own = tuple(f"{top}/{room}{end}" for top in ("tests", "rankcheck") for end in ("/", ".py"))
        own += (f"tests/test_{room}.py",)
        found = found or {test for test in self.seconds if test.startswith(own)}
        chosen: tuple[list[str], list[str]] = ([], [])
        for test in sorted(found, key=lambda t: (not t.startswith(own), self.seconds[t], t)):
            budget -= self.seconds[test]
            if budget > 0 or not any(chosen):
                chosen[not test.startswith(own)].append(test)
        return chosen


class Plugin:
    """Of pytest: runs the chosen tests in their order; names contexts; times what passes."""

    def __init__(self, tests: Sequence[str] = (), coverage: Any = None) -> None:
        self._place = {test: place for place, test in enumerate(tests)}
        self._coverage = coverage
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._place:
            chosen = (item for item in items if item.nodeid in self._place)
            items[:] = sorted(chosen, key=lambda item: self._place[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if self._coverage is not None:
            self._coverage.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.outcome != "passed":
            self.failed.add(report.nodeid)


def measure(places: Sequence[str]) -> Reach:
    """Run the tests in these files and folders under coverage.py."""
    from coverage import Coverage

    coverage = Coverage(data_file=None, config_file=False, source=["rankcheck"])
    plugin = Plugin(coverage=coverage)
    coverage.start()
    pytest.main([*PYTEST, *places], plugins=[plugin])
    coverage.stop()
    data = coverage.get_data()
    seconds = {t: s for t, s in plugin.seconds.items() if t not in plugin.failed}
    lines = {
        Path(file).relative_to(Path.cwd()).as_posix(): {
            line: [test for test in tests if test in seconds]
            for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    return Reach(seconds, lines)


# Trials.


def in_fork(work: Callable[[], Any], folder: Path, limit: float) -> Any:
    """What `work` returns in a fork with `folder` as its directory; "killed" if it does not."""

    def child() -> None:
        os.setsid()
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        for stream in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        sending.send(work())
        os._exit(0)

    receiving, sending = FORK.Pipe(duplex=False)
    process = FORK.Process(target=child)
    process.start()
    sending.close()
    answer = "killed"
    with suppress(EOFError):
        answer = receiving.recv() if receiving.poll(limit) else answer
    with suppress(ProcessLookupError):
        os.killpg(process.pid or 0, signal.SIGKILL)  # and what its tests have left running
    process.join()
    return answer


def run_tests(tests: Sequence[str]) -> str:
    """Run these tests in this order up to the first failure."""
    files = sorted({test.partition("::")[0] for test in tests})
    code = pytest.main([*PYTEST, "-x", *files], plugins=[Plugin(tests)])
    return "killed" if code else "survived"


def verified(file: str) -> str:
    """What becomes of the claims of a file, or of those of its folder that use it."""
    from rankcheck.catalogue.loader import load
    from rankcheck.catalogue.selection import select
    from rankcheck.verification.check import verify_claim
    from rankcheck.verification.profiles import PROFILES, Settings

    path = Path(file)
    users = [path]
    if path.name.startswith("_"):
        users = [one for one in path.parent.glob("[!_]*.py") if path.stem in one.read_text()]
    outcome = "raises"
    for claim in load(select(list(map(str, users)))):
        if claim.kind == "refuted":
            continue
        for seed in (0, 1):
            settings = Settings(PROFILES["quick"], seed, Path(tempfile.gettempdir()), 0.0)
            try:
                row = verify_claim(claim, settings)
            except Exception:
                break
            if row.verdict in ("refuted", "undecided"):
                return "killed"
            if row.verdict == "failed" and not row.mutants.total:  # the body raises
                break
            if outcome != "survived":
                outcome = "loose" if claim.loose or claim.kind == "conjecture" else "survived"
    return outcome


def copy_of(root: Path, folder: Path) -> Path:
    """A copy of what git knows or would add, in a new folder."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (root / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name, follow_symlinks=False)
    return folder


def try_out(mutant: Mutant, folder: Path, work: Sequence[Callable[[], str]], limit: float) -> str:
    """What becomes of a mutant in a copy of the project, by the first work that notices it."""
    path = folder / mutant.file
    original = path.read_text(encoding="utf-8")
    outcomes = ["raises"]
    try:
        for text in mutant.texts(original):
            path.write_text(text, encoding="utf-8")
            for one in work:
                outcomes.append(in_fork(one, folder, limit))
                if outcomes[-1] == "killed":
                    return "killed"
    finally:
        path.write_text(original, encoding="utf-8")
    return min(outcomes, key=("survived", "loose", "raises").index)


# A run.


def mutants_of(room: str) -> list[Mutant]:
    """The mutants of a room, or of the claims that a selector names and the files they share."""
    if room.startswith(CLAIMS):
        from rankcheck.catalogue.selection import select

        entries = select(list(filter(None, [room.removeprefix(CLAIMS)])))
        files = {Path(entry.file).resolve() for entry in entries}
        files |= {one for file in files for one in file.parent.glob("_[!_]*.py")}
    else:
        place = ROOT / "rankcheck" / room
        files = set(place.rglob("*.py")) or {place.with_suffix(".py")}
    changes = claim_changes if room.startswith(CLAIMS) else code_changes
    return [
        mutant
        for file in sorted(files)
        for mutant in mutants(
            file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix(), changes
        )
    ]


def sample(room: str, number: int, seed: int) -> list[Mutant]:
    """`number` mutants of a room, the same for the same seed and files."""
    every = in_fork(partial(mutants_of, room), ROOT, 300.0)
    if not isinstance(every, list):
        raise SystemExit(f"{room!r} is neither a folder or file of rankcheck/ nor claims=SELECTOR")
    return random.Random(f"{seed} {room}").sample(every, min(number, len(every)))


def run(options: argparse.Namespace) -> list[Result]:
    """Try a sample of the mutants of each room."""
    import flint, hypothesis.strategies, numpy, scipy.special, torch  # noqa: E401, F401, I001

    torch.set_num_threads(1)  # a fork begins with what is imported here, which is not rankcheck
    rooms = list(options.rooms)
    if "all" in rooms:
        places = sorted((ROOT / "rankcheck").glob("[!_.]*"))
        rooms = [one.stem for one in places if one.is_dir() or one.suffix == ".py"]
    samples = {room: sample(room, options.sample, options.seed) for room in rooms}
    results: list[Result] = []
    until = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="mutation-") as parent:
        folder = copy_of(ROOT, Path(parent).resolve())
        reach = Reach({}, {})
        if not all(room.startswith(CLAIMS) for room in rooms):
            reach = in_fork(partial(measure, options.tests), folder, 4 * 3600.0)
            if not isinstance(reach, Reach):
                raise SystemExit("the tests could not be run; see pytest")
        # The rooms in turn, so that each has its share when the time is up.
        for room, mutant in filter(None, chain(*zip_longest(*(
            [(room, mutant) for mutant in mutants] for room, mutants in samples.items()
        )))):  # fmt: skip
            work = [partial(verified, mutant.file)]
            if not room.startswith(CLAIMS):
                tests = reach.tests(mutant, room, options.budget)
                work = [partial(run_tests, part) for part in tests if part]
            outcome = try_out(mutant, folder, work, 30 + 5 * options.budget)
            results.append((room, mutant, outcome))
            change = f"{mutant.before} -> {mutant.after[0]}"
            print(f"{outcome} {mutant.file}:{mutant.line} {change}", file=sys.stderr, flush=True)
            if time.monotonic() > until:
                break
    return results


def table(results: Sequence[Result]) -> str:
    """Markdown: the share that dies of each room, and the survivors."""
    lines = ["| room | mutants | killed | survived | loose | share |", "|" + " --- |" * 6]
    for room in dict.fromkeys(room for room, _, _ in results):
        counts = Counter(outcome for name, _, outcome in results if name == room)
        killed, survived, loose = (counts[name] for name in ("killed", "survived", "loose"))
        share = f"{killed / max(1, killed + survived):.0%}"
        cells = (room, killed + survived + loose, killed, survived, loose, share)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "| survivor | before | after |", "|" + " --- |" * 3]
    for _, mutant, outcome in results:
        if outcome == "survived":
            before, after = (text.replace("|", "\\|") for text in (mutant.before, mutant.after[0]))
            lines.append(f"| {mutant.file}:{mutant.line} | `{before}` | `{after}` |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the arguments, run, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="+", metavar="ROOM", help="a room, `all`, claims=SELECTOR")
    parser.add_argument("--sample", type=int, default=50, help="mutants a room (default 50)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default 0)")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests a mutant")
    parser.add_argument("--minutes", type=float, default=600, help="start no mutant after that")
    parser.add_argument("--tests", nargs="+", default=[], metavar="PATH", help="only these tests")
    print(table(run(parser.parse_args())))


if __name__ == "__main__":
    main()
