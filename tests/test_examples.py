"""The examples run, with a few steps."""

import importlib.util
import itertools
import json
import math
import re
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from rankcheck import files, witnesses
from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import Settings

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """`run(name, *arguments)`: run an example in an empty working directory."""
    monkeypatch.chdir(tmp_path)

    def call(name, *arguments):
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        module.main()
        return module

    return call


@pytest.mark.slow
def test_train_and_audit(run, capsys):
    module = run("train_and_audit", "--steps", "3", "--folder", "left")
    assert {path.name for path in Path("left").iterdir()} == {
        "trained.pt",
        "data.npy",
        "audit.html",
        "audit.json",
    }
    assert files.GENERATOR in Path("left/audit.html").read_text(encoding="utf-8")
    found = json.loads(Path("left/audit.json").read_text(encoding="utf-8"))
    assert found["model"]["depth"] == module.DEPTH
    assert np.load("left/data.npy").shape == (module.POINTS, module.IN)
    assert len(torch.load("left/trained.pt", weights_only=True)) == 2 * module.DEPTH
    out = capsys.readouterr().out
    assert out.count("step") == 2
    assert "rankcheck audit left/trained.pt --slope 0 --data left/data.npy" in out.replace(
        "\\", "/"
    )


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("residual", ["Block", "Linear", "Linear"] * 4),
        ("convolution", ["Conv2d"] * 4),
        ("transformer", ["Linear", "TransformerEncoderLayer", "LayerNorm", "MultiheadAttention"]),
    ],
)
def test_examples_of_measuring(run, capsys, name, kinds):
    run(f"measure_{name}", "--steps", "2")
    out = capsys.readouterr().out
    assert out.count("step") == 2
    shown = re.findall(r"^  \S+ \((\w+), ", out, re.M)
    assert shown[: len(kinds)] == kinds
    assert "the rank of Jf should be " in out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("--of 5", " M5 "),
        ("--of 6", "+ 4 M6 - 8 M4 + 4 M2 = the mean"),
        ("--of 8", " M8 "),
        ("--of 6 --inner 3 --summands 1", "  + |m012 - m345|"),
        ("--of 4 --conforming", "  + max(m0"),
    ],
)
def test_max_identities(run, capsys, arguments, line):
    """What is printed as Python is the identity, by the room's own decision."""
    run("max_identities", *arguments.split())
    out = capsys.readouterr().out
    text, python = out.split("\nProved")
    assert line in text
    literal = re.search(r"Max(Identity|Sum)\(.*^\)\)$", python, re.DOTALL | re.MULTILINE)
    assert literal
    identity = eval(literal[0], vars(witnesses))
    assert identity.n == int(arguments.split()[1])
    assert identity.rank == (3 if "--inner" in arguments else 2)
    assert witnesses.is_maximum(identity)


@pytest.mark.nightly
def test_max_of_seven_is_found_again(run, capsys):
    run(
        "max_identities",
        *("--of", "7", "--inner", "3", "--conforming"),
        *("--symmetry", "(0 1)(2 3), (0 3)(1 2)"),
    )
    lines = capsys.readouterr().out.splitlines()
    (bent,) = [line for line in lines if line.startswith("  + 1/2 max(") and line.count("m") == 12]
    assert bent.count("+") == 10  # five maxima and one twice, and six
    assert "Proved, and equal at 200 integer points." in lines


