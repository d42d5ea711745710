"""The text of claim files that tests write; the fixture `mine` writes them to `mine.py`."""

HEAD = """
import os, signal, sys, time
from pathlib import Path
import torch
from rankcheck import cited, conjecture, eq, identity, leq, paper
from rankcheck.instances import instances

@instances
def numbers(source):
    return source.tensor()
"""


def claim(name: str, line: str = "", most: str = "9.0", options: str = "") -> str:
    """The conjecture `t.NAME`: a number of [-8, 8] is at most `most`; `line` begins its body."""
    options = options if "instances=" in options else f"instances=numbers(), {options}"
    return f'''
@conjecture("t.{name}", {options})
def test_{name.replace("-", "_")}(x):
    """x is at most {most}."""
    {line or "pass"}
    return leq(x, {most})
'''
