"""Mutation testing: how many small changes of a room do its tests notice?

    python benchmarks/mutation.py ROOM... [--sample N] [--seed S] [--workers N] [--json FILE]

A room is a folder or file of the package: verification, counterexamples, claims, linalg, ..., or
`all`. A mutant is one change of one expression or statement. The tests that run its line (unit
tests, doctests and claims) run in a fork of a warm process: those of the room first, the fastest
first, up to the first failure. If all pass, the mutant has survived. Tests beyond `--budget`
seconds are left out, and the table says how many. The same seed takes the same sample of a room
whose files are the same. `--survivors FILE` tries only those that survived according to an earlier
`--json FILE`, after new tests were written.

`--workers` mutants are tried at a time (default: one a core), each in a copy of the project of its
own. The first run measures which tests run which line and keeps that in `.mutation/`; this takes a
few times as long as the suite. `--tests tests/claims tests/catalogue` measures and runs only these,
which is quicker and finds more survivors. Needs coverage.py:
`pip install -c constraints.txt -e '.[test,mutation]'`.

`mutation-equivalent.toml` beside this file lists mutants that no test can kill, with the reason;
they do not count.

Why not an existing tool. mutmut 3.8 forks a warm process too and was as fast on linalg alone (3
mutants a second). But each call first runs all selected tests twice: with three rooms and seven
folders of tests it had not reached its first mutant after five minutes (150 s of CPU). It leaves
out decorated functions and everything at module level, changes every message (803 mutants of linalg
against 558 here), knows no sample and no list of equivalent mutants, and rewrites each file to all
of its mutants at once (linalg: 465 lines to 16 947). cosmic-ray was not timed: it starts a process
for each mutant, which costs 3 s for torch and one small file of tests, and runs the same tests for
all. Here a killed mutant costs 1 s on one core (median; 3 s in verification), and a survivor up to
the budget.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before torch is imported

from mutating.mutants import Mutant, mutants  # noqa: E402
from mutating.reach import Reach, combine, hashes, load, measure  # noqa: E402
from mutating.trial import Bench, Outcome, copy_of, in_fork, warm_up  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / ".mutation"
EQUIVALENT = Path(__file__).with_name("mutation-equivalent.toml")
ROOMS = (
    "verification",
    "counterexamples",
    "claims",
    "linalg",
    "networks",
    "costs",
    "witnesses",
    "separation",
    "data",
    "regions",
    "hunt",
    "balls",
    "instances",
    "audit",
)


@dataclass(frozen=True)
class Result:
    """A mutant of the sample and its outcome; `left_out` tests were beyond the budget."""

    room: str
    mutant: Mutant
    status: str
    by: str
    seconds: float
    tests: int
    left_out: int


def of_room(room: str, root: Path = ROOT) -> list[Mutant]:
    """All mutants of a room."""
    found = []
    place = root / "rankcheck" / room
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]:
        file = path.relative_to(root).as_posix()
        found += mutants(path.read_text(encoding="utf-8"), file)
    return found


def sample(room: str, number: int, seed: int, root: Path = ROOT) -> list[Mutant]:
    """`number` mutants of a room, the same for the same seed."""
    every = of_room(room, root)
    return random.Random(f"{seed} {room}").sample(every, min(number, len(every)))


def equivalents(path: Path = EQUIVALENT) -> dict[tuple[str, ...], str]:
    """The reasons of the equivalent mutants, by their keys."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    fields = ("file", "function", "line", "before", "after")
    return {tuple(entry[field] for field in fields): entry["reason"] for entry in entries}


def near(room: str) -> tuple[str, ...]:
    """How the tests of a room begin: its folder or file in `tests/`, and its doctests."""
    return f"tests/test_{room}.py", f"tests/{room}/", f"rankcheck/{room}/", f"rankcheck/{room}.py"


def survivors(path: Path | None) -> set[tuple[str, ...]] | None:
    """The keys of the mutants that survived according to a JSON file; None without a file."""
    if path is None:
        return None
    fields = ("file", "function", "text", "before", "after")
    results = json.loads(path.read_text(encoding="utf-8"))
    return {
        tuple(result["mutant"][field] for field in fields)
        for result in results
        if result["status"] == "survived"
    }


