"""What is installed: the claims travel inside the package, and work from an empty directory."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.version import Version

from rankcheck import __version__
from rankcheck import versions as versions_in_use
from rankcheck.claims.catalogue.collect import claim_files, project
from rankcheck.files import project_folder

ROOT = Path(__file__).parent.parent


def built(target, folder):
    build = [sys.executable, "-m", "hatchling", "build", "--target", target, "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [path] = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.mark.slow
def test_the_wheel_holds_the_package_its_claims_and_its_files(wheel):
    """Whatever is no code travels, too: certificates, records, templates of pages."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tops = {name.split("/")[0] for name in names}
    assert tops == {"rankcheck", f"rankcheck-{__version__}.dist-info"}
    assert not [name for name in names if "__pycache__" in name]
    folder = project_folder()
    claims = [*claim_files(folder), *folder.rglob("_*.py"), *folder.rglob("*.json")]
    assert len(claims) > 10
    assert {
        f"rankcheck/_properties/{path.relative_to(folder).as_posix()}" for path in claims
    } <= names
    package = [path for path in (ROOT / "rankcheck").rglob("*") if path.is_file()]
    files = {
        path.relative_to(ROOT).as_posix() for path in package if "__pycache__" not in path.parts
    }
    assert {"rankcheck/py.typed", "rankcheck/faces/report/templates/_claim.html"} <= files
    assert files <= names


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_directory(wheel, tmp_path):
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "rankcheck", *arguments],
            cwd=empty,
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        return done.stdout

    assert len(run("list").splitlines()) == len(project())
    place = "rankcheck/_properties/rank/jacobian_bounds_cost.py:"
    assert f"file: {site}/{place}" in run("show", "rank.jacobian-bounds-cost")
    claims = ("rank.jacobian-bounds-cost", "rank.cross-example-as-printed")
    verified = run("verify", *claims, "--workers", "1", "--limit", "0")
    assert "2 claims: 1 hold, 1 refuted by certificate" in verified


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout says what is tracked")
def test_the_source_distribution_holds_what_is_tracked(tmp_path):
    """So the tests run from it, those of the workflows and of the changelog, too."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True)
    tracked = {name for name in listed.stdout.decode().splitlines() if (ROOT / name).exists()}
    with tarfile.open(built("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert len(tracked) > 1000
    assert {name for name in tracked if '"' not in name} - names == set()


def test_tools_are_pinned_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for tool in ("ruff", "mypy"):
        pins = [need for extra in extras.values() for need in extra if re.match(rf"{tool}\b", need)]
        assert len(pins) == 1
        assert "==" in pins[0]
        hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
        assert tool == "mypy" or hooks.count(f'"{pins[0]}"') == 2


def pins(name):
    """The versions that a file of constraints pins, by package."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def test_the_oldest_versions_are_the_floors():
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = whole["project"]
    needs = [
        *whole["build-system"]["requires"],
        *project["dependencies"],
        *(need for extra in project["optional-dependencies"].values() for need in extra),
    ]
    floors = {tuple(need.split(">=")) for need in needs if "==" not in need}
    oldest = pins("constraints-oldest.txt")
    assert len(floors) == len({name for name, _ in floors}), "a package has two floors"
    assert {(name, Version(floor)) for name, floor in floors} == {
        (name, Version(pin)) for name, pin in oldest.items()
    }
    newest = pins("constraints.txt")
    assert oldest.keys() == newest.keys()
    assert all(Version(oldest[name]) <= Version(pin) for name, pin in newest.items())


def test_ci_runs_the_versions_of_python_that_are_named():
    _, job = (ROOT / "CI.yml").read_text(encoding="utf-8").split("  versions:\n")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert sorted(named) == sorted(set(re.findall(r'python: "(3\.\d+)"', job)))
    release = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    [tried] = re.findall(r"python: \[(.*)\]", release)
    assert re.findall(r"3\.\d+", tried) == sorted(named)


def released():
    """The latest section of the changelog that has a version: the version, and its date."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    [version, date], *_ = re.findall(r"^## (\d\S*) · (\d{4}-\d\d-\d\d)$", changelog, re.M)
    return version, date


def notes(tag):
    return subprocess.run([ROOT / ".ci" / "notes", tag], capture_output=True, text=True)


def test_the_notes_of_a_release_are_its_section_of_the_changelog():
    done = notes(f"v{__version__}")
    assert (done.returncode, done.stderr) == (0, "")
    _, *sections = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")
    [lines] = [
        section.splitlines()[1:]
        for section in sections
        if re.match(rf"{re.escape(__version__)}\b", section)
    ]
    assert [line.split("](")[0] for line in lines if line] == [
        line.split("](")[0] for line in done.stdout.splitlines() if line
    ]
    assert "](docs/" not in done.stdout
    assert f"/blob/v{__version__}/docs/errata.md)" in done.stdout


def test_a_tag_that_is_not_the_version_has_no_notes():
    done = notes("v0.0.1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"the tag is v0.0.1, the version of the code {__version__}\n"


def test_the_changelog_and_the_citation_name_this_version():
    version, date = released()
    assert version == __version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {version}\n" in citation
    assert f"date-released: {date}\n" in citation


def test_the_changelog_names_claims_that_are_there_and_such_as_are_gone():
    """An id that is gone is found by a search for it, and is no other claim now."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    there = {entry.id for entry in project()}
    documents = "|".join(sorted({id_.partition(".")[0] for id_ in there}))
    named = re.compile(rf"`((?:{documents})\.[a-z0-9-]+)`")
    gone: set[str] = set()
    kept: set[str] = set()
    for item in re.split(r"^- |^#", changelog, flags=re.MULTILINE):
        (gone if item.startswith("**Gone**") else kept).update(named.findall(item))
    assert len(gone) > 20
    assert kept <= there
    assert not gone & there


def test_what_is_written_names_the_version_that_runs(monkeypatch):
    """Not the one of the day on which pip installed the checkout."""
    monkeypatch.setattr(metadata, "version", lambda name: f"{name} of another day")
    versions_in_use.versions.cache_clear()
    try:
        found = versions_in_use.versions()
    finally:
        versions_in_use.versions.cache_clear()
    assert found["rankcheck"] == __version__
    assert found["torch"] == "torch of another day"