def test_max_identities_that_do_not_exist(run, capsys):
    run(
        "max_identities",
        *("--of", "7", "--summands", "2", "--vertices", "1", "--smallest", "1"),
    )
    out = capsys.readouterr().out
    assert "No combination of these 106 means, and of maxima of fewer numbers, is the" in out
    assert "This is proved: a combination of" in out
    run("max_identities", "--of", "5", "--conforming", "--symmetry", "(0 1 2 3 4)")
    out = capsys.readouterr().out
    assert "Integer programming found no such maximum" in out
    assert "That is no proof" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--of 3 --inner 3", "received --of 3 --inner 3; 2 <= R < N <= 11"),
        ("--of 9 --conforming", "received --of 9 --inner 2; 2 <= R < N <= 8"),
        ("--of 4 --summands 0", "received --summands 0"),
        ("--of 4 --smallest 3", "received --smallest 3; it is 1, ..., 2"),
        ("--of 4 --vertices 5", "received --vertices 5; it is 1, ..., 4"),
        ("--of 7 --summands 1", "no two of them have 7 of the 7 numbers"),
        ("--of 6 --summands 3 --inner 4 --smallest 1", "received more than 20000 graphs"),
        ("--of 4 --symmetry (0,1)", "it belongs to --conforming"),
        ("--of 4 --conforming --symmetry (0,1)", "it is written in cycles"),
        ("--of 4 --conforming --symmetry (3)(4)", "cycles share none of 0, ..., 3"),
    ],
)
def test_what_max_identities_refuses(run, capsys, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        run("max_identities", *arguments.split())
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize(
    ("n", "sizes", "summands", "fewest"),
    [(4, (1, 2), 2, 1), (5, (2, 2), 2, 4), (5, (2, 2), 2, 5), (4, (2, 3), 2, 4), (4, (2, 2), 3, 3)],
)
def test_graphs_of_max_identities(run, n, sizes, summands, fewest):
    """One of each orbit of signed graphs, by all permutations of all pairs of sums."""
    module = run("max_identities", "--of", "3")
    orders = [*itertools.permutations(range(n))]
    sets = [s for k in range(sizes[0], sizes[1] + 1) for s in itertools.combinations(range(n), k)]

    def permuted(term, order):
        sides = ([[order[i] for i in s] for s in side] for side in (term.left, term.right))
        image = witnesses.MaxTerm(term.coefficient, *sides)
        return image.left, image.right

    def images(term):
        """One permutation after the other."""
        return frozenset(permuted(term, order) for order in orders)

    every = set()
    for k in range(1, summands + 1):
        sums = [*itertools.combinations_with_replacement(sets, k)]
        for left, right in itertools.combinations(sums, 2):
            many = math.gcd(*Counter(left).values(), *Counter(right).values())
            used = {i for s in left + right for i in s}
            if many == 1 and len(used) >= fewest and not {*left} & {*right}:
                every.add(images(witnesses.MaxTerm(1, left, right)))
    found = module.graph_terms(n, range(sizes[0], sizes[1] + 1), summands, fewest)
    assert len(found) == len(every)
    assert {images(term) for term in found} == every


def test_exact_equations_of_max_identities(run, capsys):
    """Of a matrix that is singular modulo the first prime, too."""
    module = run("max_identities", "--of", "3")
    prime = module.PRIMES[0]
    assert module.exact_solution([[prime, 0], [1, 2]], [0, 1]) == [
        -Fraction(1, 2 * prime),
        Fraction(1, 2),
    ]
    assert module.exact_solution([[1, 2, 3]], [1, 2, 4]) is None
    y = module.contradiction([[1, 2, 3], [prime, 0, 0]], [1, 2, 4])
    assert y is not None
    assert [sum(a * b for a, b in zip(y, c, strict=True)) for c in ([1, 2, 3], [1, 2, 4])] == [0, 1]
    assert module.contradiction([[1, 2]], [2, 4]) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        ("rank_and_cost", {"mine.rank-and-cost": "refuted", "mine.rank-and-volume": "guarded"}),
        ("root_n", {"mine.root-n": "guarded"}),
        ("sup_norm", {"mine.sup-norm": "refuted"}),
    ],
)
def test_the_verdicts_of_claims(name, verdicts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_claims", {})  # other pages declare some of them, too
    path = tmp_path / f"{name}.py"  # a file is imported once in a process
    path.write_text((EXAMPLES / path.name).read_text("utf-8"), "utf-8")
    rows = [verify_claim(claim, Settings(shrink=0.0)) for claim in load(select([str(path)]))]
    assert {row.id: row.verdict for row in rows} == verdicts