def stages(reach: Reach, mutant: Mutant, room: str, budget: float) -> tuple[list[list[str]], int]:
    """The tests of a mutant, those of its room first, fastest first; how many are left out.

    A line that no test runs in its own process (a worker, an import) gets the tests of its file, or
    else those of its room.
    """
    tests = set() if mutant.at_import else reach.tests(mutant.file, *mutant.lines)
    tests = tests or reach.of_file(mutant.file)
    own = near(room)
    tests = tests or {test for test in reach.seconds if test.startswith(own)}
    order = sorted(tests, key=lambda t: (not t.startswith(own), reach.seconds[t], t))
    chosen: list[str] = []
    total = 0.0
    for test in order:
        total += reach.seconds[test] + 0.01
        if chosen and total > budget:
            break
        chosen.append(test)
    first = [test for test in chosen if test.startswith(own)]
    return [first, chosen[len(first) :]], len(order) - len(chosen)


@dataclass(frozen=True)
class Task:
    """A mutant, the stages of tests to run, how many were left out, a limit in seconds."""

    room: str
    mutant: Mutant
    tests: list[list[str]]
    left_out: int
    limit: float
    equivalent: bool


class Lane:
    """What each worker has of its own: a copy of the project, and the bench on it."""

    folder: Path
    bench: Bench

    @classmethod
    def open(cls, parent: str) -> None:
        """Called once in each worker, which is a fork of the warm process."""
        cls.folder = copy_of(ROOT, Path(tempfile.mkdtemp(dir=parent)).resolve())
        cls.bench = Bench(cls.folder)

    @classmethod
    def try_out(cls, task: Task) -> Result:
        """Apply the mutant and run its tests."""
        source = (cls.folder / task.mutant.file).read_text(encoding="utf-8")
        outcome = (
            Outcome("survived", "", 0.0)
            if task.equivalent
            else cls.bench.try_out(
                task.mutant.file, task.mutant.apply(source), task.tests, task.limit
            )
        )
        number = sum(map(len, task.tests))
        return Result(
            task.room,
            task.mutant,
            outcome.status,
            outcome.by,
            outcome.seconds,
            number,
            task.left_out,
        )

    @classmethod
    def measure(cls, part: tuple[int, list[str]]) -> int:
        """Run the tests of some files under coverage.py; how many of them did not pass."""
        number, files = part
        store = STORE / f"part-{number}"
        store.mkdir(exist_ok=True)
        counts = in_fork(lambda: measure(store, files), cls.folder, 4 * 3600.0)
        if not counts:
            raise SystemExit(
                f"the tests of {', '.join(files)} could not be run; MUTATION_LOG=FILE shows their "
                "output"
            )
        return counts["not passed"]


@contextmanager
def lanes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Workers that are forks of this process, with torch imported and rankcheck not."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as parent:
        fork = multiprocessing.get_context("fork")
        pool = ProcessPoolExecutor(workers, fork, Lane.open, (parent,))
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


def parts(files: Sequence[str], workers: int) -> list[tuple[int, list[str]]]:
    """Numbered lists of files, a few a worker; neighbours, which take long together, are apart."""
    number = min(len(files), 6 * workers)
    return [(place, list(files[place::number])) for place in range(number)]


