"""docs/exports.md shows what the commands write."""

from .made import ROOT, exported

SHOWN = "rank.cross-example-as-printed"


def test_the_page_shows_the_script():
    page = (ROOT / "docs/exports.md").read_text(encoding="utf-8")
    assert f"```text\n{exported(SHOWN, 'script').rstrip()}\n```" in page
    assert f"rankcheck export {SHOWN} --script > " in page
