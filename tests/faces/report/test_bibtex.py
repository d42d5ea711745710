"""BibTeX of the documents and of rankcheck."""

import re
from pathlib import Path

import rankcheck
from rankcheck.claims.reference import Reference, paper
from rankcheck.faces.report.bibtex import TITLE, bibliography

CITATION = Path(__file__).parents[3] / "CITATION.cff"


def test_each_document_has_one_entry():
    text = bibliography([paper("rank", "Prop. 3"), paper("rank", "Thm 1"), paper("linear", "p. 2")])
    assert re.findall(r"^@(\w+)\{(.+),$", text, re.MULTILINE) == [
        ("inproceedings", "jacot2023implicit"),
        ("misc", "parkinson2023linear"),
        ("misc", "rankcheck"),
    ]
    assert "author        = {Parkinson, S. and Ongie, G. and Willett, R.}," in text
    assert "eprint        = {2305.15598}," in text
    assert text.count("{") == text.count("}")
    assert text.isascii()


def test_a_document_of_ones_own_is_named_in_a_comment():
    text = bibliography([Reference("Me\n2027", "Thm 4"), paper("separation", "slide 3")])
    assert text.startswith("% not known to rankcheck: Me 2027\n")
    assert r"Koc{\'a}k, T." in text


def test_rankcheck_is_cited_as_citation_cff_says():
    stated = dict(re.findall(r'^([a-z-]+): "?(.*?)"?$', CITATION.read_text("utf-8"), re.MULTILINE))
    text = bibliography([])
    assert stated["title"] == TITLE
    assert f"Version {stated['version']}" in text
    assert stated["version"] == rankcheck.__version__
    assert f"year          = {{{stated['date-released'][:4]}}}" in text
    [author] = re.findall(r'- name: "(.*)"', CITATION.read_text("utf-8"))
    assert f"author        = {{{{{author}}}}}" in text