def measured(pool: ProcessPoolExecutor, workers: int, only: tuple[str, ...]) -> Reach:
    """Which test runs which line; measures what has changed since the last time.

    `only`: how the files of the tests begin that are measured; all if it is empty.
    """
    STORE.mkdir(exist_ok=True)
    note = STORE / "hashes.json"
    known = json.loads(note.read_text()) if note.exists() else {}
    names = [
        path.relative_to(ROOT).as_posix()
        for folder in ("rankcheck", "tests", "properties")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    now = hashes(ROOT, names)
    base = {
        name: digest
        for name, digest in now.items()
        if name.startswith("rankcheck/") or name.endswith("conftest.py") or "/_" in name
    }
    if known.get("base") != base:
        shutil.rmtree(STORE)
        STORE.mkdir()
        known = {"base": base}
    files = [
        name
        for name in names
        if (not only or name.startswith(only))
        and known.get(name) != now[name]
        and ("/test_" in name or (not name.startswith("tests/") and "/_" not in name))
    ]
    if files:
        print(f"measuring the reach of {len(files)} files of tests", file=sys.stderr)
        begin = time.monotonic()
        split = parts(files, workers)
        failed = sum(pool.map(Lane.measure, split))
        combine(STORE, [STORE / f"part-{number}" for number, _ in split], files)
        note.write_text(json.dumps(known | {name: now[name] for name in files}))
        print(
            f"measured in {time.monotonic() - begin:.0f} s; {failed} tests did not "
            "pass without a mutant and take no part (.mutation/failed.json)",
            file=sys.stderr,
        )
    return load(STORE)


def table(results: Sequence[Result], reasons: dict[tuple[str, ...], str]) -> str:
    """Markdown: the score of each room, and the survivors."""
    lines = ["| room | mutants | killed | survived | equivalent | score |", "|" + " --- |" * 6]
    for room in dict.fromkeys(result.room for result in results):
        here = [result for result in results if result.room == room]
        alive = [result for result in here if result.status == "survived"]
        same = sum(result.mutant.key in reasons for result in alive)
        counted = len(here) - same
        score = f"{(len(here) - len(alive)) / counted:.0%}" if counted else "-"
        killed = len(here) - len(alive)
        cells = (room, len(here), killed, len(alive) - same, same, score)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "| survivor | before | after | tests | left out |", "|" + " --- |" * 5]
    for result in results:
        mutant = result.mutant
        if result.status == "survived" and mutant.key not in reasons:
            before, after = (text.replace("|", "\\|") for text in (mutant.before, mutant.after))
            place, counts = f"{mutant.file}:{mutant.line}", f"{result.tests} | {result.left_out}"
            lines.append(f"| {place} | `{before}` | `{after}` | {counts} |")
    return "\n".join(lines) + "\n"


def tasks(arguments: argparse.Namespace, rooms: Sequence[str], reach: Reach) -> Iterator[Task]:
    """The sample of each room, with the tests of each mutant."""
    reasons, alive = equivalents(), survivors(arguments.survivors)
    for room in rooms:
        chosen = sample(room, arguments.sample, arguments.seed)
        if alive is not None:
            chosen = [mutant for mutant in of_room(room) if mutant.key in alive]
        for mutant in chosen:
            tests, left_out = stages(reach, mutant, room, arguments.budget)
            limit = 30 + 5 * sum(reach.seconds[test] for stage in tests for test in stage)
            yield Task(room, mutant, tests, left_out, limit, mutant.key in reasons)


def run(arguments: argparse.Namespace, rooms: Sequence[str]) -> list[Result]:
    """Try the sample of each room."""
    results: list[Result] = []
    warm_up()
    with lanes(arguments.workers) as pool:
        reach = measured(pool, arguments.workers, tuple(arguments.tests))
        until = time.monotonic() + 60 * arguments.minutes
        every = list(tasks(arguments, rooms, reach))
        # The rooms in turn, so that each has its share when the time is up.
        turns = defaultdict(list)
        for task in every:
            turns[task.room].append(task)
        order = sorted(every, key=lambda task: turns[task.room].index(task))
        for future in as_completed(pool.submit(Lane.try_out, task) for task in order):
            result = future.result()
            results.append(result)
            mutant = result.mutant
            print(
                f"{result.room} {result.status:8} {result.seconds:5.1f} s  "
                f"{mutant.file}:{mutant.line}  {mutant.before} -> {mutant.after}  {result.by}",
                file=sys.stderr,
                flush=True,
            )
            if arguments.json:
                text = json.dumps([asdict(result) for result in results], indent=1)
                arguments.json.write_text(text, encoding="utf-8")
            if time.monotonic() > until:
                break
    place = {(task.room, task.mutant): number for number, task in enumerate(every)}
    return sorted(results, key=lambda result: place[result.room, result.mutant])


def main() -> None:
    """Read the arguments, run, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="+", choices=[*ROOMS, "all"], metavar="ROOM")
    parser.add_argument("--sample", type=int, default=50, help="mutants a room (default 50)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default 0)")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests a mutant")
    parser.add_argument(
        "--tests", nargs="+", default=[], metavar="PATH", help="measure and run only these tests"
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        help="mutants at a time",
    )
    parser.add_argument("--survivors", type=Path, help="only those of an earlier --json file")
    parser.add_argument("--minutes", type=float, default=600, help="start no mutant after that")
    parser.add_argument("--json", type=Path, help="write every mutant and its outcome")
    parser.add_argument("--markdown", type=Path, help="write the table to a file as well")
    arguments = parser.parse_args()
    rooms = ROOMS if "all" in arguments.rooms else tuple(arguments.rooms)
    text = table(run(arguments, rooms), equivalents())
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
