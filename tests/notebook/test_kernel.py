"""A small notebook in a real kernel: a conjecture of four lines, and what its cells show."""

import json
import re

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

CELLS = {
    "import": """
import torch
from rankcheck import Network, conjecture, leq
from rankcheck.audit import audit
from rankcheck.instances import networks_at_points
""",
    "claim": r'''
@conjecture("mine.cost", instances=networks_at_points(depth=(1, 2), width=(1, 2)))
def test_cost(net, x):
    """$|f(x)| \\le \\|\\theta\\|^2$"""
    return leq(net(x).abs().sum(-1), net.cost())
test_cost
''',
    "verify": "row = test_cost.verify()\nrow",
    "counterexample": "row.counterexample",
    "arguments": """
net, x = row.counterexample
print(row.counterexample.net(x).tolist(), float(net.cost()), test_cost(net, x))
""",
    "network": "net",
    "again": """
from rankcheck.engine.counterexamples import replay
replay(row.certificate, claim=test_cost).counterexample == row.counterexample
""",
    "hunt": "test_cost.hunt(2)",
    "sharpen": "test_cost.sharpen(budget=2)",
    "prove": "test_cost.prove(seconds=2)",
    "audit": "audit(Network.of([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0]]]), torch.randn(20, 2))",
    "wrong": "test_cost.hunt(budget='3')",
}
#: No text of an output is longer, in characters.
LONGEST = 2000


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of each cell, by its name."""
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    place = tmp_path_factory.mktemp("notebook")
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(place)}},
    )
    client.execute()
    assert (place / ".rankcheck" / "mine.cost.json").is_file()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def result(outputs, name):
    """The text and the HTML of what a cell returns."""
    [one] = [each for each in outputs[name] if each.output_type == "execute_result"]
    return one.data["text/plain"], one.data.get("text/html", "")


def words(html):
    """What a reader sees of HTML."""
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL).split())


@pytest.mark.parametrize("name", CELLS)
def test_no_error_and_no_kilobytes(outputs, name):
    for one in outputs[name]:
        if name == "wrong":
            assert (one.output_type, one.ename) == ("error", "InputError")
            assert one.evalue == "budget is '3'; it is a finite number of seconds"
            continue
        assert one.output_type != "error", one
        assert len(json.dumps(one.get("data", {}).get("text/plain", ""))) < LONGEST


@pytest.mark.parametrize("name", ["verify", "hunt"])
def test_the_verdict_stands_in_the_card(outputs, name):
    text, html = result(outputs, name)
    assert text.startswith("refuted ")
    assert re.search(r'<span class="verdict bad[^"]*">refuted</span>', html)
    assert "Counterexample" in words(html)


@pytest.mark.parametrize("name", ["claim", "verify", "hunt", "sharpen", "prove", "counterexample"])
def test_no_command_is_offered_that_fails(outputs, name):
    """No command finds a claim that is in no file."""
    text, html = result(outputs, name)
    for shown in (text, html):
        assert not re.search(r"rankcheck (verify|hunt|replay|certify) ", shown)
    if name not in ("claim", "prove"):
        assert "rankcheck.engine.counterexamples.replay(" in text + html


def test_what_is_offered_works(outputs):
    assert result(outputs, "again")[0] == "True"


def test_the_counterexample_is_the_arguments(outputs):
    [printed] = outputs["arguments"]
    value, cost, relation = re.fullmatch(r"\[(.*)\] (\S+) <(.*)>\n", printed.text).groups()
    assert abs(float(value)) > float(cost)
    assert "fails at 1 of 1" in relation


def test_the_line_of_progress_is_gone(outputs):
    lines = [each for name in ("sharpen", "prove") for each in outputs[name]]
    assert [each for each in lines if each.output_type == "stream"] == []
    shown = [each.data["text/plain"] for each in lines if each.output_type == "display_data"]
    assert len(shown) == 2
    assert set(shown) == {""}
