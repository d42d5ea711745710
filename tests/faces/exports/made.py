"""Accounts of the stored certificates, and the programs that check what is written of them."""

import functools
import shutil
import subprocess
import sys
from pathlib import Path

import mpmath
import pytest

from rankcheck.claims.catalogue.certificates import read
from rankcheck.claims.catalogue.finding import find
from rankcheck.claims.catalogue.loader import load
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.replay import family_of
from rankcheck.faces.exports.evaluate import account
from rankcheck.faces.exports.export import LANGUAGES, heading
from rankcheck.theory.instances.choices import read_choices

ROOT = Path(__file__).parents[3]
STORED = {path.stem: path for path in sorted(ROOT.glob("properties/*/certificates/*.json"))}

COQC = shutil.which("coqc")
needs_coq = pytest.mark.skipif(
    COQC is None, reason="no coqc is installed; .ci/coq installs coq and libcoq-interval"
)


@functools.cache
def stored(claim_id):
    """The account of a stored certificate, and the heading of its exports."""
    data = read(STORED[claim_id])
    [claim] = load([find(STORED[claim_id], data)])
    stated = data["smallest"]
    family = family_of(claim, stated["family"])
    record = read_choices(family, stated["instance"], check_hypotheses=False)
    instance = Instance(claim, family, record)
    return account(instance, stated["relation"], stated["description"]), heading(claim, data)


@functools.cache
def exported(claim_id, language):
    """The text of an export of a stored certificate."""
    return LANGUAGES[language](*stored(claim_id))


def coqc(text, folder):
    """What coqc says of a file: its exit status, and its messages."""
    file = folder / "refutation.v"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run([COQC, file.name], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def alone(text, folder):
    """What a script says in a fresh interpreter that finds mpmath, and nothing else."""
    packages = folder / "packages"
    packages.mkdir(exist_ok=True)
    link = packages / "mpmath"
    if not link.exists():
        link.symlink_to(Path(mpmath.__file__).parent)
    (folder / "refutation.py").write_text(text, encoding="utf-8")
    start = (
        "import runpy, sys\n"
        f"sys.path.append({str(packages)!r})\n"
        "runpy.run_path('refutation.py')\n"
        "assert not {'rankcheck', 'torch', 'flint', 'numpy'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", start], cwd=folder, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def lines_of_code(text):
    """The lines of a script without its docstring, comments and empty lines."""
    _, _, code = text.partition('"""')[2].partition('"""')
    lines = (line.strip() for line in code.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
