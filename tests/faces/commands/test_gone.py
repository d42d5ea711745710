"""What is gone is answered with what to do in its place."""

import pytest

from rankcheck.faces.commands.cli import COMMANDS, main, parser
from rankcheck.faces.commands.gone import GONE


@pytest.mark.parametrize("typed", GONE)
def test_what_is_gone_is_answered_in_one_line(typed, capsys):
    verb, *options = typed.split()
    selector = ["x"] * (verb != "verify" and verb in COMMANDS)
    for line in [[verb, *selector, *options], [verb, *selector, *(f"{one}=y" for one in options)]]:
        assert main(line) == 2
        out, err = capsys.readouterr()
        assert (out, err) == ("", f"rankcheck: rankcheck {typed} is gone: {GONE[typed]}\n")


@pytest.mark.parametrize("typed", GONE)
def test_no_row_names_what_is_there(typed):
    verb, *options = typed.split()
    assert options or verb not in COMMANDS
    if verb in COMMANDS:
        [commands] = [one for one in parser([verb])._actions if one.choices]
        known = commands.choices[verb]._option_string_actions
        assert not set(options) & set(known)


def test_other_words_are_answered_as_before(capsys):
    assert main(["verify", "--nothing-like-it"]) == 2
    assert "unrecognized arguments: --nothing-like-it" in capsys.readouterr().err
    assert main(["nothing-like-it"]) == 2
    assert "invalid choice: 'nothing-like-it'" in capsys.readouterr().err
