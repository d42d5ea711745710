"""The files that a page names, without the folders of the machine that wrote it."""

from __future__ import annotations

import re

#: An absolute path of a file, on Linux, macOS or Windows, that does not continue a word.
_FILE = re.compile(r"(?<![\w.:/\\~-])(?:[A-Za-z]:)?(?:[/\\][^\s/\\'\":,;()<>]+)+\.\w{1,5}(?!\w)")
#: From these folders on, a path says the same on every machine: the last of them that it has.
_KNOWN = {"_properties": "properties", "properties": "properties", "rankcheck": "rankcheck"}


def public(text: str) -> str:
    r"""The text with its absolute paths from a folder of rankcheck on; others are the name alone.

    >>> public("/home/me/env/site-packages/rankcheck/_properties/rank/cost.py:7")
    'properties/rank/cost.py:7'
    >>> public('File "C:\\Users\\Me\\mine.py", line 3; sides 1/2 and 3/4')
    'File "mine.py", line 3; sides 1/2 and 3/4'
    >>> public("properties/rank/cost.py"), public("mine/cost.py::test")
    ('properties/rank/cost.py', 'mine/cost.py::test')
    """
    return _FILE.sub(lambda found: _shown(re.split(r"[/\\]", found[0])), text)


def _shown(parts: list[str]) -> str:
    places = [place for place, part in enumerate(parts) if part in _KNOWN]
    if not places:
        return parts[-1]
    return "/".join([_KNOWN[parts[places[-1]]], *parts[places[-1] + 1 :]])
